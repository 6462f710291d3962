"""An activation of the learner's own: one derivative in WGSL, graded in the whole backward pass."""

import re

import numpy as np

from helpers.gemm.operations import BACKWARD
from helpers.gemm.shapes import bias_alone
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict
from helpers.kernels import load
from wgsl import Kernel, WgslError, without_comments

RELU = "return select(0.0, 1.0, x > 0.0);"  # the learner's expression takes its place
TESTS = {  # the points at which ELU's derivative is tested
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
    code = without_comments(expression).rstrip().removesuffix(";")
    if re.search(r"[;{}]", code):  # no statement, and so no loop
        return Grades.alike(list(TESTS), NO_COMPILE, "write one expression in x, without semicolons or braces")
    kernel = _kernel_with_derivative(code)
    try:
        return Grades(_verdict(name, kernel, np.float32(points)) for name, points in TESTS.items())
    except WgslError as error:
        return Grades.alike(list(TESTS), NO_COMPILE, *str(error).partition(" does not compile, ")[2].split("\n", 1))


def _kernel_with_derivative(code: str) -> Kernel:
    """The tiled kernel with an expression in the place of relu's derivative."""
    branch = "case 1u: { let your_derivative: f32 =HERE; return your_derivative;"
    kernel = load("gemm_bias_act_backward", "2_tiled").edit(f"case 1u: {{ {RELU}", branch)
    return kernel.paste("HERE", code)


def derivatives(kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """The derivative that a kernel uses for relu at each point: d_bias of a layer whose pre is its bias."""
    shape, tensors = bias_alone(points, "relu")
    return BACKWARD.compute(shape, kernel, **tensors)[2]


def _verdict(name: str, kernel: Kernel, points: np.ndarray) -> Verdict:
    unchecked = kernel.edit("return select(0.0, x, finite);", "return x;")  # turns what is not finite into 0
    for x, got, want in zip(points, derivatives(unchecked, points), elu_derivative(points), strict=True):
        if not np.isclose(got, want, rtol=1e-5, atol=1e-30):  # exp may be off by a few last digits
            note = "" if np.isfinite(got) else ", from which the kernel makes 0"
            return Verdict(name, WRONG, f"at x = {x:g} yours is {got:g}{note}; right is {want:g}")
    return Verdict(name, RIGHT)
