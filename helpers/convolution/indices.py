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


def tree_steps(partial: list[float]) -> list[list[float]]:
    """The partial sums before the tree reduction and after each of its steps: lists of length T, T/2, ..., 1.

    Raises ValueError where T is not a power of two: a step that adds one half to the other would lose a sum.
    """
    if not partial or len(partial) & (len(partial) - 1):
        raise ValueError(f"partial has {len(partial)} sums: they must be a power of two")
    steps = [partial]
    while len(steps[-1]) > 1:
        half = len(steps[-1]) // 2
        steps.append([steps[-1][i] + steps[-1][i + half] for i in range(half)])
    return steps
