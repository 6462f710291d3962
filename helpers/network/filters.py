"""Lesson 02: six filters learn what six target filters do, with any kernel's weight gradient, and each step is kept."""

from collections.abc import Callable

import numpy as np
from matplotlib import colormaps

from helpers.convolution import operations
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture, number
from helpers.pictures.charts import Axes
from helpers.pictures.figures import draw_signed
from helpers.pictures.parts import Grid
from helpers.widgets.explorer import Explorer

Array = np.ndarray

LAYER = ConvShape(4, 1, 28, 28, 6, 5, 5)  # LeNet's first, with four digits
Y, X = np.mgrid[-2:3, -2:3]
TARGETS = np.stack([Y, X, Y + X, Y - X, Y * Y - 2, X * X - 2])[:, None].astype(np.float32)  # edges and lines
STEPS, RATE, PACE = 60, 0.3, 150
LEFT, ACROSS, CELL = 150, 112, 19  # CSS pixels
TOPS = 40, 172  # of the targets and of the filters


def explorer(grad_weight: Callable[[Array, Array], Array], whose: str) -> Explorer:
    """A slider through the steps; `grad_weight` takes the digits and the upstream gradient, and `whose` names it."""
    picture = LearnedFilters(*learned(grad_weight), whose)
    losses, largest = picture.losses, float(abs(TARGETS).max())
    steps = {
        "Play: which filter is learned first?": lambda v: v["step"] == STEPS,
        "Find the first step with an error below 1.": lambda v: losses[v["step"]] < 1 <= losses[v["step"] - 1],
        f"Point at a weight whose target is {number(-largest)}, or as far from 0.": lambda v: (
            abs(TARGETS[v["co"], 0, v["kh"], v["kw"]]) == largest
        ),
    }
    rules = {"step": STEPS + 1, "co": 6, "kh": 5, "kw": 5}
    return Explorer(picture.show, rules, front=["step"], play="step", steps=steps, pace=PACE)


def learned(grad_weight: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """The filters of each step, from zeros on, and the mean squared errors."""
    images = digits.conv1_input(LAYER.batch) / 15
    wanted, weight = operations.conv2d(images, TARGETS), np.zeros_like(TARGETS)
    filters, losses = [], []
    for _ in range(STEPS + 1):
        error = operations.conv2d(images, weight) - wanted
        filters.append(weight)
        losses.append(float((error**2).mean()))
        weight = weight - RATE * grad_weight(images, error / error[:, 0].size)
    return np.array(filters), np.array(losses)


class LearnedFilters(Picture):
    """A digit, the targets, the filters of one step below them, and the error of all steps with a marker."""

    def __init__(self, filters: Array, losses: Array, whose: str) -> None:
        super().__init__(434)
        self.filters, self.losses, self.whose = filters, losses, whose
        box = Box(MARGIN, TOPS[0], 5 * CELL, 5 * CELL)
        self.image(box, colormaps["gray_r"](digits.conv1_input(LAYER.batch)[3, 0] / 15, bytes=True))
        self.boxes([box], GRAY)
        self.write(MARGIN, TOPS[0] - 16, "one of four digits", 13, GRAY)
        for row, (name, top) in enumerate(zip(("target", "filter"), TOPS, strict=True)):
            for co, panel in enumerate(TARGETS[:, 0]):
                draw_signed(self, (1 - row) * panel / abs(TARGETS).max(), Box(self._left(co), top, 5 * CELL, 5 * CELL))
                grid = Grid(self, panel, self._left(co), top, (CELL, CELL), note=f"{name} {co}", numbers=False)
                grid.touch(grid.caption, "kh", "kw", co=co)
        self.bold(MARGIN, TOPS[1] + 34, "filters", 15)
        marks = {exponent: number(10.0**exponent) for exponent in range(-3, 3) if self._between(exponent)}
        ends = [np.log10(losses[-1]), np.log10(losses[0])]
        self.chart = Axes(self, Box(LEFT, 316, 5 * ACROSS + 5 * CELL, 84), (0, STEPS), ends)
        self.chart.rows(marks)
        self.chart.columns({step: str(step) for step in range(0, STEPS + 1, 20)})
        self.chart.curve(np.arange(STEPS + 1), np.log10(losses), BLUE)
        self.bold(MARGIN, 330, "error", 15, BLUE)
        self.write(MARGIN, 350, "mean square", 13, GRAY)
        self.stands_still()

    def _between(self, exponent: int) -> bool:
        return self.losses[-1] < 10.0**exponent < self.losses[0]

    @staticmethod
    def _left(co: int) -> float:
        return LEFT + ACROSS * co

    def draw(self, step: int, co: int, kh: int, kw: int) -> str:
        """Go to one step, and look at one weight."""
        for i, panel in enumerate(self.filters[step, :, 0]):
            box = Box(self._left(i), TOPS[1], 5 * CELL, 5 * CELL)
            draw_signed(self, np.clip(panel / abs(TARGETS).max(), -1, 1), box)
            self.boxes([box], GRAY)
        cells = [Box(self._left(co) + CELL * kw, top + CELL * kh, CELL, CELL) for top in TOPS]
        self.boxes(cells, ORANGE, line=3)
        x, y = self.chart.x(step), self.chart.y(np.log10(self.losses[step]))
        self.boxes([Box(float(x) - 4, float(y) - 4, 8, 8)], ORANGE, "#ffffff", 2.4)
        now, wanted = (tensor[co, 0, kh, kw] for tensor in (self.filters[step], TARGETS))
        return (
            f"Step {step} of {STEPS}, trained with {self.whose}: the mean squared error is {self.losses[step]:.2g}. "
            f"The weight [{kh},{kw}] of filter {co} is {number(round(float(now), 1))}, its target {number(wanted)}."
        )
