"""What a learner works out in the GEMM lesson, judged: one number by hand, and one activation's derivative in WGSL."""

import re

import numpy as np

from helpers.gemm.operations import gemm_bias_act_backward
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Puzzle
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict, require_number
from helpers.wgsl import Kernel, WgslError, load, without_comments

RELU = "return select(0.0, 1.0, x > 0.0);"  # the learner's expression takes its place
TESTS = {  # where ELU's derivative is asked for
    "derivative_right_of_0": (0.5, 1.0, 3.0),
    "derivative_left_of_0": (-0.5, -1.0, -3.0),
    "derivative_at_0": (0.0, -0.0),
    "derivative_far_out": (100.0, -100.0, 1e4, -1e4, 3e38, -3e38),
}


def elu_derivative(x: np.ndarray) -> np.ndarray:
    """The derivative of ELU, which is x where x is positive and exp(x) - 1 elsewhere, in float64."""
    return np.exp(np.minimum(x, 0.0).astype(np.float64))


def grade(expression: str | None) -> Grades:
    """Run a derivative of ELU through the whole backward pass at every test's points.

    Parameters
    ----------
    expression : str or None
        WGSL in `x`; None or nothing while there is none.

    Raises TypeError where `expression` is not text.
    """
    if expression is None or expression == "":
        return Grades.alike(list(TESTS), NOT_ATTEMPTED)
    if not isinstance(expression, str):
        raise TypeError(f"expression is a {type(expression).__name__}: it must be WGSL text, in quotes")
    code = without_comments(expression).strip().removesuffix(";")
    if re.search(r"[;{}]", code):  # no statement, and so no loop
        return Grades.alike(list(TESTS), NO_COMPILE, "write one expression in x, without semicolons or braces")
    theirs = f"case 1u: {{ return\n{code}\n;"
    kernel = load("gemm_bias_act_backward", "2_tiled").edit(f"case 1u: {{ {RELU}", theirs)
    try:
        return Grades(_verdict(name, kernel, np.float32(points)) for name, points in TESTS.items())
    except WgslError as error:
        return Grades.alike(list(TESTS), NO_COMPILE, str(error).partition(" does not compile, ")[2] or str(error))


def derivatives(kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """The derivative that a kernel uses for relu at each point: d_bias of a layer whose pre is its bias."""
    count = len(points)
    a, b, grad = np.zeros((1, 1, 1), np.float32), np.zeros((1, count), np.float32), np.ones((1, 1, count), np.float32)
    return gemm_bias_act_backward(a, b, points, grad, "relu", kernel=kernel)[2]


def _verdict(name: str, kernel: Kernel, points: np.ndarray) -> Verdict:
    for x, got, want in zip(points, derivatives(kernel, points), elu_derivative(points), strict=True):
        if not np.isclose(got, want, rtol=1e-5, atol=1e-30):  # exp may be off by a few last digits
            return Verdict(name, WRONG, f"at x = {x:g} yours is {got:g}, right is {want:g}")
    return Verdict(name, RIGHT)


def predict(
    answer: float | None, a: np.ndarray, grad: np.ndarray, grad_pre: np.ndarray, row: int, column: int
) -> Verdict:
    """Check one number of d_b that was worked out by hand, and name the likely mistake.

    Parameters
    ----------
    answer : float or None
        The reader's number; None while there is none.
    a : array (M, K)
    grad, grad_pre : array (M, N)
    row, column : int
        Which number of d_b, (K, N).

    Raises TypeError where `answer` is not a number.
    """
    test, advice = f"d_b[{row},{column}]", f"take column {row} of a and column {column} of grad_pre"
    if answer is None:
        return Verdict(test, NOT_ATTEMPTED, "write your number in place of None")
    require_number(answer)
    right = a.T @ grad_pre  # (K, N)
    if answer == right[row, column]:
        return Verdict(test, RIGHT)
    if answer == (a.T @ grad)[row, column]:
        return Verdict(test, WRONG, f"you get {answer:g} from grad; use grad_pre, its product with the derivative")
    for k, n in np.argwhere(right == answer):
        return Verdict(test, WRONG, f"{answer:g} is d_b[{k},{n}]; {advice}")
    return Verdict(test, WRONG, advice)


PUZZLES: tuple[Puzzle, ...] = ()

QUESTIONS: dict[str, Question] = {}
