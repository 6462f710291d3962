"""All puzzles: the official kernel is right, all that it shows is needed, and no learner's text breaks anything."""

import re

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from support.notebook_gate import NOTEBOOKS, Lesson
from support.sample import sample
from support.trials import edited, first_tests, outcomes, simulate_once  # noqa: F401

import helpers
from helpers.exercises import PUZZLES
from helpers.gpu.passes import pipeline
from helpers.grading.drawing import drawing
from helpers.grading.grader import grade
from helpers.grading.puzzle import LEARNERS_LINE
from helpers.grading.verdict import AS_OURS, NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, in_lines
from helpers.wgsl import Kernel, without_comments

every_puzzle = pytest.mark.parametrize("name", helpers.puzzles())
# Where one factor is 0, the other may hold any number: one of these lines could go, not both.
EITHER = {"    left[slot] = 0.0;  // *", "    right[slot] = 0.0;  // *"}


# --- Every puzzle -------------------------------------------------------------------------------------------


def test_names_are_in_the_order_of_the_lessons():
    wanted = "map guard index_2d neighbor_difference conv2d conv2d_grad_weight conv2d_grad_input conv2d_grad_bias "
    wanted += "tree_sum tiled_product gemm_bwd_grad_pre gemm_bwd_da gemm_bwd_db gemm_bwd_dbias register_tile"
    assert helpers.puzzles() == tuple(wanted.split())


@every_puzzle
def test_the_official_kernel_is_right_in_every_test(name):
    grades = grade(PUZZLES[name], f"\n{PUZZLES[name].solution.text}\n")
    assert [verdict.test for verdict in grades] == list(PUZZLES[name].tests)
    assert outcomes(grades) == [RIGHT] * len(grades), str(grades)
    assert all(re.fullmatch(r"[\d,]+ loads?, [\d,]+ stores?, [^;]*", v.detail) for v in grades)
    assert repr(grades).endswith(f"\n{AS_OURS}{len(grades)} of {len(grades)} tests pass")


@every_puzzle
def test_the_skeleton_is_the_official_kernel_without_the_marked_lines(name):
    file = PUZZLES[name].official.source.splitlines()
    kept = [line for line in file if not line.endswith(LEARNERS_LINE)]
    skeleton = helpers.skeleton(name).splitlines()
    assert kept[-len(skeleton) :] == skeleton
    assert all(line.startswith("//") or not line for line in kept[: -len(skeleton)])  # the header
    solution = PUZZLES[name].solution
    assert "*" not in "".join(re.findall("//.*", solution.text)).replace(" * ", "")  # no mark is left
    first = solution.text.splitlines()[0]
    line = line_of(first, "\n" + solution.text)
    assert repr(solution).startswith(f"{line:3}  {first}")
    assert max(map(len, skeleton)) <= 80
    steps = re.findall(r"^ *// (\d)\. ", "\n".join(skeleton), re.MULTILINE)
    assert steps == [str(i + 1) for i in range(len(steps))] != []


@every_puzzle
def test_the_skeleton_compiles_and_says_the_shape_of_each_array(name):
    kernel = Kernel(helpers.skeleton(name))
    pipeline(kernel, "main")
    for array in re.findall(r"var<storage[^>]*> (\w+)", kernel.code):
        assert re.search(rf"//.*\b{array} \(.+\)|\b{array}: .*// \(.+\)", kernel.source), array


@every_puzzle
def test_the_skeleton_is_not_attempted_even_with_other_blanks_and_comments(name):
    skeleton = helpers.skeleton(name)
    for text in (skeleton, f"\n{skeleton}\n", skeleton.replace("// 1.", "\n /* my first */ // "), spread(skeleton)):
        grades = helpers.grade(name, text)
        assert outcomes(grades) == [NOT_ATTEMPTED] * len(PUZZLES[name].tests)
        assert grades.passed == 0


def spread(source: str) -> str:
    """The same text without comments, with a blank on each side of each sign."""
    return re.sub(r"([(){};,])", r" \1 ", without_comments(source))


MARKED = [
    (name, i)
    for name, puzzle in PUZZLES.items()
    for i, line in enumerate(puzzle.official.source.split("\n"))
    if line.endswith(LEARNERS_LINE) and line not in EITHER
]


@pytest.mark.parametrize(("name", "i"), sample(MARKED, 60))
def test_every_marked_line_is_needed(name, i):
    lines = PUZZLES[name].official.source.split("\n")
    grades = grade(PUZZLES[name], "\n".join(lines[:i] + lines[i + 1 :]))
    assert grades.passed < len(grades), lines[i]


EXERCISES = [
    (lesson, graded)
    for lesson in map(Lesson.read, sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")))
    for cell in lesson.code
    for graded in re.findall(r'helpers\.grade\("(\w+)", (my_\w+)\)', cell.source)
]


@pytest.mark.parametrize(("lesson", "graded"), EXERCISES, ids=[f"{e[0].path.stem}-{e[1][0]}" for e in EXERCISES])
def test_a_lesson_holds_exactly_the_skeleton(lesson, graded):
    """Text and verdict are one cell: after Shift+Enter, the verdict stands right below the text."""
    name, variable = graded
    cell = f'{variable} = """\n{helpers.skeleton(name)}\n"""\nhelpers.grade("{name}", {variable})'
    assert [other.source for other in lesson.code].count(cell) == 1


def test_a_puzzle_is_the_exercise_of_one_lesson_at_most_and_in_the_order_of_the_lessons():
    names = [name for _, (name, _) in EXERCISES]
    assert len(set(names)) == len(names) > 0
    assert set(names) <= set(helpers.puzzles())


@every_puzzle
def test_cases_are_small_whole_numbers(name):
    cases = PUZZLES[name].cases()
    for case in cases:
        assert all(array.dtype == np.float32 and array.size for array in case.inputs)
        assert all(np.array_equal(array, np.rint(array)) for array in (*case.inputs, case.expected))
        assert len(PUZZLES[name].axes) == case.expected.ndim


# --- Any text -----------------------------------------------------------------------------------------------

PUZZLE = PUZZLES["conv2d_grad_weight"]
OFFICIAL = f"\n{PUZZLE.solution.text}\n"


def line_of(text: str, source: str) -> int:
    """The line of a cell that holds a text, where the kernel starts in the cell's second line."""
    cell = f'my_kernel = """{source}"""'
    return cell[: cell.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "seen"),  # by how many of the five tests
    [
        ("b < params.batch", "b < 1u", 1),  # what the four classroom tests miss
        ("idx % params.F;", "idx / params.F % params.F;", 5),
        ("params.H + oh + fh", "params.H + oh + fw", 5),
        ("c) * params.H + oh", "c) * params.W + oh", 1),  # only a rectangular image shows it
        ("((b * params.K + k) * out_h", "((b * params.C + k) * out_h", 1),
        ("oh < out_h", "oh < out_h - 1u", 5),
        ("grad_output[grad_at]", "1.0", 5),
        ("idx / (params.F * params.F) % params.C", "0u", 2),
        ("var sum = 0.0", "var sum = 1.0", 5),
    ],
)
def test_a_wrong_kernel_fails(old, new, seen):
    grades = grade(PUZZLE, edited(PUZZLE.name, (old, new)))
    assert outcomes(grades).count(WRONG) >= seen
    assert grades[4].outcome == WRONG  # ours catches every one
    assert "at k = " in grades[4].detail


GUARD = "if (idx >= params.K * params.C * params.F * params.F) { return; }"


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("if (fw > 0u) { grad_weights[idx] = sum; }", "first at k = 0, c = 0, fh = 0, fw = 0: nothing was written"),
        (
            "grad_weights[idx] = 0.0 * sum / 0.0;",
            "right is 26; also, line 38, `grad_weights[idx] = 0.0 * sum / 0.0;`: `0.0 * sum / 0.0` gives NaN",
        ),
        ("grad_weights[idx + 1u] = sum;", "`: thread 8 writes `grad_weights[idx + 1u]` with index 9, "),
    ],
)
def test_what_is_written_is_graded(new, words):
    grades = grade(PUZZLE, edited(PUZZLE.name, ("grad_weights[idx] = sum;", new)))
    assert outcomes(grades) == [WRONG] * 5
    assert words in grades[0].detail


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sum += grad_output[grad_at]", "let products = &grad_output; sum += (*products)[grad_at]"),
        ("input[input_at]", "input [ i32(input_at) ]"),
        (GUARD, "if (idx >= arrayLength(&grad_weights)) { return; }"),
        ("var sum = 0.0;", "var sum = 0.0; { let input = vec2f(); sum += input[idx % 2u]; }"),
        ("var<storage, read> input", "var<storage> input"),
        (GUARD, f"while (idx < 1u) {{ /* }} */ break; }} {GUARD}"),
        ("@workgroup_size(256)", "@workgroup_size(1 << 8)"),
        ("// 6.", "// \0 6."),
        ("@compute", "override SIZE: u32 = 64u; @compute @workgroup_size(SIZE) fn other() {}\n@compute"),
    ],
)
def test_a_right_kernel_in_another_style_is_right(old, new):
    assert outcomes(grade(first_tests(PUZZLE.name), edited(PUZZLE.name, (old, new)))) == [RIGHT] * 2


TREE = "1,000 loads, 1 store, 511 loads and 511 stores of workgroup memory,"
TILES = "2,751 loads, 703 stores, 98,304 loads and 8,895 stores of workgroup memory,"


@pytest.mark.parametrize(
    ("name", "old", "new", "mine", "ours"),  # in the largest test
    [
        (
            "map",
            "3.0 * input[i]",
            "2.0 * input[i] + input[i]",
            "512 loads, 256 stores, no barriers",
            "; ours: 256 loads",
        ),
        ("tree_sum", "var sum = 0.0;", "var sum = 0.0 * 2.0;", f"{TREE} 8 barriers", ""),
        (
            "tree_sum",
            "var sum = 0.0;",
            "var sum = 0.0; workgroupBarrier();",
            f"{TREE} 9 barriers",
            "; ours: 8 barriers",
        ),
        (
            *("tiled_product", "var sum = 0.0;", "var sum = 0.0; workgroupBarrier();"),
            *(f"{TILES} 5 barriers in each workgroup", "; ours: 4 barriers in each workgroup"),
        ),
    ],
)
def test_a_right_kernel_is_counted_beside_the_official_one(name, old, new, mine, ours):
    last = grade(PUZZLES[name], edited(name, (old, new)))[-1]
    assert last.outcome == RIGHT
    assert last.detail == f"{mine}{ours}"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("let fw =", "et fw =", "column 6"),
        ("@binding(3)", "@binding(4)", "none with the number 3"),
        ("@group(0) @binding(3)", "@group(1) @binding(3)", "`params` is in group 1"),
        ("@workgroup_size(256)", "@workgroup_size(min(256, 300))", "`min(256, 300)` is not clear"),
        ("var<storage, read> input", "var<storage, read_write> input", "its binding 1 is not the skeleton's; copy all"),
        ("F: u32 }", "F: u32, G: u32 }", "its binding 3 is not the skeleton's"),
        ("@workgroup_size(256)", "@workgroup_size(512)", "512"),
        ("@workgroup_size(256)", "@workgroup_size(64)", "have 64 threads; write @workgroup_size(256)"),
        ("@workgroup_size(256)", "@workgroup_size(16, 16)", "have 16 x 16 threads; write @workgroup_size(256)"),
        ("fn main", "fn mine", "main"),
        ("  grad_weights[idx] = sum;\n}", "  grad_weights[idx] = sum;", "}"),
    ],
)
def test_a_kernel_that_cannot_be_run_says_why_once(old, new, words):
    source = edited(PUZZLE.name, (old, new))
    grades = grade(PUZZLE, source)
    assert outcomes(grades) == [NO_COMPILE] * 5
    assert words in grades[0].detail
    assert not grades[1].detail
    if new == "et fw =":
        assert f"line {line_of(new, source)}, " in grades[0].detail
        assert f"\n{line_of(new, source)} │   et fw" in str(grades)  # below the lines of the verdicts
    assert len(repr(grades).splitlines()) == 6


@pytest.mark.parametrize("source", ["", "hello", "\n// nothing\n"])
def test_a_text_that_is_no_kernel_does_not_compile(source):
    assert outcomes(grade(PUZZLE, source)) == [NO_COMPILE] * 5


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_of_other_systems_are_line_ends(ending):
    assert outcomes(grade(first_tests(PUZZLE.name), OFFICIAL.replace("\n", ending))) == [RIGHT] * 2


# --- What a learner sees ------------------------------------------------------------------------------------


def test_the_smallest_wrong_output_is_drawn_beside_the_right_one():
    swapped = edited(PUZZLE.name, ("oh + fh) * params.W + ow + fw", "oh + fw) * params.W + ow + fh"))
    grades = grade(PUZZLE, swapped)
    assert [bool(verdict.drawing) for verdict in grades] == [True, False, False, False, False]
    assert grades[0].drawing.split("\n") == [
        "The smallest test that fails is conv_bw_tiny_3x3.",
        "(* marks a wrong number)",
        "grad_output     input",
        "-4  -3  -2      0  1  2  3  4",
        "-1   0   1      5  6  0  1  2",
        " 2   3   4      3  4  5  6  0",
        "                1  2  3  4  5",
        "                6  0  1  2  3",
        "",
        "right             yours",
        " 26   26    5     26  -16* -16*",
        "-16    5   26     26*   5  -30*",
        "-16  -30  -16      5*  26* -16",
    ]
    assert str(grades) == f"{in_lines(repr(grades))}\n\n{grades[0].drawing}"
    assert DisplayFormatter().format(grades)[0] == {"text/plain": str(grades)}  # what a notebook shows


def test_a_long_reason_goes_on_in_the_next_line():
    """JupyterLab would break it within a word."""
    reason = "a reason of many words " * 9
    grades = Grades.alike(["one", "two"], WRONG, reason)
    assert len(repr(grades).splitlines()) == 3  # one line a test, and the count
    for shown in (grades, grades[0]):
        lines = DisplayFormatter().format(shown)[0]["text/plain"].splitlines()
        assert max(map(len, lines)) <= 104
        assert " ".join(" ".join(lines).split()).startswith(f"one wrong: {reason.strip()}")


# --- The parts ----------------------------------------------------------------------------------------------


def drawn(want: np.ndarray, got: np.ndarray, *axes: str, **inputs: np.ndarray) -> list[str]:
    return drawing(want, got, np.where(want != got, "*", ""), axes, inputs)


def test_a_large_output_is_cut_around_the_first_wrong_number():
    want = np.arange(24 * 24).reshape(1, 1, 24, 24) * 1.0
    got = want.copy()
    got[0, 0, 20, 9] = -1
    lines = drawn(want, got, "n", "co", "oh", "ow", input=want)
    assert lines[0] == "only oh = 17 to 23, ow = 6 to 12:"
    assert lines[5].split() == [*map(str, range(486, 493)), "486", "487", "488", "-1*", "490", "491", "492"]
    assert len(lines) == 2 + 7


def test_wide_numbers_are_fewer():
    want = np.full((9, 9), -1.23456e-7)
    lines = drawn(want, want + (np.eye(9) > 0), "m", "n")
    assert max(map(len, lines)) <= 80
    assert lines[0] == "only m = 0 to 6, n = 0 to 1:"
    assert len(drawn(np.full(40, -1.23456e-7), np.ones(40), "i")[0].split()) == 1 + 5


def test_as_many_channels_are_drawn_as_there_is_room_for():
    want = np.zeros((2, 6, 3, 3))
    lines = drawn(want, want + 1, "k", "c", "fh", "fw")
    assert [line for line in lines if "=" in line] == ["k = 0, c = 0:", "k = 0, c = 1:", "k = 0, c = 2:"]
    assert lines[-1] == "Wrong numbers are also in 9 more of these pairs."


def test_other_names_and_types_are_refused():
    for ask in (helpers.skeleton, helpers.solution, helpers.last_attempt, lambda name: helpers.grade(name, OFFICIAL)):
        for name in ("sudoku", ["map"]):
            with pytest.raises(ValueError, match=rf"puzzle = {re.escape(repr(name))}: it must be one of map, guard, "):
                ask(name)
    for source in (3, None, b"fn main() {}"):
        with pytest.raises(TypeError, match=f"source is a {type(source).__name__}: it must be the text"):
            helpers.grade("conv2d_grad_weight", source)
