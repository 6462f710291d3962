"""The GEMM lesson's exercises: what tells the mistakes in a kernel with tiles apart, and a derivative of one's own."""

import numpy as np
import pytest
from support.grading import outcomes, simulate_once  # noqa: F401

from helpers.exercises import PUZZLES
from helpers.gemm import derivative, exercises
from helpers.grading.grader import grade
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE

# --- A kernel with tiles ------------------------------------------------------------------------------------

TILED = [puzzle.name for puzzle in exercises.PUZZLES if "workgroupBarrier" in puzzle.official.code]
BARRIER = "workgroupBarrier();"
D_A = PUZZLES["gemm_bwd_da"]
OFFICIAL = D_A.solution.text


@pytest.mark.parametrize("name", TILED)
def test_two_missing_barriers_are_unsafe_in_every_test(name):
    """In those with one turn, too, where a barrier after the products protects nothing; one is a known mistake."""
    grades = grade(PUZZLES[name], PUZZLES[name].solution.text.replace(BARRIER, ""))
    assert {verdict.outcome for verdict in grades} == {UNSAFE}
    assert "and no workgroupBarrier() stands between the two" in grades[0].detail


@pytest.mark.parametrize("name", TILED)
def test_both_barriers_before_the_products_are_as_one(name):
    """The text has two barriers, but none keeps the next loads off the tiles."""
    before, between, after = PUZZLES[name].solution.text.split(BARRIER)
    grades = grade(PUZZLES[name], f"{before}{BARRIER}{BARRIER}{between}{after}")
    named = [verdict.detail for verdict in grades if "between the products and the loads" in verdict.detail]
    assert len(named) == 1


def test_other_barriers_are_right_and_kernels_without_tiles_are_not_there_yet():
    naive = """
      if (m < params.M && k < params.K) {
        for (var n = 0u; n < params.N; n++) { sum += read_grad_pre(item, m, n) * read_b(k, n); }
        d_a[(item * params.M + m) * params.K + k] = sum;
      }
    }"""
    assert set(outcomes(grade(D_A, OFFICIAL.replace(BARRIER, f"workgroupBarrier ( ); {BARRIER}")))) == {RIGHT}
    assert set(outcomes(grade(D_A, OFFICIAL[: OFFICIAL.index("  for (")] + naive))) == {NOT_YET}


# --- An activation of the learner's own ---------------------------------------------------------------------


def test_a_derivative_that_is_not_finite_is_not_called_0():
    """exp(100) is infinite, and the kernel's finite_or_0 makes 0 of it."""
    assert derivative.grade("exp(x)")[3].detail == "at x = 100 yours is inf, from which the kernel makes 0; right is 1"
    assert derivative.grade("x * x")[2].detail == "at x = 0 yours is 0; right is 1"


def test_the_derivative_is_that_of_elu():
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    before, after = (np.where(y > 0, y, np.exp(y) - 1) for y in (x - 1e-6, x + 1e-6))
    np.testing.assert_allclose((after - before) / 2e-6, derivative.elu_derivative(x), rtol=1e-8)
