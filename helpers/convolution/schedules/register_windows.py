"""How the convolution kernels with sums and windows in registers are dispatched: the tile that a thread computes.

A thread computes CHANNELS channels of ROWS x 4*QUADS neighboring pixels. A larger tile takes fewer loads for the same
products, and a longer text, for all of it is written out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import ceil

from helpers.convolution.schedules.implicit_gemm import layer
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.wgsl import Kernel

# Measured on two cores of a 2.5 GHz Xeon with Mesa 22.3's software adapter, in nanoseconds.
PRODUCT, LOAD = 0.12, 1.7  # four products of a thread; one load
COMPILED_PRODUCT, COMPILED_LOAD = 1.2e6, 5e6  # the same, for each that is written out
RUNS = 100  # of a layer, over which the time to compile it spreads

FEW = 8  # channels: with fewer, a tile has only one row of one of them, and many threads share a small layer
SMALL = {"ROWS": 1, "QUADS": 1, "CHANNELS": 1, "THREADS": 64}
MOST_TAPS = 64  # of a filter
SIDES = (1, 2, 3, 4, 5, 6, 7, 8), (1, 2, 3, 4), (1, 2, 4, 8)  # rows, quads, channels


def grad_input(s: ConvShape, kernel: Kernel) -> Schedule:
    """Tiles of input pixels; the loop runs over output channels."""
    return _schedule(s, kernel, s.input, s.out_channels)


def forward(s: ConvShape, kernel: Kernel) -> Schedule:
    """Tiles of outputs; the loop runs over input channels."""
    return _schedule(s, kernel, s.output, s.in_channels)


def _schedule(s: ConvShape, kernel: Kernel, result: tuple[int, int, int, int], terms: int) -> Schedule:
    """One pass that writes `result`, whose elements are sums over so many channels and all taps."""
    sizes = {name: size for name, size in layer(s).items() if name != "STRIDE"}
    problem = _problem(s, kernel)
    tile = SMALL if problem or min(s.in_channels, s.out_channels) < FEW else _best_tile(s, result, terms)
    constants = {**sizes, **tile, **dict(kernel.constants)}
    value = replace(kernel, constants=tuple(constants.items())).value
    batch, channels, *_ = result
    x, y, _ = flat(batch * value("DOWN") * value("ACROSS"), value("THREADS"))
    workgroups = x, y, ceil(channels / value("CHANNELS"))
    iterations = nested_loops(ceil(terms / value("TOGETHER"))) + nested_loops(value("CHANNELS"))
    return Schedule((Step(workgroups, iterations),), {}, constants, problem)


def _problem(s: ConvShape, kernel: Kernel) -> str | None:
    """Why this version does not take a shape, or None."""
    if s.stride != 1:
        return f"{kernel.name}: stride = {s.stride}: a window slides by 1"
    if s.kernel_h * s.kernel_w > MOST_TAPS:
        taps = f"a filter of {s.kernel_h} x {s.kernel_w} = {s.kernel_h * s.kernel_w} weights"
        return f"{kernel.name}: {taps}: all are written out, so there may be at most {MOST_TAPS}"
    return None


def _best_tile(s: ConvShape, result: tuple[int, int, int, int], terms: int) -> Mapping[str, int]:
    """The tile for which compiling once and running often take the least time."""
    return min(_tiles(s, result, terms), key=lambda timed: timed[0])[1]


def _tiles(s: ConvShape, result: tuple[int, int, int, int], terms: int) -> Iterator[tuple[float, Mapping[str, int]]]:
    """All tiles, each with the time that it takes."""
    batch, channels, height, width = result
    for rows, quads, deep in product(*SIDES):
        products = rows * quads * deep * s.kernel_h * s.kernel_w
        loads = (rows + s.kernel_h - 1) * (4 * quads + s.kernel_w - 1) + deep * s.kernel_h * s.kernel_w
        threads = batch * ceil(height / rows) * ceil(width / (4 * quads)) * ceil(channels / deep)
        running = threads * terms * (products * PRODUCT + loads * LOAD)
        compiling = products * COMPILED_PRODUCT + loads * COMPILED_LOAD
        yield RUNS * running + compiling, {"ROWS": rows, "QUADS": quads, "CHANNELS": deep, "THREADS": 8}
