"""Charts of rounding errors: of sums over their length, and of central differences over their step.

They have two logarithmic axes; each line has its name at its right end, and its value at one place in a list.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from helpers.gradient_checks import errors
from helpers.gradient_checks.errors import LENGTHS, STEPS, TRIALS, Differences
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, PAPER, Box, Picture, text_width, tint
from helpers.pictures.charts import DIAMOND, SQUARE, TRIANGLE, Axes, Sign, draw_sign, spread

LEFT, RIGHT, TOP, BOTTOM = 130, 572, 62, 402  # CSS pixels
APART = 18  # from one name to the next
LIST, ROW = Box(RIGHT + 10, 302, 250, 32), 22  # the frame of the values at one place without its rows, and a row


class Line(NamedTuple):
    """A line of errors, with the sign that marks its points."""

    name: str
    errors: np.ndarray
    color: str
    sign: Sign
    dashes: tuple[float, float] | None = None


class ErrorChart(Picture):
    """A title, the axes and some lines: errors as a part of a `whole`, over powers of two.

    The errors reach from 1, at the top, down to 10**lowest. `ticks` are the words below some of the powers, `below`
    says what they are.
    """

    def __init__(
        self, title: str, whole: str, lines: Sequence[Line], lowest: int, powers: range, ticks: Mapping, below: str
    ) -> None:
        super().__init__(444)
        self.plotted, self.powers = lines, powers
        box = Box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
        self.axes = Axes(self, box, (powers[0], powers[-1]), (lowest, 0))
        self.title(20, title)
        self.write(MARGIN, 42, f"as a part of {whole}", 13, GRAY)
        self.axes.rows({power: brief(part(10.0**power)) for power in range(lowest, 1)}, 14)
        self.lines(((x, BOTTOM, x, BOTTOM + 5) for x in map(self.axes.x, ticks)), GRAY, 1)
        self.axes.columns(ticks)
        self.write(RIGHT + 44, BOTTOM + 16, below, 13, GRAY)
        self.boxes([LIST._replace(height=LIST.height + ROW * len(lines))])
        heights = spread([self.y(line.errors[-1]) for line in lines], APART)  # beside the ends of the lines
        for line, name, row in zip(lines, heights, self._rows(), strict=True):
            self.axes.curve(powers, np.log10(line.errors), line.color, 2.4, line.dashes)
            self.bold(RIGHT + 10, name, line.name, 14, line.color)
            draw_sign(self, line.sign, [(LIST.x + 16, row)], 6, line.color)
            self.write(LIST.x + 30, row, line.name, 13, line.color)

    def y(self, error: float) -> float:
        """The height of an error."""
        return self.axes.y(np.log10(error))

    def point(self, power: int, title: str, values: Sequence[str]) -> None:
        """Mark the lines at one power of two, and list their values there."""
        x, place = self.axes.x(power), self.powers.index(power)
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


def part(error: float) -> str:
    """An error as 1 part in a number of two digits."""
    parts = float(f"{1 / error:.2g}")
    return f"1 part in {parts / 1e6:g} million" if parts >= 1e6 else f"1 part in {parts:,.0f}"


def brief(said: str) -> str:
    """1 part in 4, as the axis and the list write it: 1 in 4."""
    return said.replace(" part", "")


# --- The tolerance of a sum -----------------------------------------------------------------------------------


class TolerancePicture(ErrorChart):
    """Where the tolerance is larger than one term, the check is blind to a term that is missing."""

    def __init__(self) -> None:
        lengths, blind = 2 ** np.array(LENGTHS), errors.blind_length()
        lines = (
            Line("tolerance", errors.allowed(lengths), ORANGE, DIAMOND),
            Line("average term", 1 / lengths, INK, SQUARE, (9, 3)),
            Line("measured error", errors.measured(), BLUE, TRIANGLE, (3, 3)),
        )
        ticks = {power: f"{2**power:,}" for power in LENGTHS[::2]}
        super().__init__("tolerance of a float32 sum", "the sum", lines, -8, LENGTHS, ticks, "terms in the sum")
        x = float(self.axes.x(np.log2(blind)))
        self.boxes([Box(x, TOP, RIGHT - x, BOTTOM - TOP)], face=tint(ORANGE, 0.1), line=0)
        self.lines([(x, TOP, x, BOTTOM)], ORANGE, 1.2)
        note = f"a missing term of average size can pass from {blind:,} terms on"
        self.write(RIGHT, TOP - 20, note, 13, ORANGE, align="right")
        self.stands_still()

    def draw(self, j: int) -> str:
        """Move to sums of 2**j terms."""
        terms, (tolerance, _, error) = 2**j, (float(line.errors[j]) for line in self.plotted)
        count, lost = f"{terms:,} term{'s' * (terms > 1)}", int(tolerance * terms)
        allowed, _, largest = values = part(tolerance), f"1 part in {terms:,}", part(error)
        self.point(j, f"at {count}", values)
        verdict = "smaller than one average term, so a sum that lacks one fails"
        if lost:
            verdict = f"as large as {lost} average terms, so a sum that lacks {lost} of them can pass"
        return (
            f"{count}: the tolerance is {allowed} of the sum, and the largest error of {TRIALS} sums was {largest}. "
            f"The tolerance is {verdict}."
        )


# --- The step of a central difference -------------------------------------------------------------------------


class StepPicture(ErrorChart):
    """Two losses, one linear and one not, and the error of their central differences at each step."""

    def __init__(self, linear: Differences, curved: Differences) -> None:
        self.linear, self.curved = linear, curved
        lines = (
            Line(linear.name, linear.errors, BLUE, SQUARE),
            Line(curved.name, curved.errors, ORANGE, DIAMOND, (9, 3)),
        )
        title, ticks = "error of central differences in float32", {power: step(power) for power in STEPS[::5]}
        super().__init__(title, "the largest derivative", lines, -7, STEPS, ticks, "step")
        for power, align, cause, change in (
            (-14.8, "left", "rounding", "half"),
            (-2.2, "right", "truncation", "4 times"),
        ):
            x, sign = self.axes.x(power), -1 if align == "right" else 1
            for i, note in enumerate((f"{cause}:", "twice the step,", f"{change} the error")):
                y, width = 84 + 18 * i, sign * text_width(note, 13)  # on paper, without the lines of the grid behind it
                self.boxes([Box(min(x, x + width) - 3, y - 9, abs(width) + 6, 18)], PAPER, PAPER)
                self.write(x, y, note, 13, GRAY, align=align)
        self.stands_still()

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
