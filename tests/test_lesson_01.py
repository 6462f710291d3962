"""Lesson 01's questions: each right answer is what the shapes and the equation give."""

from math import prod

import numpy as np
import pytest

from helpers.convolution import indices, reference
from helpers.convolution.exercises import FORWARD_QUESTIONS
from helpers.convolution.shapes import ConvShape
from helpers.grading.verdict import RIGHT


def shifted() -> str:
    """Where a dot of ink goes under the filter whose only weight is to the right of the middle."""
    image, weight = np.zeros((1, 1, 5, 5)), np.zeros((1, 1, 3, 3))
    image[0, 0, 2, 2] = weight[0, 0, 1, 2] = 1
    ((row, column),) = np.argwhere(reference.conv2d(image, weight, None, 1, 1)[0, 0])
    return {(2, 1): "left", (2, 3): "right", (1, 2): "up", (3, 2): "down"}[row, column]


WINDOW, FILTER = np.array([[3, 1], [2, 0]]), np.array([[1, -2], [2, 3]])  # of output[1,0] with pen and paper
CONV1, CONV2 = ConvShape(4, 1, 28, 28, 6, 5, 5), ConvShape(1, 6, 12, 12, 16, 5, 5)
COMPUTED = {
    "output_by_hand": lambda: float((WINDOW * FILTER).sum()),
    "output_size": lambda: ConvShape(1, 1, 12, 12, 1, 5, 5, 2, 2).out_h,
    "shifted_picture": shifted,
    "products_of_an_output": lambda: prod(CONV2.weight[1:]),
    "offset": lambda: int(np.ravel_multi_index((1, 2, 3, 4), (2, 3, 5, 7))),
    "output_of_a_thread": lambda: tuple(map(int, np.unravel_index(1000, CONV1.output[1:]))),
    "after_2_to_the_24": lambda: int(np.float32(2**24) + np.float32(1)),
    "outputs_of_a_weight": lambda: CONV1.batch * len(indices.taps_of_weight(CONV1, 0, 0)),
    "outputs_of_a_corner": lambda: len(indices.taps_of_pixel(ConvShape(1, 1, 6, 6, 1, 3, 3, 1, 1), 0, 0)),
    "matrix_of_windows": lambda: (prod(CONV2.output[2:]), prod(CONV2.weight[1:])),
}


@pytest.mark.parametrize("name", FORWARD_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert FORWARD_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


@pytest.mark.parametrize(
    ("mistake", "other"),
    [("flipped", FILTER[::-1, ::-1]), ("transposed", FILTER.T), ("without the minus", abs(FILTER))],
)
def test_the_mistakes_by_hand_are_what_they_are_said_to_be(mistake, other):
    assert mistake in FORWARD_QUESTIONS["output_by_hand"].mistakes[(WINDOW * other).sum()]
