"""Lesson 04: the bias gradient, the classroom's second half."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.cases import CLASSROOM, draw
from helpers.convolution.shapes import ConvShape
from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Puzzle, Skill


def bias_differences(input: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
    """The bias gradient by finite differences, (K,): move each bias by 1 up and down, watch the loss."""
    s = ConvShape.between(input.shape, grad_output.shape)
    losses = [
        (reference.conv2d(input, np.zeros(s.weight), sign * np.eye(s.out_channels)[k]) * grad_output).sum()
        for k in range(s.out_channels)
        for sign in (1, -1)
    ]
    return (np.array(losses[::2]) - losses[1::2]) / 2


@cache
def _grad_bias_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(7)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    by_differences = bias_differences(*nudged)
    return (
        _grad_bias_case(CLASSROOM[0], np.arange(-3, 6, dtype=np.float32).reshape(1, 1, 3, 3)),
        _grad_bias_case(CLASSROOM[1], nudged[1], by_differences, 1e-3 * abs(by_differences)),
        _grad_bias_case(CLASSROOM[2], draw(random, 1, 6, 24, 24)),
        _grad_bias_case(CLASSROOM[3], draw(random, 1, 16, 8, 8)),
        _grad_bias_case("conv_bw_rectangular_batch", draw(random, 3, 300, 2, 5)),
    )


def _grad_bias_case(name, grad_output, expected=None, tolerance=0.0) -> Case:
    if expected is None:
        expected = reference.conv2d_grad_bias(grad_output)
    return Case(name, (grad_output,), expected, grad_output.shape, (-(-expected.size // 256), 1, 1), tolerance)


GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    "convolution",
    "k",
    _grad_bias_cases,
    Skill.one_thread_for("channel", "conv_bw_lenet_conv2"),
)

BIAS_QUESTIONS = questions(__file__)
