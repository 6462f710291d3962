"""Sizes and numbers of drawn problems, as the puzzles of several lessons draw them."""

from collections.abc import Mapping

import numpy as np

from helpers.checks.tolerance import tolerance

Array = np.ndarray
Random = np.random.Generator
Sizes = Mapping[str, int | str]

KINDS = ("whole", "quarters", "ordinary")  # of numbers: only the sums of ordinary ones are rounded


def one_of(random: Random, *words: str) -> str:
    """Return one of these words."""
    return str(random.choice(words))


def length(random: Random, past: int, most: int) -> int:
    """The length of a list: most often past the longest test, and then 1 mod 16; sometimes short, or 1."""
    short = 16 * random.integers(1, 17) + 1
    long = random.integers(past + 1, most)
    one_more = 16 * random.integers(past // 16 + 1, most // 16) + 1
    return int(random.choice([1, short, long, one_more], p=[0.05, 0.2, 0.25, 0.5]))


def different(random: Random, count: int, most: int, but: int = 0) -> list[int]:
    """Sizes from 1 to `most`, no two of them equal, and none equal to `but`."""
    sizes = [size for size in range(1, most + 1) if size != but]
    return random.choice(sizes, count, replace=False).tolist()


def numbers(kind: str, random: Random, *size: int) -> Array:
    """Random float32 numbers of a kind; the whole ones have at most two digits."""
    if kind == "ordinary":
        return random.normal(size=size).astype(np.float32)
    whole = random.integers(-99, 100, size).astype(np.float32)
    if kind == "quarters":
        return whole / 4
    return whole


def low_numbers(random: Random, *size: int) -> Array:
    """Random float32 numbers of which the highest is near the lowest one that is finite; some are infinite."""
    low = -random.integers(331, 340, size) * 1e36
    masked = random.random(size) < 0.1
    return np.where(masked, -np.inf, low).astype(np.float32)


def off_by(kind: str, terms: int, total: float | Array, *data: Array) -> float | Array:
    """The most by which a right sum of numbers of a kind may be off: of `terms` terms, whose sizes add up to `total`.

    `data` are the factors of the terms.
    """
    if kind == "ordinary":
        return tolerance(terms, total, *data)
    return 0.0
