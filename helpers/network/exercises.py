"""What a learner works out in the lesson that trains LeNet: loss, ReLU, update, pooling, and questions to answer."""

from functools import cache

import numpy as np

from helpers.gemm.exercises import LESSONS
from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill
from helpers.network import reference
from helpers.network.shapes import LossShape, PoolShape, UpdateShape

Array = np.ndarray

# --- The loss, ReLU and the update ----------------------------------------------------------------------------

EXP_ERROR = 1e-5  # more than float32's exponentials are off here, and far less than a mistake changes
LOGITS = {  # images and classes of each test, and what its logits are near
    "one_image": (1, 3, 0),
    "large_logits": (2, 4, 100),
    "ten_classes": (3, 10, 0),
    "many_images": (70, 5, 0),
}
STEPS = {"one_step": (7, 1), "two_steps": (6, 2), "many_parameters": (300, 2)}  # parameters, steps
LEARNING_RATE, MOMENTUM = 0.5, 0.75


@cache
def _loss_cases() -> tuple[Case, ...]:
    return tuple(_loss_case(*each) for each in LOGITS.items())


def _loss_case(name: str, sizes: tuple[int, int, int]) -> Case:
    """The labels are not the images' numbers; of the last two tests, the logits are quarters."""
    (rows, classes, near), random = sizes, np.random.default_rng(3)
    logits = near + random.integers(-2, 3, (rows, classes)).astype(np.float32)
    logits /= 4 if classes in (5, 10) else 1
    shape = LossShape(rows, classes)
    expected = reference.cross_entropy(logits, shape.labels())[1].astype(np.float32)
    groups = -(-rows // 64), 1, 1
    return Case(name, (logits, shape.labels()), expected, shape.params(), (Dispatch(groups),), EXP_ERROR)


@cache
def _gate_cases() -> tuple[Case, ...]:
    """The layer of lesson 06; then numbers from -2 to 2, many of them 0, in `with_tail` quarters."""
    a, b, bias, grad = map(np.array, LESSONS.values())
    cases = {"the_layer": ((a @ b + bias).ravel(), grad.ravel())}
    for name, n, unit in ("full_workgroup", 256, 1), ("with_tail", 300, 4):
        random = np.random.default_rng(n)
        cases[name] = random.integers(-2, 3, n) / unit, random.choice([-3, -2, -1, 1, 2, 3], n) / unit
    return tuple(_gate_case(name, *map(np.float32, arrays)) for name, arrays in cases.items())


def _gate_case(name: str, pre: Array, grad: Array) -> Case:
    groups = -(-pre.size // 256), 1, 1
    return Case(name, (pre, grad), reference.relu_backward(pre, grad), (pre.size,), (Dispatch(groups),))


@cache
def _step_cases() -> tuple[Case, ...]:
    return tuple(_step_case(*each) for each in STEPS.items())


def _step_case(name: str, sizes: tuple[int, int]) -> Case:
    """Several steps with the same gradient, each of which changes parameters and velocities in place."""
    (n, steps), random = sizes, np.random.default_rng(4)
    grad, parameter, velocity = random.choice([-8, -4, 4, 8], (3, n)).astype(np.float32) * np.float32([[1], [1], [4]])
    grad /= 16 if n == 300 else 1
    after, moved = parameter, velocity
    for _ in range(steps):
        after, moved = reference.sgd(after, grad, moved, LEARNING_RATE, MOMENTUM)
    params = UpdateShape(n, LEARNING_RATE, MOMENTUM).params()
    passes = (Dispatch((-(-n // 256), 1, 1)),) * steps
    return Case(name, (grad,), after, params, passes, scratch=(n,), start=(parameter, velocity))


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
        input, grad_output = input / 4, grad_output / 4
        input[-1, -1] *= 2.0**126  # a search for the maximum must begin as low as float32 goes, or at a pixel
    expected = reference.max_pool2d_backward(input, grad_output, s)
    planes, params = np.reshape(expected, (-1, *size[2:])), pool_params(s)
    return Case(name, (input, grad_output), planes, params, (Dispatch((-(-expected.size // 256), 1, 1)),))


def pool_params(s: PoolShape) -> tuple[int, ...]:
    """The words of the puzzle's uniform, for square windows."""
    return s.batch * s.channels, s.in_h, s.in_w, s.kernel[0], s.stride[0], s.padding[0], *s.outputs


OWN_WINDOWS = Skill(
    "one thread for each pixel, which reads only the windows that have the pixel",
    "pool_lenet_pool2",
    {"steps": 8, "results": 2, "thread_loads": 4},
)
PUZZLES = (
    Puzzle("softmax_minus_truth", "network", "n c", _loss_cases, Skill.one_thread_for("image", "many_images")),
    Puzzle("relu_gate", "network", "i", _gate_cases, Skill.one_thread_for("element", "with_tail")),
    Puzzle("momentum_step", "network", "i", _step_cases, Skill.one_thread_for("parameter", "many_parameters")),
    Puzzle("max_pool2d_backward", "network", "plane ih iw", _pool_cases, OWN_WINDOWS),
)
QUESTIONS = questions(__file__)
