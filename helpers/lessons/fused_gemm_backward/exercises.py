"""The exercises of lesson 06, to write, to lay and to plant: a gate, and products in tiles, on layers with relu."""

from functools import cache
from pathlib import Path

import numpy as np

from helpers.grading.matching import matchings
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill
from helpers.lessons.shared import planted
from helpers.lessons.shared.products import LESSONS, PRODUCTS, puzzle
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network import reference

Array = np.ndarray
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")


@cache
def _gate_cases() -> tuple[Case, ...]:
    """The layer of the lesson; then numbers from -2 to 2, many of them 0, in `with_tail` quarters."""
    a, b, bias, grad = map(np.array, LESSONS.values())
    cases = {"the_layer": ((a @ b + bias).ravel(), grad.ravel())}
    for name, n, unit in ("full_workgroup", 256, 1), ("with_tail", 300, 4):
        random = np.random.default_rng(n)
        cases[name] = random.integers(-2, 3, n) / unit, random.choice([-3, -2, -1, 1, 2, 3], n) / unit
    return tuple(_gate_case(name, *map(np.float32, arrays)) for name, arrays in cases.items())


def _gate_case(name: str, pre: Array, grad: Array) -> Case:
    groups = -(-pre.size // 256), 1, 1
    return Case(name, (pre, grad), reference.relu_backward(pre, grad), (pre.size,), (Dispatch(groups),))


def _passes() -> object:
    """Return the picture of the four passes."""
    from helpers.lessons.fused_gemm_backward.pictures.passes import PassesPicture  # here: the process apart draws none

    return PassesPicture()


PUZZLES = (
    Puzzle("relu_gate", FOLDER, "i", _gate_cases, Skill.one_thread_for("element", "with_tail")),
    *(puzzle(name, of, FOLDER) for name, of in PRODUCTS.items()),
)
MATCHINGS = matchings(HERE.with_name("matchings.toml"), four_passes=(("Pass 1", "Pass 2", "Pass 3", "Pass 4"), _passes))
PLANTED = planted.read(
    HERE.with_name("planted.toml"),
    fault_that_ones_miss=(
        GemmShape(16, 16, 16, activation="relu"),
        {"random numbers and other sizes": GemmShape(19, 37, 21, activation="relu")},
    ),
)
