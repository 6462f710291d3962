"""The exercises of lesson 07, to write and to lay: loss, update, and the backward pass of max pooling."""

from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.matching import matchings
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill
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
    shape = LossShape(rows, classes)
    labels = shape.labels()
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
    after = parameter
    moved = velocity
    for _ in range(steps):
        after, moved = reference.sgd(after, grad, moved, LEARNING_RATE, MOMENTUM)
    dispatch = Dispatch((ceil(n / 256), 1, 1))
    return Case(
        name,
        inputs=(grad,),
        expected=after,
        params=UpdateShape(n, LEARNING_RATE, MOMENTUM).params(),
        dispatches=(dispatch,) * steps,
        scratch=(n,),
        start=(parameter, velocity),
    )


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
    expected = reference.max_pool2d_backward(input, grad_output, s)
    planes = np.reshape(expected, (-1, *size[2:]))
    dispatch = Dispatch((ceil(expected.size / 256), 1, 1))
    return Case(name, (input, grad_output), planes, pool_params(s), (dispatch,))


OWN_WINDOWS = Skill(
    "one thread for each pixel, which reads only the windows that have the pixel",
    "pool_lenet_pool2",
    {"steps": 8, "results": 2, "thread_loads": 4},
)
THREAD_OF_IMAGE = Skill.one_thread_for("image", "many_images", lambda: _loss_case("larger", 600, 2, 0))
THREAD_OF_PARAMETER = Skill.one_thread_for("parameter", "many_parameters", lambda: _step_case("larger", 600, 1))
PUZZLES = (
    Puzzle("softmax_minus_truth", FOLDER, "n c", _loss_cases, THREAD_OF_IMAGE),
    Puzzle("momentum_step", FOLDER, "i", _step_cases, THREAD_OF_PARAMETER),
    Puzzle("max_pool2d_backward", FOLDER, "plane ih iw", _pool_cases, OWN_WINDOWS),
)


def _curves() -> object:
    """Return the picture of the four curves."""
    from helpers.lessons.train_lenet import in_training  # here, as the process apart trains nothing

    return in_training.curves()


CURVES = ("Curve A", "Curve B", "Curve C", "Curve D")
MATCHINGS = matchings(HERE.with_name("matchings.toml"), four_curves=(CURVES, _curves))
