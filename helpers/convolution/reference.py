"""Convolution and its three gradients in float64: first as loops to read, then vectorized.

Every kernel is compared with this file, so each formula is here twice: ``..._loops`` computes one product at a
time, and the vectorized version, without ``_loops``, is one einsum over all windows of the input. The tests compare
the two with each other and with SciPy.

Letters: batch n in N, input channel ci in Ci, output channel co in Co, input row and column ih, iw in H, W,
output row and column oh, ow in oH, oW, filter row and column kh, kw in kH, kW, stride S, padding Ph, Pw.
``oH = (H + 2*Ph - kH) // S + 1``, and oW likewise.

Every function casts to float64, returns float64 and trusts its arguments; the public functions check them. The
vectorized versions need finite data: they multiply by the zeros of the padding, which the loops skip.
"""

import numpy as np

from helpers.activations import act
from helpers.convolution.shapes import ConvShape

Array = np.ndarray
Padding = int | tuple[int, int]  # one number for both axes, or (Ph, Pw)
Size = tuple[int, ...]

# --- Loops: one product at a time ------------------------------------------------------


def conv2d_loops(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: int = 1,
    padding: Padding = 0,
) -> Array:
    """Each output sums one window of the input, every pixel times its weight.

    input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co,) -> (N, Co, oH, oW)
    """
    input = np.asarray(input, np.float64)  # (N, Ci, H, W)
    weight = np.asarray(weight, np.float64)  # (Co, Ci, kH, kW)
    (N, Ci, H, W), (Co, Ci, kH, kW) = input.shape, weight.shape
    S, (Ph, Pw) = stride, np.broadcast_to(padding, 2)
    oH, oW = (H + 2 * Ph - kH) // S + 1, (W + 2 * Pw - kW) // S + 1
    output = np.zeros((N, Co, oH, oW))  # (N, Co, oH, oW)
    for n, co, oh, ow in np.ndindex(N, Co, oH, oW):  # for each output
        total = 0.0 if bias is None else float(bias[co])
        for ci, kh, kw in np.ndindex(Ci, kH, kW):  # for each weight of the filter
            ih, iw = oh * S + kh - Ph, ow * S + kw - Pw
            if 0 <= ih < H and 0 <= iw < W:  # padding adds nothing
                total += input[n, ci, ih, iw] * weight[co, ci, kh, kw]
        output[n, co, oh, ow] = total
    return output


def conv2d_grad_weight_loops(
    input: Array,
    weight_size: Size,
    grad_output: Array,
    stride: int = 1,
    padding: Padding = 0,
) -> Array:
    """Each weight sums upstream gradient times pixel, over all outputs.

    input (N, Ci, H, W), grad_output (N, Co, oH, oW) -> grad_weight (Co, Ci, kH, kW)
    """
    input = np.asarray(input, np.float64)  # (N, Ci, H, W)
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    (N, Ci, H, W), (N, Co, oH, oW) = input.shape, grad_output.shape
    (Co, Ci, kH, kW), S, (Ph, Pw) = weight_size, stride, np.broadcast_to(padding, 2)
    grad_weight = np.zeros((Co, Ci, kH, kW))  # (Co, Ci, kH, kW)
    for co, ci, kh, kw in np.ndindex(Co, Ci, kH, kW):  # for each weight
        total = 0.0
        for n, oh, ow in np.ndindex(N, oH, oW):  # for each output it contributed to
            ih, iw = oh * S + kh - Ph, ow * S + kw - Pw
            if 0 <= ih < H and 0 <= iw < W:  # padding adds nothing
                total += grad_output[n, co, oh, ow] * input[n, ci, ih, iw]
        grad_weight[co, ci, kh, kw] = total
    return grad_weight


def conv2d_grad_input_loops(
    input_size: Size,
    weight: Array,
    grad_output: Array,
    stride: int = 1,
    padding: Padding = 0,
) -> Array:
    """Each pixel sums upstream gradient times weight, over the outputs it is in.

    weight (Co, Ci, kH, kW), grad_output (N, Co, oH, oW) -> grad_input (N, Ci, H, W)
    """
    weight = np.asarray(weight, np.float64)  # (Co, Ci, kH, kW)
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    (Co, Ci, kH, kW), (N, Co, oH, oW) = weight.shape, grad_output.shape
    (N, Ci, H, W), S, (Ph, Pw) = input_size, stride, np.broadcast_to(padding, 2)
    grad_input = np.zeros((N, Ci, H, W))  # (N, Ci, H, W)
    for n, ci, ih, iw in np.ndindex(N, Ci, H, W):  # for each input pixel
        total = 0.0
        for co, kh, kw in np.ndindex(Co, kH, kW):  # for each weight
            oh, rest_h = divmod(ih + Ph - kh, S)  # from ih = oh*S + kh - Ph
            ow, rest_w = divmod(iw + Pw - kw, S)
            if rest_h == rest_w == 0 and 0 <= oh < oH and 0 <= ow < oW:  # it exists
                total += grad_output[n, co, oh, ow] * weight[co, ci, kh, kw]
        grad_input[n, ci, ih, iw] = total
    return grad_input


def conv2d_grad_bias_loops(grad_output: Array) -> Array:
    """A bias was added to every output of its channel: its gradient is their sum.

    grad_output (N, Co, oH, oW) -> grad_bias (Co,)
    """
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    N, Co, oH, oW = grad_output.shape
    grad_bias = np.zeros(Co)  # (Co,)
    for co in range(Co):  # for each output channel
        total = 0.0
        for n, oh, ow in np.ndindex(N, oH, oW):  # for each output in it
            total += grad_output[n, co, oh, ow]
        grad_bias[co] = total
    return grad_bias


# --- Vectorized: one einsum over all windows -------------------------------------------
# In the subscripts o is an output channel, c an input channel, (h, w) a row and column, (i, j) one of the filter.
# Here, unlike in the loops, which lessons show, each axis has a stride (Sh, Sw) and a dilation (Dh, Dw) of its own, as
# in PyTorch's signature. Groups are independent of each other: each is a convolution of its own.

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
    """Vectorized `conv2d_loops`: output (N, Co, oH, oW)."""
    weight = np.asarray(weight, np.float64)  # (Co, Ci/G, kH, kW)
    windows = _windows(_pad(input, padding), weight.shape[2:], stride, dilation)  # (N, Ci, oH, oW, kH, kW)
    output = _by_group("nchwij,ocij->nohw", np.split(windows, groups, 1), np.split(weight, groups), 1)
    return output if bias is None else output + np.reshape(bias, (-1, 1, 1))


def conv2d_grad_weight(
    input: Array,
    weight_size: Size,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Array:
    """Vectorized `conv2d_grad_weight_loops`: grad_weight (Co, Ci/G, kH, kW)."""
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
    """Vectorized `conv2d_grad_input_loops`: grad_input (N, Ci, H, W), a full convolution, filter flipped."""
    weight, grad_output = np.asarray(weight, np.float64), np.asarray(grad_output, np.float64)
    (N, _, H, W), (Co, _, kH, kW), (oH, oW) = input_size, weight.shape, grad_output.shape[2:]
    (Sh, Sw), (Ph, Pw), (Dh, Dw) = (np.broadcast_to(pair, 2) for pair in (stride, padding, dilation))
    down, right = (kH - 1) * Dh, (kW - 1) * Dw
    spread = np.zeros((N, Co, H + 2 * Ph + down, W + 2 * Pw + right))  # zeros between and around the gradients
    spread[:, :, down::Sh, right::Sw][:, :, :oH, :oW] = grad_output
    windows = _windows(spread, (kH, kW), 1, dilation)[:, :, Ph : Ph + H, Pw : Pw + W]  # (N, Co, H, W, kH, kW)
    flipped = np.split(weight[:, :, ::-1, ::-1], groups)
    return _by_group("nohwij,ocij->nchw", np.split(windows, groups, 1), flipped, 1)


def conv2d_grad_bias(grad_output: Array) -> Array:
    """Vectorized `conv2d_grad_bias_loops`: grad_bias (Co,)."""
    return np.asarray(grad_output, np.float64).sum(axis=(0, 2, 3))


# --- The same of a ConvShape, from the tensors in the order of the kernels' bindings ------


def pre(input: Array, weight: Array, bias: Array, shape: ConvShape) -> Array:
    """What the activation is applied to, (N, Co, oH, oW)."""
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
    pairs = zip(left, right, strict=True)
    return np.concatenate([np.einsum(subscripts, *pair, optimize=True) for pair in pairs], axis)


def _pad(input: Array, padding: Pair) -> Array:
    """The input in float64 with zeros around it, (N, Ci, H + 2*Ph, W + 2*Pw)."""
    Ph, Pw = np.broadcast_to(padding, 2)
    return np.pad(np.asarray(input, np.float64), ((0, 0), (0, 0), (Ph, Ph), (Pw, Pw)))


def _windows(padded: Array, filter: Size, stride: Pair, dilation: Pair) -> Array:
    """Every position of the filter on its images, as a view: (..., oH, oW, kH, kW)."""
    (Sh, Sw), (Dh, Dw) = np.broadcast_to(stride, 2), np.broadcast_to(dilation, 2)
    span = (filter[0] - 1) * Dh + 1, (filter[1] - 1) * Dw + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, span, axis=(2, 3))
    return windows[:, :, ::Sh, ::Sw, ::Dh, ::Dw]
