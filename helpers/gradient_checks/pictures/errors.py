"""A chart of the errors of central differences over their step, on two logarithmic axes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from helpers.gradient_checks.errors import STEPS, Differences
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.pictures.charts import DIAMOND, SQUARE, Axes, Sign, draw_sign, part, spread

LEFT, RIGHT, TOP, BOTTOM = 130, 572, 62, 402  # CSS pixels
APART = 18  # from one name to the next
LIST, ROW = Box(RIGHT + 10, 302, 250, 76), 22  # the frame of the values at one step, and a row
LOWEST = -7  # the power of ten at the bottom


class Line(NamedTuple):
    """A line of errors, with the sign that marks its points."""

    name: str
    errors: np.ndarray
    color: str
    sign: Sign
    dashes: tuple[float, float] | None = None


def brief(said: str) -> str:
    """1 part in 4, as the axis and the list write it: 1 in 4."""
    return said.replace(" part", "")


# --- The step of a central difference -------------------------------------------------------------------------


class StepPicture(Picture):
    """Two losses, one linear and one not, and the error of their central differences at each step."""

    def __init__(self, linear: Differences, curved: Differences) -> None:
        super().__init__(444)
        self.linear, self.curved = linear, curved
        self.plotted = (
            Line(linear.name, linear.errors, BLUE, SQUARE),
            Line(curved.name, curved.errors, ORANGE, DIAMOND, (9, 3)),
        )
        box = Box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
        self.axes = Axes(self, box, (STEPS[0], STEPS[-1]), (LOWEST, 0))
        self.title(20, "error of central differences in float32")
        self.write(MARGIN, 42, "as a part of the largest derivative; the step is 2ᵏ", 13, GRAY)
        self.axes.rows({power: brief(part(10.0**power)) for power in range(LOWEST, 1)}, 14)
        ticks = {power: step(power) for power in STEPS[::5]}
        self.lines(((x, BOTTOM, x, BOTTOM + 5) for x in map(self.axes.x, ticks)), GRAY, 1)
        self.axes.columns(ticks)
        self.write(RIGHT + 44, BOTTOM + 16, "step", 13, GRAY)
        self.boxes([LIST])
        heights = spread([self.y(line.errors[-1]) for line in self.plotted], APART)  # beside the ends of the lines
        for line, name, row in zip(self.plotted, heights, self._rows(), strict=True):
            self.axes.curve(STEPS, np.log10(line.errors), line.color, 2.4, line.dashes)
            self.bold(RIGHT + 10, name, line.name, 14, line.color)
            draw_sign(self, line.sign, [(LIST.x + 16, row)], 6, line.color)
            self.write(LIST.x + 30, row, line.name, 13, line.color)
        self._name_causes()
        self.stands_still()

    def _name_causes(self) -> None:
        """Say what the errors come from at small steps and at large ones, between two lines of the grid."""
        self.column(self.axes.x(-16), 78, 18, ("twice the step:", "half the rounding"), 13, GRAY)
        self.column(self.axes.x(-9), 78, 18, ("twice the step:", "4 times the truncation"), 13, GRAY)

    def y(self, error: float) -> float:
        """The height of an error."""
        return self.axes.y(np.log10(error))

    def point(self, power: int, title: str, values: Sequence[str]) -> None:
        """Mark the lines at one power of two, and list their values there."""
        x, place = self.axes.x(power), STEPS.index(power)
        heights = [self.y(line.errors[place]) for line in self.plotted]
        self.lines([(x, min(heights), x, BOTTOM)], GRAY, 1.2, (3, 3))
        self.boxes((Box(x - 7, height - 7, 14, 14) for height in heights), PAPER, (1, 1, 1, 0.8), 0)
        self.bold(LIST.x + 10, LIST.y + 17, title, 14)
        for line, height, row, value in zip(self.plotted, heights, self._rows(), values, strict=True):
            draw_sign(self, line.sign, [(x, height)], 6, line.color)
            self.write(LIST.x + LIST.width - 10, row, brief(value), 13, line.color, align="right")

    def _rows(self) -> np.ndarray:
        """The heights of the rows of the list."""
        return LIST.y + 38 + ROW * np.arange(len(self.plotted))

    def draw(self, k: int) -> str:
        """Move to the step 2**k."""
        place = STEPS.index(k)
        self.point(k, f"at step {step(k)}", [part(line.errors[place]) for line in self.plotted])
        linear, curved = (_error(line, place) for line in (self.linear, self.curved))
        return (
            f"At step {step(k)}, the central difference of the {self.linear.name}'s loss is off by {linear}. "
            f"That of {self.curved.name} is off by {curved}."
        )


def step(power: int) -> str:
    """A power of two, as a whole number or a fraction."""
    return f"{2**power:,}" if power >= 0 else f"1/{2**-power:,}"


def _error(differences: Differences, place: int) -> str:
    """How large the error is, where it comes from, and whether it is the smallest."""
    error, truncation = differences.errors[place], differences.truncation[place]
    cause = "mostly truncation" if truncation > error / 2 else "mostly rounding"
    cause = "rounding alone" if truncation < error / 1000 else cause
    best = ": this is its best step" if error == differences.errors.min() else ""
    return f"{part(error)} ({cause}){best}"
