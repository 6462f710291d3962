"""Lesson 03's last picture: a digit that follows its input gradient, by the reader's kernel."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers.lessons.input_gradient import changed_digit
from helpers.lessons.shared.layers import tasks
from helpers.lessons.shared.own_kernels import Array, own_kernel, run_on_a_layer, run_on_a_plane
from helpers.operations.convolution import operations
from helpers.widgets.explorer import Explorer

LAYERS = Path(__file__).with_name("layers.toml")


def change_digit() -> Explorer:
    """Lesson 03: a digit goes along your input gradient of a small network's scores, until it is read as another one.

    Raises GpuError where this machine cannot run any kernel.
    """
    whole = "strided_grad_input", "conv2d_grad_input"
    run, puzzle, whose = own_kernel(*whole, "pixel_stride", "pixel_padding", "pixel_window")

    def gradient(weight: Array, upstream: Array) -> Array:
        layer = changed_digit.LAYER
        if run is None:
            return operations.conv2d_grad_input(layer.input, weight, upstream)
        if puzzle in whole:
            return run_on_a_layer(run, puzzle, layer, upstream, weight)
        task = tasks(LAYERS)[puzzle]
        one_channel = replace(layer, out_channels=1)
        total = np.zeros(layer.input, np.float32)
        for filter, plane in zip(weight[:, 0], upstream[0], strict=True):  # a kernel for one pair of channels
            case = task.on_a_plane(one_channel, weight=filter, grad_output=plane)
            total += run_on_a_plane(run, case)
        return total

    return changed_digit.explorer(gradient, whose)
