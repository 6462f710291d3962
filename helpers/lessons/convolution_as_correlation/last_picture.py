"""Lesson 01's last picture: the filter of the reader's own over the 7, by their kernel."""

from pathlib import Path

from helpers.lessons.convolution_as_correlation import explorers
from helpers.lessons.shared.layers import tasks
from helpers.lessons.shared.own_kernels import Array, own_kernel, run_on_a_plane
from helpers.operations.convolution import operations
from helpers.operations.convolution.shapes import ConvShape
from helpers.widgets.explorer import Explorer

LAYERS = Path(__file__).with_name("layers.toml")


def your_convolution(first: Explorer | None = None) -> Explorer:
    """Lesson 01: the 7 and nine weights to click, with outputs from your kernel.

    Parameters
    ----------
    first : Explorer, optional
        An explorer made by `explorers.own_filter`, whose filter stands here at first.

    Raises
    ------
    GpuError
        This machine cannot run any kernel.
    """
    run, puzzle, whose = own_kernel("output_padding", "output_window")

    def convolve(digit: Array, weight: Array) -> Array:
        if run is None:
            return operations.conv2d(digit, weight)
        shape = ConvShape(1, 1, 28, 28, 1, 3, 3)
        case = tasks(LAYERS)[puzzle].on_a_plane(shape, input=digit[0, 0], weight=weight[0, 0])
        return run_on_a_plane(run, case)

    return explorers.own_filter(None if first is None else first.arrays["weight"], convolve, whose)
