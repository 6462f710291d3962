"""Lesson 02: the weight gradient, the classroom's first half."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.cases import CLASSROOM, draw
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.prediction import Question, questions
from helpers.grading.puzzle import Case, Puzzle, Skill


def differences(input: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
    """The weights' gradient by finite differences, (K, C, F, F): move each weight by 1 up and down, watch the loss.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each
    weight, so that the step may be as large as 1.
    """
    want = np.zeros(ConvShape.between(input.shape, grad_output.shape).weight)
    for index in np.ndindex(want.shape):
        step = np.zeros(want.shape)
        step[index] = 1
        up, down = (reference.conv2d(input, sign * step) * grad_output for sign in (1, -1))
        want[index] = (up.sum() - down.sum()) / 2
    return want


@cache
def _grad_weight_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(5)
    tiny = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5) % 7
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    by_differences = differences(*nudged)
    lenet1 = digits.conv1_input(), draw(random, 1, 6, 24, 24, largest=3)
    lenet2 = digits.conv2_input(), draw(random, 1, 16, 8, 8, largest=3)
    return (
        _grad_weight_case(CLASSROOM[0], tiny, np.arange(-4, 5, dtype=np.float32).reshape(1, 1, 3, 3)),
        _grad_weight_case(CLASSROOM[1], *nudged, by_differences, 1e-3 * abs(by_differences)),
        _grad_weight_case(CLASSROOM[2], *lenet1),
        _grad_weight_case(CLASSROOM[3], *lenet2),
        _grad_weight_case("conv_bw_rectangular_batch", draw(random, 2, 2, 5, 7), draw(random, 2, 3, 3, 5)),
    )


def _grad_weight_case(name, input, grad_output, expected=None, tolerance=0.0) -> Case:
    s = ConvShape.between(input.shape, grad_output.shape)
    if expected is None:
        expected = reference.conv2d_grad_weight(input, s.weight, grad_output)
    params = s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h
    return Case(name, (grad_output, input), expected, params, (-(-expected.size // 256), 1, 1), tolerance)


GRAD_WEIGHT = Puzzle(
    "conv2d_grad_weight",
    "convolution",
    "k c fh fw",
    _grad_weight_cases,
    Skill.one_thread_for("weight", "conv_bw_rectangular_batch"),
)


def _by_hand(image: list, upstream: list, kh: int, kw: int) -> Question:
    """One weight's gradient, worked out by hand from one image and its upstream gradient."""
    input, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (image, upstream))
    size = ConvShape.between(input.shape, grad_output.shape).weight

    def gradient(upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_weight(input, size, upstream)[0, 0]

    right = gradient(grad_output)
    mistakes = {
        right[i]: f"it is dW[{i[0]},{i[1]}]; start the window at row {kh}, column {kw}"
        for i in np.ndindex(2, 2)
        if right[i] != right[kh, kw]
    }
    for mistake, wrong in {
        "taken without its minus signs": abs(grad_output),
        "transposed": grad_output.swapaxes(2, 3),
        "flipped; there is no flip": grad_output[:, :, ::-1, ::-1],
    }.items():
        mistakes[gradient(wrong)[kh, kw]] = f"you get this when the upstream gradient is {mistake}"
    advice = f"place the upstream gradient's corner on the pixel at row {kh}, column {kw}"
    return Question(right[kh, kw], mistakes, advice)


WEIGHT_QUESTIONS = questions(__file__) | {
    "dW[0,1]": _by_hand([[1, 2, 3], [3, 1, 4], [0, 4, 1]], [[2, 1], [-1, 3]], kh=0, kw=1)
}
