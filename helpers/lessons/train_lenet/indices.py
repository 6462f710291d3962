"""The numbers that make one number of a network: the terms of each operation, in plain Python, without a GPU.

The index sets are those of lessons 01 to 06: the windows of pooling are those of a convolution. The tests prove each
set equal to what the first version of the kernel reads.
"""

from collections.abc import Callable, Mapping
from itertools import chain, product
from typing import NamedTuple

from helpers.operations.convolution import indices as convolution
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.indices import gemm_terms
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape

Index = tuple[int, ...]  # of an operation's tensor, with the image as the first number where it has one
Factor = tuple[str, Index]  # an operation's name of a tensor, and the place in it
Term = tuple[Factor, ...]  # the factors of one product


class Made(NamedTuple):
    """The recipe of one number: the products that it is made of, what else is read to decide, and what becomes of them.

    `rule` is "summed", "activated" (a sum), "largest", "won" (those of windows whose maximum it is), "shared" (a mean
    or a part of one), "switched" (times the activation's derivative) or "softmax".
    """

    terms: list[Term]
    decided_by: tuple[Factor, ...] = ()
    rule: str = "summed"


# --- Pooling --------------------------------------------------------------------------------------------------


def pixels_of_window(shape: PoolShape, oh: int, ow: int) -> list[tuple[int, int]]:
    """The pixels (ih, iw) in a window, row by row; padding holds none."""
    return [tap.at("input") for tap in convolution.taps_of_output(shape.windows, oh, ow)]


def windows_of_pixel(shape: PoolShape, ih: int, iw: int) -> list[tuple[int, int]]:
    """The windows (oh, ow) that hold a pixel, in the order in which a kernel's loops kh, kw find them."""
    return [tap.at("output") for tap in convolution.taps_of_pixel(shape.windows, ih, iw)]


# --- One number of each operation -------------------------------------------------------------------------------


def _conv2d(shape: ConvShape, n: int, co: int, oh: int, ow: int) -> Made:
    channels = convolution.input_channels_of(shape, co)
    taps = convolution.taps_of_output(shape, oh, ow)
    terms: list[Term] = []
    for ci, channel in enumerate(channels):
        for tap in taps:
            pixel = "input", (n, channel, tap.ih, tap.iw)
            weight = "weight", (co, ci, tap.kh, tap.kw)
            terms.append((pixel, weight))
    bias = "bias", (co,)
    return Made([*terms, (bias,)], rule="activated")


def _grad_weight(shape: ConvShape, co: int, ci: int, kh: int, kw: int) -> Made:
    channel = convolution.input_channels_of(shape, co)[ci]
    taps = convolution.taps_of_weight(shape, kh, kw)
    terms: list[Term] = []
    for n in range(shape.batch):
        for tap in taps:
            upstream = "grad_output", (n, co, tap.oh, tap.ow)
            pixel = "input", (n, channel, tap.ih, tap.iw)
            terms.append((upstream, pixel))
    return Made(terms)


def _grad_bias(shape: ConvShape, co: int) -> Made:
    terms: list[Term] = []
    for n, oh, ow in product(range(shape.batch), range(shape.out_h), range(shape.out_w)):
        upstream = "grad_output", (n, co, oh, ow)
        terms.append((upstream,))
    return Made(terms)


def _grad_input(shape: ConvShape, n: int, ci: int, ih: int, iw: int) -> Made:
    channel_in_group = ci % (shape.in_channels // shape.groups)
    taps = convolution.taps_of_pixel(shape, ih, iw)
    terms: list[Term] = []
    for co in convolution.output_channels_of(shape, ci):
        for tap in taps:
            upstream = "grad_output", (n, co, tap.oh, tap.ow)
            weight = "weight", (co, channel_in_group, tap.kh, tap.kw)
            terms.append((upstream, weight))
    return Made(terms)


def _max_pool(shape: PoolShape, n: int, c: int, oh: int, ow: int) -> Made:
    return Made(_pixels(shape, n, c, oh, ow), rule="largest")


def _avg_pool(shape: PoolShape, n: int, c: int, oh: int, ow: int) -> Made:
    return Made(_pixels(shape, n, c, oh, ow), rule="shared")


def _pixels(shape: PoolShape, n: int, c: int, oh: int, ow: int) -> list[Term]:
    """Each pixel of a window as a term."""
    terms: list[Term] = []
    for ih, iw in pixels_of_window(shape, oh, ow):
        pixel = "input", (n, c, ih, iw)
        terms.append((pixel,))
    return terms


def _pool_backward(shape: PoolShape, n: int, c: int, ih: int, iw: int) -> Made:
    terms: list[Term] = []
    for oh, ow in windows_of_pixel(shape, ih, iw):
        upstream = "grad_output", (n, c, oh, ow)
        terms.append((upstream,))
    return Made(terms, rule="shared")


def _max_backward(shape: PoolShape, n: int, c: int, ih: int, iw: int) -> Made:
    rivals = set()
    for oh, ow in windows_of_pixel(shape, ih, iw):
        rivals.update(pixels_of_window(shape, oh, ow))
    decided_by = tuple(("input", (n, c, *pixel)) for pixel in sorted(rivals))
    shared = _pool_backward(shape, n, c, ih, iw)
    return Made(shared.terms, decided_by, "won")


def _relu_backward(shape: ElementShape, i: int) -> Made:
    upstream = "grad_output", (i,)
    output = "output", (i,)
    return Made([(upstream,)], (output,), "switched")


def _logit(shape: LossShape, row: int, column: int) -> Made:
    terms: list[Term] = []
    for c in range(shape.classes):
        logit = "logits", (row, c)
        terms.append((logit,))
    label = "labels", (row,)
    return Made(terms, (label,), "softmax")


def _loss(shape: LossShape, row: int) -> Made:
    return _logit(shape, row, 0)


def _gemm(product: str, left: str, right: str = "") -> Callable[..., Made]:
    """The terms of a product of lesson 06 of two tensors, or of a sum of one; images are the rows of one item."""

    def made(shape: GemmShape, *index: int) -> Made:
        column = index[-1]
        row = index[-2] if len(index) > 1 else 0
        terms: list[Term] = []
        for left_cell, right_cell in gemm_terms(product, (shape.m, shape.k, shape.n), row, column):
            factors = [_matrix_factor(left, left_cell)]
            if right_cell is not None:
                factors.append(_matrix_factor(right, right_cell))
            terms.append(tuple(factors))
        return Made(terms)

    return made


def _matrix_factor(tensor: str, cell: Index) -> Factor:
    """A cell of a matrix, with the item that all but the weights have."""
    if tensor == "b":
        return tensor, cell
    return tensor, (0, *cell)


_pre = _gemm("pre", "a", "b")


def _linear(shape: GemmShape, item: int, row: int, column: int) -> Made:
    products = _pre(shape, row, column).terms
    bias = "bias", (column,)
    return Made([*products, (bias,)], rule="activated")


def _linear_grad_pre(shape: GemmShape, item: int, row: int, column: int) -> Made:
    """One product with the activation's derivative, for which the kernel computes the layer's sum again."""
    layer = _linear(shape, item, row, column)
    upstream = "grad", (0, row, column)
    factors = tuple(chain.from_iterable(layer.terms))
    return Made([(upstream,)], factors, "switched")


MADE: Mapping[tuple[str, str], Callable[..., Made]] = {  # by the operation and its name of the tensor
    ("conv2d", "output"): _conv2d,
    ("conv2d_grad_weight", "grad_weight"): _grad_weight,
    ("conv2d_grad_bias", "grad_bias"): _grad_bias,
    ("conv2d_grad_input", "grad_input"): _grad_input,
    ("max_pool2d", "output"): _max_pool,
    ("avg_pool2d", "output"): _avg_pool,
    ("max_pool2d_backward", "grad_input"): _max_backward,
    ("avg_pool2d_backward", "grad_input"): _pool_backward,
    ("relu_backward", "grad_pre"): _relu_backward,
    ("cross_entropy", "losses"): _loss,
    ("cross_entropy", "grad_logits"): _logit,
    ("gemm_bias_act", "output"): _linear,
    ("gemm_bias_act_backward", "grad_pre"): _linear_grad_pre,
    ("gemm_bias_act_backward", "d_a"): _gemm("d_a", "grad_pre", "b"),
    ("gemm_bias_act_backward", "d_b"): _gemm("d_b", "a", "grad_pre"),
    ("gemm_bias_act_backward", "d_bias"): _gemm("d_bias", "grad_pre"),
}
