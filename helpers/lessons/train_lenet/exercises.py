"""The exercises of lesson 07, to write and to lay: loss, update, and the backward pass of max pooling."""

from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.checks.tolerance import tolerance
from helpers.grading.drawn_choice import numbers_of_facts
from helpers.grading.matching import matchings
from helpers.grading.puzzle import Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.drawn_numbers import FLOATS, KINDS, NUMBERS, Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import (
    Random,
    check_not_empty,
    different,
    length,
    low_numbers,
    one_long,
    one_of,
)
from helpers.lessons.shared.student_kernels import pool_params
from helpers.operations.network import reference
from helpers.operations.network.shapes import LossShape, PoolShape, UpdateShape

Array = np.ndarray
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")

# --- The loss, ReLU and the update ----------------------------------------------------------------------------

EXP_ERROR = 1e-5  # more than float32's exponentials are off here, and far less than a mistake changes
LOGITS = {  # images and classes of each test, and what its logits are near
    "one_image": (1, 3, 0),
    "large_logits": (2, 4, 100),
    "ten_classes": (3, 10, 0),
    "many_images": (70, 5, 0),
}
STEPS = {  # parameters and steps of each test
    "one_step": (7, 1),
    "two_steps": (6, 2),
    "many_parameters": (300, 2),
}
LEARNING_RATE = 0.5
MOMENTUM = 0.75


@cache
def _loss_cases() -> tuple[Case, ...]:
    return tuple(_loss_case(name, *sizes) for name, sizes in LOGITS.items())


def _loss_case(name: str, rows: int, classes: int, near: int) -> Case:
    """The labels are not the images' numbers; of the last two tests, the logits are quarters."""
    random = np.random.default_rng(3)
    logits = near + random.integers(-2, 3, (rows, classes)).astype(np.float32)
    if classes in (5, 10):
        logits /= 4
    return _loss_case_of(name, logits, LossShape(rows, classes).labels())


def _loss_case_of(name: str, logits: Array, labels: Array) -> Case:
    shape = LossShape(*logits.shape)
    rows = shape.rows
    _, gradients = reference.cross_entropy(logits, labels)
    dispatch = Dispatch((ceil(rows / 64), 1, 1))
    return Case(
        name,
        inputs=(logits, labels),
        expected=gradients.astype(np.float32),
        params=shape.params(),
        dispatches=(dispatch,),
        tolerance=EXP_ERROR,
    )


EQUAL = "equal"  # a kind of numbers
NEAR = ("0", "10,000", "-10,000", "far apart")  # where logits are


def _loss_sizes(random: Random) -> Sizes:
    n, c = different(random, 2, 20)
    if random.random() < 0.5:
        n = length(random, past=128, most=300)
    return {"N": n, "C": c, "logits": one_of(random, *NEAR), NUMBERS: one_of(random, EQUAL, *KINDS)}


def _drawn_loss_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Logits near a number, or so far apart that almost all of their exponentials are 0; or all of them equal.

    Of more images, the gradients are smaller, and must be so much nearer the right ones.
    """
    n, c, near, numbers = sizes.values()
    shape = LossShape(n, c)
    logits = np.zeros(shape.of("logits"), np.float32)
    if numbers != EQUAL:
        logits = draw_numbers(random, sizes, n, c)
    if near == "far apart":
        logits *= 2**10
    else:
        logits += np.float32(near.replace(",", ""))
    labels = random.integers(0, c, n).astype(np.uint32)
    return replace(_loss_case_of(name, logits, labels), tolerance=EXP_ERROR / n)


@cache
def _step_cases() -> tuple[Case, ...]:
    return tuple(_step_case(name, *sizes) for name, sizes in STEPS.items())


def _step_case(name: str, n: int, steps: int) -> Case:
    """Several steps with the same gradient, each of which changes parameters and velocities in place."""
    random = np.random.default_rng(4)
    grad, parameter, velocity = random.choice([-8, -4, 4, 8], (3, n)).astype(np.float32)
    velocity *= 4
    if n == 300:
        grad /= 16
    return _step_case_of(name, (grad, parameter, velocity), steps, UpdateShape(n, LEARNING_RATE, MOMENTUM))


def _step_case_of(name: str, tensors: tuple[Array, ...], steps: int, shape: UpdateShape) -> Case:
    grad, parameter, velocity = tensors
    n = shape.count
    dispatch = Dispatch((ceil(n / 256), 1, 1))
    return Case(
        name,
        inputs=(grad,),
        expected=_after(tensors, steps, shape.learning_rate, shape.momentum),
        params=shape.params(),
        dispatches=(dispatch,) * steps,
        scratch=(n,),
        start=(parameter, velocity),
    )


def _after(tensors: tuple[Array, ...], steps: int, learning_rate: float, momentum: float) -> Array:
    """The parameters after some steps."""
    grad, parameter, velocity = tensors
    for _ in range(steps):
        parameter, velocity = reference.sgd(parameter, grad, velocity, learning_rate, momentum)
    return parameter


RATES = ("0.25", "0.125", "2")  # of learning
MOMENTA = ("0", "0.25", "0.875")
ROUNDED = ("0.1", "0.01"), ("0.9", "0.3")  # likewise, for ordinary numbers


def _step_sizes(random: Random) -> Sizes:
    numbers = kind(random)
    rates, momenta = ROUNDED if numbers[NUMBERS] == FLOATS else (RATES, MOMENTA)
    return {
        "n": length(random, past=512, most=1500),
        "steps": int(random.integers(1, 4)),
        "learning rate": one_of(random, *rates),
        "momentum": one_of(random, *momenta),
        **numbers,
    }


def _drawn_step_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Steps, each of which rounds four times."""
    n, steps, learning_rate, momentum, numbers = sizes.values()
    check_not_empty(n, steps)
    tensors = tuple(draw_numbers(random, sizes, 3, n, largest=99))
    shape = UpdateShape(n, float(learning_rate), float(momentum))
    exact = _step_case_of(name, tensors, steps, shape)
    if numbers != FLOATS:
        return exact
    total = _after(tuple(map(abs, tensors)), steps, -shape.learning_rate, shape.momentum)
    return replace(exact, tolerance=tolerance(4 * steps, total, *tensors))


# --- The gradient of a maximum --------------------------------------------------------------------------------

POOLS = {  # each test adds one thing to those before it; the last is LeNet's second pooling layer
    "pool_2x2": PoolShape(1, 1, 4, 4, 2),
    "pool_equal_pixels": PoolShape(1, 1, 5, 7, 2),
    "pool_overlapping": PoolShape(1, 1, 6, 8, 3, 1),
    "pool_padding": PoolShape(1, 1, 5, 6, 3, 2, 1),
    "pool_planes": PoolShape(2, 3, 8, 10, 3, 2, 1),
    "pool_lenet_pool2": PoolShape(1, 16, 8, 8, 2),
}


@cache
def _pool_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(9)
    return tuple(_pool_case(name, shape, random) for name, shape in POOLS.items())


def _pool_case(name: str, s: PoolShape, random: np.random.Generator) -> Case:
    """Of numbers from -3 to -1 many are equal, and none is a maximum where the padding takes part as zeros.

    In `pool_planes`, where no two sizes are equal, all numbers are a quarter of these, in the last plane far lower.
    """
    size = s.of("input")
    values = random.permutation(np.prod(size)) if name == "pool_2x2" else random.integers(-3, 0, size)
    if "lenet" in name:
        values = np.maximum(random.integers(-4, 5, size), 0)  # after a ReLU
    input = values.reshape(size).astype(np.float32)
    grad_output = random.choice([-3, -2, -1, 1, 2, 3], s.of("output")).astype(np.float32)
    if name == "pool_planes":
        input = input / 4
        grad_output = grad_output / 4
        input[-1, -1] *= 2.0**126  # a search for the maximum must begin as low as float32 goes, or at a pixel
    return _pool_case_of(name, s, input, grad_output)


def _pool_case_of(name: str, s: PoolShape, input: Array, grad_output: Array) -> Case:
    expected = reference.max_pool2d_backward(input, grad_output, s)
    planes = np.reshape(expected, (-1, s.in_h, s.in_w))
    dispatch = Dispatch((ceil(expected.size / 256), 1, 1))
    return Case(name, (input, grad_output), planes, pool_params(s), (dispatch,))


def _pool_sizes(random: Random) -> Sizes:
    """Windows that are apart or overlap, reach past the edges or not to the end, in planes that are not square."""
    planes, height, width = different(random, 3, 11)
    if random.random() < 0.4:
        planes, height, width = one_long(random, 3)
    window = int(random.choice([1, 2, 3, 4], p=[0.05, 0.4, 0.4, 0.15]))
    stride = random.choice([1, 2, 3, 4], p=[0.35, 0.35, 0.2, 0.1])
    if window == 4:
        stride = window  # else a thread has up to 256 pixels to compare
    padding = min(window // 2, random.choice([0, 1, 2], p=[0.2, 0.5, 0.3]))
    sizes = {"planes": planes, "H": max(height, window), "W": max(width, window)}
    return sizes | {"k": window, "S": int(stride), "P": int(padding)} | kind(random)


def _pool_facts(sizes: Sizes) -> dict[str, int]:
    """The sizes, those of the output, and the rows and numbers of both."""
    known = numbers_of_facts(sizes)
    s = PoolShape(1, *known.values())
    known["oH"], known["oW"] = s.outputs
    for rows, columns in ("H", "W"), ("oH", "oW"):
        known[f"{rows} of all"] = known["planes"] * known[rows]
        known[f"{rows} * {columns} of all"] = known["planes"] * known[rows] * known[columns]
    return known


def _drawn_pool_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Planes of which the first has many equal pixels, and the last has low ones."""
    planes, height, width, window, stride, padding, _ = sizes.values()
    s = PoolShape(1, planes, height, width, window, stride, padding)
    input = draw_numbers(random, sizes, *s.of("input"), largest=99)
    input[:, 0] = random.integers(-2, 1, (height, width))
    input[:, -1] = low_numbers(random, height, width)
    if reference.max_pool2d(input, s).min() == -np.inf:
        input = np.maximum(input, np.float32(-3.39e38))  # a maximum is finite
    grad_output = draw_numbers(random, sizes, *s.of("output"), largest=99)
    exact = _pool_case_of(name, s, input, grad_output)
    return with_rounding(exact, sizes, lambda grad: reference.max_pool2d_backward(input, grad, s), grad_output)


OWN_WINDOWS = Skill(
    "one thread for each pixel, which reads only the windows that have the pixel",
    "pool_lenet_pool2",
    {"steps": 8, "results": 2, "thread_loads": 4},
)
THREAD_OF_IMAGE = Skill.one_thread_for("image", "many_images", lambda: _loss_case("larger", 600, 2, 0))
THREAD_OF_PARAMETER = Skill.one_thread_for("parameter", "many_parameters", lambda: _step_case("larger", 600, 1))
PUZZLES = (
    Puzzle("softmax_minus_truth", FOLDER, "n c", _loss_cases, THREAD_OF_IMAGE, Drawn(_loss_sizes, _drawn_loss_case)),
    Puzzle("momentum_step", FOLDER, "i", _step_cases, THREAD_OF_PARAMETER, Drawn(_step_sizes, _drawn_step_case)),
    Puzzle(
        "max_pool2d_backward",
        FOLDER,
        "plane ih iw",
        _pool_cases,
        OWN_WINDOWS,
        Drawn(_pool_sizes, _drawn_pool_case, _pool_facts),
    ),
)


def _curves() -> object:
    """Return the picture of the four curves."""
    from helpers.lessons.train_lenet import in_training  # here, as the process apart trains nothing

    return in_training.curves()


CURVES = ("Curve A", "Curve B", "Curve C", "Curve D")
MATCHINGS = matchings(HERE.with_name("matchings.toml"), four_curves=(CURVES, _curves))
