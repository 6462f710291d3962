"""LeNet with the reader's right kernels in their places, and a button that trains it with them."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Thread
from time import perf_counter

import ipywidgets
import numpy as np

from helpers.data import tables
from helpers.data.words import listed
from helpers.gpu import GpuError
from helpers.gpu.adapter import NATIVE
from helpers.lessons.shared.course import Slot, lessons, right, slots
from helpers.lessons.shared.pictures.curves import MEAN, loss_chart, running_mean
from helpers.lessons.shared.slots import draw_slots
from helpers.lessons.train_lenet.training_apart import OwnRun, RefusedError, train_apart
from helpers.pictures.canvas import BLUE, GRAY, Box, Picture
from helpers.widgets.explorer import Shown

RUN = {"digits": 4000, "epochs": 3, "batch": 32, "unseen": 1000}  # as the lesson trains with our kernels
STEPS = RUN["epochs"] * (RUN["digits"] // RUN["batch"])
TRAIN = "Train LeNet with my kernels"
OURS = Path(__file__).with_name("our_run.toml")
LASTS = f"It trains for {STEPS} steps: seconds on a GPU, minutes on a processor. You can stop it."
TRIES = "Your kernels are tried in the simulator first."


@cache
def our_run() -> tuple[np.ndarray, float]:
    """The losses of all steps with our kernels, and the share of unseen digits that were then right."""
    run = tables.parse(OURS)
    return np.array(run["losses"]), run["accuracy"]


class StoppedError(Exception):
    """The reader has stopped the run."""


class OwnPicture(Picture):
    """LeNet's places at the left, and at the right the loss of the run, as far as it is, beside that of our kernels."""

    def __init__(self, places: Sequence[Slot], done: frozenset[str]) -> None:
        super().__init__(268)
        self.places = places
        draw_slots(self, Box(4, 6, 486, 256), places, done)
        self.chart = loss_chart(self, Box(560, 52, 264, 160), STEPS, 10, "dashed: a guess")
        losses, _ = our_run()
        self.chart.curve(np.arange(STEPS), running_mean(losses), GRAY, 2)
        self.note(824, 112, "gray: our kernels", "right")
        self.stands_still()

    def draw(self, losses: Sequence[float] = (), accuracy: float | None = None) -> str:
        """The losses so far, and in the end the share of unseen digits that are right."""
        if not len(losses):
            names = [f"{slot.result} (lesson {slot.lesson})" for slot in self.places]
            return f"LeNet has {len(names)} places for kernels of yours: {listed(names)}."
        self.chart.run(np.array(losses))
        ours, our_accuracy = our_run()
        count = min(MEAN, len(losses))
        yours = _last_mean(losses)
        theirs = _last_mean(ours[: len(losses)])
        sentence = (
            f"After {len(losses)} of {STEPS} steps, the mean loss of the last {count} batches is {yours:.2f} "
            f"(with our kernels {theirs:.2f})."
        )
        if accuracy is None:
            return sentence
        self.bold(824, 252, f"unseen digits: {100 * accuracy:.0f} % right", 14, BLUE, "right")
        return (
            f"{sentence} Of {RUN['unseen']:,} unseen digits, {100 * accuracy:.0f} % are right (with our kernels "
            f"{100 * our_accuracy:.0f} %)."
        )


def _last_mean(losses: Sequence[float]) -> float:
    return running_mean(np.array(losses))[-1]


class OwnTraining(Shown):
    """The picture, the button, and what is said of both; a place without a right kernel of the reader's keeps ours.

    The button starts a run, and stops it: so that its second click arrives, a run has a thread of its own. A browser
    has none, and trains to the end.
    """

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
        self.running: Thread | None = None
        self._is_stopped = False
        self._begun_at = 0.0
        self._losses: Sequence[float] = ()
        self._button = ipywidgets.Button(description=TRAIN, disabled=not self.puzzles, layout={"width": "240px"})
        self._button.on_click(lambda _: self.stop() if self.running else self.begin())
        self.children = [self._button, self._paper(), self._words]
        if self.puzzles:
            self._show((), None, f"Yours: {listed(self.puzzles)}. {LASTS}")
        else:
            self._show((), None, "None is right yet: write one, and run this again.")

    def begin(self) -> None:
        """Start a run from the first step."""
        self._is_stopped = False
        self._losses = ()
        self._write_sentence(f"{TRIES} {LASTS}")
        self.running = Thread(target=self.train, daemon=True)
        if NATIVE:
            self._button.description = "Stop"
            self.running.start()
        else:
            self._button.disabled = True
            self.train()

    def stop(self) -> None:
        """Stop the run before its next steps."""
        self._is_stopped = True
        self._button.disabled = True

    def train(self) -> None:
        """Train in a process apart, and show the loss as it falls."""
        try:
            self._show_ended(train_apart(*self.puzzles, **RUN, show=self._show_progress))
        except StoppedError:
            self._show_stopped()
        except (RefusedError, GpuError) as error:
            self._write_sentence(str(error))
        finally:
            self.running = None
            self._button.description = TRAIN
            self._button.disabled = False

    def _show_progress(self, losses: Sequence[float]) -> None:
        """Show the losses so far, if there are any, and how long the rest takes.

        Raises StoppedError, which ends the process apart, where the reader has stopped the run.
        """
        if self._is_stopped:
            raise StoppedError
        if not losses:
            self._begun_at = perf_counter()  # a text was tried: the first steps come next
            return
        self._losses = [*losses]
        pace = (perf_counter() - self._begun_at) / len(losses)
        self._show(losses, None, f"About {duration(pace * (STEPS - len(losses)))} to go.")

    def _show_ended(self, run: OwnRun) -> None:
        self._show(run.losses, run.accuracy, run.ended)

    def _show_stopped(self) -> None:
        again = "Stopped: the button begins again from the first step."
        if self._losses:
            self._show(self._losses, None, again)
        else:
            self._write_sentence(again)

    def _show(self, losses: Sequence[float], accuracy: float | None = None, more: str = "") -> None:
        self.picture.show(losses, accuracy)
        self._draw_paper()
        sentences = [self.picture.sentence]
        if more:
            sentences.append(more)
        self._write_sentence(" ".join(sentences))

    def __repr__(self) -> str:
        return self.picture.sentence


def duration(seconds: float) -> str:
    """Seconds, or minutes where they are many."""
    if seconds < 90:
        return f"{max(2, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes"


def my_lenet() -> OwnTraining:
    """LeNet with a place for each kernel of yours; the right ones are lit, and a button trains it with them."""
    return OwnTraining()
