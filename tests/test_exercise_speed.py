"""Lesson 08's exercise and questions: loads are counted, mistakes named, and answers are what kernels do."""

from math import prod

import pytest
from support.grading import outcomes, simulate_once, with_mistake  # noqa: F401
from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.exercises import PUZZLES
from helpers.grading.grader import grade
from helpers.grading.mistakes import Mistake
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE, WRONG, Grades
from helpers.speed.layers import SHAPES
from helpers.speed.recorded import recorded
from wgsl import Kernel

LESSON = Lesson.read(NOTEBOOKS / "08_the_speed_ladder.ipynb")
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


# --- The table ----------------------------------------------------------------------------------------------


ONE, MANY = "1_thread_per_weight", "2_workgroup_per_weight"
LAYERS = {  # of the lesson's table of both versions, by their names there
    "LeNet conv1, 1 image": "LeNet conv1, 1 image",
    "LeNet conv1, 256 images": "LeNet conv1, 256 images",
    "32 × 64 × 56 × 56, 3 × 3 filters": "32x64x56x56 to 64, k3 s1 p1",
    "32 × 256 × 14 × 14, 3 × 3 filters": "32x256x14x14 to 256, k3 s1 p1",
}


def times(layer: str) -> tuple[float, float, float]:
    """What both versions and the library took in the recorded run, in milliseconds."""
    run = recorded()[-1]
    versions, libraries = (run.microseconds(kind, "conv2d_grad_weight", layer) for kind in ("versions", "libraries"))
    return versions[ONE] / 1e3, versions[MANY] / 1e3, libraries[run.table["library"]] / 1e3


def figure(value: float, digits: int = 3) -> str:
    """A number with this many digits, as the table has it."""
    return f"{value:#.{digits}g}".rstrip(".")


def test_the_table_of_both_versions_is_that_of_the_recorded_run():
    (prose,) = (cell.source for cell in LESSON.prose if "version&nbsp;1" in cell.source)
    rows = [line.strip("| ").split(" | ") for line in prose.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in rows] == list(LAYERS)
    for name, *said in rows:
        one, many, library = times(LAYERS[name])
        weights = f"{prod(SHAPES[LAYERS[name]].weight):,}"
        took = [f"{figure(time)} ms" for time in (one, many)]
        ratio, best = figure(one / many), figure(min(one, many) / library, 2)
        assert said == [weights, *took, ratio, f"{figure(library)} ms", best]
