"""Which pixels, weights and outputs belong together: the pictures' index arithmetic, in plain Python, without a GPU.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from helpers.convolution.shapes import ConvShape

# --- Groups ---------------------------------------------------------------------------------------------------


def input_channels_of(shape: ConvShape, co: int) -> range:
    """The input channels that output channel `co` reads: its group's. The weight [co, ci] multiplies that at `ci`."""
    count = shape.in_channels // shape.groups
    first = co // (shape.out_channels // shape.groups) * count
    return range(first, first + count)


def output_channels_of(shape: ConvShape, ci: int) -> range:
    """The output channels that read input channel `ci`: those of its group."""
    count = shape.out_channels // shape.groups
    first = ci // (shape.in_channels // shape.groups) * count
    return range(first, first + count)


# --- The forward pass -----------------------------------------------------------------------------------------


class Tap(NamedTuple):
    """One product input[n,ci,ih,iw] * weight[co,ci,kh,kw] in the output [n,co,oh,ow], the same for all n, co and ci."""

    oh: int
    ow: int
    kh: int
    kw: int
    ih: int
    iw: int


def taps_of_output(shape: ConvShape, oh: int, ow: int) -> list[Tap]:
    """Which pixels and weights make the output at (oh, ow), in the order in which a kernel's loops read them.

    A position in the padding contributes nothing.
    """
    found = []
    for kh, kw in product(range(shape.kernel_h), range(shape.kernel_w)):
        ih = oh * shape.stride_h + kh * shape.dilation_h - shape.padding_h
        iw = ow * shape.stride_w + kw * shape.dilation_w - shape.padding_w
        if 0 <= ih < shape.in_h and 0 <= iw < shape.in_w:
            found.append(Tap(oh, ow, kh, kw, ih, iw))
    return found


def taps(shape: ConvShape) -> Iterator[Tap]:
    """Every product of one image and one pair of channels, output by output."""
    for oh, ow in product(range(shape.out_h), range(shape.out_w)):
        yield from taps_of_output(shape, oh, ow)


def taps_of_weight(shape: ConvShape, kh: int, kw: int) -> list[Tap]:
    """To which outputs the weight at (kh, kw) contributes, and the pixel that it multiplies for each of them."""
    return [tap for tap in taps(shape) if (tap.kh, tap.kw) == (kh, kw)]


def taps_of_pixel(shape: ConvShape, ih: int, iw: int) -> list[Tap]:
    """To which outputs the pixel at (ih, iw) contributes, and the weight that multiplies it for each of them."""
    return [tap for tap in taps(shape) if (tap.ih, tap.iw) == (ih, iw)]


# --- The weight gradient --------------------------------------------------------------------------------------


class Contribution(NamedTuple):
    """One product grad_output[n,co,oh,ow] * input[n,ci,ih,iw] in the gradient of one weight."""

    n: int
    oh: int
    ow: int
    ih: int
    iw: int


def contributions_to_weight(shape: ConvShape, kh: int, kw: int) -> list[Contribution]:
    """Which inputs contribute to the weights at (kh, kw), in the order in which a kernel's loops n, oh, ow read them.

    The places are the same for all pairs of channels (co, ci). A position in the padding contributes nothing.
    """
    found = taps_of_weight(shape, kh, kw)
    return [Contribution(n, tap.oh, tap.ow, tap.ih, tap.iw) for n in range(shape.batch) for tap in found]


def weight_of_thread(shape: ConvShape, index: int) -> tuple[int, int, int, int] | None:
    """The weight (co, ci, kh, kw) of thread `index` where each thread owns one, or None past the last weight."""
    rest, kw = divmod(index, shape.kernel_w)
    rest, kh = divmod(rest, shape.kernel_h)
    co, ci = divmod(rest, shape.in_channels)
    return (co, ci, kh, kw) if co < shape.out_channels else None


def products_of_thread(shape: ConvShape, thread: int, threads: int) -> range:
    """The products that one of `threads` threads takes where a workgroup shares a weight, numbered in loop order."""
    return range(thread, shape.batch * shape.out_h * shape.out_w, threads)


# --- The input gradient ---------------------------------------------------------------------------------------


class Gathered(NamedTuple):
    """One product grad_output[n,co,oh,ow] * weight[co,ci,kh,kw] in the gradient of one pixel."""

    kh: int
    kw: int
    oh: int
    ow: int


def output_of(position: int, stride: int, outputs: int) -> int | None:
    """The output row whose window begins at row `position` of the padded input, or None; columns likewise."""
    output, rest = divmod(position, stride)
    return output if rest == 0 and 0 <= output < outputs else None


def contributions_to_pixel(shape: ConvShape, ih: int, iw: int) -> list[Gathered]:
    """Which outputs have the pixels at (ih, iw) in their windows, in the order in which a kernel's loops add them.

    The places are the same for all images and all pairs of channels (co, ci).
    """
    row, column = ih + shape.padding_h, iw + shape.padding_w
    reached = (output_of(row - kh * shape.dilation_h, shape.stride_h, shape.out_h) for kh in range(shape.kernel_h))
    rows = list(enumerate(reached))
    reached = (output_of(column - kw * shape.dilation_w, shape.stride_w, shape.out_w) for kw in range(shape.kernel_w))
    pairs = product(rows, list(enumerate(reached)))
    return [Gathered(kh, kw, oh, ow) for (kh, oh), (kw, ow) in pairs if oh is not None and ow is not None]
