"""A chart of the errors of central differences over their step, on two logarithmic axes."""

import numpy as np

from helpers.lessons.trusting_a_gradient.errors import STEPS, Differences
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.pictures.charts import DIAMOND, SQUARE, Axes, draw_sign, part, spread

# CSS pixels
LEFT = 130
RIGHT = 572
TOP = 62
BOTTOM = 402
APART = 18  # from one name to the next
LIST = Box(RIGHT + 10, 302, 250, 76)  # the frame of the values at one step
ROWS = LIST.y + 38, LIST.y + 60  # the heights of its rows
LOWEST = -7  # the power of ten at the bottom
LOOKS = [  # color, sign and dashes of a line
    (BLUE, SQUARE, None),
    (ORANGE, DIAMOND, (9, 3)),
]


class StepPicture(Picture):
    """Two losses, one linear and one not, and the error of their central differences at each step."""

    def __init__(self, linear: Differences, curved: Differences) -> None:
        super().__init__(444)
        box = Box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
        self.axes = Axes(self, box, (STEPS[0], STEPS[-1]), (LOWEST, 0))
        self.plotted = linear, curved
        self.heights = [self.axes.y(np.log10(differences.errors)) for differences in self.plotted]
        self.title(20, "error of central differences in float32")
        self.note(MARGIN, 42, "as a part of the largest derivative")
        self.axes.rows({power: brief(10.0**power) for power in range(LOWEST, 1)}, 14)
        ticks = {power: power_of_two(power) for power in STEPS[::5]}
        short_lines = []
        for power in ticks:
            x = self.axes.x(power)
            short_lines.append((x, BOTTOM, x, BOTTOM + 5))
        self.lines(short_lines, GRAY, 1)
        self.axes.columns(ticks)
        self.note(RIGHT + 44, BOTTOM + 16, "step")
        self._draw_lines()
        # What the errors come from at small steps and at large ones, between two lines of the grid.
        self.column(self.axes.x(-16), 78, 18, ("twice the step:", "half the rounding"), 13, GRAY)
        self.column(self.axes.x(-9), 78, 18, ("twice the step:", "4 times the truncation"), 13, GRAY)
        self.stands_still()

    def _draw_lines(self) -> None:
        """A line for each loss, its name beside its end, and its row in the list."""
        self.boxes([LIST])
        ends = spread([heights[-1] for heights in self.heights], APART)
        for i, differences in enumerate(self.plotted):
            color, sign, dashes = LOOKS[i]
            self.curve(self.axes.x(STEPS), self.heights[i], color, 2.4, dashes)
            self.bold(RIGHT + 10, ends[i], differences.name, 14, color)
            draw_sign(self, sign, [(LIST.x + 16, ROWS[i])], 6, color)
            self.write(LIST.x + 30, ROWS[i], differences.name, 13, color)

    def draw(self, step: int) -> str:
        """Mark the lines at one of the steps, by its number, and list their values there."""
        power = STEPS[step]
        x = self.axes.x(power)
        heights = [line[step] for line in self.heights]
        self.lines([(x, min(heights), x, BOTTOM)], GRAY, 1.2, (3, 3))
        self.boxes((Box(x - 7, height - 7, 14, 14) for height in heights), PAPER, (1, 1, 1, 0.8), 0)
        self.bold(LIST.x + 10, LIST.y + 17, f"at step {power_of_two(power)}", 14)
        for i, differences in enumerate(self.plotted):
            color, sign, _ = LOOKS[i]
            draw_sign(self, sign, [(x, heights[i])], 6, color)
            self.write(LIST.right - 10, ROWS[i], brief(differences.errors[step]), 13, color, align="right")
        linear, curved = self.plotted
        at = f"At step {power_of_two(power)}"
        return (
            f"{at}, the central difference of the {linear.name}'s loss is off by {_error(linear, step)}. "
            f"That of {curved.name} is off by {_error(curved, step)}."
        )


def brief(error: float) -> str:
    """1 part in 4, as the axis and the list write it: 1 in 4."""
    return part(error).replace(" part", "")


def power_of_two(power: int) -> str:
    """A power of two, as a whole number or a fraction."""
    if power < 0:
        return f"1/{2**-power:,}"
    return f"{2**power:,}"


def _error(differences: Differences, place: int) -> str:
    """Say how large the error is, where it comes from, and whether it is the smallest."""
    error = differences.errors[place]
    truncation = differences.truncation[place]
    if truncation > error / 2:
        cause = "mostly truncation"
    elif truncation < error / 1000:
        cause = "rounding alone"
    else:
        cause = "mostly rounding"
    words = f"{part(error)} ({cause})"
    if error == differences.errors.min():
        return f"{words}: this is its best step"
    return words
