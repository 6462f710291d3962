"""The result in words: tables, ratios, and what is wrong or was skipped."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from helpers.bench.candidates import Row
from helpers.bench.layers import Layer
from helpers.bench.recorded import METADATA

PRECEDENCE = ("PyTorch CUDA", "PyTorch MPS", "PyTorch CPU", "NumPy")  # the first one here is what is compared with
HEAD = "| layer | computed by | kernel µs | rate | {library} : this | host µs | array to array µs | prepare ms |"
RULE = "|---|---|--:|--:|--:|--:|--:|--:|"


def compare_with_library(rows: Sequence[Row]) -> str:
    """Write into each row how many times as long the library takes; returns the library's name, "" without one."""
    there = {row.name for row in rows if row.kind == "library" and row.kernel_us}
    name = next((name for name in PRECEDENCE if name in there), "")
    times = {(row.operation, row.layer): row.kernel_us for row in rows if row.name == name}
    for row in rows:
        theirs = times.get((row.operation, row.layer))
        if theirs and row.kernel_us and row.name != name:
            row.ratio = theirs / row.kernel_us
    return name


def tables(rows: Sequence[Row], library: str) -> Iterator[str]:
    """One table for each operation, in Markdown."""
    for title in dict.fromkeys(row.title for row in rows):
        yield f"\n{title}\n\n{HEAD.format(library=library or 'library')}\n{RULE}"
        yield from (_line(row) for row in rows if row.title == title and row.kernel_us)


def _line(row: Row) -> str:
    figures = (row.ratio, row.host_us, row.array_us, row.prepare_ms)
    cells = (row.layer, row.label + " *" * row.chosen, figure(row.kernel_us), f"{figure(row.rate)} {row.unit}")
    return f"| {' | '.join([*cells, *map(figure, figures)])} |"


def figure(value: float | None) -> str:
    """Three digits, and never an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


# --- Ratios ---------------------------------------------------------------------------------------------------


def best(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    """Versions of one operation by layer: the fastest, the chosen one, and the fastest without bounds checks."""
    mine = [row for row in rows if row.kind == "version" and row.kernel_us]
    return {
        "fastest": _fastest(row for row in mine if row.checked),
        "chosen": _fastest(row for row in mine if row.chosen),
        "fastest, unchecked": _fastest(row for row in mine if not row.checked),
    }


def _fastest(rows: Iterable[Row]) -> dict[str, Row]:
    return {row.layer: row for row in sorted(rows, key=lambda row: -row.kernel_us)}


def ratios(rows: Sequence[Row], layers: Sequence[Layer]) -> list[dict[str, object]]:
    """For each operation, geometric means over layers of library : this.

    Of the `best` versions; over the layers that versions were tuned on, and over the others.
    """
    table = []
    for operation in dict.fromkeys(row.operation for row in rows):
        for version, kept in best([row for row in rows if row.operation == operation and row.ratio]).items():
            for among, tuned in (("tuned on", True), ("not tuned on", False)):
                chosen = [kept[layer.name] for layer in layers if layer.tuned == tuned and layer.name in kept]
                if chosen:
                    table.append({"operation": operation, "version": version, "layers": among} | _mean(chosen))
    return table


def _mean(rows: Sequence[Row]) -> dict[str, object]:
    least, mean = min(rows, key=lambda row: row.ratio), np.exp(np.mean([np.log(row.ratio) for row in rows]))
    return {"count": len(rows), "mean": float(mean), "least": least.ratio, "least_layer": least.layer}


def ratio_lines(ratios: Sequence[dict[str, object]], library: str) -> Iterator[str]:
    """The ratios as a table."""
    if ratios:
        yield f"\n{library} : this, geometric means\n\n| operation | version | layers | mean | least | on |"
        yield "|---|---|---|--:|--:|---|"
    line = "| {operation} | {version} | {count} {layers} | {mean:.2f} | {least:.2f} | {least_layer} |"
    yield from (line.format(**ratio) for ratio in ratios)


# --- What is not in the table ---------------------------------------------------------------------------------


def correctness_lines(rows: Sequence[Row]) -> Iterator[str]:
    """How many versions were right on how many layers, and each that was wrong."""
    for how, count in Counter(row.check for row in rows if row.check).items():
        yield f"Right: {count} times {how}."
    yield from (f"WRONG, and not timed: {_place(row)}:\n{row.wrong}" for row in rows if row.wrong)


def skipped_lines(rows: Sequence[Row]) -> Iterator[str]:
    """What was not timed, and why."""
    lines = [f"  {_place(row)}: {row.skipped}" for row in rows if row.skipped]
    yield from ["\nNot timed:", *lines] if lines else []


def _place(row: Row) -> str:
    return f"{row.operation}, {row.layer}, {row.label}"


# --- The table of a run -------------------------------------------------------------------------------------


def summary(metadata: dict[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """What is kept of a run: where and when it was, and the microseconds by kind, operation, layer and name."""
    kept = {"versions": {}, "libraries": {}}
    for row in rows:
        if row.kernel_us:
            of_layer = kept["versions" if row.kind == "version" else "libraries"].setdefault(row.operation, {})
            of_layer.setdefault(row.layer, {})[row.label] = float(f"{row.kernel_us:.5g}")
    return {name: metadata[name] for name in (*METADATA, "commit", "library", "ratios")} | kept


def write(folder: Path, result: dict[str, object], rows: Sequence[Row]) -> None:
    """Write all figures to bench.json, and to table.json the summary, with a line for each layer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    text = json.dumps(summary(result, rows), indent=1)
    text = re.sub(r"{[^{}]*}", lambda layer: " ".join(layer[0].split()), text)
    (folder / "table.json").write_text(text + "\n", encoding="utf-8")
