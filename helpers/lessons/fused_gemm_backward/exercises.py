"""The exercises of lesson 06, to write, to lay and to plant: a gate, and products in tiles, on layers with relu."""

from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.matching import matchings
from helpers.grading.puzzle import Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared import planted
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, kind
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty, length
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
    pre = a @ b + bias
    return (
        _gate_case("the_layer", pre.ravel(), grad.ravel()),
        _random_gate_case("full_workgroup", 256, unit=1),
        _random_gate_case("with_tail", 300, unit=4),
    )


def _random_gate_case(name: str, n: int, unit: int) -> Case:
    """Small whole numbers, of which each is divided by a unit; no upstream gradient is 0."""
    random = np.random.default_rng(n)
    pre = random.integers(-2, 3, n) / unit
    grad = random.choice([-3, -2, -1, 1, 2, 3], n) / unit
    return _gate_case(name, pre, grad)


def _gate_case(name: str, pre: Array, grad: Array) -> Case:
    inputs = np.float32(pre), np.float32(grad)
    expected = reference.relu_backward(*inputs)
    dispatch = Dispatch((ceil(pre.size / 256), 1, 1))
    return Case(name, inputs, expected, (pre.size,), (dispatch,))


def _gate_sizes(random: Random) -> Sizes:
    return {"n": length(random, past=512, most=1500)} | kind(random)


def _drawn_gate_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Numbers of which some are 0, and some very near it."""
    n = sizes["n"]
    check_not_empty(n)
    pre, grad = draw_numbers(random, sizes, 2, n)
    return _gate_case(name, pre * random.choice([0, 2**-20, 1], n), grad)


def _passes() -> object:
    """Return the picture of the four passes."""
    from helpers.lessons.fused_gemm_backward.pictures.passes import PassesPicture  # here: the process apart draws none

    return PassesPicture()


GATES = Drawn(_gate_sizes, _drawn_gate_case)
FOR_EACH = Skill.one_thread_for("element", "with_tail", lambda: _random_gate_case("larger", 600, unit=1))
GATE = Puzzle("relu_gate", FOLDER, "i", _gate_cases, FOR_EACH, GATES)
PUZZLES = (GATE, *(puzzle(name, summed, FOLDER) for name, summed in PRODUCTS.items()))
PASSES = ("Pass 1", "Pass 2", "Pass 3", "Pass 4")
MATCHINGS = matchings(HERE.with_name("matchings.toml"), four_passes=(PASSES, _passes))
ONE_TILE = GemmShape(16, 16, 16, activation="relu")
PAST_THE_EDGES = GemmShape(19, 37, 21, activation="relu")
HIGHER_THAN_WIDE = GemmShape(53, 19, 21, activation="relu")  # M is above K by more than a tile
PLANTED = planted.read(
    HERE.with_name("planted.toml"),
    fault_that_ones_miss=(
        ONE_TILE,
        {"random numbers and other sizes": PAST_THE_EDGES, "M above K by more than a tile": HIGHER_THAN_WIDE},
    ),
)
