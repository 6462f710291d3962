"""Derivatives by central differences, without a formula for them."""

from collections.abc import Callable

import numpy as np

from helpers.checks.report import Array


def central_differences(loss: Callable[[Array], float], at: Array, step: float = 1.0) -> Array:
    """The speed at which a loss grows with each number of an array.

    Each number is moved up and down by `step`. A linear loss has no truncation error, so that any step will do.
    """
    at = np.asarray(at, np.float64)
    slopes = np.zeros(at.shape)
    for place in np.ndindex(at.shape):
        move = np.zeros(at.shape)
        move[place] = step
        slopes[place] = (loss(at + move) - loss(at - move)) / (2 * step)
    return slopes
