"""Numbers of drawn problems: whole ones and quarters, whose sums are exact in any order, and any float32 numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from helpers.checks.tolerance import tolerance_of_sums
from helpers.grading.puzzle import Case

Array = np.ndarray
Sizes = Mapping[str, int | str]
WHOLE, QUARTERS, FLOATS = KINDS = "whole", "quarters", "floats"
SMALLER = 16  # powers of two
NUMBERS = "numbers"  # the name of their kind among the sizes of a problem


def sizes_from(**ranges: tuple[int, int]) -> Callable[[np.random.Generator], Sizes]:
    """Return a function that draws a size of each name, from the least to the most, all different, and a kind."""

    def draw(random: np.random.Generator) -> Sizes:
        sizes = {}
        while len({*sizes.values()}) < len(ranges):
            sizes = {name: int(random.integers(least, most + 1)) for name, (least, most) in ranges.items()}
        return sizes | kind(random)

    return draw


def kind(random: np.random.Generator) -> dict[str, str]:
    """Draw a kind of numbers, as it stands among sizes."""
    return {NUMBERS: str(random.choice(KINDS))}


def draw_numbers(random: np.random.Generator, sizes: Sizes, *shape: int, largest: int = 4) -> Array:
    """Draw float32 numbers of the kind that is among the sizes, of at most that absolute value.

    Of any float32 numbers, some are far smaller than others, and half of the time all of them are.
    """
    if sizes[NUMBERS] == FLOATS:
        powers = random.choice([0, SMALLER]) + random.choice([0, 0, 4], shape)
        return (random.uniform(-largest, largest, shape) * 2.0**-powers).astype(np.float32)
    parts = 4 if sizes[NUMBERS] == QUARTERS else 1
    most = parts * largest
    return random.integers(-most, most + 1, shape).astype(np.float32) / parts


def with_rounding(case: Case, sizes: Sizes, formula: Callable[..., Array], *data: Array) -> Case:
    """Return a test in which float32 sums, ``formula(*data)``, may be off as far as rounding takes them."""
    if sizes[NUMBERS] != FLOATS:
        return case
    return replace(case, tolerance=tolerance_of_sums(formula, *data).reshape(case.expected.shape))
