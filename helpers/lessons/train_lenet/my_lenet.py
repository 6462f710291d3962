"""LeNet with the reader's right kernels in their places, and a button that trains it with them."""

from collections.abc import Sequence

import ipywidgets
import numpy as np

from helpers.data.words import listed
from helpers.gpu import GpuError
from helpers.lessons.shared.course import Slot, lessons, right, slots
from helpers.lessons.shared.pictures.curves import MEAN, loss_chart, running_mean
from helpers.lessons.shared.slots import draw_slots
from helpers.lessons.train_lenet.training_apart import RefusedError, train_apart
from helpers.pictures.canvas import BLUE, Box, Picture
from helpers.widgets.explorer import Shown

RUN = {"digits": 640, "epochs": 3, "batch": 32, "unseen": 500}  # as even slow kernels learn much in a minute
STEPS = RUN["epochs"] * (RUN["digits"] // RUN["batch"])


class OwnPicture(Picture):
    """LeNet's places at the left, and at the right the loss of the run, as far as it is."""

    def __init__(self, places: Sequence[Slot], done: frozenset[str]) -> None:
        super().__init__(268)
        self.places = places
        draw_slots(self, Box(4, 6, 486, 256), places, done)
        self.chart = loss_chart(self, Box(560, 52, 264, 160), STEPS, 10, "dashed: a guess")
        self.stands_still()

    def draw(self, losses: Sequence[float] = (), accuracy: float | None = None) -> str:
        """The losses so far, and in the end the share of unseen digits that are right."""
        if not len(losses):
            names = [f"{slot.result} (lesson {slot.lesson})" for slot in self.places]
            return f"LeNet has {len(names)} places for kernels of yours: {listed(names)}."
        self.chart.run(np.array(losses))
        mean = f"{running_mean(np.array(losses))[-1]:.2f}"
        sentence = f"After {len(losses)} of {STEPS} steps, the mean loss of the last {MEAN} batches is {mean}."
        if accuracy is None:
            return sentence
        self.bold(824, 252, f"unseen digits: {100 * accuracy:.0f} % right", 14, BLUE, "right")
        return f"{sentence} Of {RUN['unseen']} unseen digits, {100 * accuracy:.0f} % are right."


class OwnTraining(Shown):
    """The picture, the button, and what is said of both; a place without a right kernel of the reader's keeps ours."""

    def __init__(self) -> None:
        super().__init__()
        known = lessons()
        done = right(known)
        places = slots(known)
        self.puzzles = []  # the last right one of each place
        for slot in places:
            right_ones = [name for name in slot.puzzles if name in done]
            self.puzzles += right_ones[-1:]
        self.picture = OwnPicture(places, done)
        self._button = ipywidgets.Button(
            description="Train LeNet with my kernels", disabled=not self.puzzles, layout={"width": "240px"}
        )
        self._button.on_click(lambda _: self.train())
        self.children = [self._button, self._paper(), self._words]
        if self.puzzles:
            self._show((), None, f"Yours: {listed(self.puzzles)}.")
        else:
            self._show((), None, "None is right yet: write one, and run this again.")

    def train(self) -> None:
        """Train in a process apart, and show the loss as it falls."""
        self._button.disabled = True
        self._write_sentence("Your kernels are tried in the simulator first.")
        try:
            run = train_apart(*self.puzzles, **RUN, show=self._show_begun)
            self._show(run.losses, run.accuracy, run.ended)
        except (RefusedError, GpuError) as error:
            self._write_sentence(str(error))
        finally:
            self._button.disabled = False

    def _show_begun(self, losses: Sequence[float]) -> None:
        """Show the losses so far, if there are any."""
        if losses:
            self._show(losses)

    def _show(self, losses: Sequence[float], accuracy: float | None = None, more: str = "") -> None:
        self.picture.show(losses, accuracy)
        self._draw_paper()
        sentences = [self.picture.sentence]
        if more:
            sentences.append(more)
        self._write_sentence(" ".join(sentences))

    def __repr__(self) -> str:
        return self.picture.sentence


def my_lenet() -> OwnTraining:
    """LeNet with a place for each kernel of yours; the right ones are lit, and a button trains it with them."""
    return OwnTraining()
