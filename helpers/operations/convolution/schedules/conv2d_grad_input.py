"""The schedules of the versions of conv2d_grad_input."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil, prod

from helpers.gpu.adapter import MAX_BINDING, MAX_WORKGROUPS
from helpers.operations.convolution.schedules import shared
from helpers.operations.convolution.schedules.shared import (
    MULTIPROCESSORS,
    OVERHEAD,
    PARTS,
    Tiling,
    simple_rule,
    takes,
    tiles_for,
    whole_steps,
    windows_rule,
)
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, Step, flat, nested_loops, one_step
from wgsl import Kernel
from wgsl.specialize import chosen, sized


@takes(simple_rule)
def gather(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.input)), nested_loops(s.out_channels, s.kernel_h, s.kernel_w))


@takes(simple_rule)
def shared_weights(s: ConvShape, kernel: Kernel) -> Schedule:
    tile = kernel.value("TILE")
    chunk = kernel.value("CHUNK")
    planes = s.batch * s.in_channels
    layers = min(planes, MAX_WORKGROUPS)
    weights = s.kernel_h * s.kernel_w
    loaded = min(weights, chunk)
    inner = ceil(loaded / tile**2) + loaded + 2  # the loads, then the products
    iterations = nested_loops(ceil(planes / layers), s.out_channels, ceil(weights / chunk), inner)
    return one_step((ceil(s.in_w / tile), ceil(s.in_h / tile), layers), iterations)


# Rows are input channels, columns input pixels, terms taps and output channels.
implicit_gemm = partial(shared.implicit_gemm, result="input")
winograd = partial(shared.winograd, result="input")
# Tiles of input pixels; the loop runs over output channels.
register_windows = partial(shared.register_windows, result="input")
# One thread for the same pixel in some images.
direct = partial(shared.direct, result="input")


# --- 4_residue_classes: at stride 2 or more, a product for each class of pixels -----------------------------

AT_ONCE = 3 * MULTIPROCESSORS  # workgroups of 128 threads: more of them wait for registers


def stride_rule(s: ConvShape) -> str:
    """More than one class of pixels."""
    if s.stride_h > 1:
        return ""
    return "stride = 1: all pixels are in one class, so that the stride must be 2 or more"


@takes(simple_rule, stride_rule)
def residue_classes(s: ConvShape, kernel: Kernel) -> Schedule:
    """One product for each class of pixels, and more than one for a class with many taps."""
    run = whole_steps(s.out_channels, kernel)
    steps = _steps_of_classes(s, run, kernel)
    pixels = s.batch * ceil(s.in_h / s.stride_h) * ceil(s.in_w / s.stride_w)
    tile_m, tile_n = tiles_for(s.in_channels)[0]
    product = Tiling(s.in_channels, pixels, sum(steps), *chosen(kernel, TILE_M=tile_m, TILE_N=tile_n))
    (pieces,) = chosen(kernel, PIECES=_pieces(product, steps))
    piece_steps = ceil(steps[0] / pieces)
    layers = len(steps) * pieces
    weights = product.laid_out_bytes(kernel)
    passes = (
        Step(flat(weights // 16), 0, "lay_out_weights"),
        replace(product, splits=layers).step("main")._replace(iterations=nested_loops(piece_steps)),
        Step(flat(prod(s.input)), nested_loops(pieces), "interleave"),
    )
    scratch = {"weights_by_k": weights, "parts": 4 * layers * s.in_channels * pixels}
    constants = {
        **shared.layer(s, kernel),
        **product.constants,
        "RUN": run,
        "PIECES": pieces,
        "PIECE_STEPS": piece_steps,
    }
    del constants["SPLITS"]
    return Schedule(passes, scratch, constants)


def _steps_of_classes(s: ConvShape, run: int, kernel: Kernel) -> list[int]:
    """The steps of the product of each class of pixels; the first class has the most."""
    steps = []
    for taps_down in _taps(s.kernel_h, s.stride_h):
        for taps_across in _taps(s.kernel_w, s.stride_h):
            steps.append(taps_down * taps_across * run // kernel.value("TILE_K"))
    return steps


def _taps(size: int, stride: int) -> list[int]:
    """The number of taps along one side of a filter, for each class of pixels that has any."""
    return [len(range(rest, size, stride)) for rest in range(min(stride, size))]


def _pieces(product: Tiling, steps: Sequence[int]) -> int:
    """The number of pieces of the first class that takes the least time; the others have pieces of the same size."""
    most = max(1, min(steps[0], MAX_BINDING // (4 * product.m * product.n * len(steps))))
    return min(range(1, most + 1), key=lambda pieces: _time_of_pieces(product, steps, pieces))


def _time_of_pieces(product: Tiling, steps: Sequence[int], pieces: int) -> float:
    """As `Tiling.time`, but workgroups differ: later ones fill gaps, and if all start at once, gaps remain."""
    size = ceil(steps[0] / pieces)
    count = sum(ceil(of_class / size) for of_class in steps)
    tiles = prod(product.tiles)
    work = tiles * (sum(steps) + OVERHEAD * count) / MULTIPROCESSORS
    gaps = size / 2 if tiles * count <= AT_ONCE else 0
    adding = count * product.m * product.n / PARTS
    return work + gaps + adding


# --- 7_split_channels: several threads share a sum ----------------------------------------------------------

# Measured on an NVIDIA H200 with LeNet's layers.
MOST_SLICES = 8  # threads that share a sum
MOST_CHANNELS = 3  # of a thread


def fours_rule(s: ConvShape) -> str:
    """Rows of outputs that can be loaded in fours."""
    if s.out_w % 4 == 0:
        return ""
    return f"oW = {s.out_w}: outputs are loaded in fours, so it must be divisible by 4"


@takes(simple_rule, windows_rule, fours_rule)
def split_channels(s: ConvShape, kernel: Kernel) -> Schedule:
    """Four input pixels for several threads, which share the output channels."""
    best = {
        "SLICES": min(MOST_SLICES, s.out_channels),
        "CHANNELS": shared.equal_length(s.in_channels, MOST_CHANNELS),
    }
    kernel = sized(kernel, {**shared.layer(s, kernel), **best})
    channels = kernel.value("CHANNELS")
    slices = kernel.value("SLICES")
    x, y, _ = flat(s.batch * s.in_h * kernel.value("ACROSS"), kernel.value("TILES"))
    iterations = nested_loops(ceil(s.out_channels / slices)) + nested_loops(ceil(channels / slices))
    step = Step((x, y, ceil(s.in_channels / channels)), iterations)
    return Schedule((step,), constants=dict(kernel.constants))
