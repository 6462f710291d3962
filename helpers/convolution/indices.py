"""Which pixels, weights and outputs belong together: the pictures' index arithmetic, in plain Python, without a GPU.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

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


# --- Products -------------------------------------------------------------------------------------------------


class Tap(NamedTuple):
    """One product input[n,ci,ih,iw] * weight[co,ci,kh,kw] in the output [n,co,oh,ow], the same for all n, co and ci.

    In the gradient of the weight, it is grad_output times input, and in that of the input grad_output times weight.
    """

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


def taps_of_weight(shape: ConvShape, kh: int, kw: int) -> list[Tap]:
    """To which outputs the weight at (kh, kw) contributes, and the pixel that it multiplies for each of them."""
    outputs = product(range(shape.out_h), range(shape.out_w))
    return [tap for oh, ow in outputs if (tap := _tap(shape, oh, ow, kh, kw))]


def taps_of_pixel(shape: ConvShape, ih: int, iw: int) -> list[Tap]:
    """Which outputs have the pixel at (ih, iw) in their windows, in the order in which a kernel's loops kh, kw go.

    The places are the same for all images and all pairs of channels (co, ci).
    """
    found = []
    for kh, kw in product(range(shape.kernel_h), range(shape.kernel_w)):
        oh = output_of(ih + shape.padding_h - kh * shape.dilation_h, shape.stride_h, shape.out_h)
        ow = output_of(iw + shape.padding_w - kw * shape.dilation_w, shape.stride_w, shape.out_w)
        if oh is not None and ow is not None:
            found.append(Tap(oh, ow, kh, kw, ih, iw))
    return found


def output_of(position: int, stride: int, outputs: int) -> int | None:
    """The output row whose window begins at row `position` of the padded input, or None; columns likewise."""
    output, rest = divmod(position, stride)
    return output if rest == 0 and 0 <= output < outputs else None


# --- What a thread computes -----------------------------------------------------------------------------------


def weight_of_thread(shape: ConvShape, index: int) -> tuple[int, int, int, int] | None:
    """The weight (co, ci, kh, kw) of thread `index` where each thread owns one, or None past the last weight."""
    return tuple(map(int, np.unravel_index(index, shape.weight))) if index < prod(shape.weight) else None


def products_of_thread(shape: ConvShape, thread: int, threads: int) -> range:
    """The products that one of `threads` threads takes where a workgroup shares a weight, numbered in loop order."""
    return range(thread, shape.batch * shape.out_h * shape.out_w, threads)
