"""Lesson 07's exercise and questions: loads are counted, mistakes named, and answers are what kernels do."""

import numpy as np
import pytest
from support.trials import outcomes, simulate_once, with_mistake  # noqa: F401

from helpers.exercises import PUZZLES, QUESTIONS
from helpers.grading.grader import grade
from helpers.grading.mistakes import Mistake
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE, WRONG, Grades
from helpers.speed.indices import taps_of_class
from helpers.speed.traffic import traffic
from helpers.wgsl import Kernel, load

PUZZLE = PUZZLES["register_tile"]
OFFICIAL = PUZZLE.solution.text
WASTEFUL = PUZZLE.with_mistake(PUZZLE.mistakes[0]).source
((READ_AND_MULTIPLY, _),) = PUZZLE.mistakes[0].edits


def graded(old: str, new: str) -> Grades:
    return grade(PUZZLE, Mistake("", "", ((old, new),)).made_in(Kernel(OFFICIAL)).source)


# --- A kernel whose loads are counted -----------------------------------------------------------------------

OTHER_MANNER = """
      let rows = vec2f(left[row][k], left[row + 1u][k]);
      let columns = vec2f(right[k][column], right[k][column + 1u]);
      for (var i = 0u; i < 4u; i++) { sums[i] += rows[i / 2u] * columns[i % 2u]; }
"""
SPREAD = ("let row = 2u * local.y;\n  let column = 2u * local.x;", "let row = local.y;\n  let column = local.x;")


def test_another_manner_is_right_and_has_the_same_loads():
    grades = graded(READ_AND_MULTIPLY, OTHER_MANNER)
    assert {*outcomes(grades)} == {RIGHT}
    assert "with the same loads, stores and barriers as our kernel" in repr(grades)


def test_results_that_lie_apart_are_right():
    """Results 8 apart, as in the fast kernels, where neighboring threads then read neighboring numbers."""
    source = OFFICIAL.replace(*SPREAD).replace("row + 1u", "row + SIDE").replace("column + 1u", "column + SIDE")
    source = source.replace("row + i / 2u", "row + i / 2u * SIDE").replace("column + i % 2u", "column + i % 2u * SIDE")
    assert {*outcomes(grade(PUZZLE, source))} == {RIGHT}


def test_a_right_kernel_with_more_loads_than_ours_is_not_there_yet_and_the_numbers_are_shown():
    grades = with_mistake("register_tile", PUZZLE.mistakes[0])
    assert {*outcomes(grades)} == {NOT_YET}
    assert grades.passed == 0
    assert grades[0].detail.endswith("; in three_tiles, loads of workgroup memory: 24,576 (ours: 12,288)")
    assert "each product reads both of its numbers from the tiles again: how many different" in grades[0].detail


@pytest.mark.parametrize(
    ("old", "new", "outcome", "end"),
    [
        (
            "left[y][x] = a[(row + y) * params.K + first + x];",
            "left[y][x] = a[(row + y) * params.K + first + x] + a[(row + y) * params.K + first] * 0.0;",
            NOT_YET,
            "; in three_tiles, loads: 2,304 (ours: 1,536)",  # a waste without a name
        ),
        (
            "for (var k = 0u; k < TILE; k++) {",
            "for (var k = 0u; k < min(TILE, params.K - first); k++) {",
            RIGHT,
            "; ours: 4,096 loads and 532 stores of workgroup memory",
        ),
    ],
)
def test_loads_of_storage_memory_are_counted_too_and_fewer_loads_are_right(old, new, outcome, end):
    grades = graded(old, new)
    assert {*outcomes(grades)} == {outcome}
    assert grades[0].detail.startswith("its numbers are right, but the exercise asks for ") == (outcome == NOT_YET)
    assert grades[0].detail.endswith(end)


def test_what_is_unsafe_is_not_called_wasteful():
    grades = grade(PUZZLE, WASTEFUL.replace("workgroupBarrier();  // both", "//"))
    assert {*outcomes(grades)} <= {WRONG, UNSAFE}
    assert "the exercise asks for" not in str(grades)


# --- Questions ----------------------------------------------------------------------------------------------


def test_the_answers_are_those_of_the_kernels():
    kernel = load("gemm_bias_act", "4_vec4_tiles").with_constants(TILE_M=64, TILE_N=64, TILE_K=4)
    tiled, registers = traffic(load("gemm_bias_act", "2_tiled"), 16, 16, 16), traffic(kernel, 64, 64, 4)
    taps = [len(taps_of_class(i, 3, 2)) * len(taps_of_class(j, 3, 2)) for i, j in np.ndindex(2, 2)]
    computed = {
        "loads_in_a_tile": tiled.loads / tiled.multiply_adds,
        "reads_of_8_by_8": registers.reads / registers.multiply_adds,
        "roof_of_tiles": pytest.approx(2 * 16 / 8 * 4.8),
        "workgroups_of_a_weight_gradient": 64 * 9 // 64,
        "slices_to_fill": -(-132 // 9),
        "taps_of_the_classes": tuple(sorted(taps)),
        "products_of_winograd": 144 / 36,
    }
    assert {name: QUESTIONS[name].right for name in computed} == computed
