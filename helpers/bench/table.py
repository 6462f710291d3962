"""The result in words: a table for each operation, the ratios, what was skipped, and what is wrong."""

from collections.abc import Iterator, Sequence
from math import exp, log

from helpers.bench.contender import Row
from helpers.bench.layers import Layer

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
    for row in wrong:
        bounds = "" if row.checked else ", unchecked"
        yield f"WRONG, and not timed: {row.operation}, {row.layer}, {row.name}{bounds}:\n{row.wrong}"
