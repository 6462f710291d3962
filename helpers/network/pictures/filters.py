"""The filters of the first layer and their gradients, as they were in one step of a run, above its loss."""

from collections.abc import Sequence

import numpy as np

from helpers.network.pictures.curves import loss_chart, losses
from helpers.network.training import Moment
from helpers.pictures.canvas import GRAY, MARGIN, ORANGE, WIDTH, Box, Picture, number
from helpers.pictures.figures import draw_signed

Array = np.ndarray
LEFT, TOP, SIZE, GAP = 130, 64, 100, 16  # CSS pixels: of the first filter, and from one to the next
CHART = 316  # the height at which the chart begins
MOST = 6  # filters in a row
FITS = 0.99, 0.97  # of all weights, and of all gradients, fit the palette; the others have its darkest colors


class FiltersPicture(Picture):
    """Up to six filters of one channel, their gradients below them, and the loss of the run with a marker.

    `moments` are those of a run from its step 0 on. The palette's range stays the same for all steps.

    Raises ValueError where no step is recorded, or the first layer is no convolution of one channel.
    """

    def __init__(self, moments: Sequence[Moment], classes: int, width: float = WIDTH - MARGIN) -> None:
        super().__init__(446)
        self.moments = moments
        name, self.filters = _stacked(moments, "weight")
        self.gradients = _stacked(moments, "grad_weight")[1]
        self.layer, self.last = name.partition(".")[0], len(moments) - 1
        both = zip((self.filters, self.gradients), FITS, strict=True)
        self.scales = [float(f"{np.quantile(np.abs(tensors), share):.1g}") or 1.0 for tensors, share in both]
        self.places = [LEFT + i * (SIZE + GAP) for i in range(self.filters.shape[1])]
        self.losses = losses(moments)
        self.draw_still()
        self.chart = loss_chart(self, Box(MARGIN + 32, CHART, width - MARGIN - 32, 98), self.last, classes)
        self.draw_run(self.last + 1)
        self.stands_still()

    def draw_still(self) -> None:
        """What is the same in all steps, beside the chart."""
        for i, x in enumerate(self.places):
            self.write(x + SIZE / 2, TOP - 13, f"filter {i}", 13, GRAY, align="middle")
        rows = ("filters", "orange: above 0", "violet: below 0"), ("gradients", "of the loss", "in this step")
        for row, (title, *notes) in enumerate(rows):
            y = TOP + row * (SIZE + GAP) + 24
            self.bold(MARGIN, y, title, 15)
            notes.append(f"darkest: ≥ {number(self.scales[row])}")
            for line, note in enumerate(notes, 1):
                self.write(MARGIN, y + 19 * line, note, 12, GRAY)

    def draw_run(self, steps: int) -> None:
        """The loss of the first steps."""
        self.chart.run(self.losses[:steps])

    def draw(self, step: int) -> str:
        """Go to one step."""
        moment = self.moments[step]
        self.draw_title(step)
        self._draw_filters(step)
        x, (_, top, _, height) = float(self.chart.x(step)), self.chart.box
        self.lines([(x, top - 4, x, top + height)], ORANGE, 2)
        self.boxes([Box(x - 4, float(self.chart.y(moment.loss)) - 4, 8, 8)], ORANGE, "#ffffff", 2.4)
        return self._sentence(step, moment)

    def _draw_filters(self, step: int) -> None:
        """The filters and, below them, the gradients of a step."""
        for row, tensors in enumerate((self.filters, self.gradients)):
            panels = np.clip(tensors[step] / self.scales[row], -1, 1)
            for x, panel in zip(self.places, panels, strict=True):
                box = Box(x, TOP + row * (SIZE + GAP), SIZE, SIZE)
                self.draw_panel(panel, box)
                self.boxes([box], GRAY)

    def draw_panel(self, panel: Array, box: Box) -> None:
        """One filter or gradient, from -1 to 1."""
        draw_signed(self, panel, box)

    def draw_title(self, step: int) -> None:
        """Which step it is."""
        self.title(20, f"step {step:,}: the filters of {self.layer}, and what moves them")

    def _sentence(self, step: int, moment: Moment) -> str:
        strongest = np.abs(self.gradients[step]).mean(axis=(1, 2)).argmax()
        said = f"In step {step:,} (of 0 to {self.last:,}) the loss of the batch is {moment.loss:.2f}, and "
        said += f"{100 * moment.accuracy:.0f} % of its answers are right. The gradient is largest in filter {strongest}"
        if step == 0:
            return f"{said}; all filters are still the random numbers of the start."
        moved = np.abs(self.filters[step] - self.filters[0]).mean(axis=(1, 2))
        most, start = moved.argmax(), np.abs(self.filters[0]).mean()
        change = f"by {_brief(moved[most])} on average, where weights had a mean size of {_brief(start)} at the start"
        return f"{said}. The weights of filter {most} have changed most: {change}."


def _brief(value: float) -> str:
    """No more digits than a reader compares."""
    return number(float(f"{value:.2g}"))


def _stacked(moments: Sequence[Moment], own: str) -> tuple[str, Array]:
    """The full name of a parameter, and its values in all steps, (steps, filters, kH, kW)."""
    if not moments:
        raise ValueError("training.moments is empty: no step is recorded yet; train first")
    name = next(name for name in moments[0].tensors if name.endswith(f".{own}"))
    shape = moments[0].tensors[name].shape
    if len(shape) != 4 or shape[1] != 1 or shape[0] > MOST:
        raise ValueError(f"{name} has shape {shape}: only up to {MOST} filters of one channel, (Co, 1, kH, kW), fit")
    return name, np.stack([moment.tensors[name][:, 0] for moment in moments])
