"""The classroom's puzzle in lessons 02 and 04: the names of its tests, and what they have in common."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from helpers.checks.differences import central_differences
from helpers.grading.puzzle import Case
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray

CLASSROOM = (  # the tests' names in the classroom
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
)
# Ours catches what they miss: no two sizes are equal, none is the square of F, and the numbers are quarters.
OURS = "conv_bw_rectangular_batch"


def classroom_cases(case: Callable[..., Case], slopes: Array, *problems: tuple[Array, ...]) -> tuple[Case, ...]:
    """The four tests of the classroom, of which the second compares with finite differences, and ours."""
    cases = []
    for name, tensors in zip((*CLASSROOM, OURS), problems, strict=True):
        cases.append(case(name, *tensors))
    cases[1] = replace(cases[1], expected=slopes, tolerance=1e-3 * abs(slopes))
    return tuple(cases)


def differences(parameter: str, input: Array, grad_output: Array) -> Array:
    """The gradient of the "weight" (Co, Ci, F, F) or the "bias" (Co,) by finite differences.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each number.
    """
    s = ConvShape.between(input.shape, grad_output.shape)
    zeros = {name: np.zeros(s.of(name)) for name in ("weight", "bias")}

    def loss(moved: Array) -> float:
        parameters = zeros | {parameter: moved}
        output = reference.conv2d(input, **parameters)
        return np.vdot(output, grad_output)

    return central_differences(loss, zeros[parameter])
