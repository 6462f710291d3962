"""Convolution and its three gradients in float64: first as loops to read, then vectorized.

Every kernel is compared with this file, so each formula is here twice: `conv2d_loops` computes one product at a time,
and each of the vectorized versions is one einsum over all windows of the input. The tests compare them with each other
and with SciPy.

Letters: batch n in N, input channel ci in Ci, output channel co in Co, input row and column ih, iw in H, W,
output row and column oh, ow in oH, oW, filter row and column kh, kw in kH, kW, stride S, padding Ph, Pw.
``oH = (H + 2*Ph - kH) // S + 1``, and oW likewise.

Every function casts to float64, returns float64 and trusts its arguments; the public functions check them. The
vectorized versions need finite data: they multiply by the zeros of the padding, which the loops skip.
"""

import numpy as np

from helpers.operations.activations import act
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
Padding = int | tuple[int, int]  # one number for both axes, or (Ph, Pw)
Size = tuple[int, ...]

# --- Loops: one product at a time ------------------------------------------------------


def conv2d_loops(
    input: Array,
    weight: Array,
    bias: Array,
    grad_output: Array,
    stride: int = 1,
    padding: Padding = 0,
) -> tuple[Array, Array, Array, Array]:
    """The output, and the gradients: each product of an output has a part in two.

    input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co,)
    -> output and grad_output (N, Co, oH, oW), grad_weight, grad_input, grad_bias
    """
    input, weight = np.float64(input), np.float64(weight)
    bias, grad_output = np.float64(bias), np.float64(grad_output)
    output = np.zeros_like(grad_output)
    grad_weight = np.zeros_like(weight)
    grad_input = np.zeros_like(input)
    grad_bias = np.zeros_like(bias)
    N, Ci, H, W = input.shape
    Co, Ci, kH, kW = weight.shape
    N, Co, oH, oW = grad_output.shape
    S = stride
    Ph, Pw = np.broadcast_to(padding, 2)
    for n, co, oh, ow in np.ndindex(N, Co, oH, oW):  # for each output
        dy = grad_output[n, co, oh, ow]
        output[n, co, oh, ow] += bias[co]
        grad_bias[co] += dy
        for ci, kh, kw in np.ndindex(Ci, kH, kW):  # for each weight of the filter
            ih, iw = oh * S + kh - Ph, ow * S + kw - Pw
            if 0 <= ih < H and 0 <= iw < W:  # padding adds nothing
                x = input[n, ci, ih, iw]
                w = weight[co, ci, kh, kw]
                output[n, co, oh, ow] += x * w
                grad_weight[co, ci, kh, kw] += dy * x
                grad_input[n, ci, ih, iw] += dy * w
    return output, grad_weight, grad_input, grad_bias


# --- Vectorized: one einsum over all windows -------------------------------------------
# In the subscripts o is an output channel, c an input channel, (h, w) a row and column, (i, j) one of the filter.
# Here, unlike in the loops, each axis has a stride (Sh, Sw) and a dilation (Dh, Dw) of its own, as in PyTorch's
# signature. Groups are independent of each other: each is a convolution of its own.

Pair = Padding  # so are strides and dilations given here


def conv2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Array:
    """Each output sums one window of the input, every pixel times its weight: (N, Co, oH, oW)."""
    weight = np.asarray(weight, np.float64)  # (Co, Ci/G, kH, kW)
    windows = _windows(_pad(input, padding), weight.shape[2:], stride, dilation)  # (N, Ci, oH, oW, kH, kW)
    output = _by_group("nchwij,ocij->nohw", np.split(windows, groups, 1), np.split(weight, groups), 1)
    if bias is None:
        return output
    return output + np.reshape(bias, (-1, 1, 1))


def conv2d_grad_weight(
    input: Array,
    weight_size: Size,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Array:
    """Each weight sums upstream gradient times pixel, over all outputs: (Co, Ci/G, kH, kW)."""
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    windows = _windows(_pad(input, padding), weight_size[2:], stride, dilation)  # (N, Ci, oH, oW, kH, kW)
    return _by_group("nohw,nchwij->ocij", np.split(grad_output, groups, 1), np.split(windows, groups, 1), 0)


def conv2d_grad_input(
    input_size: Size,
    weight: Array,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Array:
    """Each pixel sums upstream gradient times weight, over the outputs it is in: (N, Ci, H, W).

    A full convolution, filter flipped.
    """
    weight = np.asarray(weight, np.float64)
    grad_output = np.asarray(grad_output, np.float64)
    N, _, H, W = input_size
    Co, _, kH, kW = weight.shape
    oH, oW = grad_output.shape[2:]
    Sh, Sw = np.broadcast_to(stride, 2)
    Ph, Pw = np.broadcast_to(padding, 2)
    Dh, Dw = np.broadcast_to(dilation, 2)
    down = (kH - 1) * Dh
    right = (kW - 1) * Dw
    spread = np.zeros((N, Co, H + 2 * Ph + down, W + 2 * Pw + right))  # zeros between and around the gradients
    spread[:, :, down::Sh, right::Sw][:, :, :oH, :oW] = grad_output
    windows = _windows(spread, (kH, kW), 1, dilation)[:, :, Ph : Ph + H, Pw : Pw + W]  # (N, Co, H, W, kH, kW)
    flipped = np.split(weight[:, :, ::-1, ::-1], groups)
    return _by_group("nohwij,ocij->nchw", np.split(windows, groups, 1), flipped, 1)


def conv2d_grad_bias(grad_output: Array) -> Array:
    """A bias was added to every output of its channel: its gradient is their sum, (Co,)."""
    return np.asarray(grad_output, np.float64).sum(axis=(0, 2, 3))


# --- The same of a ConvShape, from the tensors in the order of the kernels' bindings ------


def pre(input: Array, weight: Array, bias: Array, shape: ConvShape) -> Array:
    """The argument of the activation, (N, Co, oH, oW)."""
    return conv2d(input, weight, bias, **shape.steps)


def output(input: Array, weight: Array, bias: Array, shape: ConvShape) -> Array:
    """The output, (N, Co, oH, oW)."""
    return act(pre(input, weight, bias, shape), shape.activation)


def grad_weight(grad_output: Array, input: Array, shape: ConvShape) -> Array:
    """The weight gradient, (Co, Ci/G, kH, kW)."""
    return conv2d_grad_weight(input, shape.weight, grad_output, **shape.steps)


def grad_input(grad_output: Array, weight: Array, shape: ConvShape) -> Array:
    """The input gradient, (N, Ci, H, W)."""
    return conv2d_grad_input(shape.input, weight, grad_output, **shape.steps)


def _by_group(subscripts: str, left: list[Array], right: list[Array], axis: int) -> Array:
    """A product for each group, side by side along an axis of channels."""
    products = []
    for of_left, of_right in zip(left, right, strict=True):
        products.append(np.einsum(subscripts, of_left, of_right, optimize=True))
    return np.concatenate(products, axis)


def _pad(input: Array, padding: Pair) -> Array:
    """The input in float64 with zeros around it, (N, Ci, H + 2*Ph, W + 2*Pw)."""
    Ph, Pw = np.broadcast_to(padding, 2)
    return np.pad(np.asarray(input, np.float64), ((0, 0), (0, 0), (Ph, Ph), (Pw, Pw)))


def _windows(padded: Array, filter: Size, stride: Pair, dilation: Pair) -> Array:
    """Every position of the filter on its images, as a view: (..., oH, oW, kH, kW)."""
    Sh, Sw = np.broadcast_to(stride, 2)
    Dh, Dw = np.broadcast_to(dilation, 2)
    span = (filter[0] - 1) * Dh + 1, (filter[1] - 1) * Dw + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, span, axis=(2, 3))
    return windows[:, :, ::Sh, ::Sw, ::Dh, ::Dw]
