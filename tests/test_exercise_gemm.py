"""The GEMM lesson's exercises: what tells the mistakes in a kernel with tiles apart, and a derivative of one's own."""

from functools import cache
from math import prod

import numpy as np
import pytest
from support.grading import outcomes, simulate_once  # noqa: F401

import helpers
from helpers import gpu
from helpers.exercises import PUZZLES, QUESTIONS
from helpers.gemm import derivative, exercises
from helpers.gemm.operations import BACKWARD
from helpers.gemm.shapes import GemmShape
from helpers.gradient_checks.harness import drawn, simulated
from helpers.grading.grader import grade
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, NOT_YET, RIGHT, UNSAFE, WRONG
from helpers.kernels import load

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


# --- Questions ----------------------------------------------------------------------------------------------


def element_by_hand() -> float:
    """d_b[3,1] of the case with pen and paper."""
    a = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]])
    pre, grad = np.array([[0, 2], [2, -1], [3, 5]]), np.array([[1, -2], [3, 1], [-1, 2]])
    assert all(f"`{matrix.tolist()}`" in QUESTIONS["d_b[3,1]"].asked for matrix in (a, pre, grad))
    return (a.T @ (grad * (pre > 0)))[3, 1]


def loads_of_a_thread(version: str) -> float:
    """How many numbers a thread of the first pass loads where K is 256."""
    shape = GemmShape(16, 256, 16, 1, "relu")
    _, traces = simulated(load("gemm_bias_act_backward", version), shape, drawn(BACKWARD, shape))
    return traces[0].counts.total["loads_storage"] / (16 * 16)


def barrier_to_remove(k: int) -> str:
    """After what the first pass needs no barrier."""
    kernel, shape = load("gemm_bias_act_backward", "2_tiled"), GemmShape(16, k, 16, 1, "relu")
    products = "\n    pre += tile_product(local.y, local.x);"
    lines = {  # each with the barrier that goes
        "loads": (f"\n    workgroupBarrier();  // both tiles are in place{products}", products),
        "products": (f"{products}\n    workgroupBarrier();  // no thread still reads them", products),
    }
    safe = [
        name
        for name, edit in lines.items()
        if not simulated(kernel.edit(*edit), shape, drawn(BACKWARD, shape))[1][0].findings
    ]
    return "".join(safe) or "neither"


@cache
def first_pass_last() -> list[float]:
    """d_b[0,0] of the lesson's layer: with the first pass last, once for grad and once for -grad, and what is right."""
    a, b = np.float32([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]]), np.float32([[1, 2], [0, -1], [1, 0], [2, 1]])
    bias, grad = np.float32([-1, 1]), np.float32([[5, 2], [-1, 4], [2, -3]])
    shape = GemmShape(3, 4, 2, 1, "relu")
    buffers = tuple(gpu.upload(array, "input") for array in (a, b, bias, grad))
    buffers += tuple(gpu.empty(4 * prod(shape.of(name)), name) for name in ("grad_pre", "d_a", "d_b", "d_bias"))
    first, *others = BACKWARD.prepare(buffers, shape, kernel="2_tiled")
    seen = []
    for upstream in grad, -grad:
        gpu.device().queue.write_buffer(buffers[3], 0, upstream)
        gpu.run(*others, first)
        seen.append(gpu.read(buffers[6], shape.of("d_b"))[0, 0])
    right = helpers.gemm_bias_act_backward(a[None], b, bias, grad[None], "relu")[1][0, 0]
    return [*map(float, seen), float(right)]


COMPUTED = {
    "d_b[3,1]": element_by_hand,
    "loads_with_tiles": lambda: loads_of_a_thread("2_tiled"),
    "slot_of_thread_6": lambda: np.arange(16).reshape(4, 4).T.flat[6],
    "wrong_without_a_barrier": lambda: len({"d_a", "d_b", "d_bias"}),  # all are computed from grad_pre
    "hidden_by_one_tile": lambda: barrier_to_remove(16),
    "first_pass_last": lambda: first_pass_last()[0],
    "first_pass_last_again": lambda: first_pass_last()[1],
    "longest_step": lambda: "pipelines",  # as the lesson's cell measures it
}


@pytest.mark.parametrize("name", exercises.QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_the_likely_mistakes_are_worked_out():
    by_hand = QUESTIONS["d_b[3,1]"].mistakes
    assert "from grad" in by_hand[-1 * -2 + 1 * 1 + 1 * 2]
    assert "this is d_b[0,0]" in by_hand[1 * 0 + 0 * 3 + 2 * -1]
    assert "without tiles" in QUESTIONS["loads_with_tiles"].mistakes[loads_of_a_thread("1_thread_per_element")]
    assert barrier_to_remove(17) == "neither"
    assert first_pass_last()[2] == 4
    assert "the right order" in QUESTIONS["first_pass_last_again"].mistakes[-first_pass_last()[2]]


# --- An activation of the learner's own ---------------------------------------------------------------------


SEEN = {  # expressions, and what each test says of them
    None: [NOT_ATTEMPTED] * 4,
    "": [NOT_ATTEMPTED] * 4,
    "select(exp(x), 1.0, x > 0.0)": [RIGHT] * 4,
    "exp(min(x, 0.0))": [RIGHT] * 4,
    "\n// mine\nselect(1.0, exp(x), x <= 0.0);  // yes; }": [RIGHT] * 4,
    "select(0.0, 1.0, x > 0.0)": [RIGHT, WRONG, WRONG, RIGHT],
    "exp(x)": [WRONG, RIGHT, RIGHT, WRONG],
    "select(1.0, exp(x), x > 0.0)": [WRONG, WRONG, RIGHT, WRONG],
    "select(exp(x) - 1.0, x, x > 0.0)": [WRONG] * 4,
    "select(exp(x), 1.0, x > 50.0)": [WRONG, RIGHT, RIGHT, RIGHT],
}


@pytest.mark.parametrize(("expression", "seen"), SEEN.items())
def test_a_wrong_derivative_is_seen(expression, seen):
    assert outcomes(derivative.grade(expression)) == seen


def test_a_derivative_that_is_not_finite_is_not_called_0():
    """exp(100) is infinite, and the kernel's finite_or_0 makes 0 of it."""
    assert derivative.grade("exp(x)")[3].detail == "at x = 100 yours is inf, from which the kernel makes 0; right is 1"
    assert derivative.grade("x * x")[2].detail == "at x = 0 yours is 0; right is 1"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("select(0, 1, x > 0.0)", "line 1, column 1: `your_derivative` is declared as an f32"),
        ("select(exp(x), 1.0, y > 0.0)", "line 1, column 21: nothing is called `y` here"),
        ("exp(x) +\n  yy", "line 2, column 3: nothing is called `yy` here"),
        ("exp(x", "line 1, column 6: the `(` in column 4 is never closed"),
        ("1.0; loop { } return 1.0", "without semicolons or braces"),
        ("1.0; } case 7u: { return 1.0", "without semicolons or braces"),
    ],
)
def test_an_expression_that_does_not_compile_says_why_once_with_its_own_lines(expression, words):
    grades = derivative.grade(expression)
    assert outcomes(grades) == [NO_COMPILE] * 4
    assert words in grades[0].detail
    assert not grades[1].detail
    assert all(word not in str(grades) for word in ("case 1u", "2_tiled", "gemm_bias_act", "Some(", "Scalar"))


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="expression is a float"):
        derivative.grade(0.01)


def test_the_derivative_is_that_of_elu():
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    before, after = (np.where(y > 0, y, np.exp(y) - 1) for y in (x - 1e-6, x + 1e-6))
    np.testing.assert_allclose((after - before) / 2e-6, derivative.elu_derivative(x), rtol=1e-8)
