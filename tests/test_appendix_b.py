"""The appendix on dilation and groups: its claim on exchanged roles."""

import numpy as np
import pytest

import helpers
from helpers.operations.convolution.shapes import ConvShape


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)])
def test_the_forward_function_with_exchanged_roles_gives_the_weight_gradient(stride, dilation):
    """Also with batch and channels, which exchange their roles, too, where the stride leaves no rows unused."""
    random = np.random.default_rng(0)
    span = 2 * dilation + 1
    shape = ConvShape(2, 3, span + stride, span + 2 * stride, 4, 3, 3, stride, 0, dilation)
    image, upstream = (random.integers(-4, 5, size).astype(np.float32) for size in (shape.input, shape.output))
    gradient = helpers.conv2d_grad_weight(image, shape.weight, upstream, stride, 0, dilation)
    forward = helpers.conv2d(image.swapaxes(0, 1), upstream.swapaxes(0, 1), stride=dilation, dilation=stride)
    assert (forward.swapaxes(0, 1) == gradient).all()
