"""Which pixels, weights and outputs belong together: the pictures' index arithmetic, in plain Python, without a GPU.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.convolution.shapes import ConvShape

# --- Groups ---------------------------------------------------------------------------------------------------


def input_channels_of(shape: ConvShape, co: int) -> range:
    """The input channels that output channel `co` reads: its group's. The weight [co, ci] multiplies that at `ci`."""
    return _partners(co, shape.out_channels // shape.groups, shape.in_channels // shape.groups)


def output_channels_of(shape: ConvShape, ci: int) -> range:
    """The output channels that read input channel `ci`: those of its group."""
    return _partners(ci, shape.in_channels // shape.groups, shape.out_channels // shape.groups)


def _partners(channel: int, own: int, other: int) -> range:
    """The channels on the other side in a channel's group, with this many of its own kind and of the other."""
    return range(channel // own * other, (channel // own + 1) * other)


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
    window = (_tap(shape, oh, ow, kh, kw) for kh, kw in product(range(shape.kernel_h), range(shape.kernel_w)))
    return [tap for tap in window if tap]


def _tap(shape: ConvShape, oh: int, ow: int, kh: int, kw: int) -> Tap | None:
    """The product of an output and a weight; None where the pixel is padding."""
    ih = oh * shape.stride_h + kh * shape.dilation_h - shape.padding_h
    iw = ow * shape.stride_w + kw * shape.dilation_w - shape.padding_w
    inside = 0 <= ih < shape.in_h and 0 <= iw < shape.in_w
    return Tap(oh, ow, kh, kw, ih, iw) if inside else None


def taps(shape: ConvShape) -> Iterator[Tap]:
    """Every product of one image and one pair of channels, output by output."""
    for oh, ow in product(range(shape.out_h), range(shape.out_w)):
        yield from taps_of_output(shape, oh, ow)


def taps_of_weight(shape: ConvShape, kh: int, kw: int) -> list[Tap]:
    """To which outputs the weight at (kh, kw) contributes, and the pixel that it multiplies for each of them."""
    outputs = product(range(shape.out_h), range(shape.out_w))
    return [tap for oh, ow in outputs if (tap := _tap(shape, oh, ow, kh, kw))]


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
    image_taps = taps_of_weight(shape, kh, kw)
    return [Contribution(n, tap.oh, tap.ow, tap.ih, tap.iw) for n in range(shape.batch) for tap in image_taps]


def weight_of_thread(shape: ConvShape, index: int) -> tuple[int, int, int, int] | None:
    """The weight (co, ci, kh, kw) of thread `index` where each thread owns one, or None past the last weight."""
    return tuple(map(int, np.unravel_index(index, shape.weight))) if index < prod(shape.weight) else None


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
    gathered = []
    for kh, kw in product(range(shape.kernel_h), range(shape.kernel_w)):
        oh = output_of(ih + shape.padding_h - kh * shape.dilation_h, shape.stride_h, shape.out_h)
        ow = output_of(iw + shape.padding_w - kw * shape.dilation_w, shape.stride_w, shape.out_w)
        if oh is not None and ow is not None:
            gathered.append(Gathered(kh, kw, oh, ow))
    return gathered
