"""The derivative exercise: the right expression passes, each tempting wrong one fails, and mistakes are named."""

import numpy as np
import pytest

from helpers.gemm import exercise
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG

A = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]], np.float32)
GRAD = np.array([[1, -2], [3, 1], [-1, 2]], np.float32)
GRAD_PRE = np.array([[0, -2], [3, 0], [-1, 2]], np.float32)


def outcomes(expression: str | None) -> list[str]:
    return [verdict.outcome for verdict in exercise.grade(expression)]


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_not_attempted(nothing):
    assert outcomes(nothing) == [NOT_ATTEMPTED] * 4


@pytest.mark.parametrize(
    "right", ["select(exp(x), 1.0, x > 0.0)", "exp(min(x, 0.0))", "select(1.0, exp(x), x <= 0.0);  // mine; yes"]
)
def test_the_right_derivative_passes(right):
    assert outcomes(right) == [RIGHT] * 4


@pytest.mark.parametrize(
    ("wrong", "seen"),
    [
        ("select(0.0, 1.0, x > 0.0)", [RIGHT, WRONG, WRONG, RIGHT]),
        ("exp(x)", [WRONG, RIGHT, RIGHT, WRONG]),
        ("select(1.0, exp(x), x > 0.0)", [WRONG, WRONG, RIGHT, WRONG]),
        ("select(exp(x) - 1.0, x, x > 0.0)", [WRONG, WRONG, WRONG, WRONG]),
        ("select(exp(x), 1.0, x > 50.0)", [WRONG, RIGHT, RIGHT, RIGHT]),
    ],
)
def test_a_wrong_derivative_is_seen(wrong, seen):
    assert outcomes(wrong) == seen


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("select(0, 1, x > 0.0)", "is 0 written for 0.0?"),
        ("select(exp(x), 1.0, y > 0.0)", "no definition in scope for identifier: `y`"),
        ("1.0; loop { } return 1.0", "without semicolons or braces"),
        ("1.0; } case 7u: { return 1.0", "without semicolons or braces"),
    ],
)
def test_an_expression_that_does_not_compile_says_why_once(expression, words):
    grades = exercise.grade(expression)
    assert [verdict.outcome for verdict in grades] == [NO_COMPILE] * 4
    assert words in grades[0].detail
    assert not grades[1].detail


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (None, NOT_ATTEMPTED, "in place of None"),
        (-1 * -2 + 1 * 0 + 1 * 2, RIGHT, ""),
        (-1 * -2 + 1 * 1 + 1 * 2, WRONG, "use grad_pre"),
        (1 * 0 + 0 * 3 + 2 * -1, WRONG, "is d_b[0,0]"),
        (77, WRONG, "column 3 of a"),
    ],
)
def test_a_prediction_is_judged_and_the_mistake_named(answer, outcome, words):
    verdict = exercise.predict(answer, A, GRAD, GRAD_PRE, 3, 1)
    assert (verdict.test, verdict.outcome) == ("d_b[3,1]", outcome)
    assert words in verdict.detail


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="expression is a float"):
        exercise.grade(0.01)
    with pytest.raises(TypeError, match="answer = '-5' is a str"):
        exercise.predict("-5", A, GRAD, GRAD_PRE, 3, 1)
