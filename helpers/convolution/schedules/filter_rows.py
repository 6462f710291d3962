"""How conv2d_grad_weight's version for layers with few weights is dispatched: what a workgroup computes.

The limits below were chosen on an NVIDIA H200, for LeNet's layers and one with 32 filters.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import ceil, log2, prod

from helpers.convolution.schedules.layer import simple_layer
from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.wgsl import MAX_THREADS, MAX_WORKGROUP_BYTES, Kernel

Tile = Mapping[str, int]

WIDEST = 16  # weights in a row of a filter, for a thread has such rows in registers
FILTERS = 4  # of a thread, at most
PRODUCTS = 480  # of a thread and a row, written out: more take longer to compile than they save
UNITS = 64  # rows of filters in a team, at most
TEAM = 128  # threads that share the rows of the outputs, where there are as many rows
THREADS = 32_768  # that keep a large GPU busy
WORKGROUPS = 300  # likewise; more of them leave more partial sums to add
PARTS = 4096  # that the last pass can add
TILES = tuple(product((32, 16, 8, 4), (24, 12, 6, 3, 1)))  # columns and rows, the best first


@simple_only
def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    """Sums over parts of the outputs, and where there are several parts, their sum."""
    tile = _largest_that_fits(s, kernel)
    if tile is None:
        return Schedule((), refused=_refusal(s, kernel))
    count = _sized(s, kernel, tile).value
    parts, rounds = count("PARTS"), ceil(tile["ROWS"] / tile["SLOTS"])
    iterations = nested_loops(tile["RUNS"], rounds) + tile["FILTERS"] * nested_loops(ceil(s.kernel_w / tile["SLOTS"]))
    steps = [Step((parts, count("CO_BLOCKS"), count("CI_BLOCKS")), iterations, "sum_parts")]
    if parts > 1:
        steps.append(Step(flat(count("WEIGHTS"), 16), 0, "add_parts"))
    return Schedule(
        tuple(steps), {"parts": 4 * count("WEIGHTS") * parts if parts > 1 else 4}, {**simple_layer(s), **tile}
    )


def _largest_that_fits(s: ConvShape, kernel: Kernel) -> Tile | None:
    """The first of TILES whose sums fit into registers and whose numbers into workgroup memory, with as many teams."""
    given = dict(kernel.constants)
    for (columns, rows), teams in product(TILES, (4, 2, 1)):
        tile = _tile(s, columns, rows, teams, given)
        sized = _sized(s, kernel, tile)
        fits = sized.threads("sum_parts") <= MAX_THREADS and sized.workgroup_bytes <= MAX_WORKGROUP_BYTES
        written = tile["FILTERS"] * tile["COLUMNS"] * s.kernel_w
        enough = tile["TEAMS"] == 1 or _workgroups(s, tile) >= WORKGROUPS
        if fits and enough and written <= PRODUCTS and s.kernel_w <= WIDEST:
            return tile
    return None


def _tile(s: ConvShape, columns: int, rows: int, teams: int, given: Tile) -> Tile:
    """What a workgroup computes, with at most so many columns and rows of outputs."""
    work = s.batch * s.out_channels * s.in_channels * s.kernel_h * s.out_h / THREADS  # rows of outputs for a thread
    channels, rows = _even(s.in_channels, max(1, UNITS // s.kernel_h)), _even(s.out_h, rows)
    tile = {
        "FILTERS": _even(s.out_channels, min(FILTERS, 2 ** round(log2(max(1, work)) / 2))),
        "TEAMS": teams,
        "CHANNELS": channels,
        "ROWS": rows,
        "COLUMNS": 4 * ceil(_even(s.out_w, columns) / 4),
        "SLOTS": _even(rows, max(1, TEAM // (s.kernel_h * channels))),
        **given,
    }
    tiles = _tiles(s, tile)
    few = ceil(tiles / PARTS), ceil(tiles * 4 * prod(s.weight) / MAX_BINDING)
    runs = min(tiles, max(1, _workgroups(s, tile) // WORKGROUPS, *few))
    threads = tile["TEAMS"] * tile["CHANNELS"] * s.kernel_h * tile["SLOTS"]
    return {"RUNS": runs, "SHARED": max(256, s.kernel_w * threads), **tile}


def _tiles(s: ConvShape, tile: Tile) -> int:
    return s.batch * ceil(s.out_h / tile["ROWS"]) * ceil(s.out_w / tile["COLUMNS"])


def _workgroups(s: ConvShape, tile: Tile) -> int:
    """How many there are where each takes one tile."""
    blocks = ceil(s.out_channels / (tile["FILTERS"] * tile["TEAMS"])), ceil(s.in_channels / tile["CHANNELS"])
    return _tiles(s, tile) * prod(blocks)


def _sized(s: ConvShape, kernel: Kernel, tile: Tile) -> Kernel:
    """The kernel with the values of its constants, before they are written into its text."""
    return replace(kernel, constants=tuple({**simple_layer(s), **tile}.items()))


def _even(size: int, most: int) -> int:
    """The length of as few equal pieces as there can be, each of them of at most so many."""
    return ceil(size / ceil(size / most))


def _refusal(s: ConvShape, kernel: Kernel) -> str:
    if s.kernel_w > WIDEST:
        rule = f"a thread holds rows of filters in registers, of at most {WIDEST} weights"
        return f"{kernel.name}: kernel_w = {s.kernel_w}: {rule}: choose another version"
    rule = f"what one output sees of the input must fit into {MAX_WORKGROUP_BYTES:,} bytes of workgroup memory"
    rule += f", and a thread for each row of a filter into {MAX_THREADS}"
    return f"{kernel.name}: kernel_h = {s.kernel_h}: {rule}: choose another version"
