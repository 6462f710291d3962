"""A lesson's last picture, computed by the kernel that the reader wrote in it; the official one, until that is right.

A text is run here, on the adapter, only after its tests have found it right.
"""

from collections.abc import Callable, Iterable

import numpy as np

from helpers import gpu
from helpers.grading import student_files
from helpers.grading.puzzle import Case
from helpers.lessons.exercises import is_right
from helpers.lessons.shared.student_kernels import PLACES
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
Run = Callable[[Iterable[Array], tuple[int, ...], tuple[int, ...], tuple[int, int, int]], Array]


def own_kernel(*puzzles: str) -> tuple[Run | None, str, str]:
    """Find the first of these puzzles that is right.

    Returns a function that runs the reader's kernel, the puzzle's name, and words that say whose kernel it is. The
    function takes the inputs, the shape of the result, the uniform's words and the workgroups; it is None where none of
    the puzzles is right.
    """
    puzzle = next(filter(is_right, puzzles), None)
    if puzzle is None:
        return None, "", f"the official kernel (until your {puzzles[0]} is right)"
    return runner(student_files.latest(puzzle)), puzzle, f"your {puzzle}"


def runner(text: str) -> Run:
    """Return a function that runs a kernel's text."""

    def run(inputs: Iterable[Array], shape: tuple[int, ...], words: tuple[int, ...], groups: tuple) -> Array:
        result = np.zeros(shape, np.float32)
        written = gpu.launch(text, (*inputs, result, words), groups)
        if isinstance(written, tuple):
            return written[-1]
        return written

    return run


def run_on_a_plane(run: Run, case: Case) -> Array:
    """Run a kernel on one plane, and return the result as an array of four axes."""
    (dispatch,) = case.dispatches
    plane = run(case.inputs, case.expected.shape, case.params, dispatch.workgroups)
    return plane[None, None]


def run_on_a_layer(run: Run, puzzle: str, layer: ConvShape, *inputs: Array) -> Array:
    """Run a kernel that has a place in LeNet on a layer."""
    place = PLACES[puzzle]
    shape = layer.of(place.tensors.split()[-1])
    return run(inputs, shape, place.words(layer), place.workgroups(layer))
