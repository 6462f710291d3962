"""The exercises of appendix E: a sum that repairs itself, one that is the same in every order, and one of subgroups."""

from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.checks.tolerance import ROUNDING
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.drawn_numbers import FLOATS, NUMBERS, Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty, length, one_of
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


LARGE = ("first", "in the middle", "in the middle", "last", "none")  # places of a number that is large


def _kahan_sizes(random: Random) -> Sizes:
    return {
        "n": int(random.choice([1, 33, 113, random.integers(257, 290)], p=[0.05, 0.3, 0.35, 0.3])),
        "large number": one_of(random, *LARGE),
    }


def _drawn_kahan_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Small numbers with a large one among them, whose total and whose sum up to the large one are float32 numbers.

    So Kahan's sum is exact. Without a large one it may be off by three roundings, however many numbers are added.
    """
    n, place = sizes.values()
    check_not_empty(n)
    if place == "none":
        floats = draw_numbers(random, {NUMBERS: FLOATS}, n)
        return replace(case(name, floats.astype(float), 0), tolerance=3 * ROUNDING * abs(floats).sum(dtype=float))
    small = random.choice([1.0, 1.0, 1.0, 2.0, 5.0], n)
    at = {"first": 0, "in the middle": n // 2, "last": n - 1}[place]
    small[at] = 2**24
    for end in at, n:  # an even sum
        if end > 0 and end - 1 != at:
            small[end - 1] += small[:end].sum() % 2
    return case(name, small * random.choice([-1, 0.25, 1]), 0)


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


def _fixed_sizes(random: Random) -> Sizes:
    return {"n": length(random, past=192, most=700)} | kind(random)


def _drawn_fixed_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Numbers of which none is in the middle of two steps: it may be rounded up or down."""
    check_not_empty(sizes["n"])
    terms = draw_numbers(random, sizes, sizes["n"])
    steps = terms.astype(float) * 2**16
    terms[abs(steps % 1 - 0.5) < 0.01] = 0.75
    return _fixed_case(name, terms)


SUBGROUPS = {32: 100, 4: 256, 8: 300, 16: 300, 64: 700, 128: 2100}  # their sizes, and how many numbers are added


@cache
def _subgroup_cases() -> tuple[Case, ...]:
    """A test for every size of a subgroup; the last one has quarters."""
    random = np.random.default_rng(11)
    cases = []
    for size, n in SUBGROUPS.items():
        numbers = random.integers(1, 10, n) if size < max(SUBGROUPS) else random.integers(-40, 30, n) / 4
        cases.append(replace(case(f"subgroups_of_{size}", numbers), subgroup_size=size))
    return tuple(cases)


def _subgroup_sizes(random: Random) -> Sizes:
    size = int(random.choice([*SUBGROUPS]))
    return {"n": length(random, past=2304, most=6000), "size": size} | kind(random)


def _drawn_subgroup_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Numbers whose sum is exact in any order, or may be off as far as rounding takes it."""
    n, size = sizes["n"], sizes["size"]
    check_not_empty(n)
    if size not in SUBGROUPS:
        raise ValueError(f"size = {size}: a subgroup has 4, 8, 16, 32, 64 or 128 threads")
    terms = draw_numbers(random, sizes, n, largest=99)
    drawn = replace(case(name, terms.astype(float)), subgroup_size=size)
    return with_rounding(drawn, sizes, np.sum, terms)


FOLDER = Path(__file__).with_name("puzzles")
PUZZLES = (
    Puzzle(
        "kahan_sum",
        FOLDER,
        "i",
        _kahan_cases,
        Skill("plus and minus, which no compiler can take apart", "quarters", {}, least={"integer": 1.1}),
        Drawn(_kahan_sizes, _drawn_kahan_case),
    ),
    Puzzle(
        "fixed_point_sum",
        FOLDER,
        "i",
        _fixed_cases,
        Skill("one thread for each number", "small_ones", {"inputs": TWICE}),
        Drawn(_fixed_sizes, _drawn_fixed_case),
    ),
    Puzzle(
        "subgroup_sum",
        FOLDER,
        "i",
        _subgroup_cases,
        Skill(
            "one barrier, and sums that subgroups add",
            "subgroups_of_32",
            {"barriers": 1, "steps": STEPS, "thread_loads": TWICE},
        ),
        Drawn(_subgroup_sizes, _drawn_subgroup_case),
    ),
)
