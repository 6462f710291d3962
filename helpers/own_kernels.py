"""A lesson's last picture, computed by the kernel that the reader wrote in it; the official one, until that is right.

A text is run here, on the adapter, only after its tests have found it right.
"""

from collections.abc import Callable, Iterable

import numpy as np

from helpers import gpu
from helpers.convolution import explorers, operations
from helpers.convolution.exercises import forward
from helpers.exercises import is_right
from helpers.grading import student_files
from helpers.network import filters
from helpers.network.student_kernels import PLACES
from helpers.widgets.explorer import Explorer

Array = np.ndarray
Run = Callable[[Iterable[Array], tuple[int, ...], tuple[int, ...], tuple[int, int, int]], Array]


def own_kernel(*puzzles: str) -> tuple[Run | None, str, str]:
    """How the reader's kernel is run, its puzzle, and whose kernel it is: of the first of these puzzles that is right.

    It takes the inputs, the shape of the result, the uniform's words and the workgroups. None where none is right.
    """
    puzzle = next(filter(is_right, puzzles), None)
    if puzzle is None:
        return None, "", "the official kernel, as you have none yet that is right"
    text = student_files.latest(puzzle)

    def run(inputs: Iterable[Array], shape: tuple[int, ...], words: tuple[int, ...], groups: tuple) -> Array:
        written = gpu.launch(text, (*inputs, np.zeros(shape, np.float32), words), groups)
        return written[-1] if isinstance(written, tuple) else written

    return run, puzzle, f"your {puzzle}"


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
    run, puzzle, whose = own_kernel(*forward.PLANES)

    def convolve(digit: Array, weight: Array) -> Array:
        if run is None:
            return operations.conv2d(digit, weight)
        case = forward.on_a_plane(puzzle, digit[0, 0], weight[0, 0])
        (dispatch,) = case.dispatches
        return run(case.inputs, case.expected.shape, case.params, dispatch.workgroups)[None, None]

    return explorers.own_filter(None if first is None else first.arrays["weight"], convolve, whose)


def train_filters() -> Explorer:
    """Lesson 02: train six filters with your weight gradient, and see all the steps.

    Raises GpuError where this machine cannot run any kernel.
    """
    run, puzzle, whose = own_kernel("strided_grad_weight", "conv2d_grad_weight")

    def gradient(images: Array, upstream: Array) -> Array:
        if run is None:
            return operations.conv2d_grad_weight(images, filters.LAYER.weight, upstream)
        place = PLACES[puzzle]
        words, groups = place.words(filters.LAYER), place.workgroups(filters.LAYER)
        return run((upstream, images), filters.LAYER.weight, words, groups)

    return filters.explorer(gradient, whose)
