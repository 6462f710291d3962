"""Training: batches, a few steps a submission, what is recorded of the run, and going back in it.

The images stay on the GPU, and so do the states that were kept: the host sends the order of an epoch, and reads what
was recorded once in a hundred steps.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.checks.arguments import MAX_SIZE, as_int, check_number, check_size
from helpers.data.turns import in_turn, turn
from helpers.gpu import Pass, empty, read, run, upload
from helpers.gpu.buffers import uniform, write
from helpers.gpu.passes import Copy
from helpers.network.ink import keep_ink
from helpers.network.layers import gradient_of
from helpers.network.network import Network, Workspace, check_batch
from helpers.operations.dispatch import flat
from wgsl import Kernel

Array = np.ndarray
EVERY = 25  # steps between two states that are kept
TOGETHER = 5  # steps a submission
MOST_ROWS = 100  # steps between two readings of what was recorded
MOST_BYTES = 2**24  # of the room that they may take


class DivergedError(ValueError):
    """The loss is NaN or infinite. The network has the last good parameters again."""


class Moment(NamedTuple):
    """The record of one step: its mean loss before the update, the share of its batch that was right, and the first
    layer's parameters and gradients, by name, as they were in this step."""

    step: int
    loss: float
    accuracy: float
    tensors: dict[str, Array]


class Training:
    """A network, what it learns from, and how far it is.

    Parameters
    ----------
    network : Network
    images : float32 array (N, C, H, W)
    labels : integer array (N,)
        The class of each image.
    batch : int
        Images a step. A last batch that is not full is left out.
    learning_rate, momentum : float
        Of the update; both may be changed between steps.
    seed : int
        Of the order of the images, another one in each epoch; from 0 to 2**32 - 1.

    Attributes
    ----------
    step : int
        Steps done.
    moments : list of Moment
        One a step.
    states : dict
        The copies that keep all parameters and velocities on the GPU, after every 25th step: what `rewind` goes back
        to.

    Raises
    ------
    TypeError, ValueError
        A wrong size, a number that is not finite or out of range, a label that is no class, or fewer images than one
        batch.
    """

    def __init__(
        self,
        network: Network,
        images: Array,
        labels: Array,
        *,
        batch: int = 32,
        learning_rate: float = 0.05,
        momentum: float = 0.9,
        seed: int = 0,
    ) -> None:
        check_batch(network, images, labels)
        keep_ink(network, images)
        check_size("batch", as_int(batch), largest=len(images))
        check_size("seed", as_int(seed), 0, 2**32 - 1)
        network.update(learning_rate, momentum)  # refuses numbers that no update takes
        self.network = network
        self.images = images
        self.labels = labels.astype(np.uint32)
        self.batch = int(batch)
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.seed = seed
        self.step = 0
        self.moments: list[Moment] = []
        self._space = network.workspace(self.batch)
        self._history = _History(self._space)
        self._batches = _Batches(self._space, images, self.labels)
        self.states = {0: _copies_of_state(network)}
        run(*self.states[0])

    @property
    def steps_per_epoch(self) -> int:
        """The number of full batches that the images make."""
        return len(self.images) // self.batch

    def steps_in(self, epochs: float) -> int:
        """Return how many steps make this many passes through the images; refuse a number below 0 or not finite."""
        check_number("epochs", epochs, MAX_SIZE // self.steps_per_epoch)
        return ceil(epochs * self.steps_per_epoch)

    def run(self, epochs: float = 1) -> "Training":
        """Train for this many passes through the images, and return itself. Raises DivergedError as `advance` does."""
        steps = self.steps_in(epochs)
        if steps:
            self.advance(steps)
        return self

    def stages(self, until: int) -> Iterator[int]:
        """Train to this step, and yield the number of steps done at each state that is kept, and at the end."""
        check_size("until", as_int(until), 0)
        while self.step < until:
            until_next_state = EVERY - self.step % EVERY
            self.advance(min(until_next_state, until - self.step))
            yield self.step

    @in_turn
    def advance(self, steps: int = EVERY) -> None:
        """Train for some steps, and read what was recorded at the end, or else once in a hundred steps.

        Raises
        ------
        DivergedError
            A loss was NaN or infinite. Parameters and velocities are those of the last state, and nothing later is
            kept.
        KeyboardInterrupt
            It is at the last state again, as nobody can say how many of these steps were done.
        """
        check_size("steps", as_int(steps), 1)
        until = self.step + steps
        update = self.network.update(self.learning_rate, self.momentum)
        while self.step < until:
            first = self.step
            count = min(self._history.rows, until - first)
            try:
                labels = self._submit(first, count, update)
                moments = self._history.moments(first, labels)
            except KeyboardInterrupt:
                self.rewind(first)
                raise
            self.moments += moments
            self.step += count
            for moment in moments:
                if not np.isfinite(moment.loss):
                    raise DivergedError(self._go_back(moment))

    def _submit(self, first: int, count: int, update: Sequence[Pass]) -> Array:
        """Start steps, which keep their states, and return the right answers (count, batch)."""
        step = first
        until = first + count
        labels = []
        while step < until:
            epoch, place = divmod(step, self.steps_per_epoch)
            if epoch != self._batches.epoch:
                self._batches.begin(epoch, shuffled(len(self.images), self.seed, epoch))
            end_of_epoch = (epoch + 1) * self.steps_per_epoch
            together = min(TOGETHER, end_of_epoch - step, until - step)
            passes = []
            for i in range(together):
                passes += self._passes_of_step(step + i, place + i, step + i - first, update)
            with turn(self.network):  # another thread may predict a batch of this size
                run(*passes)
            chosen = self._batches.order[place * self.batch : (place + together) * self.batch]
            labels.append(self.labels[chosen])
            step += together
        return np.concatenate(labels).reshape(count, self.batch)

    def _passes_of_step(self, step: int, place: int, row: int, update: Sequence[Pass]) -> list[Pass | Copy]:
        """The passes of one step, on the batch at a place in the epoch, and the copies of a state that is kept."""
        passes = [
            self._batches.take(place),
            *self._space.forward,
            *self._space.backward,
            self._history.record(row),
            *update,
        ]
        done = step + 1
        if done % EVERY == 0:
            self.states[done] = _copies_of_state(self.network)
            passes += self.states[done]
        return passes

    def _go_back(self, bad: Moment) -> str:
        """Go back to the state before a bad loss, and return the message that says so."""
        good = self.rewind(max(bad.step - 1, 0))  # the loss is that of the parameters before the step
        loss = "NaN" if np.isnan(bad.loss) else "infinite"
        return (
            f"the loss of step {bad.step} is {loss} at learning_rate = {self.learning_rate}: the parameters of step "
            f"{good} are back; go on from there with a smaller learning_rate"
        )

    @in_turn
    def rewind(self, step: int) -> int:
        """Go back to the last state at or before a step, and forget what came later; returns the step of that state.

        Training goes on from there, with the same batches as before.
        """
        check_size("step", as_int(step), 0)
        last = max(saved for saved in self.states if saved <= step)
        run(*(Copy(copy.target, copy.source) for copy in self.states[last]))
        self.states = {saved: copies for saved, copies in self.states.items() if saved <= last}
        self.step = last
        self.moments = self.moments[:last]
        return last


def check_training(training: Training) -> None:
    """Refuse what is not a Training."""
    if not isinstance(training, Training):
        raise TypeError(f"training is a {type(training).__name__}: it must be a Training")


def shuffled(count: int, seed: int, epoch: int) -> Array:
    """The order in which an epoch takes the images."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def _copies_of_state(network: Network) -> tuple[Copy, Copy]:
    """Copies that keep all parameters and velocities, each in a new buffer."""
    parameters = network.buffers["parameters"]
    velocities = network.buffers["velocities"]
    return (
        Copy(parameters, empty(parameters.size, "state")),
        Copy(velocities, empty(velocities.size, "state")),
    )


@cache
def _kernel(name: str) -> Kernel:
    """A kernel beside this file."""
    return Kernel(Path(__file__).with_name(f"{name}.wgsl").read_text(encoding="utf-8"), name)


def _dispatch(name: str, count: int, buffers: Sequence, *params: int) -> Pass:
    """A kernel with a thread for each of `count` numbers."""
    return Pass(_kernel(name), (*buffers, uniform(params)), flat(count))


class _Batches:
    """All images and labels on the GPU, the order of the epoch, and the dispatches that bring a batch of them."""

    def __init__(self, space: Workspace, images: Array, labels: Array) -> None:
        self.epoch = -1
        self.order = np.arange(len(images))
        self._order_buffer = upload(self.order.astype(np.uint32), "order")
        self._batch = space.batch
        self._image_size = prod(images.shape[1:])
        self._buffers = (
            self._order_buffer,
            upload(images, "images"),
            upload(labels, "labels"),
            space.buffers["images"],
            space.buffers["labels"],
        )
        self._dispatches: dict[int, Pass] = {}  # by the place in an epoch

    def begin(self, epoch: int, order: Array) -> None:
        """Take the images in another order from now on."""
        write(self._order_buffer, order.astype(np.uint32))
        self.epoch = epoch
        self.order = order

    def take(self, place: int) -> Pass:
        """The dispatch that brings the batch at a place in the epoch; it is made once."""
        if place not in self._dispatches:
            numbers = self._batch * self._image_size
            params = place * self._batch, self._batch, self._image_size
            self._dispatches[place] = _dispatch("take_batch", numbers, self._buffers, *params)
        return self._dispatches[place]


class _History:
    """Room on the GPU for what is recorded of `rows` steps, so that the host need not wait for each.

    A row has the losses, the logits, the first layer's parameters as they lie in the network's buffer, and their
    gradients.
    """

    def __init__(self, space: Workspace) -> None:
        network = space.network
        self._classes = network.classes
        self._losses = space.batch
        self._logits = space.batch * network.classes
        self._parameters = 0  # the numbers of the first layer's parameters and of the gaps between them
        self._places: dict[str, tuple[int, tuple[int, ...]]] = {}  # where a tensor begins in a row, and its shape
        self._place_tensors(network)
        self._words = self._losses + self._logits + 2 * self._parameters
        self.rows = max(1, min(MOST_ROWS, MOST_BYTES // (4 * self._words)))
        self._room = empty(4 * self._words * self.rows, "history")
        self._buffers = (
            space.buffers["losses"],
            space.buffers[space.logits],
            network.buffers["parameters"],
            network.buffers["gradients"],
            self._room,
        )
        self._dispatches: dict[int, Pass] = {}  # by the row

    def _place_tensors(self, network: Network) -> None:
        """Find where the first layer's parameters lie in a row, then the gradients, which lie behind them alike."""
        slices = network.slices()
        names = [name for name in network.shapes if name.startswith(f"{network.layers[0].name}.")]
        begin = self._losses + self._logits
        for name in names:
            part = slices[name]
            self._parameters = max(self._parameters, (part.offset + part.size) // 4)
            self._places[name] = begin + part.offset // 4, network.shapes[name]
        begin += self._parameters
        for name in names:
            self._places[gradient_of(name)] = begin + slices[name].offset // 4, network.shapes[name]

    def record(self, row: int) -> Pass:
        """The dispatch that writes a row; it is made once."""
        if row not in self._dispatches:
            counts = self._losses, self._logits, self._parameters
            self._dispatches[row] = _dispatch("record", self._words, self._buffers, row, *counts)
        return self._dispatches[row]

    def moments(self, first: int, labels: Array) -> list[Moment]:
        """The records since step `first`; the right answers are labels (steps, batch)."""
        steps, batch = labels.shape
        rows = read(self._room, (steps, self._words))
        losses = np.ascontiguousarray(rows[:, :batch]).mean(1)
        logits = rows[:, batch : batch + self._logits].reshape(steps, batch, self._classes)
        accuracies = (logits.argmax(2) == labels).mean(1)
        moments = []
        for i, row in enumerate(rows):
            moments.append(Moment(first + i, losses[i].item(), accuracies[i].item(), self._tensors(row)))
        return moments

    def _tensors(self, row: Array) -> dict[str, Array]:
        """The tensors in a row, by name."""
        tensors = {}
        for name, (begin, shape) in self._places.items():
            tensors[name] = row[begin : begin + prod(shape)].reshape(shape)
        return tensors
