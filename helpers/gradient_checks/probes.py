"""One-hot probes: an upstream gradient of one 1 among zeros makes a gradient show what its kernel reads.

If the only upstream gradient that is not 0 is a 1 at the output (oh, ow), the sum of each weight keeps one term,
1 * input[ih, iw]. With an input of 1, 2, 3, ... the weight gradient is the list of the pixels that were read.
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import Tensors, simulated
from wgsl import Kernel

Array = np.ndarray
Place = tuple[int, int, int, int]  # n, co, oh, ow

SHAPE = ConvShape(1, 1, 5, 7, 1, 3, 2, 2, (1, 2))  # of the unknown patterns in lesson 05


def numbered(shape: tuple[int, ...]) -> Array:
    """A float32 tensor of 1, 2, 3, ... in the order of memory."""
    return np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)


def one_hot(shape: tuple[int, ...], *places: Place) -> Array:
    """A float32 tensor of zeros, with a 1 at each place."""
    tensor = np.zeros(shape, np.float32)
    for place in places:
        tensor[place] = 1
    return tensor


def probe(kernel: Kernel, shape: ConvShape, oh: int, ow: int, co: int = 0) -> Array:
    """What a kernel of conv2d_grad_weight returns for a numbered input and a 1 at one output: the pixels that it read.

    It runs in the simulator. Of a batch it is the first image; `co` is the output channel, which sees the input
    channels of its group alone.

    Returns
    -------
    float32 array (Co, Ci/groups, kH, kW)
        For each weight the number of the pixel, or 0 in the padding and for the filters of other output channels.

    Raises
    ------
    ValueError
        The version does not take this layer; the message says why.
    """
    tensors = {"input": numbered(shape.input), "grad_output": one_hot(shape.output, (0, co, oh, ow))}
    (grad_weight,), _ = simulated(kernel, shape, tensors)
    return grad_weight


# --- What a right kernel returns: windows, cut out or put in --------------------------------------------------


def expected(operation: str, shape: ConvShape, tensors: Tensors, places: Sequence[Place]) -> Array:
    """The gradient for an upstream gradient with a 1 at each place, of which no two are in one output channel."""
    return _EXPECTED[operation](shape, tensors, places)


def _cut_windows(shape: ConvShape, tensors: Tensors, places: Sequence[Place]) -> Array:
    """The weight gradient: the filter of channel co is the window of the input at its place."""
    under, grad_weight = windows(shape, padded(shape, tensors["input"])), np.zeros(shape.weight)
    for n, co, oh, ow in places:
        grad_weight[co] = under[n, channels(shape, co), oh, ow]
    return grad_weight


def _put_windows(shape: ConvShape, tensors: Tensors, places: Sequence[Place]) -> Array:
    """The input gradient: the filter of channel co lies at its place, on zeros."""
    grad_padded = padded(shape, np.zeros(shape.input))
    under = windows(shape, grad_padded)
    for n, co, oh, ow in places:
        under[n, channels(shape, co), oh, ow] += tensors["weight"][co]
    return unpadded(shape, grad_padded)


def _count(shape: ConvShape, tensors: Tensors, places: Sequence[Place]) -> Array:
    """The bias gradient: 1 where the channel has a place."""
    return one_hot(shape.of("bias"), *((co,) for _, co, _, _ in places))


_EXPECTED: dict[str, Callable[[ConvShape, Tensors, Sequence[Place]], Array]] = {
    "conv2d_grad_weight": _cut_windows,
    "conv2d_grad_input": _put_windows,
    "conv2d_grad_bias": _count,
}


def padded(shape: ConvShape, x: Array) -> Array:
    """A copy of the input with its padding of zeros around it."""
    return np.pad(x, [(0,), (0,), (shape.padding_h,), (shape.padding_w,)])


def unpadded(shape: ConvShape, x: Array) -> Array:
    """What was inside of the padding."""
    return x[..., shape.padding_h :, shape.padding_w :][..., : shape.in_h, : shape.in_w]


def windows(shape: ConvShape, x: Array) -> Array:
    """The pixels of a padded input under the filter at each output, as a view: (N, Ci, oH, oW, kH, kW)."""
    every = sliding_window_view(x, (shape.span("h"), shape.span("w")), (2, 3), writeable=True)
    at_outputs = every[:, :, :: shape.stride_h, :: shape.stride_w]
    return at_outputs[..., :: shape.dilation_h, :: shape.dilation_w]


def channels(shape: ConvShape, co: int) -> slice:
    """The input channels that one output channel sees: those of its group."""
    count = shape.in_channels // shape.groups
    first = co // (shape.out_channels // shape.groups) * count
    return slice(first, first + count)
