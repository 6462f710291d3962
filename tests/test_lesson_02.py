"""Lesson 02's questions: each right answer is what the kernels, the pictures and the equation give."""

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson, texts

import helpers
from helpers.convolution import explorers, indices, reference
from helpers.convolution.exercises import WEIGHT_QUESTIONS
from helpers.convolution.shapes import ConvShape
from helpers.grading.verdict import RIGHT

CONV1, CONV2 = ConvShape(1, 1, 28, 28, 6, 5, 5), ConvShape(1, 6, 12, 12, 16, 5, 5)


def pixels_of_a_weight(shape: ConvShape) -> int:
    """How many pixels of one image a weight multiplies."""
    return len(indices.contributions_to_weight(shape, 0, 0))


def wrong_in_small_case() -> int:
    """How many of nine weights a kernel gets wrong that stops after the first image of a batch of one."""
    broken = helpers.load("conv2d_grad_weight", "1_thread_per_weight").edit("n < params.batch", "n < 1u")
    case = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5), (1, 1, 3, 3), np.ones((1, 1, 3, 3), np.float32)
    return int((helpers.conv2d_grad_weight(*case, kernel=broken) != reference.conv2d_grad_weight(*case)).sum())


def by_hand() -> float:
    """dW[0,1] of the case in the section with pen and paper: the pixels above it, times the upstream gradients."""
    return float((np.array([[2, 3], [1, 4]]) * [[2, 1], [-1, 3]]).sum())


def change_of_the_loss() -> float:
    """By how much the loss of the small case changes when the weight [0,1] grows by 1."""
    image, upstream = explorers.SMALL_CASE
    weight = np.zeros((1, 1, 3, 3))
    weight[0, 0, 0, 1] = 1
    return float((reference.conv2d(image, weight) * upstream).sum())


COMPUTED = {
    "pixels_of_a_weight": lambda: pixels_of_a_weight(CONV1),
    "dW[0,1]": by_hand,
    "change_of_the_loss": change_of_the_loss,
    "pixels_with_stride": lambda: pixels_of_a_weight(ConvShape(1, 1, 7, 7, 1, 3, 3, 3)),
    "owner_of_a_weight": lambda: [indices.weight_of_thread(CONV2, t) for t in range(256)].index((1, 2, 0, 3)),
    "fault_in_small_case": wrong_in_small_case,
}


@pytest.mark.parametrize("name", WEIGHT_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert WEIGHT_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_the_first_cell_stores_its_picture_which_nbval_does_not_compare():
    """It also names the adapter, so that it is ignored."""
    lesson = Lesson.read(NOTEBOOKS / "02_weight_gradient.ipynb")
    adapter, picture = lesson.code[0].outputs
    assert (adapter.name, "image/png" in picture.data) == ("stdout", True)
    assert texts(picture) == [explorers.weight_gradient().sentence]
