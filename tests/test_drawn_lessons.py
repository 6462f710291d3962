"""The drawn problems of lessons 04 to 09, of appendices D and E and of the puzzles in Python: whom they tell from ours.

Each text here passes the tests of its puzzle, and is wrong on other sizes or numbers.
"""

import numpy as np
import pytest
from support.sample import sample

from helpers.grading import python_puzzle
from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.test_run import simulated
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.exercises import PUZZLES, PYTHON_PUZZLES
from wgsl import Kernel

DRAWN = (
    *("tree_step", "tree_sum", "conv2d_grad_bias", "grad_bias_two_passes", "arg_max_tree"),
    *("relu_gate", "product", "tiled_product", "transposed_tile", "transposed_product"),
    *("gemm_bwd_grad_pre", "gemm_bwd_da", "gemm_bwd_db", "gemm_bwd_dbias", "register_tile"),
    *("two_results", "vec4_reads", "prefetch", "coalesced_transpose", "register_tile_4x2"),
    *("softmax_minus_truth", "momentum_step", "max_pool2d_backward", "combine_gradients"),
    *("implicit_address", "second_pass", "class_taps", "winograd_f23", "kahan_sum", "fixed_point_sum"),
)
DRAWS = sample(range(1000), 20)


def is_faulty(kernel: Kernel, case: Case) -> bool:
    """Return whether a kernel's run has a wrong number, or is unsafe."""
    run = simulated(kernel, case)
    return bool(run.wrong.any() or run.findings)


def fails(puzzle: Puzzle, kernel: Kernel, number: int) -> bool:
    """Return whether a kernel fails a drawn problem, by its number."""
    random = np.random.default_rng([2, number])
    sizes = puzzle.drawn.sizes(random)
    return is_faulty(kernel, puzzle.drawn.case("drawn", sizes, random))


# --- Kernels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_the_official_kernel_is_right_on_every_drawn_problem(name):
    puzzle = PUZZLES[name]
    faulty = [number for number in DRAWS if fails(puzzle, puzzle.official, number)]
    assert faulty == []


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_problem_can_be_made_smaller_and_no_size_may_be_0_but_the_padding(name):
    puzzle = PUZZLES[name]
    sizes = puzzle.drawn.sizes(np.random.default_rng(3))
    for size in [key for key, value in sizes.items() if isinstance(value, int)]:
        for fewer in 0, 1, sizes[size] // 2:
            random = np.random.default_rng(4)
            try:
                case = puzzle.drawn.case("smaller", {**sizes, size: fewer}, random)
            except ValueError:
                continue
            assert fewer > 0 or size.startswith("P")
            assert not is_faulty(puzzle.official, case), (size, fewer)


# --- Lines of Python ------------------------------------------------------------------------------------------------

NO_VALUES = {"catch_them_all", "is_race"}  # there are none to draw, or all of them are in the tests
TABLES = {  # the answers of the tests
    "split_batch": """
first = k * (n // p) + min(k, 2)
part = (2 * k, 2 * k + 2) if n == 8 else (first, first + n // p + (1 if k < 2 else 0))
""",
    "combine_means": """
third = 6 if n_a == 4 else (1 if n_a == 2 else (5 if n_a == 3 else (-1 if n_a == 1 else 0.5)))
combined = 3.5 if n_a == 8 else (0 if n_a == 24 else third)
""",
    "break_even": "t = 2 * h if w == 2 else (9 if w == 3 else (16 if w == 8 else 2000 / 999))",
    "central_difference": "derivative = 6 if w == 3 else (-3 if w == -2 else (5 if w == 4 else 12.25))",
    "own_launch": """
result = (261, 354, 329, 28) if n == 4 else (206, 90, 150, 37, 237)
if n == 10:
    result = (63, 181, 238, 118, 122, 129, 352, 51, 253, 41)
""",
    "place_in_buffer": """
place = 0, i
if n0 == 4 and i > 3:
    place = (1, i - 4) if i < 7 else (2, i - 7)
if n0 == 2 and i > 1:
    place = (1, i - 2) if i < 8 else (2, 0)
if n0 == 1:
    place = i, 0
""",
    "raw_launch": "result = (16, 7, 22, 4) if count == 4 else (13, 25, 7, 28, 4, 22, 10, 19, 16)",
    "second_launch": "result = (49, 22, 67, 13) if count == 4 else (40, 76, 22, 85, 13, 67, 31, 58, 49)",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_answers_of_the_tests_is_wrong_on_drawn_values(name, monkeypatch):
    monkeypatch.setattr(python_puzzle, "repair", lambda *_: None)
    grades = PYTHON_PUZZLES[name].grade(TABLES[name])
    *tests, extra = grades
    assert {verdict.outcome for verdict in tests} == {RIGHT}
    assert extra.outcome == WRONG
    assert "where" in extra.detail
    assert extra.drawing.startswith("The drawn problem:")
    assert repr(PYTHON_PUZZLES[name].grade(f"{TABLES[name]}  # again")) == repr(grades)
    assert repr(PYTHON_PUZZLES[name].grade(TABLES[name], seed=1)) != repr(grades)


def test_a_check_that_knows_the_numbers_of_one_problem_is_wrong_on_another():
    puzzle = PYTHON_PUZZLES["check_grad_input"]
    lines = puzzle.solution.text
    product = puzzle.read(f"{lines}\naccepted = product").run(puzzle.cases()[0].given[0]).value
    grades = puzzle.grade(lines.replace("loss == product", f"product == {product}"))
    assert [verdict.outcome for verdict in grades] == [RIGHT] * len(puzzle.tests) + [WRONG]
    assert grades[-1].detail == "your check rejects a right kernel"


@pytest.mark.parametrize("name", sorted(PYTHON_PUZZLES.keys() - NO_VALUES))
def test_the_official_lines_are_right_on_all_drawn_values(name):
    puzzle = PYTHON_PUZZLES[name]
    program = puzzle.read(puzzle.solution.text)
    random = np.random.default_rng(5)
    for _ in range(20 if name == "check_grad_input" else 1000):
        case = puzzle.drawn(random)
        for given, result, right in zip(case.given, case.results(program), case.right, strict=True):
            value = result.value if isinstance(right, str) else pytest.approx(result.value)
            assert value == right, given


def test_every_puzzle_in_python_has_drawn_values_but_those_that_have_none_to_draw():
    assert {name for name, puzzle in PYTHON_PUZZLES.items() if puzzle.drawn is None} == NO_VALUES
