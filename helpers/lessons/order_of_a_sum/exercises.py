"""The exercises of appendix E: a sum that repairs itself, and one that is the same in every order."""

from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import TWICE, Case, Dispatch, Puzzle, Skill
from helpers.lessons.shared.sums import case


@cache
def _kahan_cases() -> tuple[Case, ...]:
    """A large number and small ones: neither from left to right nor in a tree does float32 have their total.

    The last total is negative, and not a whole number.
    """
    random = np.random.default_rng(17)
    mixed = random.integers(1, 8, 64)
    quarters = random.integers(-7, 0, 256) / 4
    mixed[0] = 2**24
    quarters[0] = -(2**22)
    mixed[-1] += mixed.sum() % 2
    quarters[-1] += (0.5 - quarters.sum()) % 1
    lists = {"large_and_two_ones": np.array([2**24, 1, 1]), "large_and_63": mixed, "quarters": quarters}
    return tuple(case(name, numbers, 0) for name, numbers in lists.items())


@cache
def _fixed_cases() -> tuple[Case, ...]:
    """Whole numbers, quarters for two workgroups, small ones that a float32 sum loses, and some between two steps."""
    random = np.random.default_rng(5)
    small = np.full(129, 2.0**-14)
    small[0] = 2**11
    lists = {
        "whole_numbers": np.array([3, -5, 4, 1, -7]),
        "quarters": random.integers(-40, 30, 100) / 4,
        "small_ones": small,
        "tenths": np.float32([0.1, -0.7] * 50),
    }
    return tuple(_fixed_case(name, numbers.astype(np.float32)) for name, numbers in lists.items())


def _fixed_case(name: str, numbers: np.ndarray) -> Case:
    total = np.rint(numbers.astype(float) * 2**16).sum(keepdims=True) / 2**16
    workgroups = ceil(numbers.size / 64)
    passes = Dispatch((workgroups, 1, 1), "add_up"), Dispatch(entry_point="divide")
    start = np.zeros(1, np.float32), np.zeros(1, np.int32)
    return Case(name, (numbers,), total, (numbers.size,), passes, scratch=(1,), start=start)


FOLDER = Path(__file__).with_name("puzzles")
PUZZLES = (
    Puzzle(
        "kahan_sum",
        FOLDER,
        "i",
        _kahan_cases,
        Skill("plus and minus, which no compiler can take apart", "quarters", {}, least={"integer": 1.1}),
    ),
    Puzzle(
        "fixed_point_sum",
        FOLDER,
        "i",
        _fixed_cases,
        Skill("one thread for each number", "small_ones", {"inputs": TWICE}),
    ),
)
