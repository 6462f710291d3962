"""The bias gradient: the sum of a channel."""

import numpy as np

from helpers.convolution import operations
from helpers.convolution.explorers.sizes import index_explorer
from helpers.convolution.pictures.bias_gradient import BiasGradientPicture
from helpers.widgets.explorer import Explorer


def bias_gradient(grad_output: np.ndarray) -> Explorer:
    """One slider over the channels of a small upstream gradient (N, Co, oH, oW)."""
    picture = BiasGradientPicture(grad_output, operations.conv2d_grad_bias(grad_output))
    return index_explorer(picture, co=grad_output.shape[1])
