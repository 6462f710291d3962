"""Central differences in float32: how far are they off, over their step?

Factors and steps are whole numbers over a power of two, and each sum is added up in one order, one rounding after the
other, so that every machine finds the same errors.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from helpers.checks.report import Array
from helpers.operations.activations import derivative, gelu
from helpers.operations.convolution import reference

STEPS = range(-20, 5)  # the steps are 2**power
POINTS = 200  # of GELU, between -2 and 2
Loss = Callable[[Array], Array]  # of many arguments at once, in the precision that they have


class Differences(NamedTuple):
    """The largest errors of central differences at each step, in float32 and in float64, over the largest gradient.

    In float64 hardly anything is left but truncation.
    """

    name: str
    errors: Array
    truncation: Array


def convolution_differences() -> Differences:
    """The weight gradient of a convolution: its loss is linear in each weight."""
    random = np.random.default_rng(0)
    x = _numbers(random, (2, 1, 6, 6))
    w = _numbers(random, (1, 1, 3, 3))
    dy = _numbers(random, (2, 1, 4, 4))
    windows = sliding_window_view(x, (3, 3), axis=(2, 3)).reshape(-1, 9)  # one for each output

    def loss(weights: Array) -> Array:
        """The loss of each filter of `weights` (..., 9)."""
        precision = weights.dtype
        total = np.zeros(weights.shape[:-1], precision)
        for window, upstream in zip(windows.astype(precision), dy.astype(precision).flat, strict=True):
            output = np.zeros_like(total)
            for i, pixel in enumerate(window):
                output = output + pixel * weights[..., i]
            total = total + output * upstream
        return total

    right = reference.conv2d_grad_weight(x, w.shape, dy).ravel()
    return _differences("convolution", loss, w.ravel(), np.eye(9), right)


def gelu_differences() -> Differences:
    """GELU's derivative at many points; in float32, GELU is its float64 value, rounded."""
    points = _numbers(np.random.default_rng(5), POINTS)

    def loss(x: Array) -> Array:
        exact = gelu(x.astype(np.float64))
        return exact.astype(x.dtype)

    right = derivative(points, "gelu")
    return _differences("GELU", loss, points, np.ones(POINTS), right)


def _numbers(random: np.random.Generator, size: int | tuple[int, ...]) -> Array:
    """Numbers from -2 to 2 that float32 represents."""
    return random.integers(-(2**20), 2**20, size) / 2**19


def _differences(name: str, loss: Loss, at: Array, moves: Array, right: Array) -> Differences:
    """Errors against the `right` derivatives of `loss` along `moves`."""

    def error(power: int, precision: type) -> float:
        """The largest error with the step 2**power, over the largest derivative."""
        place = at.astype(precision)
        move = moves.astype(precision)
        step = precision(2.0**power)
        above = loss(place + step * move)
        below = loss(place - step * move)
        quotient = (above - below) / (step + step)
        return abs(quotient - right).max() / abs(right).max()

    errors = np.array([error(power, np.float32) for power in STEPS])
    truncation = np.array([error(power, np.float64) for power in STEPS])
    return Differences(name, errors, truncation)
