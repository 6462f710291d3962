"""An activation beside its derivative."""

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from helpers.activations import ACTIVATIONS
from helpers.gemm import reference
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Picture, Word, number
from helpers.pictures.parts import MARGIN

NAMES = ACTIVATIONS
FORMULAS = {
    "none": "act(x) = x",
    "relu": "act(x) = max(x, 0)",
    "gelu": "act(x) = x · sigmoid(2u), with u = 0.798 (x + 0.0447 x³)",
    "silu": "act(x) = x · sigmoid(x)",
    "sigmoid": "act(x) = 1 / (1 + exp(−x))",
    "tanh": "act(x) = tanh(x)",
}


class Plot(NamedTuple):
    """A place on the sheet with a scale: x from -6 to 6, y from `low` to `high`, a tick at every `step`."""

    box: Box
    low: float
    high: float
    step: float

    def point(self, x, y):
        """Where the point (x, y) lies."""
        left, top, width, height = self.box
        return left + (x + 6) / 12 * width, top + (self.high - y) / (self.high - self.low) * height

    def line(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
        """A line between two points."""
        return *self.point(x0, y0), *self.point(x1, y1)

    def draw(self, picture: Picture, x: np.ndarray, y: np.ndarray, color: str) -> None:
        """The axes, and a curve with a gap where y jumps, as relu's derivative does."""
        across, up = range(-6, 7, 2), np.arange(ceil(self.low / self.step), self.high / self.step + 0.5) * self.step
        picture.boxes([self.box])
        grid = [self.line(v, self.low, v, self.high) for v in across] + [self.line(-6, v, 6, v) for v in up]
        picture.lines(grid, LINE, 0.6)
        picture.lines([self.line(-6, 0, 6, 0), self.line(0, self.low, 0, self.high)])
        below = self.box.y + self.box.height + 16
        picture.words((Word(self.point(v, 0)[0], below, number(v), 13) for v in across), GRAY)
        picture.words((Word(self.box.x - 8, self.point(0, v)[1], number(v), 13, "right") for v in up), GRAY)
        jumps = np.abs(np.diff(y, prepend=y[0])) > 0.9
        picture.curve(*self.point(x, np.where(jumps, np.nan, y)), color)

    def tangent(self, x: float, y: float, derivative: float) -> tuple[float, ...]:
        """A piece of the line through (x, y) with that derivative, cut off where it would leave the plot."""
        ends = np.clip([-2.0, 2.0], -6 - x, 6 - x)
        if derivative:
            ends = np.clip(ends, *sorted(((self.low - y) / derivative, (self.high - y) / derivative)))
        return self.line(x + ends[0], y + derivative * ends[0], x + ends[1], y + derivative * ends[1])


class ActivationsPicture(Picture):
    """An activation beside its derivative, with a marker at one x and the tangent that the derivative is about."""

    def show(self, act: int, tenths: int) -> "ActivationsPicture":
        """Move to activation number `act` and to x = tenths / 10."""
        name, x = NAMES[act], tenths / 10
        if self.starts(act):
            self._draw_curves(name)
            self.stands_still()
        y, derivative = (float(function(x, name)) for function in (reference.act, reference.derivative))
        self.lines((plot.line(x, plot.low, x, plot.high) for plot in self.plots), INK, 1)
        self.lines([self.plots[0].tangent(x, y, derivative)], ORANGE, 2.4, (8, 4))
        marked = ("act", y, BLUE), ("derivative act′", derivative, ORANGE)
        for plot, (what, value, color) in zip(self.plots, marked, strict=True):
            right, down = plot.point(x, value)
            self.boxes([Box(right - 5, down - 5, 10, 10)], INK, INK)
            self.write(plot.box.x, 62, f"{what}({number(x)}) = {number(value)}", 16, color, "bold")
        self.sentence = (
            f"{name} at x = {number(x)}: act(x) = {number(y)}, and its derivative is {number(derivative)}, "
            f"so an upstream gradient of 1 goes on as {number(derivative)}."
        )
        return self

    def _draw_curves(self, name: str) -> None:
        x = np.linspace(-6, 6, 12 * 20 + 1)
        y = reference.act(x, name)
        step = 0.5 if y.max() <= 1 else 2
        low, high = min(floor(y.min() / step), -0.5) * step, ceil(y.max() / step) * step
        self.plots = Plot(Box(46, 84, 350, 316), low, high, step), Plot(Box(470, 84, 350, 316), -0.25, 1.25, 0.25)
        self.write(MARGIN, 20, f"{name}: {FORMULAS[name]}", 17, weight="bold")
        self.plots[0].draw(self, x, y, BLUE)
        self.plots[1].draw(self, x, reference.derivative(x, name), ORANGE)
