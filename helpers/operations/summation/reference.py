"""A long sum in float64: first as a loop to read, then vectorized. Both trust their argument."""

import numpy as np

Array = np.ndarray


def total_loops(input: Array) -> Array:
    """Add from left to right.

    input (n,) -> total (1,)
    """
    input = np.asarray(input, np.float64)  # (n,)
    total = np.zeros(1)  # (1,)
    for number in input:
        total[0] += number
    return total


def total(input: Array) -> Array:
    """Vectorized `total_loops`: total (1,)."""
    return np.asarray(input, np.float64).sum(keepdims=True)
