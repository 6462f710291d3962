"""The GEMM lesson's exercises: what tells the mistakes in a kernel with tiles apart."""

import pytest
from support.grading import outcomes, simulate_once  # noqa: F401
from support.sample import sample

from helpers.exercises import PUZZLES
from helpers.gemm import exercises
from helpers.grading.grader import grade
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE

# --- A kernel with tiles ------------------------------------------------------------------------------------

TILED = [puzzle.name for puzzle in exercises.PUZZLES if "workgroupBarrier" in puzzle.official.code]
BARRIER = "workgroupBarrier();"
D_A = PUZZLES["gemm_bwd_da"]
OFFICIAL = D_A.solution.text


@pytest.mark.parametrize("name", sample(TILED, 1))
def test_two_missing_barriers_are_unsafe_in_every_test(name):
    """In those with one turn, too, where a barrier after the products protects nothing; one is a known mistake."""
    grades = grade(PUZZLES[name], PUZZLES[name].solution.text.replace(BARRIER, ""))
    assert {verdict.outcome for verdict in grades} == {UNSAFE}
    assert "and no workgroupBarrier() stands between the two" in grades[0].detail


@pytest.mark.parametrize("name", sample(TILED, 1))
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
