"""The drawn problems of lessons 04 to 09, of appendix E and of the puzzles in Python: whom they tell from ours.

Each text here passes the tests of its puzzle, and is wrong on other sizes or numbers.
"""

import numpy as np
import pytest
from support.grading import graded
from support.sample import sample

from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.test_run import simulated
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.exercises import PUZZLES, PYTHON_PUZZLES
from wgsl import Kernel

DRAWN = (
    *("tree_step", "tree_sum", "conv2d_grad_bias", "grad_bias_two_passes", "arg_max_tree"),
    *("relu_gate", "product", "tiled_product", "transposed_tile", "transposed_product"),
    *("gemm_bwd_grad_pre", "gemm_bwd_da", "gemm_bwd_db", "gemm_bwd_dbias", "register_tile"),
    *("softmax_minus_truth", "momentum_step", "max_pool2d_backward", "combine_gradients"),
    *("kahan_sum", "fixed_point_sum"),
)
HALF = "unpack2x16float(pack2x16float(vec2f({}, 0.0))).x"  # a number, rounded to 16 bits
NINE = "for (var k = 0u; k < 9u; k++) { let i = thread + 256u * k; if (i < params.n) { sum += input[i]; } }"
WRONG_ELSEWHERE = (  # a piece of the official text, and what replaces it
    ("tree_step", "partial[thread];\n    step++", "round(4.0 * partial[thread]) / 4.0;\n    step++"),
    ("tree_sum", "for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }", NINE),
    ("tree_sum", "sum += input[i];", f"sum += {HALF.format('input[i]')};"),
    ("conv2d_grad_bias", "n < params.N", "n < min(params.N, 3u)"),
    ("conv2d_grad_bias", "grad_bias[co] = sum", f"grad_bias[co] = {HALF.format('sum')}"),
    ("grad_bias_two_passes", "g < params.G", "g < min(params.G, SLICE)"),
    ("arg_max_tree", "i < params.n;", "i < params.n - 1u;"),
    ("relu_gate", "pre[i] > 0.0", "pre[i] > 0.001"),
    ("product", "c[m * params.N + n] = sum", f"c[m * params.N + n] = {HALF.format('sum')}"),
    ("product", "k < params.K", "k < min(params.K, 80u)"),
    ("tiled_product", "first < params.K", "first < params.K - 1u"),
    ("tiled_product", "first < params.K", "first < 80u"),
    ("transposed_tile", "first < params.M", "first < params.M - 1u"),
    ("transposed_product", "first < params.K", "first < 80u"),
    ("gemm_bwd_grad_pre", "first < params.K", "first < 80u"),
    ("gemm_bwd_grad_pre", "pre + bias[n] > 0.0", "pre + bias[n] > 0.05"),
    ("gemm_bwd_da", "first < params.N", "first < params.N - 1u"),
    ("gemm_bwd_db", "item < params.batch", "item < min(params.batch, 2u)"),
    ("gemm_bwd_dbias", "row < params.batch * params.M", "row < min(params.batch * params.M, 80u)"),
    ("register_tile", "first < params.K", "first < params.K - 1u"),
    ("softmax_minus_truth", "c == labels[n]", "c == min(labels[n], 9u)"),
    ("momentum_step", "params.learning_rate *", "0.5 *"),
    ("momentum_step", "params.momentum *", "0.75 *"),
    ("max_pool2d_backward", "x >= params.W", "i32(x) < 0"),
    ("max_pool2d_backward", "var wins = true", "var wins = mine > -1e38"),
    (
        "combine_gradients",
        "/ (images_a + images_b)",
        "/ f32(1u << firstLeadingBit(params.images_a + params.images_b))",
    ),
    ("fixed_point_sum", "i32(round(input[i] * SCALE))", "i32(ceil(input[i] * SCALE))"),
    ("kahan_sum", "minus(input[i], excess)", "input[params.n - 1u - i]"),
)
TRIED = 10  # problems for a text
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


@pytest.mark.parametrize(("name", "old", "new"), WRONG_ELSEWHERE)
def test_a_text_that_passes_the_tests_and_is_wrong_elsewhere_fails_a_drawn_problem(name, old, new):
    puzzle = PUZZLES[name]
    kernel = Kernel(puzzle.solution.text, name).edit(old, new)
    assert not any(is_faulty(kernel, case) for case in puzzle.cases())
    assert any(fails(puzzle, kernel, number) for number in range(TRIED))


@pytest.mark.parametrize(("name", "old", "new"), sample(WRONG_ELSEWHERE, 6))
def test_its_verdict_has_one_more_row_the_drawn_problem_with_its_sizes(name, old, new):
    *tests, extra = graded(name, (old, new))
    assert {verdict.outcome for verdict in tests} == {RIGHT}
    assert extra.outcome == WRONG
    assert extra.detail.startswith("on a drawn problem: ")
    for size, value in extra.sizes:
        assert f"{size} = {value}" in extra.detail


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
            assert fewer > 0 or size == "P"
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
    "raw_launch": "result = (16, 7, 22, 4) if count == 4 else (13, 25, 7, 28, 4, 22, 10, 19, 16)",
    "second_launch": "result = (49, 22, 67, 13) if count == 4 else (40, 76, 22, 85, 13, 67, 31, 58, 49)",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_the_answers_of_the_tests_is_wrong_on_drawn_values(name):
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
        for given, right in zip(case.given, case.right, strict=True):
            assert case.of(program.run(given).value) == pytest.approx(right), given


def test_every_puzzle_in_python_has_drawn_values_but_those_that_have_none_to_draw():
    assert {name for name, puzzle in PYTHON_PUZZLES.items() if puzzle.drawn is None} == NO_VALUES
