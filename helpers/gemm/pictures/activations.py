"""An activation beside its derivative, and formulas that are right on paper and fail in float32."""

from collections.abc import Callable
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from helpers.activations import ACTIVATIONS, CUBE, FUNCTIONS, ROOT
from helpers.gemm import reference
from helpers.pictures.canvas import BLUE, INK, LINE, MARGIN, ORANGE, Box, Picture, Word, number
from helpers.pictures.charts import Axes

NAMES = ACTIVATIONS


class Plot(Axes):
    """Axes with x from -6 to 6 and y through 0, and a curve on them."""

    def draw(self, step: float, x: np.ndarray, y: np.ndarray, color: str) -> None:
        """The axes, a tick at every `step`, and a curve with a gap where y jumps, as relu's derivative does."""
        low, high = self.up
        self.picture.boxes([self.box])
        self.columns({v: number(v) for v in range(-6, 7, 2)}, line=0.6)
        self.rows({v: number(v) for v in np.arange(ceil(low / step), high / step + 0.5) * step}, line=0.6)
        self.picture.lines([self.line(-6, 0, 6, 0), self.line(0, low, 0, high)])
        jumps = np.abs(np.diff(y, prepend=y[0])) > 0.9
        self.curve(x, np.where(jumps, np.nan, y), color)

    def line(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
        """A line between two points."""
        return self.x(x0), self.y(y0), self.x(x1), self.y(y1)

    def tangent(self, x: float, y: float, derivative: float) -> tuple[float, ...]:
        """A piece of the line through (x, y) with that derivative, cut off where it would leave the plot."""
        ends = np.clip([-2.0, 2.0], -6 - x, 6 - x)
        if derivative:
            ends = np.clip(ends, *sorted((edge - y) / derivative for edge in self.up))
        return self.line(x + ends[0], y + derivative * ends[0], x + ends[1], y + derivative * ends[1])


class ActivationsPicture(Picture):
    """An activation beside its derivative, with a marker at one x and the tangent that the derivative is about."""

    def draw(self, act: int, tenths: int) -> str:
        """Move to activation number `act` and to x = tenths / 10."""
        name, x = NAMES[act], tenths / 10
        if self.starts(act):
            self._draw_curves(name)
            self.stands_still()
        y, derivative = (float(function(x, name)) for function in (reference.act, reference.derivative))
        self.lines((plot.line(x, plot.up[0], x, plot.up[1]) for plot in self.plots), INK, 1)
        self.lines([self.plots[0].tangent(x, y, derivative)], ORANGE, 2.4, (8, 4))
        marked = ("act", y, BLUE), ("derivative act′", derivative, ORANGE)
        for plot, (what, value, color) in zip(self.plots, marked, strict=True):
            right, down = plot.x(x), plot.y(value)
            self.boxes([Box(right - 5, down - 5, 10, 10)], INK, INK)
            self.bold(plot.box.x, 62, f"{what}({number(x)}) = {number(value)}", 16, color)
        return (
            f"{name} at x = {number(x)}: act(x) = {number(y)}, and its derivative is {number(derivative)}, "
            f"so an upstream gradient of 1 goes on as {number(derivative)}."
        )

    def _draw_curves(self, name: str) -> None:
        x = np.linspace(-6, 6, 12 * 20 + 1)
        y = reference.act(x, name)
        step = 0.5 if y.max() <= 1 else 2
        low, high = min(floor(y.min() / step), -0.5) * step, ceil(y.max() / step) * step
        scales = (46, (low, high)), (470, (-0.25, 1.25))
        self.plots = [Plot(self, Box(left, 84, 350, 316), (-6, 6), up) for left, up in scales]
        self.title(20, f"{name}: act(x) = {FUNCTIONS[name].formula}")
        self.plots[0].draw(step, x, y, BLUE)
        self.plots[1].draw(0.25, x, reference.derivative(x, name), ORANGE)


# --- Formulas that fail in float32 ----------------------------------------------------------------------------


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
