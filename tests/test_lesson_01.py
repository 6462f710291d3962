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


IMAGE = np.array([[1, 2, 0], [3, 1, 4], [2, 0, 5]])
MISTAKES = {  # what is said of them, and how they come about
    "output_by_hand": {
        "flipped": (WINDOW * FILTER[::-1, ::-1]).sum(),
        "transposed": (WINDOW * FILTER.T).sum(),
        "without a minus": (WINDOW * abs(FILTER)).sum(),
        "it is output[0,0]": (IMAGE[:2, :2] * FILTER).sum(),
        "it is output[0,1]": (IMAGE[:2, 1:] * FILTER).sum(),
        "it is output[1,1]": (IMAGE[1:, 1:] * FILTER).sum(),
    },
    "output_size": {
        "without padding": ConvShape(1, 1, 12, 12, 1, 5, 5, 2).out_h,
        "stride 1": ConvShape(1, 1, 12, 12, 1, 5, 5, 1, 2).out_h,
    },
    "offset": {
        "H and W are swapped": np.ravel_multi_index((1, 2, 3, 4), (2, 3, 7, 5)),
        "N and Ci are swapped": np.dot((1, 2, 3, 4), (2 * 35, 35, 7, 1)),
        "the channel comes last": np.ravel_multi_index((1, 3, 4, 2), (2, 5, 7, 3)),
        "in the first image": np.ravel_multi_index((0, 2, 3, 4), (2, 3, 5, 7)),
    },
    "outputs_of_a_corner": {
        "without padding": len(indices.taps_of_pixel(ConvShape(1, 1, 6, 6, 1, 3, 3), 0, 0)),
        "in the middle": len(indices.taps_of_pixel(ConvShape(1, 1, 6, 6, 1, 3, 3, 1, 1), 2, 2)),
        "on an edge": len(indices.taps_of_pixel(ConvShape(1, 1, 6, 6, 1, 3, 3, 1, 1), 0, 2)),
    },
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistakes_are_what_they_are_said_to_be(name):
    for said, answer in MISTAKES[name].items():
        assert said in FORWARD_QUESTIONS[name].mistakes[answer]


def test_the_case_by_hand_is_the_questions():
    asked = FORWARD_QUESTIONS["output_by_hand"].asked
    assert f"`{IMAGE.tolist()}`" in asked
    assert f"`{FILTER.tolist()}`" in asked
    assert (IMAGE[1:, :2] == WINDOW).all()
