"""One picture for each operation: bars for every layer, as long as what was reached; 1280 x 720 for a projector."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.bench.contender import Row
from helpers.bench.table import PRECEDENCE, figure

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
