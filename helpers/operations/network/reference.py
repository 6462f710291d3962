"""Pooling, ReLU backward, cross-entropy and the update in float64; all trust their arguments.

Ties and edges are PyTorch's: the gradient of a maximum goes to the first of equal pixels, row by row; a mean counts the
padding as zeros; rows and columns that no whole window reaches are left out. So are NaN and infinity: NaN is larger
than any number, and of several, the last one takes the gradient.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from helpers.operations.network.shapes import PoolShape, StartShape

Array = np.ndarray


def windows(input: Array, shape: PoolShape, outside: float) -> Array:
    """The windows of a pooling layer, (N, C, oH, oW, kH, kW), with `outside` for the padding."""
    down, right = shape.stride
    rows, columns = shape.padding
    zeros = [(0, 0), (0, 0), (rows, rows), (columns, columns)]
    padded = np.pad(np.asarray(input, np.float64), zeros, constant_values=outside)
    return sliding_window_view(padded, shape.kernel, (2, 3))[:, :, ::down, ::right]


def max_pool2d(input: Array, shape: PoolShape) -> Array:
    """The largest pixel of each window, (N, C, oH, oW)."""
    return windows(input, shape, -np.inf).max((4, 5))


def avg_pool2d(input: Array, shape: PoolShape) -> Array:
    """The mean of each window, (N, C, oH, oW)."""
    return windows(input, shape, 0).mean((4, 5))


def max_pool2d_backward(input: Array, grad_output: Array, shape: PoolShape) -> Array:
    """Each window passes its gradient to its first maximum, or to its last NaN, (N, C, H, W)."""
    pixels = windows(input, shape, -np.inf)
    pixels = pixels.reshape(*pixels.shape[:4], -1)  # (N, C, oH, oW, kH*kW)
    is_inside = windows(np.ones(np.shape(input)), shape, 0).reshape(pixels.shape) > 0
    is_maximum = (pixels == pixels.max(-1, keepdims=True)) & is_inside
    first_maximum = is_maximum.argmax(-1)
    nan = np.isnan(pixels)
    last_nan = nan.shape[-1] - 1 - nan[..., ::-1].argmax(-1)
    taken = np.where(nan.any(-1), last_nan, first_maximum)
    n, c, oh, ow = np.indices(taken.shape)
    _, kernel_w = shape.kernel
    kh, kw = np.divmod(taken, kernel_w)
    down, right = shape.stride
    rows, columns = shape.padding
    ih = oh * down + kh - rows
    iw = ow * right + kw - columns
    grad_input = np.zeros(input.shape)
    np.add.at(grad_input, (n, c, ih, iw), grad_output)
    return grad_input


def avg_pool2d_backward(grad_output: Array, shape: PoolShape) -> Array:
    """Each window passes an equal share of its gradient to each of its pixels, (N, C, H, W)."""
    down, right = shape.stride
    rows, columns = shape.padding
    out_h, out_w = shape.outputs
    padded = np.zeros((shape.batch, shape.channels, shape.in_h + 2 * rows, shape.in_w + 2 * columns))
    for kh, kw in np.ndindex(shape.kernel):
        pixel_rows = slice(kh, kh + down * out_h, down)
        pixel_columns = slice(kw, kw + right * out_w, right)
        padded[:, :, pixel_rows, pixel_columns] += grad_output
    grad_input = padded[:, :, rows : rows + shape.in_h, columns : columns + shape.in_w]
    return grad_input / np.prod(shape.kernel)


def relu_backward(output: Array, grad_output: Array) -> Array:
    """0 where a fused ReLU's output is 0, else the gradient; of the same shape."""
    return np.where(np.asarray(output) <= 0, 0.0, np.asarray(grad_output, np.float64))


def softmax(logits: Array) -> Array:
    """The probability of each class, (..., C); the largest logit is subtracted, so that no exponential overflows."""
    logits = np.asarray(logits, np.float64)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array]:
    """The loss of each row, (N,), and the gradient of their mean, (N, C), as softmax minus the right answer, over N."""
    logits = np.asarray(logits, np.float64)
    rows = np.arange(len(labels))
    with np.errstate(invalid="ignore"):  # infinity - infinity is NaN, as it is due
        shifted = logits - logits.max(1, keepdims=True)
        grad = softmax(logits)
    losses = np.log(np.exp(shifted).sum(1)) - shifted[rows, labels]
    grad[rows, labels] -= 1
    return losses, grad / len(logits)


def sgd(parameter: Array, grad: Array, velocity: Array, learning_rate: float, momentum: float) -> tuple[Array, Array]:
    """One step with momentum: the new parameter and the new velocity, as torch.optim.SGD computes them."""
    velocity = momentum * np.asarray(velocity, np.float64) + grad
    return parameter - learning_rate * velocity, velocity


def initialize(shape: StartShape) -> Array:
    """Numbers from -bound to bound, (n,): a hash of the seed, of the stream and of the place, without a state.

    The hash is PCG's output function (M. E. O'Neill 2014; as a hash, M. Jarzynski and M. Olano 2020).
    """
    stream = _hash(_hash(np.uint32([shape.seed])) + np.uint32(shape.stream))
    bits = _hash(stream + np.arange(shape.count, dtype=np.uint32)) >> np.uint32(8)
    return np.float64(np.float32(shape.bound)) * (bits * 2.0**-23 - 1)


def _hash(x: Array) -> Array:
    state = x * np.uint32(747796405) + np.uint32(2891336453)
    word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
    return (word >> np.uint32(22)) ^ word
