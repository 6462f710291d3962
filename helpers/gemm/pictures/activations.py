"""An activation beside its derivative."""

from math import ceil, floor

import numpy as np

from helpers.activations import ACTIVATIONS, FUNCTIONS
from helpers.gemm import reference
from helpers.pictures.canvas import BLUE, INK, ORANGE, Box, Picture, number
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
