"""One-hot probes: an upstream gradient of one 1 among zeros makes a gradient show what its kernel reads.

If the only upstream gradient that is not 0 is a 1 at the output (oh, ow), the sum of each weight keeps one term,
1 * input[ih, iw]. With an input of 1, 2, 3, ... the weight gradient is the list of the pixels that were read.
"""

from math import prod

import numpy as np

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import simulated
from wgsl import Kernel

Array = np.ndarray

SHAPE = ConvShape(1, 1, 5, 7, 1, 3, 2, 2, (1, 2))  # of the unknown patterns in lesson 05


def numbered(shape: tuple[int, ...]) -> Array:
    """A float32 tensor of 1, 2, 3, ... in the order of memory."""
    return np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)


def one_hot(shape: tuple[int, ...], place: tuple[int, ...]) -> Array:
    """A float32 tensor of zeros, with a 1 at one place."""
    tensor = np.zeros(shape, np.float32)
    tensor[place] = 1
    return tensor


def probe(kernel: Kernel, shape: ConvShape, oh: int, ow: int) -> Array:
    """The number of the pixel that a kernel of conv2d_grad_weight reads for each weight, or 0 in the padding.

    It is simulated, with the 1 at one output of the first channel and image.
    """
    tensors = {"input": numbered(shape.input), "grad_output": one_hot(shape.output, (0, 0, oh, ow))}
    (grad_weight,), _ = simulated(kernel, shape, tensors)
    return grad_weight
