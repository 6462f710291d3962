"""How conv2d_grad_weight's version with sums and windows in registers is dispatched: what a thread computes."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, prod

from helpers.convolution.schedules.layer import simple_layer
from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.gpu.passes import CAP
from helpers.wgsl import Kernel

QUAD = 4  # channels of one load; as many sums side by side
WIDEST = 5  # taps of a thread along each axis
PRODUCTS = 144  # of a quad each, written out: more take longer to compile than they save
LONGEST = 128  # outputs below each other in a strip
BUSY = 1024  # threads that keep all cores of a processor busy
THREADS = 32


@simple_only
def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    """Copy both tensors with channels in fours, sum in parts, and add the parts."""
    constants = {**simple_layer(s), **_tile(s), **dict(kernel.constants)}
    constants |= _strips(s, constants)
    count = replace(kernel, constants=tuple(constants.items())).value
    runs, rows, parts = (count(name) for name in ("RUNS", "ROWS", "PARTS"))
    steps = (
        Step(flat(count("GRAD_ROWS"), THREADS), nested_loops(count("GRAD_W")), "copy_grad_output"),
        Step(flat(count("INPUT_ROWS"), THREADS), nested_loops(count("COPY_W")), "copy_input"),
        Step(flat(count("SUMMING"), THREADS), nested_loops(runs, rows), "sum_parts"),
        Step(flat(count("WEIGHTS"), THREADS), nested_loops(parts), "add_parts"),
    )
    copies = {
        "grad_quads": count("GRAD_ROWS") * count("GRAD_W"),
        "input_quads": count("INPUT_ROWS") * count("COPY_W"),
        "parts": parts * count("PART"),
    }
    return Schedule(steps, {name: 4 * QUAD * number for name, number in copies.items()}, constants)


def _tile(s: ConvShape) -> Mapping[str, int]:
    """The sums of a thread, and the outputs that it takes at a time."""
    channels = min(QUAD, s.in_channels)
    taps_h, taps_w = (_even(size, WIDEST) for size in (s.kernel_h, s.kernel_w))
    columns = max(1, min(QUAD, PRODUCTS // (channels * taps_h * taps_w)))
    columns = _even(s.out_w, columns) if s.stride_w <= taps_w else 1  # else the window is full of holes
    kept = max(0, taps_h - s.stride_h)
    return {"CHANNELS": channels, "TAPS_H": taps_h, "TAPS_W": taps_w, "COLUMNS": columns, "KEPT": kept}


def _strips(s: ConvShape, tile: Mapping[str, int]) -> Mapping[str, int]:
    """How long a strip is, and how many of them a thread takes."""
    rows = tile.get("ROWS", _even(s.out_h, LONGEST))
    strips = s.batch * ceil(s.out_h / rows) * ceil(s.out_w / tile["COLUMNS"])
    sides = (s.out_channels, QUAD), (s.in_channels, tile["CHANNELS"]), (s.kernel_h, tile["TAPS_H"])
    tiles = [ceil(size / side) for size, side in (*sides, (s.kernel_w, tile["TAPS_W"]))]
    part = 4 * prod(tiles) * QUAD * tile["CHANNELS"] * tile["TAPS_H"] * tile["TAPS_W"]  # bytes
    most = max(1, min(strips, ceil(BUSY / prod(tiles)), MAX_BINDING // part))  # parts
    runs = min(ceil(strips / most), CAP // (rows + 2))
    return {"ROWS": rows, "RUNS": tile.get("RUNS", runs)}


def _even(size: int, most: int) -> int:
    """The length of as few equal pieces as there can be, each of them of at most so many."""
    return ceil(size / ceil(size / most))
