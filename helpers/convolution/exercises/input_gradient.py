"""Lesson 03: the input gradient."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.grading.prediction import Question, questions
from helpers.grading.puzzle import Case, Puzzle, Skill

GATHERS = {  # each test adds one thing to those before it
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding=(1, 0)),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(0, 1)),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 3, 6, 8, 5, 4, 5, 2, (1, 2)),
}


@cache
def _gather_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    return tuple(_gather_case(name, shape, random) for name, shape in GATHERS.items())


def _gather_case(name: str, s: ConvShape, random: np.random.Generator) -> Case:
    grad_output, weight = (
        random.choice([-3, -2, -1, 1, 2, 3], size).astype(np.float32) for size in (s.output, s.weight)
    )
    padding = s.padding_h, s.padding_w
    expected = reference.conv2d_grad_input(s.input, weight, grad_output, s.stride, padding)
    return Case(name, (grad_output, weight), expected, s.params(), (-(-expected.size // 256), 1, 1))


GRAD_INPUT = Puzzle(
    "conv2d_grad_input",
    "convolution",
    "n ci ih iw",
    _gather_cases,
    Skill.one_thread_for("pixel", "gather_channels"),
)


def _pixel_by_hand(weight: list, upstream: list, ih: int, iw: int) -> Question:
    """One pixel's gradient, worked out by hand from one filter and its upstream gradient."""
    filter, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (weight, upstream))
    size = 1, 1, *np.add(filter.shape[2:], grad_output.shape[2:]) - 1

    def gradient(filter: np.ndarray, upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_input(size, filter, upstream)[0, 0]

    right = gradient(filter, grad_output)
    mistakes = {
        right[i]: f"it is dX[{i[0]},{i[1]}]; which outputs have the pixel [{ih},{iw}] in their windows?"
        for i in np.ndindex(right.shape)
        if right[i] != right[ih, iw]
    }
    for mistake, wrong in {
        "the minus signs of the upstream gradient are lost": (filter, abs(grad_output)),
        "the filter is transposed": (filter.swapaxes(2, 3), grad_output),
        "the filter is not flipped: the first output multiplies this pixel by its last weight": (
            filter[:, :, ::-1, ::-1],
            grad_output,
        ),
    }.items():
        mistakes[gradient(*wrong)[ih, iw]] = f"you get this when {mistake}"
    return Question(right[ih, iw], mistakes, "each output has the pixel under another weight: which one?")


INPUT_QUESTIONS = questions(__file__) | {"dX[1,1]": _pixel_by_hand([[3, 4], [2, -3]], [[1, -1], [3, 2]], ih=1, iw=1)}
