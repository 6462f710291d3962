"""How the convolution kernels with sums and windows in registers are dispatched: the tile that a thread computes.

A thread computes CHANNELS channels of ROWS x 4*QUADS neighboring pixels. A larger tile takes fewer loads for the same
products, and a longer text, for all of it is written out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import ceil

from helpers.convolution.schedules.layer import simple_layer, with_activation
from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import adapter_info
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.wgsl import Kernel

MOST_TAPS = 64  # of a filter

# What takes how long on a software adapter, in nanoseconds: measured with Mesa 22.3 on two cores of a 2.5 GHz Xeon.
PRODUCT, LOAD = 0.12, 1.7  # four products of a thread; one load
COMPILED_PRODUCT, COMPILED_LOAD = 1.2e6, 5e6  # each of them that is written out
RUNS = 200  # of a layer, over which the time to compile it spreads
SIDES = range(1, 17), range(1, 5), (1, 2, 4, 8)  # rows, quads and channels of a tile
SIMD = 8  # threads that a software adapter runs at once

# Measured on an NVIDIA H200 with LeNet's layers.
SMALL = {"ROWS": 1, "QUADS": 1, "CHANNELS": 2, "THREADS": 64}
MOST_SLICES, MOST_CHANNELS = 8, 3  # threads that share a sum, and the channels of each


@simple_only
def grad_input(s: ConvShape, kernel: Kernel) -> Schedule:
    """Tiles of input pixels; the loop runs over output channels."""
    return _tiled(s, kernel, s.input, s.out_channels, _best_tile(s, s.input, s.out_channels))


@simple_only
def forward(s: ConvShape, kernel: Kernel) -> Schedule:
    """Tiles of outputs; the loop runs over input channels."""
    tile = _best_tile(s, s.output, s.in_channels)
    return with_activation(s, _tiled(s, kernel, s.output, s.in_channels, tile))


@simple_only
def split_channels(s: ConvShape, kernel: Kernel) -> Schedule:
    """Four input pixels for several threads, which share the output channels."""
    deep = ceil(s.in_channels / ceil(s.in_channels / MOST_CHANNELS))
    kernel = _with_sizes(s, kernel, {"SLICES": min(MOST_SLICES, s.out_channels), "CHANNELS": deep})
    channels, slices = kernel.value("CHANNELS"), kernel.value("SLICES")
    x, y, _ = flat(s.batch * s.in_h * kernel.value("ACROSS"), kernel.value("TILES"))
    iterations = nested_loops(ceil(s.out_channels / slices)) + nested_loops(ceil(channels / slices))
    step = Step((x, y, ceil(s.in_channels / channels)), iterations)
    problem = _problem(s, kernel)
    if not problem and s.out_w % 4:
        problem = f"{kernel.name}: oW = {s.out_w}: outputs are loaded in fours, so it must be divisible by 4"
    return Schedule((step,), {}, dict(kernel.constants), problem)


def _tiled(
    s: ConvShape, kernel: Kernel, result: tuple[int, int, int, int], terms: int, tile: Mapping[str, int]
) -> Schedule:
    """One pass that writes `result`, whose elements are sums over so many channels and all taps."""
    kernel, (batch, channels, *_) = _with_sizes(s, kernel, tile), result
    x, y, _ = flat(batch * kernel.value("DOWN") * kernel.value("ACROSS"), kernel.value("THREADS"))
    deep = kernel.value("CHANNELS")
    step = Step((x, y, ceil(channels / deep)), nested_loops(terms) + nested_loops(deep))
    return Schedule((step,), {}, dict(kernel.constants), _problem(s, kernel))


def _with_sizes(s: ConvShape, kernel: Kernel, tile: Mapping[str, int]) -> Kernel:
    """The kernel with the layer's sizes and this tile; what its constants already fix is left as it is."""
    sizes = {name: size for name, size in simple_layer(s).items() if name != "STRIDE"}
    return replace(kernel, constants=tuple({**sizes, **tile, **dict(kernel.constants)}.items()))


def _problem(s: ConvShape, kernel: Kernel) -> str | None:
    """Why a version does not take a shape, or None."""
    if s.stride != (1, 1):
        return f"{kernel.name}: stride = {s.stride_h}: its windows lie side by side, so it must be 1"
    if s.kernel_h * s.kernel_w > MOST_TAPS:
        taps = f"a filter of {s.kernel_h} x {s.kernel_w} = {s.kernel_h * s.kernel_w} weights"
        return f"{kernel.name}: {taps}: all are written out, so there may be at most {MOST_TAPS}"
    return None


def _best_tile(s: ConvShape, result: tuple[int, int, int, int], terms: int) -> Mapping[str, int]:
    """The tile with which a software adapter takes the least time to compile the text once and to run it often.

    A GPU gets small tiles: more threads, and its driver can take minutes to compile the text of a large one.
    """
    if adapter_info().kind == "hardware":
        return SMALL
    return min(_tiles(s, result, terms), key=lambda timed: timed[0])[1]


def _tiles(s: ConvShape, result: tuple[int, int, int, int], terms: int) -> Iterator[tuple[float, Mapping[str, int]]]:
    """All tiles, each with the time that it takes."""
    batch, channels, height, width = result
    taps = s.kernel_h * s.kernel_w
    for rows, quads, deep in product(*SIDES):
        products = rows * quads * deep * taps
        loads = (rows + s.kernel_h - 1) * (4 * quads + s.kernel_w - 1) + deep * taps
        threads = batch * ceil(height / rows) * ceil(width / (4 * quads)) * ceil(channels / deep)
        running = threads * terms * (products * PRODUCT + loads * LOAD)
        compiling = products * COMPILED_PRODUCT + loads * COMPILED_LOAD
        yield RUNS * running + compiling, {"ROWS": rows, "QUADS": quads, "CHANNELS": deep, "THREADS": SIMD}
