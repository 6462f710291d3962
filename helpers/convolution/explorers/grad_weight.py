"""The weight gradient: what contributes to a weight, and how threads share the work."""

from collections.abc import Collection

import numpy as np

from helpers.convolution import operations
from helpers.convolution.explorers.sizes import ANY_WEIGHT, START, any_sizes_explorer, index_explorer
from helpers.convolution.pictures.weight_gradient import SharedProductsPicture, ThreadsPicture, WeightGradientPicture
from helpers.convolution.shapes import ConvShape
from helpers.widgets.explorer import Explorer


def weight_gradient(input: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders kh and kw over an image (1, 1, H, W) and a gradient (1, 1, oH, oW), with the pixels named by letters."""
    shape = _plain(input, grad_output)
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output)
    picture = WeightGradientPicture(shape, input, grad_output, grad_weight, letters=True)
    return index_explorer(picture, kh=shape.kernel_h, kw=shape.kernel_w)


def _plain(input: np.ndarray, grad_output: np.ndarray) -> ConvShape:
    """The sizes of one image and one pair of channels, with stride 1 and no padding; refuses anything else."""
    for name, array in (("input", input), ("grad_output", grad_output)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape.between(input.shape, grad_output.shape)


def any_weight_gradient(seed: int = 0, sliders: Collection[str] = (), **values: int) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers.

    Where `sliders` names some of them, the others have none.
    """
    return any_sizes_explorer(_random_picture, ANY_WEIGHT, START | values, seed, sliders)


def _random_picture(shape: ConvShape, random: np.random.Generator) -> WeightGradientPicture:
    input = random.integers(0, 5, shape.input).astype(np.float32)
    grad_output = random.choice([-1, 1, 2, 3], shape.output).astype(np.float32)  # no zeros, which look like nothing
    steps = shape.stride, shape.padding, shape.dilation, shape.groups
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output, *steps)
    return WeightGradientPicture(shape, input, grad_output, grad_weight)


# --- How threads share the work -------------------------------------------------------------------------------


def threads(shape: ConvShape) -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    return index_explorer(ThreadsPicture(shape), 37, thread=256)


def shared_products(shape: ConvShape, count: int = 256) -> Explorer:
    """One slider over `count` threads that share one weight's products."""
    return index_explorer(SharedProductsPicture(shape, count), 37, thread=count)
