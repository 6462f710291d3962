"""A run: loss and accuracy over its steps, and the filters of the first layer with their gradients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from matplotlib.ticker import MaxNLocator

from helpers.network.training import Moment
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, WIDTH, Box, Picture, number
from helpers.pictures.charts import Axes
from helpers.pictures.figures import draw_signed

Array = np.ndarray
MOST = 300  # points drawn of a curve
MEAN = 10  # batches in a running mean
FAINT = {BLUE: "#a9cbe6", ORANGE: "#ecc3a8"}  # single batches, below their mean
# bounds that a sentence compares with
LOSSES = (2, 1, 0.5, 0.2, 0.1, 0.05)
SHARES = (50, 75, 90)  # percent


def running_mean(values: Array) -> Array:
    """The mean of up to the last 10 values, at each value."""
    sums = np.convolve(values, np.ones(MEAN))[: len(values)]
    return sums / np.minimum(np.arange(1, len(values) + 1), MEAN)


@dataclass(frozen=True)
class Chart(Axes):
    """The axes of one curve: steps to the right, values upwards, both from 0 on; they stay fixed."""

    color: str = BLUE

    def draw(self, title: str, ticks: dict[float, str], below: str = "step") -> None:
        """Draw a title above, a line for each of these values, and numbers of steps below, with their name."""
        left, top, width, height = self.box
        last = self.across[1]
        self.picture.bold(left, top - 18, title, 14, self.color)
        self.rows(ticks)
        steps = MaxNLocator(max(2, width // 70), steps=[1, 2, 2.5, 5, 10], integer=True).tick_values(0, last)
        self.columns({step: f"{step:,.0f}" for step in steps if step <= last})
        self.picture.note(left - 13, top + height + 16, below, "right")

    def guess(self, loss: float, name: str = "") -> None:
        """A dashed line at the loss of a network that finds all classes equally likely, and its name above."""
        y = self.y(loss)
        self.picture.lines([(self.box.x, y, self.box.right, y)], GRAY, 1.2, (5, 4))
        self.picture.note(self.box.right, self.box.y - 18, name, "right")

    def run(self, values: Array) -> None:
        """Draw the values of steps 0, 1, ..., at most 300 of them as points, and their running mean."""
        if not len(values):
            return
        shown = np.unique(np.linspace(0, len(values) - 1, MOST).astype(int))
        points = zip(self.x(shown), self.y(values[shown]), strict=True)
        squares = [(x, y - 1.5, x, y + 1.5) for x, y in points]
        self.picture.lines(squares, FAINT[self.color], 3)
        self.curve(shown, running_mean(values)[shown], self.color, 2.6)


def loss_chart(picture: Picture, box: Box, last: int, classes: int, dashed="dashed: a pure guess, {:.2f}") -> Chart:
    """Draw the axes of a loss: a little more than what a pure guess among the classes costs."""
    guess = log(classes)
    highest = 1.2 * guess
    chart = Chart(picture, box, (0, max(last, 1)), (0, highest))
    chart.draw("loss of each batch", {value: f"{value}" for value in range(int(highest) + 1)})
    chart.guess(guess, dashed.format(guess))
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
        top = 46
        width = 344
        height = 158
        self.loss = loss_chart(self, Box(MARGIN + 32, top, width, height), last, classes)
        box = Box(MARGIN + width + 104, top, width, height)
        self.share = Chart(self, box, (0, max(last, 1)), (0, 100), ORANGE)
        self.share.draw("right answers in each batch", {value: f"{value} %" for value in (0, 50, 100)})
        self.note(MARGIN, 242, "points: single batches; lines: the mean of the last 10")
        self.stands_still()

    def draw(self, moments: Sequence[Moment], unseen: float | None = None) -> str:
        """Draw the run as far as it is; `unseen` is the share of right answers on images not learned from."""
        shares = 100 * np.array([moment.accuracy for moment in moments])
        self.loss.run(losses(moments))
        self.share.run(shares)
        if unseen is not None:
            right = self.share.box.right
            self.bold(right, self.share.y(12), f"unseen images: {100 * unseen:.1f} %", 14, INK, "right")
        if not moments:
            return "No step is done yet."
        return self._sentence(losses(moments), shares, unseen)

    def _sentence(self, loss: Array, share: Array, unseen: float | None) -> str:
        """Say how far the run has come; loss and share are those of each batch."""
        last = running_mean(loss)[-1]
        right = running_mean(share)[-1]
        batches = min(MEAN, len(loss))
        sentence = (
            f"In {len(loss):,} steps the loss goes from {loss[0]:.1f} (a pure guess: {self.guess:.1f}) to a mean "
            f"{_bound(last)} over the last {batches} batches, with {_share(right)} of their answers right"
        )
        if unseen is None:
            return f"{sentence}."
        return f"{sentence}; of the unseen images, {_share(100 * unseen)}."


class RunsPicture(Picture):
    """The losses of up to five runs side by side, by their names; one whose loss became NaN ends early.

    Losses above 5 are drawn at the upper edge.
    """

    def __init__(self, runs: Mapping[str, Sequence[float]]) -> None:
        super().__init__(286)
        highest = 5
        guess = log(10)  # of ten classes
        width = (WIDTH - 2 * MARGIN - 34) / len(runs) - 22
        last = max(len(values) for values in runs.values())
        for place, (name, values) in enumerate(runs.items()):
            box = Box(MARGIN + 34 + place * (width + 28), 46, width, 150)
            chart = Chart(self, box, (0, max(last, 1)), (0, highest))
            losses_on_axis = range(highest + 1)
            if place == 0:
                chart.draw(name, {loss: f"{loss}" for loss in losses_on_axis})
            else:
                chart.draw(name, dict.fromkeys(losses_on_axis, ""), "")
            chart.guess(guess)
            chart.run(np.array(values))
            self.cards[name] = Box(box.x - 6, 14, width + 12, 242)  # to its foot, where a word can lie
        below = f"dashed: the loss of a pure guess, {guess:.2f}; what is above {highest} is drawn at the top"
        self.note(MARGIN, 272, below)
        self.sentence = " ".join(f"{name}: {_run(np.array(values), last)}." for name, values in runs.items())


def _run(values: Array, last: int) -> str:
    """Say how a run goes, in words that another adapter says, too."""
    if len(values) < last:
        return "the loss becomes NaN before the end"
    mean_at_the_end = running_mean(values)[-1]
    if mean_at_the_end < 0.8 * values[0]:
        return "the loss falls"
    return "the loss does not fall"


def _bound(loss: float) -> str:
    """A loss as a bound that another adapter reaches, too."""
    reached = [bound for bound in LOSSES if loss <= 0.85 * bound]
    if not reached:
        return f"at {loss:.1f}"
    return f"below {reached[-1]:g}"


def _share(percent: float) -> str:
    """A share as a bound that another adapter reaches, too."""
    reached = [bound for bound in SHARES if percent >= bound + (100 - bound) / 10]
    if not reached:
        return f"less than {SHARES[0] + 5} %"
    return f"over {reached[-1]} %"


# --- The filters of the first layer and their gradients, above the loss ---------------------------------------

# CSS pixels
LEFT = 150  # of the first filter
TOP = 56
SIZE = 84
GAP = 18  # from one filter to the next
CHART = 282  # where the chart begins
HIGH = 84  # the chart: all of the picture fits a screen of 720
FILTERS = 6  # in a row
# the share of all numbers that fit the palette; the others have its strongest colors
FITTING_WEIGHTS = 0.99
FITTING_GRADIENTS = 0.97


class FiltersPicture(Picture):
    """Up to six filters of one channel, their gradients below them, and the loss of the run with a marker.

    `moments` are those of a run from its step 0 on. The palette's range stays the same for all steps.

    Raises ValueError where no step is recorded, or the first layer is no convolution of one channel.
    """

    def __init__(self, moments: Sequence[Moment], classes: int, width: float = WIDTH - MARGIN) -> None:
        super().__init__(CHART + HIGH + 32)
        self.moments = moments
        name, self.filters = _stacked(moments, "weight")
        _, self.gradients = _stacked(moments, "grad_weight")
        self.layer, _, _ = name.partition(".")
        self.last = len(moments) - 1
        self.scales = [_scale(self.filters, FITTING_WEIGHTS), _scale(self.gradients, FITTING_GRADIENTS)]
        _, filters, _, _ = self.filters.shape
        self.places = [LEFT + i * (SIZE + GAP) for i in range(filters)]
        self.losses = losses(moments)
        self.draw_still()
        box = Box(MARGIN + 32, CHART, width - MARGIN - 32, HIGH)
        self.chart = loss_chart(self, box, self.last, classes)
        self.draw_run(self.last + 1)
        self.stands_still()

    def draw_still(self) -> None:
        """Draw what is the same in all steps, beside the chart."""
        for i, x in enumerate(self.places):
            self.note(x + SIZE / 2, TOP - 13, f"filter {i}", "middle")
        rows = ("filters", "orange: above 0", "violet: below 0"), ("gradients", "of the loss", "in this step")
        for row, (title, *notes) in enumerate(rows):
            y = TOP + row * (SIZE + GAP) + 14
            self.bold(MARGIN, y, title, 15)
            notes.append(f"strongest: ≥ {number(self.scales[row])}")
            for line, note in enumerate(notes, 1):
                self.write(MARGIN, y + 18 * line, note, 13, GRAY)

    def draw_run(self, steps: int) -> None:
        """The loss of the first steps."""
        self.chart.run(self.losses[:steps])

    def draw(self, step: int) -> str:
        """Go to one step."""
        moment = self.moments[step]
        self.draw_title(step)
        for row, tensors in enumerate((self.filters, self.gradients)):
            y = TOP + row * (SIZE + GAP)
            for x, panel in zip(self.places, tensors[step], strict=True):
                self.draw_panel(panel, Box(x, y, SIZE, SIZE), self.scales[row])
        x = float(self.chart.x(step))
        self.lines([(x, CHART - 4, x, CHART + HIGH)], ORANGE, 2)
        self.chart.mark(step, moment.loss, ORANGE)
        return self._sentence(step, moment)

    def draw_panel(self, panel: Array, box: Box, largest: float) -> None:
        """One filter or gradient."""
        draw_signed(self, panel, box, largest)

    def draw_title(self, step: int) -> None:
        """Mark the step in the chart."""
        self.title(20, f"step {step:,}: the filters of {self.layer}, and what moves them")

    def _sentence(self, step: int, moment: Moment) -> str:
        """Say how large the loss is, and which filters are moved most in the step and since the start."""
        strongest = np.abs(self.gradients[step]).mean(axis=(1, 2)).argmax()
        loss = f"In step {step:,} (of 0 to {self.last:,}) the loss of the batch is {moment.loss:.1f}."
        largest = f"{loss} The gradient is largest in filter {strongest}"
        if step == 0:
            return f"{largest}; all filters are still the random numbers of the start."
        changes = np.abs(self.filters[step] - self.filters[0]).mean(axis=(1, 2))
        most = changes.argmax()
        start = np.abs(self.filters[0]).mean()
        change = f"by {_brief(changes[most])} on average; at the start, their mean size was {_brief(start)}"
        return f"{largest}. The weights of filter {most} have changed most: {change}."


def _brief(value: float) -> str:
    """One digit: it is the same on every adapter."""
    return number(float(f"{value:.1g}"))


def _scale(tensors: Array, share: float) -> float:
    """A number of one digit to which this share of all numbers fits."""
    fitting = np.quantile(np.abs(tensors), share)
    return float(f"{fitting:.1g}") or 1.0


def _stacked(moments: Sequence[Moment], parameter: str) -> tuple[str, Array]:
    """The full name of a parameter of the first layer, and its values in all steps, (steps, filters, kH, kW)."""
    if not moments:
        raise ValueError("training.moments is empty: no step is recorded yet; train first")
    tensors = moments[0].tensors
    name = next(name for name in tensors if name.endswith(f".{parameter}"))
    shape = tensors[name].shape
    if len(shape) != 4 or shape[1] != 1 or shape[0] > FILTERS:
        raise ValueError(f"{name} has shape {shape}: only up to {FILTERS} filters of one channel, (Co, 1, kH, kW), fit")
    return name, np.stack([moment.tensors[name][:, 0] for moment in moments])
