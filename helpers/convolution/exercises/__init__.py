"""What a learner works out in the convolution lessons: kernels to write, and questions to answer.

The questions of each lesson are in a file beside this one. The kernels of lessons 01 to 03 are in `layers.txt`, from
which `cases.py` makes their tests.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from helpers.checks.differences import central_differences
from helpers.convolution import reference
from helpers.convolution.exercises.cases import BATCH, case, draw, draw_quarters, layer, read_puzzles
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.prediction import questions
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Puzzle, Skill

Array = np.ndarray

HERE = Path(__file__)
CLASSROOM = (  # the tests' names in the classroom
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
)
# Ours catches what they miss: no two sizes are equal, none is the square of F, and the numbers are quarters.
OURS = "conv_bw_rectangular_batch"


def _classroom_cases(case: Callable[..., Case], slopes: Array, *given: tuple[Array, ...]) -> tuple[Case, ...]:
    """The four tests of the classroom, of which the second compares with finite differences, and ours."""
    first, nudged, *others = (case(name, *tensors) for name, tensors in zip((*CLASSROOM, OURS), given, strict=True))
    return first, replace(nudged, expected=slopes, tolerance=1e-3 * abs(slopes)), *others


# --- Lesson 01: the forward pass -------------------------------------------------------------------------------


FORWARD_QUESTIONS = questions(HERE.with_name("forward"))

# --- Lesson 02: the weight gradient, the classroom's first half ------------------------------------------------


def differences(of: str, input: Array, grad_output: Array) -> Array:
    """The gradient of the "weight" (Co, Ci, F, F) or the "bias" (Co,) by finite differences.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each number.
    """
    s = ConvShape.between(input.shape, grad_output.shape)
    zeros = {name: np.zeros(s.of(name)) for name in ("weight", "bias")}
    output = partial(reference.conv2d, input)
    return central_differences(lambda moved: np.vdot(output(**zeros | {of: moved}), grad_output), zeros[of])


@cache
def _grad_weight_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(5)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    return _classroom_cases(
        _grad_weight_case,
        differences("weight", *nudged),
        (
            np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5) % 7,
            np.arange(-4, 5, dtype=np.float32).reshape(1, 1, 3, 3),
        ),
        nudged,
        (digits.conv1_input(), draw(random, 1, 6, 24, 24, largest=3)),
        (digits.conv2_input(), draw(random, 1, 16, 8, 8, largest=3)),
        (draw_quarters(random, 2, 8, 6, 7), draw_quarters(random, 2, 10, 4, 5)),
    )


def _grad_weight_case(name: str, input: Array, grad_output: Array) -> Case:
    s, tensors = ConvShape.between(input.shape, grad_output.shape), {"grad_output": grad_output, "input": input}
    return layer(name, "grad_weight", s, "N Ci H W Co kH", tensors)


GRAD_WEIGHT = Puzzle(
    "conv2d_grad_weight",
    "convolution",
    "co ci kh kw",
    _grad_weight_cases,
    Skill.one_thread_for("weight", CLASSROOM[1]),
)

WEIGHT_QUESTIONS = questions(HERE.with_name("weight_gradient"))

# --- Lesson 03: the input gradient -----------------------------------------------------------------------------

INPUT_QUESTIONS = questions(HERE.with_name("input_gradient"))

# --- Lesson 04: the bias gradient, the classroom's second half -------------------------------------------------


@cache
def _grad_bias_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    classroom = _classroom_cases(
        _grad_bias_case,
        differences("bias", *nudged),
        (np.arange(-3, 6, dtype=np.float32).reshape(1, 1, 3, 3),),
        nudged[1:],
        (draw(random, 1, 6, 24, 24),),
        (draw(random, 1, 16, 8, 8),),
        (draw_quarters(random, 3, 300, 2, 5),),
    )
    return *classroom, _grad_bias_case("the_picture", BATCH)


def _grad_bias_case(name: str, grad_output: Array) -> Case:
    return case(name, (grad_output,), reference.conv2d_grad_bias(grad_output), grad_output.shape)


GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    "convolution",
    "co",
    _grad_bias_cases,
    Skill.one_thread_for("channel", "conv_bw_lenet_conv2"),
)

SLICE = 128  # numbers of a channel for each workgroup of the first pass
SLICES = {"one_slice": (1, 2, 3, 3), "three_slices": (3, 2, 9, 11), "71_slices": (5, 3, 42, 43)}  # the last in quarters


@cache
def _two_passes_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(8)
    *whole, last = SLICES
    cases = [_two_passes_case(name, draw(random, *SLICES[name])) for name in whole]
    return *cases, _two_passes_case(last, draw_quarters(random, *SLICES[last]))


def _two_passes_case(name: str, grad_output: Array) -> Case:
    batch, channels, *plane = grad_output.shape
    slices = -(-batch * np.prod(plane) // SLICE)
    passes = Dispatch((slices, channels, 1), "sum_slices"), Dispatch((channels, 1, 1), "sum_parts")
    expected, params = reference.conv2d_grad_bias(grad_output), (batch, channels, np.prod(plane), slices)
    return Case(name, (grad_output,), expected, params, passes, scratch=(channels * slices,))


TWO_PASSES = Puzzle(
    "grad_bias_two_passes",
    "convolution",
    "co",
    _two_passes_cases,
    Skill(
        "two passes, in which many workgroups read at once, and neighbors read neighboring numbers",
        "71_slices",
        {"steps": STEPS, "sectors": 1.5, "thread_loads": TWICE, "thread_loads_workgroup": 1.5, "threads_at_a_word": 4},
    ),
)

BIAS_QUESTIONS = questions(HERE.with_name("bias_gradient"))

DILATION_QUESTIONS = questions(HERE.with_name("dilation_and_groups"))  # of appendix B

PUZZLES = (*read_puzzles(), GRAD_WEIGHT, GRAD_BIAS, TWO_PASSES)
QUESTIONS = FORWARD_QUESTIONS | WEIGHT_QUESTIONS | INPUT_QUESTIONS | BIAS_QUESTIONS | DILATION_QUESTIONS
