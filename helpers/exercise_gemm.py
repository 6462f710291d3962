"""What a learner works out in the GEMM lesson, judged: one number by hand, and one activation's slope in WGSL."""

from collections.abc import Callable
from numbers import Real

import numpy as np

from helpers.exercise import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict
from helpers.gemm import gemm_bias_act_backward
from helpers.wgsl import Kernel, WgslError, load

CASE = "case 1u: {{ return {}; }}"  # relu's line in the kernel
RELU = "select(0.0, 1.0, x > 0.0)"  # what the learner's expression takes the place of
TESTS = {  # where leaky ReLU's slope is asked for
    "slope_right_of_0": (0.5, 1.0, 3.0),
    "slope_left_of_0": (-0.5, -1.0, -3.0),
    "slope_at_0": (0.0, -0.0),
    "slope_far_out": (1e4, -1e4, 3e38, -3e38),
}


def leaky_slope(x: np.ndarray) -> np.ndarray:
    """1 where x is positive, 0.01 everywhere else."""
    return np.where(x > 0, np.float32(1), np.float32(0.01))


def grade(expression: str | None, right: Callable[[np.ndarray], np.ndarray] = leaky_slope) -> Grades:
    """Run a slope through the whole backward pass at every test's points.

    Parameters
    ----------
    expression : str or None
        WGSL in `x`; None while there is none.
    right : callable
        The true slope of a float32 array.

    Raises TypeError where `expression` is no text.
    """
    if expression is None:
        return Grades(Verdict(name, NOT_ATTEMPTED) for name in TESTS)
    if not isinstance(expression, str):
        raise TypeError(f"expression is a {type(expression).__name__}: it must be WGSL text, in quotes")
    kernel = load("gemm_bias_act_backward", "1_four_passes").edit(CASE.format(RELU), CASE.format(expression))
    try:
        return Grades(_verdict(name, kernel, np.float32(points), right) for name, points in TESTS.items())
    except WgslError as error:
        said = str(error).partition(" does not compile, ")[2] or str(error)
        return Grades(Verdict(name, NO_COMPILE, "" if i else said) for i, name in enumerate(TESTS))


def slopes(kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """The slope that a kernel uses for relu at each point: d_bias of a layer whose pre is its bias."""
    count = len(points)
    a, b, grad = (
        np.full(size, value, np.float32) for size, value in (((1, 1, 1), 0), ((1, count), 0), ((1, 1, count), 1))
    )
    return gemm_bias_act_backward(a, b, points, grad, "relu", kernel=kernel)[2]


def _verdict(name: str, kernel: Kernel, points: np.ndarray, right: Callable[[np.ndarray], np.ndarray]) -> Verdict:
    for x, got, want in zip(points, slopes(kernel, points), right(points), strict=True):
        if got != want:
            return Verdict(name, WRONG, f"at x = {x:g} yours is {got:g}, right is {want:g}")
    return Verdict(name, RIGHT)


def predict(
    answer: float | None, a: np.ndarray, grad: np.ndarray, grad_pre: np.ndarray, row: int, column: int
) -> Verdict:
    """Check one number of d_b that was worked out by hand, and name the likely slip.

    Parameters
    ----------
    answer : float or None
        The reader's number; None while there is none.
    a : array (M, K)
    grad, grad_pre : array (M, N)
    row, column : int
        Which number of d_b, (K, N).

    Raises TypeError where `answer` is no number.
    """
    test = f"d_b[{row},{column}]"
    if answer is None:
        return Verdict(test, NOT_ATTEMPTED, "put your number in place of None")
    if not isinstance(answer, Real):
        raise TypeError(f"answer = {answer!r} is a {type(answer).__name__}: it must be a number")
    right = a.T @ grad_pre  # (K, N)
    if answer == right[row, column]:
        return Verdict(test, RIGHT)
    if answer == (a.T @ grad)[row, column]:
        return Verdict(test, WRONG, f"{answer:g} comes out of grad; it has to pass the activation first: take grad_pre")
    for k, n in np.argwhere(right == answer):
        return Verdict(
            test, WRONG, f"{answer:g} is d_b[{k},{n}]; take column {row} of a and column {column} of grad_pre"
        )
    return Verdict(test, WRONG, f"it is not {answer:g}; take column {row} of a and column {column} of grad_pre")
