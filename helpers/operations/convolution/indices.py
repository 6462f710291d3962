"""The pixels, weights and outputs that belong together: the pictures' index arithmetic, in plain Python, without a GPU.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.operations.convolution.shapes import ConvShape

Cell = tuple[int, int]  # row and column

# --- Groups ---------------------------------------------------------------------------------------------------


def input_channels_of(shape: ConvShape, co: int) -> range:
    """The input channels that output channel `co` reads: its group's. The weight [co, ci] multiplies that at `ci`."""
    return _partners(co, shape.out_channels // shape.groups, shape.in_channels // shape.groups)


def output_channels_of(shape: ConvShape, ci: int) -> range:
    """The output channels that read input channel `ci`: those of its group."""
    return _partners(ci, shape.in_channels // shape.groups, shape.out_channels // shape.groups)


def _partners(channel: int, of_a_group: int, partners_of_a_group: int) -> range:
    """Return the channels of the other tensor that are in this channel's group, given a group's size in each."""
    group = channel // of_a_group
    return range(group * partners_of_a_group, (group + 1) * partners_of_a_group)


# --- Products -------------------------------------------------------------------------------------------------


AXES = {"input": "n ci ih iw", "weight": "co ci kh kw", "output": "n co oh ow"}


def axes(tensor: str) -> list[str]:
    """The letters of a tensor's four axes, by its name or its gradient's."""
    return AXES[tensor.removeprefix("grad_")].split()


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

    def at(self, tensor: str) -> Cell:
        """Row and column of the number that it has in a tensor, by the tensor's name or its gradient's."""
        *_, row, column = axes(tensor)
        return getattr(self, row), getattr(self, column)


def taps_of(tensor: str, shape: ConvShape, row: int, column: int) -> list[Tap]:
    """All products that the number of a tensor at (row, column) has a part in; a position in the padding has none.

    They are in the order in which a kernel's loops kh, kw or, for a weight, oh, ow go.
    """
    return list(_taps(tensor, shape).get((row, column), ()))


@lru_cache(maxsize=64)
def _taps(tensor: str, shape: ConvShape) -> Mapping[Cell, list[Tap]]:
    """All products of one image and one pair of channels, by the numbers of a tensor."""
    taps: dict[Cell, list[Tap]] = {}
    for kh, kw, oh, ow in np.ndindex(*shape.weight[2:], *shape.output[2:]):
        ih = oh * shape.stride_h + kh * shape.dilation_h - shape.padding_h
        iw = ow * shape.stride_w + kw * shape.dilation_w - shape.padding_w
        if 0 <= ih < shape.in_h and 0 <= iw < shape.in_w:
            tap = Tap(oh, ow, kh, kw, ih, iw)
            taps.setdefault(tap.at(tensor), []).append(tap)
    return taps


taps_of_output = partial(taps_of, "output")  # the pixels and weights that make an output
taps_of_weight = partial(taps_of, "weight")  # the outputs to which a weight contributes
taps_of_pixel = partial(taps_of, "input")  # the outputs that see a pixel

# --- The work of a thread -------------------------------------------------------------------------------------


def weight_of_thread(shape: ConvShape, index: int) -> tuple[int, int, int, int] | None:
    """The weight (co, ci, kh, kw) of thread `index` where each thread owns one, or None past the last weight."""
    if index >= prod(shape.weight):
        return None
    co, ci, kh, kw = np.unravel_index(index, shape.weight)
    return int(co), int(ci), int(kh), int(kw)


def products_of_thread(shape: ConvShape, thread: int, threads: int) -> range:
    """The products that one of `threads` threads takes where a workgroup shares a weight, numbered in loop order."""
    return range(thread, shape.batch * shape.out_h * shape.out_w, threads)
