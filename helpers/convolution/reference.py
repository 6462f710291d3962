"""Convolution and its three gradients in float64: first as loops to read, then as fast twins.

Every kernel is measured against this file, so it is written to be believed. Each formula stands here
twice: ``..._loops`` says it one multiplication at a time; its twin without ``_loops`` walks over the kernel
positions only and leaves the rest to NumPy. The tests hold the two against each other and against SciPy.

Letters: batch n in N, input channel ci in Ci, output channel co in Co, input row and column ih, iw in H, W,
output row and column oh, ow in oH, oW, kernel row and column kh, kw in kH, kW, stride S, padding Ph, Pw.
``oH = (H + 2*Ph - kH) // S + 1``, and oW likewise.

Every function casts to float64, returns float64 and trusts its arguments (the public functions are the ones
that check them). The twins want finite data: they multiply by the zeros of the padding, which the loops skip.
"""

from collections.abc import Iterator

import numpy as np

Array = np.ndarray
Padding = int | tuple[int, int]  # one number for both axes, or (Ph, Pw)
Size = tuple[int, ...]

# --- Loops: read these aloud ----------------------------------------------------------


def conv2d_loops(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: int = 1,
    padding: Padding = 0,
) -> Array:
    """Each output adds up one window of the input, every pixel times its weight.

    input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co,) -> output (N, Co, oH, oW)
    """
    input = np.asarray(input, np.float64)  # (N, Ci, H, W)
    weight = np.asarray(weight, np.float64)  # (Co, Ci, kH, kW)
    (N, Ci, H, W), (Co, Ci, kH, kW) = input.shape, weight.shape
    S, (Ph, Pw) = stride, np.broadcast_to(padding, 2)
    oH, oW = (H + 2 * Ph - kH) // S + 1, (W + 2 * Pw - kW) // S + 1
    output = np.zeros((N, Co, oH, oW))  # (N, Co, oH, oW)
    for n, co, oh, ow in np.ndindex(N, Co, oH, oW):  # for each output
        total = 0.0 if bias is None else float(bias[co])
        for ci, kh, kw in np.ndindex(Ci, kH, kW):  # for each weight that it meets
            ih, iw = oh * S + kh - Ph, ow * S + kw - Pw
            if 0 <= ih < H and 0 <= iw < W:  # outside the input contributes nothing
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
    """Each weight gathers, over all outputs, the upstream gradient times what it met.

    input (N, Ci, H, W), grad_output (N, Co, oH, oW) -> grad_weight (Co, Ci, kH, kW)
    """
    input = np.asarray(input, np.float64)  # (N, Ci, H, W)
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    (N, Ci, H, W), (N, Co, oH, oW) = input.shape, grad_output.shape
    (Co, Ci, kH, kW), S, (Ph, Pw) = weight_size, stride, np.broadcast_to(padding, 2)
    grad_weight = np.zeros((Co, Ci, kH, kW))  # (Co, Ci, kH, kW)
    for co, ci, kh, kw in np.ndindex(Co, Ci, kH, kW):  # for each weight
        total = 0.0
        for n, oh, ow in np.ndindex(N, oH, oW):  # for each output that it helped make
            ih, iw = oh * S + kh - Ph, ow * S + kw - Pw
            if 0 <= ih < H and 0 <= iw < W:  # outside the input contributes nothing
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
    """Each pixel gathers, over the outputs that saw it, upstream gradient times weight.

    weight (Co, Ci, kH, kW), grad_output (N, Co, oH, oW) -> grad_input (N, Ci, H, W)
    """
    weight = np.asarray(weight, np.float64)  # (Co, Ci, kH, kW)
    grad_output = np.asarray(grad_output, np.float64)  # (N, Co, oH, oW)
    (Co, Ci, kH, kW), (N, Co, oH, oW) = weight.shape, grad_output.shape
    (N, Ci, H, W), S, (Ph, Pw) = input_size, stride, np.broadcast_to(padding, 2)
    grad_input = np.zeros((N, Ci, H, W))  # (N, Ci, H, W)
    for n, ci, ih, iw in np.ndindex(N, Ci, H, W):  # for each input pixel
        total = 0.0
        for co, kh, kw in np.ndindex(Co, kH, kW):  # for each weight it may have met
            oh, rest_h = divmod(ih + Ph - kh, S)  # ih = oh * S + kh - Ph, solved for oh
            ow, rest_w = divmod(iw + Pw - kw, S)
            if rest_h == rest_w == 0 and 0 <= oh < oH and 0 <= ow < oW:  # it exists
                total += grad_output[n, co, oh, ow] * weight[co, ci, kh, kw]
        grad_input[n, ci, ih, iw] = total
    return grad_input


def conv2d_grad_bias_loops(grad_output: Array) -> Array:
    """Each bias was added to every output of its channel, so it gathers them all.

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


# --- Twins: the same sums, one kernel position at a time ------------------------------


def conv2d(input: Array, weight: Array, bias: Array | None = None, stride: int = 1, padding: Padding = 0) -> Array:
    """Twin of `conv2d_loops`: output (N, Co, oH, oW)."""
    padded, weight = _pad(input, padding), np.asarray(weight, np.float64)
    (N, _, padded_h, padded_w), (Co, _, kH, kW) = padded.shape, weight.shape
    output = np.zeros((N, Co, (padded_h - kH) // stride + 1, (padded_w - kW) // stride + 1))
    if bias is not None:
        output += np.reshape(bias, (Co, 1, 1))
    for kh, kw, window in _windows(padded, (kH, kW), output.shape, stride):
        output += np.tensordot(weight[:, :, kh, kw], window, (1, 1)).swapaxes(0, 1)  # over ci
    return output


def conv2d_grad_weight(
    input: Array, weight_size: Size, grad_output: Array, stride: int = 1, padding: Padding = 0
) -> Array:
    """Twin of `conv2d_grad_weight_loops`: grad_weight (Co, Ci, kH, kW)."""
    padded, grad_output = _pad(input, padding), np.asarray(grad_output, np.float64)
    grad_weight = np.zeros(weight_size)
    for kh, kw, window in _windows(padded, weight_size[2:], grad_output.shape, stride):
        grad_weight[:, :, kh, kw] = np.tensordot(grad_output, window, [(0, 2, 3)] * 2)  # over n, oh, ow
    return grad_weight


def conv2d_grad_input(
    input_size: Size, weight: Array, grad_output: Array, stride: int = 1, padding: Padding = 0
) -> Array:
    """Twin of `conv2d_grad_input_loops`: grad_input (N, Ci, H, W), scattered, not gathered."""
    weight, grad_output = np.asarray(weight, np.float64), np.asarray(grad_output, np.float64)
    (_, _, H, W), (Ph, Pw) = input_size, np.broadcast_to(padding, 2)
    padded = _pad(np.zeros(input_size), padding)
    for kh, kw, window in _windows(padded, weight.shape[2:], grad_output.shape, stride):
        window += np.tensordot(weight[:, :, kh, kw], grad_output, (0, 1)).swapaxes(0, 1)  # over co
    return padded[:, :, Ph : Ph + H, Pw : Pw + W].copy()


def conv2d_grad_bias(grad_output: Array) -> Array:
    """Twin of `conv2d_grad_bias_loops`: grad_bias (Co,)."""
    return np.asarray(grad_output, np.float64).sum(axis=(0, 2, 3))


def _pad(input: Array, padding: Padding) -> Array:
    """The input in float64 with zeros around it, (N, Ci, H + 2*Ph, W + 2*Pw)."""
    Ph, Pw = np.broadcast_to(padding, 2)
    return np.pad(np.asarray(input, np.float64), ((0, 0), (0, 0), (Ph, Ph), (Pw, Pw)))


def _windows(padded: Array, kernel: Size, output: Size, stride: int) -> Iterator[tuple[int, int, Array]]:
    """Each kernel position (kh, kw) and what it meets of `padded`: a view (N, Ci, oH, oW)."""
    oH, oW = output[2:]
    for kh, kw in np.ndindex(*kernel):
        rows = slice(kh, kh + stride * oH, stride)  # may end past the edge; counts oH all the same
        yield kh, kw, padded[:, :, rows, kw : kw + stride * oW : stride]
