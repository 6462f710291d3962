"""How the versions of conv2d_grad_input are dispatched."""

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
    tile, chunk = kernel.value("TILE"), kernel.value("CHUNK")
    planes, weights = s.batch * s.in_channels, s.kernel_h * s.kernel_w
    layers, loaded = min(planes, MAX_WORKGROUPS), min(weights, chunk)
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
    rule = "all pixels are in one class, so that the stride must be 2 or more"
    return f"stride = 1: {rule}" if s.stride_h == 1 else ""


@takes(simple_rule, stride_rule)
def residue_classes(s: ConvShape, kernel: Kernel) -> Schedule:
    """One product for each class of pixels, and more than one for a class with many taps."""
    run = whole_steps(s.out_channels, kernel)
    down, across = (_taps(size, s.stride_h) for size in (s.kernel_h, s.kernel_w))
    steps = [h * w * run // kernel.value("TILE_K") for h in down for w in across]  # the first class has the most
    pixels = s.batch * ceil(s.in_h / s.stride_h) * ceil(s.in_w / s.stride_w)
    tile_m, tile_n = tiles_for(s.in_channels)[0]
    product = Tiling(s.in_channels, pixels, sum(steps), *chosen(kernel, TILE_M=tile_m, TILE_N=tile_n))
    (pieces,) = chosen(kernel, PIECES=_pieces(product, steps))
    piece_steps, layers = ceil(steps[0] / pieces), len(steps) * pieces
    weights = product.laid_out_bytes(kernel)
    passes = (
        Step(flat(weights // 16), 0, "lay_out_weights"),
        replace(product, splits=layers).step("main")._replace(iterations=nested_loops(piece_steps)),
        Step(flat(prod(s.input)), nested_loops(pieces), "interleave"),
    )
    constants = {
        **shared.layer(s, kernel),
        **product.constants,
        "RUN": run,
        "PIECES": pieces,
        "PIECE_STEPS": piece_steps,
    }
    del constants["SPLITS"]
    return Schedule(passes, {"weights_by_k": weights, "parts": 4 * layers * s.in_channels * pixels}, constants)


def _taps(size: int, stride: int) -> list[int]:
    """How many taps along one side of a filter belong to each class of pixels that has any."""
    return [len(range(rest, size, stride)) for rest in range(min(stride, size))]


def _pieces(product: Tiling, steps: Sequence[int]) -> int:
    """Into how many pieces the first class is split, and the others into pieces of the same size: the fastest."""
    most = max(1, min(steps[0], MAX_BINDING // (4 * product.m * product.n * len(steps))))
    return min(range(1, most + 1), key=lambda pieces: _time_of_pieces(product, steps, pieces))


def _time_of_pieces(product: Tiling, steps: Sequence[int], pieces: int) -> float:
    """As `Tiling.time`, but workgroups differ: later ones fill gaps, and if all start at once, gaps remain."""
    size = ceil(steps[0] / pieces)
    count = sum(ceil(of_class / size) for of_class in steps)
    work = prod(product.tiles) * (sum(steps) + OVERHEAD * count) / MULTIPROCESSORS
    gaps = size / 2 if prod(product.tiles) * count <= AT_ONCE else 0
    return work + gaps + count * product.m * product.n / PARTS


# --- 7_split_channels: several threads share a sum ----------------------------------------------------------

# Measured on an NVIDIA H200 with LeNet's layers.
MOST_SLICES, MOST_CHANNELS = 8, 3  # threads that share a sum, and the channels of each


def fours_rule(s: ConvShape) -> str:
    """Rows of outputs that can be loaded in fours."""
    return f"oW = {s.out_w}: outputs are loaded in fours, so it must be divisible by 4" if s.out_w % 4 else ""


@takes(simple_rule, windows_rule, fours_rule)
def split_channels(s: ConvShape, kernel: Kernel) -> Schedule:
    """Four input pixels for several threads, which share the output channels."""
    best = {"SLICES": min(MOST_SLICES, s.out_channels), "CHANNELS": shared.equal_length(s.in_channels, MOST_CHANNELS)}
    kernel = sized(kernel, {**shared.layer(s, kernel), **best})
    channels, slices = kernel.value("CHANNELS"), kernel.value("SLICES")
    x, y, _ = flat(s.batch * s.in_h * kernel.value("ACROSS"), kernel.value("TILES"))
    iterations = nested_loops(ceil(s.out_channels / slices)) + nested_loops(ceil(channels / slices))
    step = Step((x, y, ceil(s.in_channels / channels)), iterations)
    return Schedule((step,), constants=dict(kernel.constants))
