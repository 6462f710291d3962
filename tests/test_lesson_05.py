"""Lesson 05: what it says about its own data is true, and its questions have the answers that are computed."""

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.checks.tolerance import ROUNDING
from helpers.convolution import check
from helpers.exercises import QUESTIONS
from helpers.gradient_checks import errors, probes
from helpers.gradient_checks.matrix import POOR, matrix

LESSON = Lesson.read(NOTEBOOKS / "05_trusting_a_gradient.ipynb")


@pytest.fixture(scope="module")
def cells() -> dict[str, object]:
    """The names that the lesson's cells define, up to the first explorer."""
    found: dict[str, object] = {}
    for cell in LESSON.code:
        if "explorers." in cell.source:
            return found
        exec(cell.source, found)
    return found


def test_rows_are_not_columns_and_counts_are_not_mixed_up(cells):
    x, w, dy = (cells[name].shape for name in ("input", "weight", "grad_output"))
    assert all(rows != columns for rows, columns in (x[2:], w[2:], dy[2:], cells["how"]["padding"]))
    assert len({x[0], x[1], w[0]}) == 3
    assert x[0] > 1 < cells["how"]["stride"]


def test_ones_hide_both_mistakes_and_the_better_data_show_them(cells):
    for name, right in (("right", True), ("first_image_only", False), ("first_column_only", False)):
        easy, got = cells["easy_test"](cells[name]), cells["gradient"](cells[name])
        assert easy
        assert bool(check.grad_weight(got, cells["input"], cells["grad_output"], **cells["how"])) == right
    assert QUESTIONS["wrong_with_ones"].right == easy.wrong


def test_a_flip_is_hidden_by_a_symmetric_filter():
    random = np.random.default_rng(0)
    gradient, filter = random.integers(-4, 5, (2, 3, 3))
    symmetric = filter + filter[::-1, ::-1]
    question, weights, gradients = QUESTIONS["flipped_and_symmetric"], np.array([1, 3, 1]), np.array([5, 0, -3])
    for values, case in (symmetric.ravel(), gradient.ravel()), (weights, gradients):
        assert (values * case).sum() - (values * case[::-1]).sum() == question.right
    differences = gradients - gradients[::-1]
    assert {*question.mistakes} == {differences[0], differences[2], abs(differences).sum(), (weights * gradients).sum()}


def test_the_best_step_of_the_three_is_the_one_that_the_question_says():
    offered = errors.STEPS.index(-10), errors.STEPS.index(-5), errors.STEPS.index(0)
    best = offered[np.argmin(errors.convolution_differences().errors[[*offered]])]
    question = QUESTIONS["best_step_for_convolution"]
    assert question.right == 2.0 ** errors.STEPS[best]
    assert {question.right, *question.mistakes} == {2.0 ** errors.STEPS[i] for i in offered}


def test_the_probe_reads_what_the_question_says():
    input, upstream = probes.numbered((1, 1, 5, 7)), probes.one_hot((1, 1, 3, 5), (0, 0, 0, 3))
    read, question = helpers.conv2d_grad_weight(input, (1, 1, 3, 3), upstream)[0, 0], QUESTIONS["probe_reads"]
    assert read[1, 0] == question.right
    for place, said in {(0, 0): "weight [0,0]", (1, 1): "weight [1,1]", (0, 1): "weight [0,1]"}.items():
        assert said in question.mistakes[read[place]]


def test_the_blind_length_is_the_first_one_offered():
    offered = (256, 1024, 4096, 16384)
    first = next(n for n in offered if n * n * ROUNDING > 1)
    assert first == QUESTIONS["blind_length"].right == next(n for n in offered if n >= errors.blind_length())


def test_the_worst_data_are_those_that_the_question_says():
    names = "ones", "symmetric", "whole", "batch", "square", "guard"  # of all columns but the classroom test
    missed = {name: len(matrix("conv2d_grad_weight").missed(column)) for name, column in zip(names, POOR, strict=False)}
    assert sorted(missed.values())[-2] < missed[QUESTIONS["worst_data"].right] == max(missed.values())
    assert {*QUESTIONS["worst_data"].mistakes} == {*names} - {"guard"}
    said = f"misses {missed['guard']} wrong kernels, the next worst, square images, {missed['square']}."
    assert QUESTIONS["worst_data"].why.endswith(said)
    assert missed["square"] == sorted(missed.values())[-2]
