"""What a learner works out in the lesson that trains LeNet: the gradient of a maximum, and questions to answer."""

from functools import cache

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill
from helpers.network import reference
from helpers.network.shapes import PoolShape

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

    In `pool_planes`, where no two sizes are equal, all numbers are a quarter of these.
    """
    size = s.of("input")
    values = random.permutation(np.prod(size)) if name == "pool_2x2" else random.integers(-3, 0, size)
    if "lenet" in name:
        values = np.maximum(random.integers(-4, 5, size), 0)  # after a ReLU
    input = values.reshape(size).astype(np.float32)
    grad_output = random.choice([-3, -2, -1, 1, 2, 3], s.of("output")).astype(np.float32)
    if name == "pool_planes":
        input, grad_output = input / 4, grad_output / 4
    expected = reference.max_pool2d_backward(input, grad_output, s)
    planes, params = np.reshape(expected, (-1, *size[2:])), pool_params(s)
    return Case(name, (input, grad_output), planes, params, (Dispatch((-(-expected.size // 256), 1, 1)),))


def pool_params(s: PoolShape) -> tuple[int, ...]:
    """The words of the puzzle's uniform, for square windows."""
    return s.batch * s.channels, s.in_h, s.in_w, s.kernel[0], s.stride[0], s.padding[0], *s.outputs


PUZZLES = (
    Puzzle("max_pool2d_backward", "network", "plane ih iw", _pool_cases, Skill.one_thread_for("pixel", "pool_planes")),
)
QUESTIONS = questions(__file__)
