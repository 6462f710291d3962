"""The bias gradient: the sum of a channel, and how a tree adds it up."""

import numpy as np

from helpers.convolution import operations
from helpers.convolution.explorers.sizes import index_explorer
from helpers.convolution.pictures.bias_gradient import BiasGradientPicture
from helpers.kernels import load
from helpers.summation.pictures import TreePicture
from helpers.widgets.explorer import Explorer


def bias_gradient(grad_output: np.ndarray) -> Explorer:
    """One slider over the channels of a small upstream gradient (N, Co, oH, oW)."""
    picture = BiasGradientPicture(grad_output, operations.conv2d_grad_bias(grad_output))
    return index_explorer(picture, co=grad_output.shape[1])


def tree_reduction(grad_output: np.ndarray, count: int = 16) -> Explorer:
    """One slider over the steps of the tree that adds up channel 0 of an upstream gradient (N, Co, oH, oW).

    `count`, a power of two, is how many threads the kernel really runs with.
    """
    kernel = load("conv2d_grad_bias", "2_workgroup_per_channel").with_constants(THREADS=count)
    returned, numbers = operations.conv2d_grad_bias(grad_output, kernel=kernel)[0], grad_output[:, 0].ravel()
    partial = [float(numbers[thread::count].sum()) for thread in range(count)]
    picture = TreePicture(partial, float(returned))
    return index_explorer(picture, play=("step",), step=len(picture.steps))
