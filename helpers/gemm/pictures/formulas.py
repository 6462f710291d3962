"""Formulas of activations that are right on paper and fail in float32."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from helpers.activations import CUBE, ROOT
from helpers.gemm import reference
from helpers.pictures.canvas import BLUE, LINE, MARGIN, ORANGE, Box, Picture, Word, number


class Formula(NamedTuple):
    """A quantity at one x, a formula that is right on paper, and one that is also right in float32.

    Both are written as a reader sees them, and computed in the precision of x.
    """

    quantity: str
    x: float
    naive: str
    stable: str
    naively: Callable
    stably: Callable

    def reference(self, x: float) -> float:
        """The quantity in float64."""
        name = self.quantity.removeprefix("derivative of ")
        return float((reference.act if name == self.quantity else reference.derivative)(np.float64(x), name))

    def values(self) -> tuple[float, float, float]:
        """Both formulas in float32, and the reference in float64."""
        x = np.float32(self.x)
        with np.errstate(all="ignore"):
            return float(self.naively(x)), float(self.stably(x)), self.reference(x)


def _sigmoid(x):
    """sigmoid as the kernels write it: exp only of numbers up to 0, so that it cannot overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x > 0, np.ones_like(e), e) / (1 + e)


def _naive_gelu_derivative(x):
    """gelu's derivative as the product rule on x (1 + tanh u) / 2 writes it, in the precision of x."""
    root, cube = x.dtype.type(ROOT), x.dtype.type(CUBE)
    t = np.tanh(root * (x + cube * x * x * x))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * cube * x * x)


def _stable_gelu_derivative(x):
    """gelu's derivative as the kernel writes it, with z = 2u."""
    t = np.clip(x, *x.dtype.type([-11, 11]))
    root, cube = x.dtype.type(2 * ROOT), x.dtype.type(CUBE)
    z, dz = root * t * (1 + cube * t * t), root * (1 + 3 * cube * t * t)
    return _sigmoid(z) * (1 + t * dz * _sigmoid(-z))


UNSTABLE = (
    Formula(
        "silu",
        100,
        "x · exp(x) / (1 + exp(x))",
        "x · σ(x), with exp(−|x|) in σ",
        lambda x: x * np.exp(x) / (1 + np.exp(x)),
        lambda x: x * _sigmoid(x),
    ),
    Formula(
        "tanh",
        100,
        "(exp(x) − exp(−x)) / (exp(x) + exp(−x))",
        "σ(2x) − σ(−2x)",
        lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
        lambda x: _sigmoid(2 * x) - _sigmoid(-2 * x),
    ),
    Formula(
        "derivative of gelu",
        3e38,
        "(1 + t) / 2 + x (1 − t²) u′ / 2, t = tanh(u)",
        "σ(z) (1 + x z′ σ(−z)), x clamped to ±11, z = 2u",
        _naive_gelu_derivative,
        _stable_gelu_derivative,
    ),
    Formula(
        "derivative of sigmoid",
        20,
        "s · (1 − s), with s = sigmoid(x)",
        "σ(x) · σ(−x)",
        lambda x: _sigmoid(x) * (1 - _sigmoid(x)),
        lambda x: _sigmoid(x) * _sigmoid(-x),
    ),
    Formula(
        "derivative of tanh",
        10,
        "1 − tanh(x)²",
        "4 σ(2x) σ(−2x)",
        lambda x: 1 - np.tanh(x) ** 2,
        lambda x: 4 * _sigmoid(2 * x) * _sigmoid(-2 * x),
    ),
)


def unstable_formulas() -> Picture:
    """A table of five formulas that are right on paper and wrong in float32, each above one that is right in both."""
    picture, columns, broken = Picture(48 + 64 * len(UNSTABLE)), (MARGIN, 190, 560, 712), []
    heads = zip(columns, ("quantity, at x", "formula: textbook, kernel", "in float32", "in float64"), strict=True)
    picture.words((Word(x, 22, head, 15, "left") for x, head in heads), weight="bold")
    for i, formula in enumerate(UNSTABLE):
        top, at, (naive, stable, true) = 44 + 64 * i, number(formula.x), formula.values()
        picture.lines([(MARGIN, top, picture.width - MARGIN, top)], LINE, 1)
        rows = (formula.quantity, formula.naive, naive, number(true)), (f"x = {at}", formula.stable, stable, "")
        for y, (quantity, text, value, in_float64) in zip((top + 20, top + 44), rows, strict=True):
            color, sign = (BLUE, "✓") if is_right(value, true) else (ORANGE, "✗")
            if color == ORANGE:
                picture.tinted([Box(columns[2] - 8, y - 11, 130, 22)], ORANGE, 2)
            picture.bold(columns[2], y, f"{sign}  {number(value)}", 14, color)
            for x, cell in zip(columns, (quantity, text, "", in_float64), strict=True):
                picture.write(x, y, cell)
        broken.append(f"{formula.quantity} at {at} becomes {number(naive)}, not {number(true)}")
    picture.sentence = f"Right on paper, wrong in float32: {'; '.join(broken)}."
    return picture


def is_right(value: float, true: float) -> bool:
    """Whether a float32 value is within a ten-thousandth of the true one; nan never is."""
    return abs(value - true) <= 1e-4 * abs(true)
