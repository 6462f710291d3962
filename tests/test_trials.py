"""A cause is tried before it is told: a barrier between two accesses, a guard above a read."""

from support.grading import edited, graded

from helpers.grading.grader import grade
from helpers.grading.verdict import WRONG
from helpers.lessons.exercises import PUZZLES

STEP = "partial[thread] += partial[thread + half];"
IN_TWO_LINES = "let right = partial[thread + {index}];\n      partial[thread] = partial[thread] + right;"


def test_a_race_that_no_barrier_orders_is_told_without_one_and_with_the_index():
    """The barrier is there, and an index in two lines is wrong."""
    verdict = graded("tree_step", (STEP, IN_TWO_LINES.format(index="half / 2u")))[0]
    assert verdict.reason.diagnosis.finding.facts.no_place_for_barrier
    assert "workgroupBarrier()" not in verdict.detail
    assert [change.text for change in verdict.repair.changes] == ["half / 2u"]


def test_a_race_that_a_barrier_orders_is_told_with_one():
    without = ("    workgroupBarrier();\n", "")
    verdicts = graded("tree_step", (STEP, IN_TWO_LINES.format(index="half")), without)
    assert "no workgroupBarrier() stands between the two" in verdicts[0].detail


def test_a_read_above_its_guard_is_told_with_the_guard():
    early = "let early = input[i];\n  if (i >= sizes.n) { return; }"
    verdict = graded("guard", ("if (i >= sizes.n) { return; }", early))[0]
    assert verdict.detail.count("stops this thread only after the read") == 1
    assert "check how the index is computed" not in verdict.detail


def test_a_read_past_an_end_with_its_guard_above_is_told_without_it():
    verdict = graded("guard", ("* input[i]", "* input[i + 1u]"))[0]
    assert "only after the read" not in verdict.detail


def test_a_shader_of_another_stage_is_to_be_deleted():
    shader = "\n@vertex fn corner() -> @builtin(position) vec4f { return vec4f(0.0); }\n"
    verdict = grade(PUZZLES["guard"], edited("guard") + shader)[0]
    assert verdict.outcome == WRONG
    assert "`corner` is a vertex shader, which no dispatch runs: delete it" in verdict.detail


def test_an_attribute_of_an_ordinary_functions_parameter_is_to_be_left_out():
    function = "fn f(@interpolate(flat) x: u32) -> u32 { return x; }\n"
    verdict = grade(PUZZLES["guard"], function + edited("guard"))[0]
    assert "leave it out" in verdict.detail
    assert "@compute" not in verdict.detail
