"""Lesson 02's last picture: six filters that train by the reader's weight gradient."""

from helpers.lessons.shared.own_kernels import Array, own_kernel, run_on_a_layer
from helpers.lessons.weight_gradient import filters
from helpers.operations.convolution import operations
from helpers.widgets.explorer import Explorer


def train_filters() -> Explorer:
    """Lesson 02: train six filters with your weight gradient, and see all the steps.

    Raises GpuError where this machine cannot run any kernel.
    """
    run, puzzle, whose = own_kernel("strided_grad_weight", "conv2d_grad_weight")

    def gradient(images: Array, upstream: Array) -> Array:
        if run is None:
            return operations.conv2d_grad_weight(images, filters.LAYER.weight, upstream)
        return run_on_a_layer(run, puzzle, filters.LAYER, upstream, images)

    return filters.explorer(gradient, whose)
