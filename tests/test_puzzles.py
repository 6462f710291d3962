"""All puzzles: the official kernel is right, all that it shows is needed, and no other right kernel is refused."""

import re
from collections.abc import Iterator
from itertools import chain, combinations
from math import prod

import numpy as np
import pytest
from support.grading import FURTHER, WAITING, edited, first_tests, graded, only, simulate_once  # noqa: F401
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of
from support.right_variants import right_variants
from support.sample import sample
from support.teaching_pages import puzzles_of

import helpers
from helpers.gpu.passes import pipeline
from helpers.grading.grader import grade
from helpers.grading.puzzle import BROKEN, LEARNERS_LINE, TWICE, same_code
from helpers.grading.test_run import simulated
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT
from helpers.grading.words import AS_OURS
from helpers.lessons.exercises import PUZZLES, PYTHON_PUZZLES
from helpers.operations.kernels import load
from wgsl import Kernel, without_comments
from wgsl.simulator.run import compiled

TO_DECODE = {  # what a skeleton stores, and the learner declares
    "weight_index": "const co = 0u; const ci = 0u; const kh = 0u; const kw = 0u;",
    "output_index": "const n = 0u; const co = 0u; const oh = 0u; const ow = 0u;",
}
IN_TWO_LESSONS = {"relu_gate"}  # first written for a layer, and then a part of LeNet
# One workgroup alone, a test with many results, or another skill.
SHARED_OUT_IN_THE_TEST = {"tree_sum", "arg_max_tree", "grad_bias_two_passes", "kahan_sum", "reverse_in_workgroup"}
SHARED_OUT_IN_THE_TEST |= {"combine_gradients", "max_pool2d_backward", "fixed_point_sum", "subgroup_sum"}
every_puzzle = pytest.mark.parametrize("name", PUZZLES)
# Where one factor is 0, the other may hold any number: one of these lines could go, not both.
EITHER = {"    left[slot] = 0.0;  // *", "    right[slot] = 0.0;  // *"}


@every_puzzle
def test_the_official_kernel_is_right_in_every_test(name):
    grades = graded(name)
    assert [verdict.test for verdict in grades] == list(PUZZLES[name].tests)
    assert only(grades) == RIGHT, str(grades)
    assert repr(grades).endswith(f"\n{AS_OURS}{len(grades)} of {len(grades)} tests pass")


@every_puzzle
def test_the_skeleton_compiles_without_the_marked_lines_and_shows_shapes_and_steps(name):
    skeleton, solution = helpers.skeleton(name), PUZZLES[name].solution.text
    broken = [line for line in skeleton.splitlines() if line and BROKEN + line in PUZZLES[name].official.source]
    if Kernel(skeleton).code.strip() and not broken:
        for entry_point in PUZZLES[name].entry_points:
            pipeline(Kernel(TO_DECODE.get(name, "") + skeleton), entry_point)
    marked = [line for line in PUZZLES[name].official.source.splitlines() if line.endswith(LEARNERS_LINE)]
    left = [line.removesuffix(LEARNERS_LINE).rstrip() for line in marked]
    assert sorted(skeleton.splitlines() + left) == sorted(solution.splitlines() + broken)
    assert max(map(len, skeleton.splitlines())) <= 80
    steps = re.findall(r"^ *// (\d)\. ", solution, re.MULTILINE)
    assert steps == [str(i + 1) for i in range(len(steps))] != []
    for array in re.findall(r"var<storage[^>]*> (\w+)", PUZZLES[name].official.code):
        assert re.search(rf"//.*\b{array} \(.+\)|\b{array}: .*// \(.+\)", skeleton), array


@every_puzzle
def test_the_skeleton_is_not_attempted_even_with_other_blanks_and_comments(name):
    skeleton = helpers.skeleton(name)
    spread = re.sub(r"([(){};,])", r" \1 ", without_comments(skeleton))
    for text in (skeleton, spread, skeleton.replace("// 1.", "\n /* my first */ // ")):
        assert only(helpers.grade(name, text)) == NOT_ATTEMPTED


def marked_lines() -> Iterator[tuple[str, int]]:
    """The lines that a learner writes, each by its puzzle and its number, counted from 0; none that may be left out."""
    for name, puzzle in PUZZLES.items():
        for i, line in enumerate(puzzle.official.source.split("\n")):
            if line.endswith(LEARNERS_LINE) and line not in EITHER and without_comments(line).strip():
                yield name, i


@pytest.mark.parametrize(("name", "i"), sample(marked_lines(), 8))
def test_every_marked_line_is_needed(name, i):
    lines = PUZZLES[name].official.source.split("\n")
    grades = grade(PUZZLES[name], "\n".join(lines[:i] + lines[i + 1 :]))
    assert grades.passed < len(grades), lines[i]


def test_each_puzzle_is_one_cell_of_one_lesson_that_holds_exactly_its_skeleton():
    """Text and verdict are one cell: after Shift+Enter, the verdict stands right below the text. Or it is an editor."""
    lessons = [Lesson.read(path) for path in lessons_of(NOTEBOOKS)]
    shown = [*chain.from_iterable(map(puzzles_of, lessons))]
    assert sorted([*shown, *WAITING]) == sorted([*helpers.puzzles(), *IN_TWO_LESSONS])
    on_the_map = "".join(cell.source for cell in Lesson.read(NOTEBOOKS / "start_here.ipynb").prose)
    assert all(f'helpers.write("{name}")' in on_the_map for name in FURTHER)
    cells = chain.from_iterable(lesson.code for lesson in lessons)
    code = [cell.source for cell in cells]
    for name in sorted({*helpers.puzzles()} - WAITING):
        cell = rf'(my_\w+) = """\n{re.escape(helpers.skeleton(name))}\n"""\nhelpers\.grade\("{name}", \1\)'
        cell += rf'|(?:import helpers\n\n)?helpers\.write\("{name}"\)'
        assert sum(bool(re.fullmatch(cell, source)) for source in code) == 1 + (name in IN_TWO_LESSONS), name


COMPARES = {"arg_max_tree", "max_pool2d_backward"}  # they may be given numbers as low as float32 goes
ROUNDED = {"kahan_sum", "fixed_point_sum"}  # they are about sums that float32 does not have: see test_appendix_e.py


@pytest.mark.parametrize("name", sorted({*PUZZLES} - ROUNDED))
def test_cases_are_small_whole_numbers_and_then_quarters_so_that_sums_are_exact_in_any_order(name):
    quarters = []
    for case in PUZZLES[name].cases():
        arrays = *case.inputs, *case.start
        assert all(array.dtype in (np.float32, np.uint32) and array.size for array in arrays)
        small = [array[array > -(2.0**64)] if name in COMPARES else array for array in (*arrays, case.expected)]
        assert all(np.array_equal(4 * array, np.rint(4 * array)) for array in small[:-1])
        quarters.append(any((array != np.rint(array)).any() for array in case.inputs))
        assert max(abs(array).max(initial=0) for array in small) < 2**12
        assert len(PUZZLES[name].axes.split()) == case.expected.ndim
    assert not quarters[0]
    assert any(quarters) == (name not in TO_DECODE), "it has no inputs, and stores indices"


@pytest.mark.parametrize("name", sorted({name for name in PUZZLES if PUZZLES[name].skill} - SHARED_OUT_IN_THE_TEST))
def test_one_workgroup_would_do_the_work_of_several_in_the_larger_problem_and_would_come_to_an_end(name):
    puzzle = PUZZLES[name]
    run = simulated(puzzle.official, puzzle.skill.larger_case)
    threads = prod(compiled(puzzle.official, puzzle.entry_points[0]).workgroup_size)
    assert not run.findings
    assert not run.wrong.any()
    assert run.case.expected.size > TWICE * threads * run.counts["results"]
    assert run.counts["steps"] <= 240 * run.counts["results"]  # a result takes little


# --- Other right kernels ------------------------------------------------------------------------------------

VARIANTS = list(right_variants())


@pytest.mark.parametrize(("name", "what", "text"), sample(VARIANTS, 7))
def test_a_right_kernel_is_right_in_every_test(name, what, text):
    grades = grade(PUZZLES[name], text) if name in PUZZLES else helpers.grade(name, text)
    assert only(grades) == RIGHT, f"{what}\n{grades}\n\n{text}"


@every_puzzle
def test_there_are_five_variants_of_each_puzzle_and_no_two_are_the_same_code(name):
    kernels = [Kernel(text) for puzzle, _, text in VARIANTS if puzzle == name]
    assert len(kernels) >= 5
    assert not [one for one, other in combinations([*kernels, PUZZLES[name].official], 2) if same_code(one, other)]


def test_the_lines_of_lessons_05_and_09_have_five_variants_too():
    in_python = [(name, text) for name, _, text in VARIANTS if name in PYTHON_PUZZLES]
    names = [name for name, text in in_python if text != PYTHON_PUZZLES[name].solution.text]
    assert [*map(names.count, {*names})] == [5] * 6


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_right_kernel_is_right_with_the_line_ends_of_any_system_and_a_comment_of_any_signs(ending):
    source = edited("conv2d_grad_weight", ("// 6.", "// \0 6."))
    assert only(grade(first_tests("conv2d_grad_weight"), source.replace("\n", ending))) == RIGHT


CLASSROOM = {  # the letters of the classroom, in which a learner's file may be
    "conv2d_grad_weight": "in_channels:C out_channels:K n:b ci:c co:k kh:fh kw:fw index:idx grad_weight:grad_weights",
    "conv2d_grad_bias": "N:batch Co:C_out oH:H_out oW:W_out n:b co:k",
}


@pytest.mark.parametrize("name", CLASSROOM)
def test_a_kernel_in_the_classrooms_letters_is_right(name):
    letters = dict(pair.split(":") for pair in CLASSROOM[name].split())
    text = re.sub(rf"(?<!@)\b({'|'.join(letters)})\b", lambda word: letters[word[1]], PUZZLES[name].solution.text)
    assert not same_code(Kernel(text), PUZZLES[name].official)
    assert only(grade(PUZZLES[name], text)) == RIGHT


# --- From a blank page --------------------------------------------------------------------------------------

BLANK = {
    "combine_gradients",
    "add_bias",
    "strided_conv2d",
    "strided_grad_weight",
    "strided_grad_input",
    "arg_max_tree",
    "transposed_product",
    "max_pool2d_backward",
    "register_tile_4x2",
}


def test_these_puzzles_begin_with_a_blank_page_that_states_the_task():
    assert {name for name in PUZZLES if not Kernel(helpers.skeleton(name)).code.strip()} == BLANK
    for name in BLANK:
        assert all(line.startswith("//") for line in helpers.skeleton(name).split("\n"))
        for text in ("", "// mine", "/* mine */\n"):
            assert only(helpers.grade(name, text)) == NOT_ATTEMPTED


def test_the_lessons_own_kernel_is_right_on_a_blank_page():
    kernel = load("conv2d_grad_weight", "1_thread_per_weight")
    assert only(grade(PUZZLES["strided_grad_weight"], kernel.source)) == RIGHT
