"""The slope exercise: the right expression passes, each tempting wrong one fails, and slips are named."""

import numpy as np
import pytest

from helpers import exercise_gemm
from helpers.exercise import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG

A = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]], np.float32)
GRAD = np.array([[5, 2], [-1, 4], [2, -3]], np.float32)
GRAD_PRE = np.array([[0, 2], [-1, 0], [2, -3]], np.float32)


def outcomes(expression: str | None) -> list[str]:
    return [verdict.outcome for verdict in exercise_gemm.grade(expression)]


def test_nothing_is_not_attempted():
    assert outcomes(None) == [NOT_ATTEMPTED] * 4


@pytest.mark.parametrize("right", ["select(0.01, 1.0, x > 0.0)", "select(1.0, 0.01, x <= 0.0)"])
def test_the_right_slope_passes(right):
    assert outcomes(right) == [RIGHT] * 4


@pytest.mark.parametrize(
    ("wrong", "seen"),
    [
        (exercise_gemm.RELU, [RIGHT, WRONG, WRONG, WRONG]),
        ("select(0.01, 1.0, x >= 0.0)", [RIGHT, RIGHT, WRONG, RIGHT]),
        ("select(1.0, 0.01, x > 0.0)", [WRONG] * 4),
        ("select(0.01 * x, x, x > 0.0)", [WRONG] * 4),
        ("clamp(x * 1e30, 0.01, 1.0)", [RIGHT, RIGHT, RIGHT, RIGHT]),  # odd, and right where it is asked
        ("clamp(x, 0.01, 1.0)", [WRONG, RIGHT, RIGHT, RIGHT]),
    ],
)
def test_a_wrong_slope_is_seen(wrong, seen):
    assert outcomes(wrong) == seen


def test_a_slope_that_does_not_compile_says_why_once():
    grades = exercise_gemm.grade("select(0.01, 1.0, y > 0.0)")
    assert [verdict.outcome for verdict in grades] == [NO_COMPILE] * 4
    assert "no definition in scope for identifier: `y`" in grades[0].detail
    assert not grades[1].detail


def test_a_slope_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="expression is a float"):
        exercise_gemm.grade(0.01)


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (None, NOT_ATTEMPTED, "in place of None"),
        (-1 * 2 + 1 * 0 + 1 * -3, RIGHT, ""),
        (-1 * 2 + 1 * 4 + 1 * -3, WRONG, "take grad_pre"),
        (1 * 0 + 0 * -1 + 2 * 2, WRONG, "is d_b[0,0]"),
        (77, WRONG, "column 3 of a"),
    ],
)
def test_a_prediction_is_judged_and_the_slip_named(answer, outcome, said):
    verdict = exercise_gemm.predict(answer, A, GRAD, GRAD_PRE, 3, 1)
    assert (verdict.test, verdict.outcome) == ("d_b[3,1]", outcome)
    assert said in verdict.detail


def test_a_prediction_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="answer = '-5' is a str"):
        exercise_gemm.predict("-5", A, GRAD, GRAD_PRE, 3, 1)
