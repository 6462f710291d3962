"""Loss and accuracy over the steps of a run: each batch a faint point, and their running mean a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from matplotlib.ticker import MaxNLocator

from helpers.network.training import Moment
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, WIDTH, Box, Picture
from helpers.pictures.charts import Axes

Array = np.ndarray
MOST, MEAN = 300, 10  # points drawn of a curve; batches in a running mean
FAINT = {BLUE: "#a9cbe6", ORANGE: "#ecc3a8"}  # single batches, below their mean
LOSSES, SHARES = (2, 1, 0.5, 0.2, 0.1, 0.05), (50, 75, 90)  # what a sentence compares with


def running_mean(values: Array) -> Array:
    """The mean of up to the last 10 values, at each value."""
    sums, ends = np.cumsum([0.0, *values]), np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - MEAN)
    return (sums[ends] - sums[starts]) / (ends - starts)


@dataclass(frozen=True)
class Chart(Axes):
    """The axes of one curve: steps to the right, values upwards, both from 0 on; they stay fixed."""

    color: str = BLUE

    def draw(self, title: str, ticks: dict[float, str], below: str = "step") -> None:
        """Draw a title above, a line for each of these values, and numbers of steps below, with their name."""
        (left, top, width, height), last = self.box, self.across[1]
        self.picture.bold(left, top - 18, title, 14, self.color)
        self.rows(ticks)
        steps = MaxNLocator(max(2, width // 70), steps=[1, 2, 2.5, 5, 10], integer=True).tick_values(0, last)
        self.columns({step: f"{step:,.0f}" for step in steps if step <= last})
        self.picture.write(left - 13, top + height + 16, below, 13, GRAY, align="right")

    def guess(self, loss: float, name: str = "") -> None:
        """A dashed line at the loss of a network that finds all classes equally likely, and its name above."""
        left, top, width, _ = self.box
        self.picture.lines([(left, self.y(loss), left + width, self.y(loss))], GRAY, 1.2, (5, 4))
        self.picture.write(left + width, top - 18, name, 13, GRAY, align="right")

    def run(self, values: Array) -> None:
        """Draw the values of steps 0, 1, ..., at most 300 of them as points, and their running mean."""
        if not len(values):
            return
        shown = np.unique(np.linspace(0, len(values) - 1, MOST).astype(int))
        points = zip(self.x(shown), self.y(values[shown]), strict=True)
        self.picture.lines(((x, y - 1.5, x, y + 1.5) for x, y in points), FAINT[self.color], 3)
        self.curve(shown, running_mean(values)[shown], self.color, 2.6)


def loss_chart(picture: Picture, box: Box, last: int, classes: int) -> Chart:
    """Draw the axes of a loss: a little more than what a pure guess among the classes costs."""
    guess = log(classes)
    chart = Chart(picture, box, (0, max(last, 1)), (0, 1.2 * guess))
    chart.draw("loss of each batch", {value: f"{value}" for value in range(int(1.2 * guess) + 1)})
    chart.guess(guess, f"dashed: a pure guess, {guess:.2f}")
    return chart


def losses(moments: Sequence[Moment]) -> Array:
    """The loss of each step."""
    return np.array([moment.loss for moment in moments])


class CurvesPicture(Picture):
    """The loss and the accuracy of a run that is to have `last` steps; `classes` may be the answer.

    The sentence compares with round numbers only, so that it is the same on every adapter.
    """

    def __init__(self, last: int, classes: int) -> None:
        super().__init__(254)
        self.guess = log(classes)
        top, width, height = 46, 344, 158
        self.loss = loss_chart(self, Box(MARGIN + 32, top, width, height), last, classes)
        box = Box(MARGIN + width + 104, top, width, height)
        self.share = Chart(self, box, (0, max(last, 1)), (0, 100), ORANGE)
        self.share.draw("right answers in each batch", {value: f"{value} %" for value in (0, 50, 100)})
        self.write(MARGIN, 242, "points: single batches; lines: the mean of the last 10", 13, GRAY)
        self.stands_still()

    def draw(self, moments: Sequence[Moment], unseen: float | None = None) -> str:
        """Draw the run as far as it is; `unseen` is the share of right answers on images not learned from."""
        shares = 100 * np.array([moment.accuracy for moment in moments])
        self.loss.run(losses(moments))
        self.share.run(shares)
        if unseen is not None:
            right = self.share.box.x + self.share.box.width
            self.bold(right, self.share.y(12), f"unseen images: {100 * unseen:.1f} %", 14, INK, "right")
        return self._sentence(losses(moments), shares, unseen) if moments else "No step is done yet."

    def _sentence(self, loss: Array, share: Array, unseen: float | None) -> str:
        last, right = running_mean(loss)[-1], running_mean(share)[-1]
        ends = next((f"below {bound:g}" for bound in LOSSES[::-1] if last <= 0.85 * bound), f"at {last:.1f}")
        said = (
            f"In {len(loss):,} steps the loss goes from {loss[0]:.1f} (a pure guess: {self.guess:.1f}) to a mean "
            f"{ends} over the last {min(MEAN, len(loss))} batches, with {_share(right)} of their answers right"
        )
        return said + (f"; of the unseen images, {_share(100 * unseen)}" if unseen is not None else "") + "."


class RunsPicture(Picture):
    """The losses of up to five runs side by side, by their names; one whose loss became NaN ends early.

    Losses above 5 are drawn at the upper edge.
    """

    def __init__(self, runs: Mapping[str, Sequence[float]]) -> None:
        super().__init__(250)
        highest, guess = 5, log(10)  # of ten classes
        width, last = (WIDTH - 2 * MARGIN - 34) / len(runs) - 22, max(map(len, runs.values()))
        for place, (name, values) in enumerate(runs.items()):
            box = Box(MARGIN + 34 + place * (width + 28), 46, width, 150)
            chart = Chart(self, box, (0, max(last, 1)), (0, highest))
            ticks = {value: f"{value}" if place == 0 else "" for value in range(highest + 1)}
            chart.draw(name, ticks, "step" if place == 0 else "")
            chart.guess(guess)
            chart.run(np.array(values))
        below = f"dashed: the loss of a pure guess, {guess:.2f}; what is above {highest} is drawn at the top"
        self.write(MARGIN, 238, below, 13, GRAY)
        self.sentence = " ".join(f"{name}: {_run(np.array(values), last)}." for name, values in runs.items())


def _run(values: Array, last: int) -> str:
    """How a run goes, in words that another adapter says, too."""
    if len(values) < last:
        return "the loss becomes NaN before the end"
    return "the loss falls" if running_mean(values)[-1] < 0.8 * values[0] else "the loss does not fall"


def _share(percent: float) -> str:
    """A share as a bound that another adapter reaches, too."""
    reached = [bound for bound in SHARES if percent >= bound + (100 - bound) / 10]
    return f"over {reached[-1]} %" if reached else f"less than {SHARES[0] + 5} %"
