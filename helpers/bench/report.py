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
    """Write into each row the library's time as a multiple of its own; returns the library's name, "" without one."""
    library = _first_library(rows)
    times = {(row.operation, row.layer): row.kernel_us for row in rows if row.name == library}
    for row in rows:
        time = times.get((row.operation, row.layer))
        if time and row.kernel_us and row.name != library:
            row.ratio = time / row.kernel_us
    return library


def _first_library(rows: Sequence[Row]) -> str:
    """The first name in PRECEDENCE that was timed, or ""."""
    timed = {row.name for row in rows if row.kind == "library" and row.kernel_us}
    for name in PRECEDENCE:
        if name in timed:
            return name
    return ""


def tables(rows: Sequence[Row], library: str) -> Iterator[str]:
    """One table for each operation, in Markdown."""
    for title in dict.fromkeys(row.title for row in rows):
        yield f"\n{title}\n\n{HEAD.format(library=library or 'library')}\n{RULE}"
        yield from (_line(row) for row in rows if row.title == title and row.kernel_us)


def _line(row: Row) -> str:
    label = row.label
    if row.chosen:
        label += " *"
    cells = [
        row.layer,
        label,
        figure(row.kernel_us),
        f"{figure(row.rate)} {row.unit}",
        figure(row.ratio),
        figure(row.host_us),
        figure(row.array_us),
        figure(row.prepare_ms),
    ]
    return f"| {' | '.join(cells)} |"


def figure(value: float | None) -> str:
    """Three digits, and never an exponent."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


# --- Ratios ---------------------------------------------------------------------------------------------------


def best(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    """Versions of one operation by layer: the fastest, the chosen one, and the fastest without bounds checks."""
    versions = [row for row in rows if row.kind == "version" and row.kernel_us]
    return {
        "fastest": _fastest(row for row in versions if row.checked),
        "chosen": _fastest(row for row in versions if row.chosen),
        "fastest, unchecked": _fastest(row for row in versions if not row.checked),
    }


def _fastest(rows: Iterable[Row]) -> dict[str, Row]:
    """The fastest row of each layer."""
    slowest_first = sorted(rows, key=lambda row: row.kernel_us, reverse=True)
    return {row.layer: row for row in slowest_first}  # the last one of a layer stays


def ratios(rows: Sequence[Row], layers: Sequence[Layer]) -> list[dict[str, object]]:
    """For each operation, geometric means over layers of library : this.

    Of the `best` versions; over the layers that versions were tuned on, and over the others.
    """
    groups = {
        "tuned on": [layer.name for layer in layers if layer.tuned],
        "not tuned on": [layer.name for layer in layers if not layer.tuned],
    }
    table = []
    for operation in dict.fromkeys(row.operation for row in rows):
        compared = [row for row in rows if row.operation == operation and row.ratio]
        for version, row_of_layer in best(compared).items():
            for group, names in groups.items():
                of_group = [row_of_layer[name] for name in names if name in row_of_layer]
                if of_group:
                    table.append({"operation": operation, "version": version, "layers": group} | _mean(of_group))
    return table


def _mean(rows: Sequence[Row]) -> dict[str, object]:
    """The geometric mean of the ratios, and the least one."""
    mean = np.exp(np.mean([np.log(row.ratio) for row in rows]))
    least = min(rows, key=lambda row: row.ratio)
    return {"count": len(rows), "mean": float(mean), "least": least.ratio, "least_layer": least.layer}


def ratio_lines(ratios: Sequence[dict[str, object]], library: str) -> Iterator[str]:
    """The ratios as a table."""
    if ratios:
        yield f"\n{library} : this, geometric means\n\n| operation | version | layers | mean | least | on |"
        yield "|---|---|---|--:|--:|---|"
    line = "| {operation} | {version} | {count} {layers} | {mean:.2f} | {least:.2f} | {least_layer} |"
    yield from (line.format(**ratio) for ratio in ratios)


# --- Below the table ------------------------------------------------------------------------------------------


def correctness_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The number of times that a version was right on a layer, and each that was wrong."""
    for check, count in Counter(row.check for row in rows if row.check).items():
        yield f"Right: {count} times {check}."
    for row in rows:
        if row.wrong:
            yield f"WRONG, and not timed: {_place(row)}:\n{row.wrong}"


def skipped_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The rows that were not timed, and why."""
    skipped = [row for row in rows if row.skipped]
    if skipped:
        yield "\nNot timed:"
    for row in skipped:
        yield f"  {_place(row)}: {row.skipped}"


def _place(row: Row) -> str:
    return f"{row.operation}, {row.layer}, {row.label}"


# --- The table of a run -------------------------------------------------------------------------------------


def summary(metadata: dict[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """The table of a run: where and when it was, and the microseconds by kind, operation, layer and name."""
    table = {name: metadata[name] for name in (*METADATA, "commit", "library", "ratios")}
    table["versions"] = {}
    table["libraries"] = {}
    for row in rows:
        if row.kernel_us:
            kind = "versions" if row.kind == "version" else "libraries"
            layers = table[kind].setdefault(row.operation, {})
            times = layers.setdefault(row.layer, {})
            times[row.label] = float(f"{row.kernel_us:.5g}")
    return table


def write(folder: Path, result: dict[str, object], rows: Sequence[Row]) -> None:
    """Write all figures to bench.json, and to table.json the summary, with a line for each layer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    text = json.dumps(summary(result, rows), indent=1)
    text = re.sub(r"{[^{}]*}", lambda layer: " ".join(layer[0].split()), text)
    (folder / "table.json").write_text(text + "\n", encoding="utf-8")
