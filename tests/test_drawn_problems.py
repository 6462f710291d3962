"""A text that passes its tests is tried on drawn problems, too: it is right only where it is right on all of them."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.grading import edited, graded, outcomes
from support.sample import sample

import helpers
from helpers.classroom.class_table import summary
from helpers.grading import drawn, student_files
from helpers.grading.grader import grade
from helpers.grading.interface_checks import unread
from helpers.grading.puzzle import Drawn
from helpers.grading.reasons import NothingRead
from helpers.grading.test_run import simulated
from helpers.grading.transport import as_data, from_data
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG
from helpers.lessons.exercises import PUZZLES, is_right
from helpers.widgets.editor import Editor
from wgsl import Kernel
from wgsl.simulator.work import Work

LESSONS = "meet_the_gpu", "convolution_as_correlation", "weight_gradient", "input_gradient"
FOLDER = Path(__file__).with_name("support")
DRAWN = [name for name, puzzle in PUZZLES.items() if puzzle.folder.parent.name in LESSONS]
ROUNDED = "3.0 * input[i] + 1.0", "quantizeToF16(3.0 * input[i] + 1.0)"
WRONG_ELSEWHERE = [tuple(row.values()) for row in tomllib.loads((FOLDER / "wrong_elsewhere.toml").read_text())["texts"]]


@pytest.mark.parametrize(("name", "old", "new"), sample(WRONG_ELSEWHERE, 12))
def test_a_text_that_is_right_in_all_tests_and_wrong_elsewhere_fails_a_drawn_problem(name, old, new):
    puzzle = PUZZLES[name]
    kernel = Kernel(puzzle.solution.text, name).edit(old, new)
    assert [drawn.way_to_fail(simulated(kernel, case)) for case in puzzle.cases()] == [None] * len(puzzle.tests)
    assert isinstance(drawn.failed(puzzle, kernel, None, 0), drawn.Problem)


def test_texts_that_are_wrong_elsewhere_are_kept_for_every_puzzle():
    assert {name for name, *_ in WRONG_ELSEWHERE} == {*PUZZLES}
    assert len({*WRONG_ELSEWHERE}) == len(WRONG_ELSEWHERE) >= 75


@pytest.mark.parametrize(("name", "old", "new"), sample(WRONG_ELSEWHERE, 8))
def test_its_verdict_has_one_more_row_the_drawn_problem_with_its_sizes(name, old, new):
    *tests, last = graded(name, (old, new))
    assert {*outcomes(tests)} == {RIGHT}
    assert (last.test, last.outcome) == (drawn.NAME, WRONG)
    sizes = ", ".join(f"{size} = {value}" for size, value in last.sizes)
    assert last.detail.startswith(f"on a drawn problem: {sizes}; ")
    assert last.drawing.startswith("The drawn problem:\n")


def test_what_is_never_written_or_raced_for_counts_as_in_a_test():
    reached = "(params.out_h - 1u) * S + params.kernel_h - params.padding_h"
    last = graded("pixel_stride", ("var sum = 0.0;", f"if (ih >= {reached}) {{ return; }} var sum = 0.0;"))[-1]
    assert (last.test, last.outcome) == (drawn.NAME, UNSAFE)
    assert "never written" in last.detail


def test_a_loop_that_does_not_end_on_a_drawn_problem_is_named_there():
    loop = "loop { if (sizes.n < 200u) { break; } }"
    last = graded("guard", ("let i = global.x;", f"let i = global.x; {loop}"))[-1]
    assert (last.test, last.outcome, last.line) == (drawn.NAME, WRONG, 13)
    assert re.match("on a drawn problem: n = 2[0-9][0-9], numbers = [a-z]+; line 13, `", last.detail)


@pytest.mark.parametrize("name", DRAWN)
def test_the_official_kernel_is_right_on_every_drawn_problem(name):
    puzzle = PUZZLES[name]
    for number in sample(range(1000), 8):
        sizes, case_of = drawn.drawn_problem(puzzle, puzzle.official.code, "tests", number)
        assert drawn.way_to_fail(simulated(puzzle.official, case_of(sizes))) is None, sizes


@pytest.mark.parametrize("name", DRAWN)
def test_some_drawn_problems_are_past_one_workgroup_and_have_any_kind_of_numbers(name):
    puzzle = PUZZLES[name]
    problems = [drawn.drawn_problem(puzzle, "", None, number) for number in range(40)]
    workgroups = [max(case_of(sizes).dispatches[0].workgroups) for sizes, case_of in problems]
    assert sum(count > 1 for count in workgroups) > 5
    kinds = {sizes.get("numbers") for sizes, _ in problems}
    assert len(kinds) == (1 if name in ("output_index", "weight_index") else 3)


def test_layers_have_strides_above_the_filter_paddings_that_differ_and_windows_that_do_not_reach_the_end():
    puzzle = PUZZLES["strided_conv2d"]
    seen = {"above": 0, "differ": 0, "short": 0}
    for number in range(40):
        s, _ = drawn.drawn_problem(puzzle, "", None, number)
        seen["above"] += s["S"] > s["kH"]
        seen["differ"] += s["Ph"] != s["Pw"] and s["S"] > 1
        seen["short"] += (s["H"] + 2 * s["Ph"] - s["kH"]) % s["S"] != 0
    assert min(seen.values()) >= 8, seen


@pytest.mark.parametrize("name", ["guard", "strided_conv2d", "arg_max_tree"])
def test_a_text_must_be_right_where_each_size_is_at_its_ends_and_for_each_kind_of_numbers(name):
    puzzle = PUZZLES[name]
    ends, others = drawn.chosen(puzzle, "fn main() {}", None)
    assert not set(ends).intersection(others)
    candidates = []
    for number in range(drawn.CANDIDATES):
        sizes, _ = drawn.drawn_problem(puzzle, "fn main() {}", None, number)
        candidates.append(sizes)
    for size in candidates[0]:
        values = {sizes[size] for sizes in candidates}
        tried = {candidates[number][size] for number in ends}
        assert {min(values), max(values)} <= tried
        if isinstance(candidates[0][size], str):
            assert tried == values


# --- The same text ----------------------------------------------------------------------------------------------


def test_the_same_text_gets_the_same_verdicts_whatever_its_comments_and_blanks_are():
    text = edited("map", ROUNDED)
    grades = grade(PUZZLES["map"], text)
    again = grade(PUZZLES["map"], text.replace("3.0 *", "3.0  *").replace("// 2.", "// two."))
    assert grades[-1].sizes == again[-1].sizes
    assert str(grades) == str(again)
    assert from_data(as_data(grades)) == grades


def test_another_text_and_another_seed_get_other_problems():
    puzzle = PUZZLES["guard"]
    seeds = None, 5, "5", "Ada"
    drawn_sizes = [drawn.drawn_problem(puzzle, "fn main() {}", seed, 0)[0]["n"] for seed in seeds]
    drawn_sizes.append(drawn.drawn_problem(puzzle, "fn main() { }  ", None, 0)[0]["n"])
    drawn_sizes.append(drawn.drawn_problem(puzzle, "fn other() {}", None, 0)[0]["n"])
    assert drawn_sizes[0] == drawn_sizes[4]
    assert len({*drawn_sizes}) == 5


def test_a_seed_reaches_the_process_that_grades():
    text = edited("guard", ("if (i >= sizes.n)", "if (i >= min(sizes.n, 130u))"))
    for seed in "Ada", 7:
        assert helpers.grade("guard", text, seed=seed) == grade(PUZZLES["guard"], text, seed)


@pytest.mark.parametrize("seed", [1.5, True, b"Ada", ["Ada"]])
def test_another_kind_of_seed_is_refused_by_its_name(seed):
    with pytest.raises(TypeError, match=r"^seed is a .+: it must be a whole number, text or None$"):
        helpers.grade("map", edited("map"), seed=seed)


# --- Made smaller -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bound", "smallest"), [("min(sizes.n, 200u)", 201), ("sizes.n - sizes.n / 137u", 137)])
def test_a_fault_that_only_large_sizes_show_is_shown_in_the_smallest(bound, smallest):
    last = graded("guard", ("i >= sizes.n", f"i >= {bound}"))[-1]
    assert dict(last.sizes)["n"] == smallest


def test_a_fault_of_one_size_is_shown_in_that_size():
    guard = PUZZLES["guard"]
    at_37 = replace(guard, drawn=Drawn(lambda random: {"n": 37, "numbers": "whole"}, guard.drawn.case))
    last = grade(at_37, edited("guard", ("i >= sizes.n", "i >= sizes.n - u32(sizes.n == 37u)")))[-1]
    assert last.sizes == (("n", 37), ("numbers", "whole"))


def test_sizes_are_lowered_while_a_problem_fails_and_words_stay():
    tried = []

    def fails(sizes):
        tried.append(sizes)
        return sizes["H"] >= 5 and sizes["S"] > 1

    sizes = {"H": 96, "W": 40, "S": 3, "numbers": "floats"}
    assert drawn.smaller(sizes, fails) == {"H": 5, "W": 0, "S": 2, "numbers": "floats"}
    assert len(tried) <= drawn.MOST_TRIES


# --- Where right is counted -------------------------------------------------------------------------------------


def test_a_text_that_fails_a_drawn_problem_is_right_nowhere():
    text = edited("map", ROUNDED)
    grades = helpers.grade("map", text)
    assert repr(grades).endswith("\n2 of 3 tests pass")
    assert summary(grades) == "2/3"
    assert not student_files.outcome("map", text).right
    assert not is_right("map")
    editor = Editor(PUZZLES["map"], lambda source: grades)
    editor.run(text)
    assert editor.verdict["headline"] == "wrong (drawn problem)"
    assert editor.verdict["count"] == "2 of 3 tests pass"


# --- An input that is not read ----------------------------------------------------------------------------------


def test_a_text_that_reads_none_of_an_input_is_wrong():
    grades = graded("map", ("3.0 * input[i] + 1.0", "f32(i)"))
    assert grades[0].detail.startswith("no line reads `input`: where does your result need it? 64 of 64 numbers")
    assert "no line" not in grades[1].detail


def test_it_is_wrong_even_where_all_numbers_are_right():
    map_ = PUZZLES["map"]
    zeros = tuple(replace(case, expected=np.zeros_like(case.expected)) for case in map_.cases())
    grades = grade(replace(map_, cases=lambda: zeros, drawn=None), edited("map", ("3.0 * input[i] + 1.0", "0.0")))
    assert {*outcomes(grades)} == {WRONG}
    assert grades[0].detail == "no line reads `input`: where does your result need it?"


def test_every_official_kernel_reads_all_of_its_inputs_so_that_all_are_asked_for():
    for name, puzzle in PUZZLES.items():
        one = "1.0"
        if "array<vec4f>" in puzzle.official.code:
            one = "vec4f(1.0)"
        fixed = re.sub(r"\b(input|grad_output|a|pre)\[[^]]*\]", one, puzzle.official.code)
        if puzzle.cases()[0].inputs and fixed != puzzle.official.code:
            assert isinstance(unread(Kernel(fixed), puzzle), NothingRead), name
        assert unread(puzzle.official, puzzle) is None


# --- Texts that do much more work than ours ---------------------------------------------------------------------


TURNS = "for (var k = 0u; k < params.K; k++)"
SIX_TIMES = (
    (TURNS, f"for (var again = 0u; again < 6u; again++) {{ sum = 0.0; {TURNS}"),
    ("  c[", "  }\n  c["),
)
REMARK = (
    "it is right in all tests; the larger drawn problems were not tried, as your kernel does {} times the work of ours"
)


def test_a_right_text_that_uses_up_the_work_is_told_what_was_not_tried(monkeypatch):
    monkeypatch.setattr(drawn, "MOST_WORK", 40_000_000)
    grades = graded("product", *SIX_TIMES)
    assert {*outcomes(grades)} == {RIGHT}
    said = [verdict.detail.endswith((REMARK.format(5), REMARK.format(6))) for verdict in grades]
    assert said == [True, False, False, False]
    assert from_data(as_data(grades)) == grades


def test_one_that_is_wrong_before_the_work_is_used_up_is_wrong(monkeypatch):
    monkeypatch.setattr(drawn, "MOST_WORK", 40_000_000)
    grades = graded("product", *SIX_TIMES, ("m >= params.M", "m >= params.M || params.K == 1u"))
    assert (grades[-1].test, grades[-1].outcome) == (drawn.NAME, WRONG)


@pytest.mark.parametrize("name", sample(PUZZLES, 6))
def test_a_text_that_does_three_times_our_work_is_tried_on_all_problems(name):
    puzzle = PUZZLES[name]
    work = Work(drawn.MOST_WORK)
    ends, _ = drawn.chosen(puzzle, puzzle.official.code, None)
    for number in ends:
        sizes, case_of = drawn.drawn_problem(puzzle, puzzle.official.code, None, number)
        simulated(puzzle.official, case_of(sizes), work=work)
    assert 3 * (drawn.MOST_WORK - work.left) < drawn.MOST_WORK
