"""The operations in NumPy. A convolution and its gradients are matrix products: im2col, and col2im back.

Each has the name of its operation, takes the layer's sizes and its tensors in the order of the kernels' bindings, and
computes in their precision. Where an operation applies an activation, it is ReLU.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.operation import Shape

Array = np.ndarray


def conv2d(s: ConvShape, x: Array, w: Array, b: Array) -> Array:
    """(Co/G, Ci/G*kH*kW) @ (Ci/G*kH*kW, N*oH*oW) for each group, bias and ReLU: (N, Co, oH, oW)."""
    products = _filters(s, w) @ _rows(s, x).swapaxes(1, 2)
    by_channel = products.reshape(s.out_channels, s.batch, s.out_h, s.out_w)
    pre = by_channel.swapaxes(0, 1) + b.reshape(-1, 1, 1)
    return np.maximum(pre, 0)


def conv2d_grad_weight(s: ConvShape, dy: Array, x: Array) -> Array:
    """(Co/G, N*oH*oW) @ (N*oH*oW, Ci/G*kH*kW) for each group."""
    products = _matrices(s, dy) @ _rows(s, x)
    return products.reshape(s.weight)


def conv2d_grad_input(s: ConvShape, dy: Array, w: Array) -> Array:
    """(N*oH*oW, Co/G) @ (Co/G, Ci/G*kH*kW) for each group: a row for each window, added to the pixels under it."""
    rows = _matrices(s, dy).swapaxes(1, 2) @ _filters(s, w)
    by_window = rows.reshape(s.groups, s.batch, s.out_h, s.out_w, *s.weight[1:])
    taps = by_window.transpose(1, 0, 4, 2, 3, 5, 6)  # (N, G, Ci/G, oH, oW, kH, kW)
    grad_padded = padded(s, np.zeros(s.input, dy.dtype))
    under = windows(s, grad_padded)
    for kh, kw in np.ndindex(s.kernel_h, s.kernel_w):
        under[..., kh, kw] += taps[..., kh, kw].reshape(under.shape[:4])
    below_padding = grad_padded[..., s.padding_h :, s.padding_w :]
    return below_padding[..., : s.in_h, : s.in_w]


def conv2d_grad_bias(s: ConvShape, dy: Array) -> Array:
    """(Co,)."""
    return dy.sum((0, 2, 3))


def gemm_bias_act(s: Shape, a: Array, b: Array, bias: Array) -> Array:
    """(batch, M, K) @ (K, N), bias and ReLU."""
    return np.maximum(a @ b + bias, 0)


def gemm_bias_act_backward(s: Shape, a: Array, b: Array, bias: Array, grad: Array) -> tuple[Array, ...]:
    """(batch, M, N) @ (N, K), (K, M) @ (M, N) summed over the batch, and (N,)."""
    active = a @ b + bias > 0
    grad_pre = grad * active
    d_a = grad_pre @ b.T
    d_b = (a.transpose(0, 2, 1) @ grad_pre).sum(0)
    d_bias = grad_pre.sum((0, 1))
    return d_a, d_b, d_bias


def sum(s: Shape, numbers: Array) -> Array:
    """(1,)."""
    return numbers.sum(keepdims=True)


def _filters(s: ConvShape, w: Array) -> Array:
    """The filters of each group as a matrix, (G, Co/G, Ci/G*kH*kW)."""
    return w.reshape(s.groups, s.out_channels // s.groups, -1)


def _rows(s: ConvShape, x: Array) -> Array:
    """Each window of the input as a row, for each group: (G, N*oH*oW, Ci/G*kH*kW)."""
    by_window = windows(s, padded(s, x)).transpose(0, 2, 3, 1, 4, 5)  # (N, oH, oW, Ci, kH, kW)
    rows = by_window.reshape(-1, s.groups, np.prod(s.weight[1:]))
    return rows.swapaxes(0, 1)


def _matrices(s: ConvShape, dy: Array) -> Array:
    """The upstream gradient as a matrix for each group, (G, Co/G, N*oH*oW)."""
    by_channel = dy.swapaxes(0, 1)
    return by_channel.reshape(s.groups, s.out_channels // s.groups, -1)


def padded(s: ConvShape, x: Array) -> Array:
    """A copy of the input with its padding of zeros around it."""
    return np.pad(x, [(0,), (0,), (s.padding_h,), (s.padding_w,)])


def windows(s: ConvShape, x: Array) -> Array:
    """The pixels of a padded input under the filter at each output, as a view: (N, Ci, oH, oW, kH, kW)."""
    every = sliding_window_view(x, (s.span("h"), s.span("w")), (2, 3), writeable=True)
    return every[:, :, :: s.stride_h, :: s.stride_w, :: s.dilation_h, :: s.dilation_w]
