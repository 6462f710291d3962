"""A lesson's last picture, computed by the kernel that the reader wrote in it; the official one, until that is right.

A text is run here, on the adapter, only after its tests have found it right.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from helpers import gpu
from helpers.convolution import explorers, operations
from helpers.convolution.exercises.cases import on_a_plane
from helpers.convolution.shapes import ConvShape
from helpers.exercises import PUZZLES, is_right
from helpers.gemm import one_layer
from helpers.grading import student_files
from helpers.grading.puzzle import Case
from helpers.network import changed_digit, filters
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
        return None, "", f"the official kernel (until your {puzzles[0]} is right)"
    return _runner(student_files.latest(puzzle)), puzzle, f"your {puzzle}"


def _runner(text: str) -> Run:
    """How a kernel's text is run."""

    def run(inputs: Iterable[Array], shape: tuple[int, ...], words: tuple[int, ...], groups: tuple) -> Array:
        written = gpu.launch(text, (*inputs, np.zeros(shape, np.float32), words), groups)
        return written[-1] if isinstance(written, tuple) else written

    return run


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
        return _run(run, on_a_plane(puzzle, ConvShape(1, 1, 28, 28, 1, 3, 3), input=digit[0, 0], weight=weight[0, 0]))

    return explorers.own_filter(None if first is None else first.arrays["weight"], convolve, whose)


def _run(run: Run, case: Case) -> Array:
    """What a kernel makes of one plane, as an array of four axes."""
    (dispatch,) = case.dispatches
    return run(case.inputs, case.expected.shape, case.params, dispatch.workgroups)[None, None]


def train_filters() -> Explorer:
    """Lesson 02: train six filters with your weight gradient, and see all the steps.

    Raises GpuError where this machine cannot run any kernel.
    """
    run, puzzle, whose = own_kernel("strided_grad_weight", "conv2d_grad_weight")

    def gradient(images: Array, upstream: Array) -> Array:
        if run is None:
            return operations.conv2d_grad_weight(images, filters.LAYER.weight, upstream)
        return _of_a_layer(run, puzzle, filters.LAYER, upstream, images)

    return filters.explorer(gradient, whose)


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
            return _of_a_layer(run, puzzle, layer, upstream, weight)
        planes, one = zip(weight[:, 0], upstream[0], strict=True), replace(layer, out_channels=1)
        cases = (on_a_plane(puzzle, one, weight=filter, grad_output=plane) for filter, plane in planes)
        return sum(_run(run, each) for each in cases)  # a kernel for one pair of channels: once for each

    return changed_digit.explorer(gradient, whose)


def train_layer() -> Explorer:
    """Lesson 06: one layer learns to read digits by your products; where yours is not right yet, by the official one.

    Raises GpuError where this machine cannot run any kernel.
    """
    makers = [_product(*puzzles) for puzzles in (("tiled_product", "product"), ("transposed_tile",))]
    (forward, one), (grad_weight, other) = makers
    return one_layer.explorer(forward, grad_weight, f"{one} and {other}")


def _product(*puzzles: str) -> tuple[Callable[[Array, Array], Array], str]:
    """The product that some puzzles ask for, a @ b or a^T @ b, and whose kernel computes it."""
    run, _, whose = own_kernel(*puzzles)
    if run is None:
        official = PUZZLES[puzzles[0]].solution.text
        run, whose = _runner(official), f"our {puzzles[0]}"

    def product(left: Array, right: Array) -> Array:
        """Workgroups of 16 x 16 threads."""
        (m, k), n = left.shape, right.shape[1]
        rows = k if puzzles[0] == "transposed_tile" else m
        return run((left, right), (rows, n), (m, k, n), (-(-n // 16), -(-rows // 16), 1))

    return product, whose


def _of_a_layer(run: Run, puzzle: str, layer: ConvShape, *inputs: Array) -> Array:
    """What a kernel that has a place in LeNet makes of a layer."""
    place = PLACES[puzzle]
    return run(inputs, layer.of(place.tensors.split()[-1]), place.words(layer), place.workgroups(layer))
