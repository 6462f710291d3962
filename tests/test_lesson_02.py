"""Lesson 02: each right answer is what kernels, pictures and the equation give, and what the reader's work does."""

import re

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support.legible import illegible
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.grading.prediction import questions
from helpers.grading.verdict import RIGHT
from helpers.lessons.by_name import HERE
from helpers.lessons.exercises import PLANTED
from helpers.lessons.weight_gradient import filters
from helpers.operations.convolution import indices, reference
from helpers.operations.convolution.shapes import ConvShape

CONV1, SMALL = ConvShape(1, 1, 28, 28, 6, 5, 5), ConvShape(1, 1, 5, 5, 1, 3, 3)


def pixels_of_a_weight(shape: ConvShape) -> int:
    """The number of pixels of one image that a weight multiplies."""
    return len(indices.taps_of_weight(shape, 0, 0))


def by_hand() -> float:
    """dW[0,1] of the case in the section with pen and paper: the pixels above it, times the upstream gradients."""
    return float((np.array([[2, 3], [1, 4]]) * [[2, 1], [-1, 3]]).sum())


def change_of_the_loss() -> float:
    """The change of the small case's loss when the weight [0,1] shrinks by 0.5."""
    image, upstream = explorers.SMALL_CASE
    weight = np.zeros((1, 1, 3, 3))
    weight[0, 0, 0, 1] = -0.5
    return float((reference.conv2d(image, weight) * upstream).sum())


def padding_tests() -> tuple[int, ...]:
    """The number of times that one thread of the official kernel tests the row and the column of a pixel."""
    kernel = helpers.load("conv2d_grad_weight", "1_thread_per_weight")
    grad_output, input, grad_weight = (np.zeros(size, np.float32) for size in (9, 25, 9))
    arrays = [grad_output, input, grad_weight, np.array(SMALL.params(), np.uint32)]
    watched = helpers.simulate(kernel, arrays, (1, 1, 1), watch=["ih", "iw"]).watched
    return tuple(len(values) // 9 for values in watched.values())  # 9 threads


COMPUTED = {
    "pixels_of_a_weight": lambda: pixels_of_a_weight(CONV1),
    "dW[0,1]": by_hand,
    "change_of_the_loss": change_of_the_loss,
    "outputs_of_two_pixels": lambda: tuple(len(indices.taps_of_pixel(SMALL, i, i)) for i in (2, 0)),
    "padding_tests_of_a_thread": padding_tests,
}


WEIGHT_QUESTIONS = questions(HERE / "weight_gradient" / "questions.toml")


@pytest.mark.parametrize("name", WEIGHT_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert WEIGHT_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


LESSON = Lesson.read(NOTEBOOKS / "02_weight_gradient.ipynb")


def test_a_smaller_filter_makes_a_larger_frame():
    explorer = explorers.weight_gradient()
    for size, frame in (3, 3), (2, 4):
        explorer.set(filter=size)
        picture = explorer.picture
        window, grid = picture.window.box, picture.window_grid
        assert round(window.width / grid.width) == round(window.height / grid.height) == frame
        assert picture.left_grid.values.shape == (frame, frame)
        assert picture.result_grid.values.shape == (size, size)


# --- A fault that the hard case misses: tests/messages/answers.txt has what is said of those that are planted ---------

HARD = PLANTED["fault_that_the_hard_case_misses"].shape


def test_the_hard_case_of_the_judge_is_the_lessons():
    sizes = next(re.findall(r"\((\d+(?:, \d+)+)\)", cell.source) for cell in LESSON.code if "hard_size" in cell.source)
    assert sizes == [", ".join(map(str, size)) for size in (HARD.input, HARD.output, HARD.weight, HARD.padding)]
    assert len({*HARD.input, *HARD.output[1:], *HARD.weight[2:], *HARD.stride, *HARD.padding}) == 12


# --- Six filters ------------------------------------------------------------------------------------------------


def test_the_filters_reach_their_targets_and_every_state_is_legible():
    size = filters.LAYER.weight
    explorer = filters.explorer(lambda x, dy: np.float32(reference.conv2d_grad_weight(x, size, dy)), "NumPy")
    assert explorer.picture.losses[-1] < explorer.picture.losses[0] / 300
    assert not illegible(explorer, 20)
    (_, first, wanted) = explorer.steps.trials.values()
    assert explorer.picture.losses[first["step"]] < 1 <= explorer.picture.losses[first["step"] - 1]
    assert any(wanted.goal({"co": co, "kh": kh, "kw": kw}) for co, kh, kw in np.ndindex(6, 5, 5))
