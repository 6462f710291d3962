"""Lesson 02: six filters learn what six target filters do, with any kernel's weight gradient, and each step is kept."""

from collections.abc import Callable

import numpy as np

from helpers.data import digits
from helpers.lessons.shared.edge_filters import TARGETS
from helpers.operations.convolution import operations
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, MARGIN, ORANGE, Box, Picture, number
from helpers.pictures.charts import Axes
from helpers.pictures.figures import draw_signed
from helpers.pictures.parts import Grid
from helpers.widgets.controls import Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer

Array = np.ndarray

LAYER = ConvShape(4, 1, 28, 28, 6, 5, 5)  # LeNet's first, with four digits
LARGEST = abs(TARGETS).max()
STEPS = 60
RATE = 0.3
PACE = 150
# CSS pixels
LEFT = 110
ACROSS = 118
CELL = 19
TOPS = {"target": 40, "filter": 172}


def explorer(grad_weight: Callable[[Array, Array], Array], whose: str) -> Explorer:
    """A slider through the steps; `grad_weight` takes the digits and the upstream gradient, and `whose` names it."""
    filters, losses = learned(grad_weight)
    picture = LearnedFilters(filters, losses, whose)
    first_below_1 = int((losses >= 1).sum())

    def is_at_target_4(values: Values) -> bool:
        return TARGETS[values["co"], 0, values["kh"], values["kw"]] == 4

    steps = {
        "Play: which filter is learned first?": by_playing({"step": STEPS}),
        "Find the first step with an error below 1.": {"step": first_below_1},
        "Point at a weight whose target is 4: is it there yet?": by_pointing(is_at_target_4),
    }
    rules = {
        "step": STEPS + 1,
        "co": 6,
        "kh": 5,
        "kw": 5,
    }
    return Explorer(picture.show, rules, front=["step"], play="step", steps=steps, pace=PACE)


def learned(grad_weight: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """The filters of each step, from zeros on, and the mean squared errors."""
    images = digits.conv1_input(LAYER.batch) / 15
    filters = [np.zeros_like(TARGETS)]
    losses = []
    wanted = operations.conv2d(images, TARGETS)
    for _ in range(STEPS + 1):
        error = operations.conv2d(images, filters[-1]) - wanted
        losses.append((error**2).mean())
        upstream = error / error[:, 0].size
        filters.append(filters[-1] - RATE * grad_weight(images, upstream))
    return np.array(filters), np.array(losses)


class LearnedFilters(Picture):
    """The targets, the filters of one step below them, and the error of all steps with a marker."""

    def __init__(self, filters: Array, losses: Array, whose: str) -> None:
        super().__init__(434)
        self.filters = filters
        self.losses = losses
        self.whose = whose
        for name, top in TOPS.items():
            self.bold(MARGIN, top + 48, f"{name}s", 15)
            self._draw_filters(name, top)
        self._fill("target", TARGETS)
        self.bold(MARGIN, 352, "error", 15, BLUE)
        self.note(MARGIN, 372, "mean square")
        box = Box(LEFT + 14, 316, 5 * (ACROSS + CELL) - 14, 84)
        lowest = np.log10(losses[-1])
        highest = np.log10(losses[0])
        self.chart = Axes(self, box, (0, STEPS), (lowest, highest))
        self.chart.rows({1: "10", 0: "1", -1: "0.1"})
        self.chart.columns({step: str(step) for step in range(0, STEPS + 1, 20)})
        self.chart.curve(np.arange(STEPS + 1), np.log10(losses), BLUE)
        self.stands_still()

    def _draw_filters(self, name: str, top: float) -> None:
        """Empty grids of filters, at whose weights a reader can point."""
        for co, panel in enumerate(TARGETS[:, 0]):
            x = LEFT + ACROSS * co
            grid = Grid(self, panel, x, top, (CELL, CELL), note=f"{name} {co}", numbers=False)
            grid.touch(grid.caption, "kh", "kw", co=co)

    def _fill(self, name: str, filters: Array) -> None:
        for co, panel in enumerate(filters[:, 0]):
            box = Box(LEFT + ACROSS * co, TOPS[name], 5 * CELL, 5 * CELL)
            draw_signed(self, panel, box, LARGEST)

    def draw(self, step: int, co: int, kh: int, kw: int) -> str:
        """Go to one step, and look at one weight."""
        self._fill("filter", self.filters[step])
        left = LEFT + ACROSS * co + CELL * kw
        frames = [Box(left, top + CELL * kh, CELL, CELL) for top in TOPS.values()]
        self.boxes(frames, ORANGE, line=3)
        self.chart.mark(step, np.log10(self.losses[step]), ORANGE)
        weight = number(round(float(self.filters[step, co, 0, kh, kw]), 1))
        target = number(round(float(TARGETS[co, 0, kh, kw]), 1))
        loss = f"Step {step} of {STEPS}, trained with {self.whose}: the mean squared error is {self.losses[step]:.2g}."
        return f"{loss} The weight [{kh},{kw}] of filter {co} is {weight}, its target {target}."
