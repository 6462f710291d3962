"""What a learner works out in the GEMM lesson, judged: one number by hand, and one activation's derivative in WGSL."""

from numbers import Real

import numpy as np

from helpers.gemm.operations import gemm_bias_act_backward
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict
from helpers.wgsl import Kernel, WgslError, load

RELU = "return select(0.0, 1.0, x > 0.0);"  # what the learner's expression takes the place of
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

    Raises TypeError where `expression` is no text.
    """
    if expression is None or expression == "":
        return Grades(Verdict(name, NOT_ATTEMPTED) for name in TESTS)
    if not isinstance(expression, str):
        raise TypeError(f"expression is a {type(expression).__name__}: it must be WGSL text, in quotes")
    with_theirs = f"case 1u: {{ return\n{expression}\n;"  # on a line of its own, whatever comment ends it
    kernel = load("gemm_bias_act_backward", "2_tiled").edit(f"case 1u: {{ {RELU}", with_theirs)
    try:
        return Grades(_verdict(name, kernel, np.float32(points)) for name, points in TESTS.items())
    except WgslError as error:
        said = str(error).partition(" does not compile, ")[2] or str(error)
        return Grades(Verdict(name, NO_COMPILE, "" if i else said) for i, name in enumerate(TESTS))


def derivatives(kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """The derivative that a kernel uses for relu at each point: d_bias of a layer whose pre is its bias."""
    count = len(points)
    a, b, grad = (
        np.full(size, value, np.float32) for size, value in (((1, 1, 1), 0), ((1, count), 0), ((1, 1, count), 1))
    )
    return gemm_bias_act_backward(a, b, points, grad, "relu", kernel=kernel)[2]


def _verdict(name: str, kernel: Kernel, points: np.ndarray) -> Verdict:
    for x, got, want in zip(points, derivatives(kernel, points), elu_derivative(points), strict=True):
        if not np.isclose(got, want, rtol=1e-5, atol=1e-30):  # exp may be off by a few last digits
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
