"""Sizes of drawn problems, and the low numbers in which a maximum is looked for, as several lessons draw them."""

import numpy as np

Array = np.ndarray
Random = np.random.Generator
FULL = 256  # threads of a workgroup


def one_of(random: Random, *words: str) -> str:
    """Return one of these words."""
    return str(random.choice(words))


def length(random: Random, past: int, most: int) -> int:
    """The length of a list: most often past the longest test, and then 1 mod 16; sometimes short, or 1, or full."""
    short = 16 * random.integers(1, 17) + 1
    long = random.integers(past + 1, most)
    one_more = 16 * random.integers(past // 16 + 1, most // 16) + 1
    full = FULL * random.integers(1, most // FULL + 1)
    return int(random.choice([1, short, long, one_more, full], p=[0.05, 0.2, 0.2, 0.45, 0.1]))


def different(random: Random, count: int, most: int, but: int = 0) -> list[int]:
    """Sizes from 1 to `most`, no two of them equal, and none equal to `but`; often one of them is 1."""
    sizes = [size for size in range(1, most + 1) if size != but]
    drawn = random.choice(sizes, count, replace=False).tolist()
    if 1 not in (*drawn, but) and random.random() < 0.2:
        drawn[random.integers(count)] = 1
    return drawn


def one_long(random: Random, count: int) -> list[int]:
    """Sizes of which one is from 9 to 40, and the others are from 1 to 4."""
    sizes = random.integers(1, 5, count).tolist()
    sizes[random.integers(count)] = int(random.integers(9, 41))
    return sizes


def check_not_empty(*sizes: int) -> None:
    """Refuse sizes that leave nothing to compute. Raises ValueError."""
    if min(sizes) < 1:
        raise ValueError(f"sizes {sizes}: each must be at least 1")


def low_numbers(random: Random, *shape: int) -> Array:
    """Random float32 numbers, almost the lowest ones that are finite; some are infinite."""
    low = -random.integers(331, 340, shape) * 1e36
    masked = random.random(shape) < 0.1
    return np.where(masked, -np.inf, low).astype(np.float32)
