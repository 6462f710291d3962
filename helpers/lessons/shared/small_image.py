"""The small image that lessons 01 to 03 show, with its upstream gradient and its filter; and lesson 04's batch."""

import numpy as np

Array = np.ndarray


def matrix(*rows: list[int]) -> Array:
    """Return rows of numbers as one plane, (1, 1, rows, columns)."""
    return np.float32(rows)[None, None]


IMAGE = matrix(
    [2, 0, 1, 3, 1],
    [1, 4, 2, 0, 2],
    [0, 1, 3, 1, 4],
    [2, 2, 0, 1, 0],
    [1, 3, 1, 2, 1],
)
UPSTREAM = matrix(
    [1, -1, 2],
    [0, 3, -1],
    [2, 1, 0],
)
WEIGHT = matrix(
    [2, 0, -1],
    [1, 3, 0],
    [-2, 1, 1],
)
SMALL_WEIGHT = matrix(
    [1, -1, 2],
    [0, 3, -2],
)
# Upstream gradients of lesson 04.
BATCH = np.random.default_rng(4).integers(-4, 6, (2, 3, 3, 4)).astype(np.float32)
# The tests that have these numbers.
SHOWN = {
    "window_4x5": {"input": IMAGE[:, :, :4], "weight": SMALL_WEIGHT},
    "window_5x5": {"input": IMAGE, "grad_output": UPSTREAM},
    "pixel_5x5": {"weight": WEIGHT, "grad_output": UPSTREAM},
}
