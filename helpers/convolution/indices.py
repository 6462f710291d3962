"""Which inputs contribute to which weight: the index arithmetic of the pictures, in plain Python and without a GPU.

The tests prove each of these sets equal to what the kernels read, element by element.
"""

from itertools import product
from typing import NamedTuple

from helpers.convolution.shapes import ConvShape


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
    contributions = []
    for n, oh, ow in product(range(shape.batch), range(shape.out_h), range(shape.out_w)):
        ih = oh * shape.stride + kh - shape.padding_h
        iw = ow * shape.stride + kw - shape.padding_w
        if 0 <= ih < shape.in_h and 0 <= iw < shape.in_w:
            contributions.append(Contribution(n, oh, ow, ih, iw))
    return contributions


def weight_of_thread(shape: ConvShape, index: int) -> tuple[int, int, int, int] | None:
    """The weight (co, ci, kh, kw) of thread `index` where each thread owns one, or None past the last weight."""
    rest, kw = divmod(index, shape.kernel_w)
    rest, kh = divmod(rest, shape.kernel_h)
    co, ci = divmod(rest, shape.in_channels)
    return (co, ci, kh, kw) if co < shape.out_channels else None


def products_of_thread(shape: ConvShape, thread: int, threads: int) -> range:
    """The products that one of `threads` threads takes where a workgroup shares a weight, numbered in loop order."""
    return range(thread, shape.batch * shape.out_h * shape.out_w, threads)
