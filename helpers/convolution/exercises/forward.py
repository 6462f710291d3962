"""Lesson 01: the forward pass."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.cases import draw
from helpers.data import digits
from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Puzzle, Skill


@cache
def _forward_cases() -> tuple[Case, ...]:
    """One output, then one difficulty after the other, and last a layer of LeNet."""
    random = np.random.default_rng(1)
    digit = digits.conv1_input(1, first=3)
    return (
        _forward_case("conv2d_one_output", random, draw(random, 1, 1, 3, 3), (1, 1, 3, 3)),
        _forward_case("conv2d_rectangle", random, draw(random, 1, 1, 4, 6), (1, 1, 2, 3)),
        _forward_case("conv2d_padding", random, draw(random, 1, 1, 4, 3), (1, 1, 3, 2), 1, 1),
        _forward_case("conv2d_stride", random, draw(random, 1, 1, 6, 9), (1, 1, 2, 3), 2),
        _forward_case("conv2d_channels_and_batch", random, draw(random, 2, 3, 5, 7), (2, 3, 3, 2), 2, 1),
        _forward_case("conv2d_lenet_conv1", random, digit, (6, 1, 5, 5)),
    )


def _forward_case(name, random, input, weight_size, stride: int = 1, padding: int = 0) -> Case:
    weight, bias = draw(random, *weight_size, largest=3), random.choice([-2, -1, 1, 2], weight_size[0])
    expected = reference.conv2d(input, weight, bias, stride, padding)
    params = (*input.shape, weight_size[0], *weight_size[2:], stride, padding)
    inputs = input, weight, bias.astype(np.float32)
    return Case(name, inputs, expected, params, (-(-expected.size // 256), 1, 1))


FORWARD = Puzzle(
    "conv2d",
    "convolution",
    "n co oh ow",
    _forward_cases,
    Skill.one_thread_for("output", "conv2d_channels_and_batch"),
)

FORWARD_QUESTIONS = questions(__file__)
