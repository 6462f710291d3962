"""The result in words and pictures: tables, ratios, bars, what is wrong or was skipped, and what became slower."""

import json
import re
from collections.abc import Iterator, Sequence
from math import exp, log
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.bench.contenders import Row
from helpers.speed.layers import Layer
from helpers.speed.recorded import ABOUT

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
        for row in rows:
            if row.title == title and row.kernel_us:
                yield _line(row)


def _line(row: Row) -> str:
    name = f"{row.name}{' *' * row.chosen}{'' if row.checked else ', unchecked'}"
    rate = f"{figure(row.rate)} {row.unit}"
    prepare = "" if row.prepare_ms is None else figure(row.prepare_ms)
    rest = (figure(row.ratio), figure(row.host_us), figure(row.array_us), prepare)
    return f"| {row.layer} | {name} | {figure(row.kernel_us)} | {rate} | {' | '.join(rest)} |"


def figure(value: float | None) -> str:
    """Three digits, and never an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


# --- Ratios ---------------------------------------------------------------------------------------------------


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios."""
    return exp(sum(map(log, values)) / len(values))


def ratios(rows: Sequence[Row], layers: Sequence[Layer]) -> list[dict[str, object]]:
    """For each operation, geometric means over layers of library : this.

    Of the fastest version of each layer with and without bounds checks, and of the chosen one; over the layers that
    versions were tuned on, and over the others.
    """
    tuned, found = {layer.name for layer in layers if layer.tuned}, []
    for operation in dict.fromkeys(row.operation for row in rows):
        mine = [row for row in rows if row.operation == operation and row.kind == "version" and row.ratio]
        for which, kept in {
            "fastest": _fastest([row for row in mine if row.checked]),
            "chosen": [row for row in mine if row.chosen],
            "fastest, unchecked": _fastest([row for row in mine if not row.checked]),
        }.items():
            for among, inside in (("tuned on", True), ("not tuned on", False)):
                values = {row.layer: row.ratio for row in kept if (row.layer in tuned) == inside}
                if values:
                    mean, least = geometric_mean([*values.values()]), min(values, key=values.get)
                    entry = {"operation": operation, "version": which, "layers": among, "count": len(values)}
                    found.append(entry | {"mean": mean, "least": values[least], "least_layer": least})
    return found


def _fastest(rows: Sequence[Row]) -> list[Row]:
    best = {}
    for row in rows:
        if row.layer not in best or row.kernel_us < best[row.layer].kernel_us:
            best[row.layer] = row
    return [*best.values()]


def ratio_lines(found: Sequence[dict[str, object]], library: str) -> Iterator[str]:
    """The ratios as a table."""
    if found:
        yield f"\n{library} : this, geometric means\n\n| operation | version | layers | mean | least | on |"
        yield "|---|---|---|--:|--:|---|"
    for each in found:
        layers = f"{each['count']} {each['layers']}"
        head = f"| {each['operation']} | {each['version']} | {layers} "
        yield f"{head}| {each['mean']:.2f} | {each['least']:.2f} | {each['least_layer']} |"


def bandwidths(rows: Sequence[Row]) -> Iterator[str]:
    """How near a bias gradient, which reads, comes to a copy of the same tensor, which reads and writes."""
    copies = {row.layer: row.rate for row in rows if row.kind == "copy" and row.rate}
    mine = _fastest([row for row in rows if row.operation == "conv2d_grad_bias" and row.kind == "version" and row.rate])
    shares = {row.layer: row.rate / (2 * copies[row.layer]) for row in mine if row.layer in copies}
    if shares:
        yield "\nBytes a second of the fastest bias gradient : those of a copy of its input (which also writes as many)"
        yield from (f"  {share:.2f}  {layer}" for layer, share in shares.items())


# --- What is not in the table ---------------------------------------------------------------------------------


def skipped_lines(rows: Sequence[Row]) -> Iterator[str]:
    """What was not timed, and why."""
    left = [row for row in rows if row.skipped]
    if left:
        yield "\nNot timed:"
    yield from (f"  {row.operation}, {row.layer}, {row.name}: {row.skipped}" for row in left)


def correctness_lines(rows: Sequence[Row]) -> Iterator[str]:
    """How many versions were right on how many layers, and each that was wrong."""
    right, wrong = [row for row in rows if row.check], [row for row in rows if row.wrong]
    for how in dict.fromkeys(row.check for row in right):
        yield f"Right: {sum(row.check == how for row in right)} times {how}."
    yield from (f"WRONG, and not timed: {row.operation}, {row.layer}, {row.label}:\n{row.wrong}" for row in wrong)


# --- Pictures -----------------------------------------------------------------------------------------------

SIMPLEST, FASTEST, UNCHECKED = "simplest version", "fastest version (its number)", "fastest, unchecked"
STYLES = {  # colors that stay apart for color-blind eyes, and hatches that stay apart without colors
    SIMPLEST: ("#c4c4c4", ""),
    FASTEST: ("#005a9c", ""),
    UNCHECKED: ("#8fc3ea", "//"),
    "PyTorch CUDA": ("#b34700", "\\\\"),
    "PyTorch MPS": ("#b34700", "\\\\"),
    "PyTorch CPU": ("#f0a35c", ".."),
    "NumPy": ("#f3dfa2", "--"),
    "copy": ("#1a1a1a", ""),
}
WIDTH, HEIGHT, DPI = 1280, 720, 100
ON_GPU = ("PyTorch CUDA", "PyTorch MPS")
MOST = 10  # layers for which a picture has room: the largest ones


def draw(rows: Sequence[Row], folder: Path, about: dict[str, object]) -> list[Path]:
    """Write bench_<operation>.png for each operation that was timed, and return the paths."""
    paths = []
    for operation in dict.fromkeys(row.operation for row in rows if row.rate):
        path = folder / f"bench_{operation}.png"
        of = [row for row in rows if row.operation == operation and row.rate]
        bars(of, f"{of[0].title} on {about['adapter']}").savefig(path, dpi=DPI)
        paths.append(path)
    return paths


def bars(rows: Sequence[Row], title: str) -> Figure:
    """Groups of bars, a group for each layer, from the top down."""
    layers = [*dict.fromkeys(row.layer for row in rows)][-MOST:]
    groups = [shown([row for row in rows if row.layer == layer]) for layer in layers]
    styles = [name for name in STYLES if any(name in group for group in groups)]
    made, height = Figure((WIDTH / DPI, HEIGHT / DPI), layout="constrained"), 0.86 / len(styles)
    axes, unit, scale = made.subplots(), rows[0].unit, 1.0
    if max(row.rate for row in rows) >= 1000:
        unit, scale = unit.replace("G", "T", 1), 1e-3
    for i, name in enumerate(styles):
        top = (i + 0.5) * height - 0.43
        _series(axes, [(y + top, group[name]) for y, group in enumerate(groups) if name in group], name, height, scale)
    _labels(axes, layers, f"{unit} (longer is faster)")
    made.suptitle(title, fontsize=18)
    made.legend(fontsize=13, frameon=False, ncols=len(styles), loc="outside lower center")
    return made


def shown(rows: Sequence[Row]) -> dict[str, Row]:
    """What a layer's bars are: the first and the fastest versions, and libraries on a GPU or, without one, others."""
    checked = [row for row in rows if row.kind == "version" and row.checked]
    unchecked = [row for row in rows if row.kind == "version" and not row.checked]
    beside = {row.name: row for row in rows if row.kind == "library"}
    names = [name for name in PRECEDENCE if name in beside]
    on_gpu = [name for name in names if name in ON_GPU]
    found = {name: beside[name] for name in on_gpu or names} | {row.name: row for row in rows if row.kind == "copy"}
    if checked:
        found[FASTEST] = min(checked, key=lambda row: row.kernel_us)
    if len(checked) > 1:
        found[SIMPLEST] = checked[0]
    if unchecked:
        found[UNCHECKED] = min(unchecked, key=lambda row: row.kernel_us)
    return found


def _series(axes: Axes, places: Sequence[tuple[float, Row]], name: str, height: float, scale: float) -> None:
    rates, (color, hatch) = [row.rate * scale for _, row in places], STYLES[name]
    style = {"color": color, "hatch": hatch, "edgecolor": "#ffffff", "linewidth": 0.6}
    drawn = axes.barh([y for y, _ in places], rates, height * 0.94, label=name, **style)
    numbers = [f" ({row.name.partition('_')[0]})" if name == FASTEST else "" for _, row in places]
    size = min(12, 430 * height / len(places))  # points: the words of neighbors stay apart
    words = [figure(rate) + number for rate, number in zip(rates, numbers, strict=True)]
    axes.bar_label(drawn, words, fontsize=size, padding=4)


def _labels(axes: Axes, layers: Sequence[str], unit: str) -> None:
    axes.set_yticks(range(len(layers)), layers, fontsize=12)
    axes.set_xlabel(unit, fontsize=14)
    axes.tick_params(axis="x", labelsize=12)
    axes.margins(x=0.08, y=0.01)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)


# --- The table of a run, and earlier runs -------------------------------------------------------------------

SLOWER = 1.2  # times the earlier figure: less is noise


def summary(about: dict[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """What is kept of a run: where and when it was, and the microseconds by kind, operation, layer and name."""
    kept = {"versions": {}, "libraries": {}}
    for row in rows:
        if row.kernel_us and row.kind != "copy":
            of_layer = kept["versions" if row.kind == "version" else "libraries"].setdefault(row.operation, {})
            of_layer.setdefault(row.layer, {})[row.label] = float(f"{row.kernel_us:.5g}")
    return {name: about[name] for name in (*ABOUT, "commit", "library", "ratios")} | kept


def write(folder: Path, result: dict[str, object], rows: Sequence[Row]) -> None:
    """Write all figures to bench.json, and to table.json the summary, with a line for each layer."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    text = json.dumps(summary(result, rows), indent=1)
    text = re.sub(r"{[^{}]*}", lambda found: " ".join(found[0].split()), text)
    (folder / "table.json").write_text(text + "\n", encoding="utf-8")


def earlier(path: Path, now: dict[str, object]) -> dict[str, object] | None:
    """The last run in a file of summaries, one a line, on the same adapter with the same clock, or None."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    runs = [json.loads(line) for line in lines if line.strip()]
    kept = (run for run in runs if "versions" in run)  # not one that an older benchmark wrote
    alike = [run for run in kept if (run["adapter"], run["clock"]) == (now["adapter"], now["clock"])]
    return alike[-1] if alike else None


def slower(before: dict[str, object], now: dict[str, object], factor: float = SLOWER) -> dict[str, float]:
    """The versions that take more than `factor` times as long as before, and how many times, the worst first."""
    old, new = _flat(before["versions"]), _flat(now["versions"])
    times = {name: new[name] / old[name] for name in new if name in old and new[name] > factor * old[name]}
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def _flat(versions: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """Microseconds by operation, layer and name in one."""
    return {
        f"{operation}, {layer}, {name}": time
        for operation, layers in versions.items()
        for layer, times in layers.items()
        for name, time in times.items()
    }


def add(path: Path, now: dict[str, object]) -> None:
    """Append a run to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(now) + "\n")


def slower_lines(before: dict[str, object] | None, found: dict[str, float], factor: float) -> Iterator[str]:
    """What the comparison says."""
    if before is None:
        yield "No earlier run on this adapter; this one was added."
        return
    since = " ".join(filter(None, [before["date"], before["commit"], before["driver"]]))
    yield f"{len(found)} of the versions that were timed before take more than {factor:g} times as long as on {since}:"
    yield from (f"  {times:.2f} times  {name}" for name, times in found.items())
