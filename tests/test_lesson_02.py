"""Lesson 02's questions: each right answer is what the kernels, the pictures and the equation give."""

import json
from math import prod

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.convolution import explorers, indices, reference
from helpers.convolution.exercises import WEIGHT_QUESTIONS
from helpers.convolution.operations import GRAD_WEIGHT
from helpers.convolution.shapes import ConvShape
from helpers.grading.verdict import RIGHT

CONV1, CONV2 = ConvShape(1, 1, 28, 28, 6, 5, 5), ConvShape(1, 6, 12, 12, 16, 5, 5)
LESSON = Lesson.read(NOTEBOOKS / "02_weight_gradient.ipynb")


def pixels_of_a_weight(shape: ConvShape) -> int:
    """How many pixels of one image a weight multiplies."""
    return len(indices.contributions_to_weight(shape, 0, 0))


def numbers_of_the_tree() -> tuple[np.ndarray, np.ndarray]:
    """The image and the upstream gradient of the lesson's tree, by the lesson's own code."""
    (cell,) = (cell for cell in LESSON.code if cell.source.startswith("random = "))
    names = {"np": np}
    exec(cell.source, names)
    return names["hard_input"][:1, :1], names["hard_upstream"][:1, :1]


def tree() -> list[list[float]]:
    """The sums after each step of the lesson's tree."""
    return explorers.tree_reduction(*numbers_of_the_tree()).picture.steps


def wrong_in_small_case() -> int:
    """How many of nine weights a kernel gets wrong that stops after the first image of a batch of one."""
    broken = helpers.load("conv2d_grad_weight", "1_thread_per_weight").edit("n < params.batch", "n < 1u")
    case = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5), (1, 1, 3, 3), np.ones((1, 1, 3, 3), np.float32)
    return int((helpers.conv2d_grad_weight(*case, kernel=broken) != reference.conv2d_grad_weight(*case)).sum())


def by_hand() -> float:
    """dW[0,1] of the case in the section with pen and paper: the pixels above it, times the upstream gradients."""
    return float((np.array([[2, 3], [1, 4]]) * [[2, 1], [-1, 3]]).sum())


def workgroups_for_conv2() -> int:
    """How many workgroups version 2 is dispatched with."""
    kernel = helpers.load("conv2d_grad_weight", "2_workgroup_per_weight")
    (step,) = GRAD_WEIGHT.versions[kernel.version](CONV2, kernel).steps
    return prod(step.workgroups)


COMPUTED = {
    "pixels_of_a_weight": lambda: pixels_of_a_weight(CONV1),
    "dW[0,1]": by_hand,
    "pixels_with_stride": lambda: pixels_of_a_weight(ConvShape(1, 1, 7, 7, 1, 3, 3, 3)),
    "owner_of_a_weight": lambda: [indices.weight_of_thread(CONV1, t) for t in range(256)].index((3, 0, 4, 4)),
    "fault_in_small_case": wrong_in_small_case,
    "products_of_a_thread": lambda: max(len(indices.products_of_thread(CONV1, t, 256)) for t in range(256)),
    "sum_after_a_step": lambda: tree()[1][2],
    "faster_with_many_weights": lambda: 1 + (3.45 > 10.6),  # the last row of the lesson's table
    "workgroups_for_conv2": workgroups_for_conv2,
}


@pytest.mark.parametrize("name", WEIGHT_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert WEIGHT_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_the_printed_sums_are_those_at_the_foot_of_the_tree():
    (cell,) = (cell for cell in LESSON.code if cell.source.startswith("products = "))
    assert json.loads(cell.outputs[0].text) == tree()[0]


def test_the_simulated_run_holds_the_sums_of_the_tree():
    replay = explorers.tree_steps(*numbers_of_the_tree()).picture.replay
    partial = next(memory for memory in replay.memories if memory.name == "partial")
    added = [moment for moment in replay.moments if not replay.is_barrier(moment)][:-1]  # the last one is the result
    for moment, sums in zip(added, tree(), strict=True):
        assert replay.values(partial, moment)[0][: len(sums)].tolist() == sums


def test_a_mistake_of_the_tree_is_a_sum_that_a_reader_sees():
    own, first, second, *_ = tree()
    assert WEIGHT_QUESTIONS["sum_after_a_step"].mistakes.keys() == {
        own[2],
        own[2] + own[3],
        own[2] - own[10],
        second[2],
    }
    assert first[2] == own[2] + own[10]
