"""Training seen live: it goes on between the cells, can be stopped, and shows loss and accuracy as they are measured.

Training takes turns with everything else that Python does: a slice of a fraction of a second, then a pause in which
cells run and clicks arrive. JupyterLab may deliver a click in a thread of its own, so a click leaves a wish only;
drawing and training are always done by the thread that runs the cells.
"""

import asyncio
import sys
from contextlib import suppress
from importlib import import_module
from time import perf_counter

import ipywidgets
import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.shared.pictures.curves import MEAN, CurvesPicture
from helpers.network.network import Network, check_batch
from helpers.network.training import Training, check_training
from helpers.widgets import wake
from helpers.widgets.explorer import Shown

# seconds
SLICE = 0.2  # of work at a time
PAUSE = 0.02  # between two slices
REDRAW = 0.1  # at least, from one drawing to the next
SAY = 3  # at least, from one sentence to the next
FEW_STEPS = 8  # in the simulator
ON = "It goes on from a network that was trained before: to begin anew, make a new network first."
# Nothing else is at work when the event loop comes to a slice, but in a browser a cell that waits for the GPU may be.
with_lock = import_module("convgrad_browser").with_lock if sys.platform == "emscripten" else lambda work: work()
Unseen = tuple[np.ndarray, np.ndarray]  # images and labels


class Live(Shown):
    """A training run with a progress bar, curves, a button that stops it and lets it go on, and its learning rate.

    Parameters
    ----------
    training : Training
    epochs : float
        How many passes through the images are still to come.
    unseen : pair of arrays, or None
        Images (N, C, H, W) and labels (N,) that are not learned from: how many are answered right is measured at the
        end.

    Raises TypeError or ValueError for arguments that the training does not take.

    It begins at once where there is an event loop, as in a notebook; `finish` does what remains anywhere. Only one run
    trains at a time: one that begins, or goes on, stops the one before.
    """

    _at_work: "Live | None" = None

    def __init__(self, training: Training, epochs: float, unseen: Unseen | None) -> None:
        check_training(training)
        if unseen is None:
            unseen = [], []
        else:
            _check_unseen(training, unseen)
        steps = training.steps_in(epochs)
        super().__init__()
        self._simulated = adapter_info().simulated
        if self._simulated:
            steps = min(steps, FEW_STEPS)
            images, labels = unseen
            unseen = images[: training.batch], labels[: training.batch]
        self.training = training
        self._was_trained = training.step == 0 and was_trained(training.network)
        self.until = training.step + steps
        self._unseen = unseen
        self._set_idle()
        self.picture = CurvesPicture(self.until, training.network.classes)
        self._add_controls()
        with suppress(RuntimeError):  # in plain Python there is no loop
            self._loop = asyncio.get_running_loop()
        self.go_on()
        self._show(self._progress())

    def _set_idle(self) -> None:
        """The state of a run that has not begun."""
        self._right = []
        self._steps = 1
        self._drawn_at = 0.0
        self._spoken_at = 0.0
        self._running = False
        self._finishing = False
        self._waiting = None
        self._loop = None

    def _add_controls(self) -> None:
        """The button, the learning rate and the progress bar, above the picture and its words."""
        training = self.training
        self._bar = ipywidgets.IntProgress(training.step, training.step, max(self.until, 1), layout={"width": "260px"})
        self._button = ipywidgets.Button(description="Go on", layout={"width": "90px"})
        self._rate = ipywidgets.BoundedFloatText(
            training.learning_rate,
            min=0,
            max=100,
            step=0.01,
            description="learning rate",
            layout={"width": "180px"},
            style={"description_width": "90px"},
        )
        controls = ipywidgets.HBox([self._button, self._rate, self._bar], layout={"align_items": "center"})
        self.children = [controls, self._paper(), self._words]
        self._button.on_click(lambda _: self.stop() if self._running else self.go_on())
        self._rate.observe(lambda change: setattr(training, "learning_rate", change.new), "value")

    # --- What the reader does, in any thread ------------------------------------------------------------------

    def go_on(self) -> None:
        """Train in the background. Where there is no event loop, only `finish` trains."""
        if self._loop is None or self.done:
            return
        if Live._at_work:
            Live._at_work.stop()
        Live._at_work = self
        self._running = True
        self._button.description = "Stop"
        self._loop.call_soon_threadsafe(self._wait)

    def stop(self) -> None:
        """Stop after the slice that runs now; `go_on` and `finish` continue with the next step."""
        self._running = False

    def close(self) -> None:
        """Stop, and take the widget off the page."""
        self.stop()
        super().close()

    # --- What is done, in one thread --------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """True where all steps are done, and the unseen images answered."""
        return self.training.step >= self.until and len(self._right) == len(self._unseen[1])

    def finish(self) -> Training:
        """Do at once what remains, and return the training.

        Raises DivergedError as `Training.advance` does.
        """
        self.stop()
        if Live._at_work:
            Live._at_work.stop()
        self._finishing = True
        reason = ""
        try:
            while not self.done:
                self._work()
        except (KeyboardInterrupt, Exception) as error:
            reason = _reason(error)
            raise
        finally:
            self._finishing = False
            self._show(reason or self._progress())
        return self.training

    def _wait(self) -> None:
        """One slice in the background, when no cell or click is at work."""
        with_lock(self._slice)

    def _slice(self) -> None:
        """Work for a moment, and take a place in the queue for the next slice."""
        if self._waiting:
            self._waiting.cancel()
        try:
            if self._running and not self.done:
                self._work()
        except (KeyboardInterrupt, Exception) as error:  # nobody else would say it
            self.stop()
            self._show(_reason(error))
            return
        if self._running and not self.done:
            self._waiting = self._loop.call_later(PAUSE, self._wait)
        else:
            self.stop()
            self._show(self._progress())

    def _work(self) -> None:
        """Train for about as long as a slice or, after the last step, answer some of the unseen images."""
        if self.training.step < self.until:
            self._train_slice()
        else:
            self._answer_some()
        if perf_counter() - self._drawn_at > REDRAW:
            is_time_to_speak = perf_counter() - self._spoken_at > SAY
            self._show(self._progress() if is_time_to_speak else None)

    def _train_slice(self) -> None:
        """Train for about as long as a slice, by the pace of the slice before."""
        begin = perf_counter()
        self._right = []
        steps = min(self._steps, self.until - self.training.step)
        self.training.advance(steps)
        pace = (perf_counter() - begin) / steps
        self._steps = max(1, int(SLICE / max(pace, 1e-6)))

    def _answer_some(self) -> None:
        """Answer the next batch of unseen images."""
        images, labels = self._unseen
        begin = len(self._right)
        part = slice(begin, begin + self.training.batch)
        answers = self.training.network.predict(images[part])
        self._right += (answers == labels[part]).tolist()

    # --- What is shown ----------------------------------------------------------------------------------------

    def _progress(self) -> str:
        """Say how far training is, with the mean of the last batches."""
        step = self.training.step
        last = self.training.moments[-MEAN:]
        if not last:
            sentence = f"{self._state}: {self.until:,} steps, with {self.training.batch} images each."
            return f"{sentence} {ON}" if self._was_trained else sentence
        loss, right = np.mean([(moment.loss, moment.accuracy) for moment in last], axis=0)
        sentences = [
            f"{self._state}: {step:,} of {self.until:,} steps.",
            f"In the last {len(last)} batches the mean loss is {loss:.2f}, and {100 * right:.0f} % of the answers are "
            "right.",
        ]
        if self._was_trained:
            sentences.append(ON)
        share = self._share
        if share is not None:
            sentences.append(f"Of {len(self._right):,} unseen images, {100 * share:.1f} % are answered right.")
        if self._simulated:
            sentences.append(f"(In the simulator, a step takes up to a minute: it trains for at most {FEW_STEPS}.)")
        return " ".join(sentences)

    @property
    def _state(self) -> str:
        if self.done:
            return "Done"
        if self._running or self._finishing:
            return "Training"
        return "Stopped"

    @property
    def _share(self) -> float | None:
        """The share of the unseen images that is answered right, when all are."""
        if self._right and self.done:
            return float(np.mean(self._right))
        return None

    def _show(self, sentence: str | None) -> None:
        """Draw the curves, and write how far training is; None leaves the words, which a screen reader reads aloud."""
        self._drawn_at = perf_counter()
        self.picture.show(self.training.moments, self._share)
        self._draw_paper()
        self._bar.value = self.training.step
        self._button.description = self._button_text
        self._button.disabled = self.done or self._finishing or self._loop is None
        if sentence is not None:
            self._spoken_at = self._drawn_at
            self._write_sentence(sentence)

    @property
    def _button_text(self) -> str:
        if self.done:
            return "Done"
        return "Stop" if self._running else "Go on"

    def __repr__(self) -> str:
        """The words that are the same in every run, as long as training is not done."""
        if self.done:
            return self.picture.sentence
        training = self.training
        return f"Training to step {self.until:,}, with {training.batch} images a step: finish() waits for its end."

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if self.done:
            return data, metadata
        del data["image/png"]  # its curves differ from run to run
        return data | {"text/plain": f"{self!r} {wake()}"}, {}


def was_trained(network: Network) -> bool:
    """Return True where a network has learned since it was made, or since its parameters were loaded: it has speed."""
    _, velocities = network.state()
    return bool(velocities.any())


def _check_unseen(training: Training, unseen: Unseen) -> None:
    """Refuse what is not a pair of images and labels that the network takes."""
    if not isinstance(unseen, tuple | list) or len(unseen) != 2:
        raise ValueError("unseen: it must be a pair, images and labels")
    check_batch(training.network, *unseen)


def _reason(error: BaseException) -> str:
    """Say why training has stopped."""
    if isinstance(error, KeyboardInterrupt):
        return "Stopped: interrupted; Go on, or finish(), continues."
    return f"Stopped: {error}."
