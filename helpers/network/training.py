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
from helpers.operations.network.shapes import UpdateShape
from helpers.operations.operation import flat
from wgsl import Kernel

Array = np.ndarray
EVERY = 25  # steps between two states that are kept
TOGETHER = 5  # steps a submission
MOST_ROWS, MOST_BYTES = 100, 2**24  # steps between two readings of what was recorded, and the room that they may take


class DivergedError(ValueError):
    """The loss is NaN or infinite. The network has the last good parameters again."""


class Moment(NamedTuple):
    """What is recorded of one step: its mean loss before the update, the share of its batch that was right, and the
    first layer's parameters and gradients, by name, as they were in this step."""

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
        UpdateShape(network.words, learning_rate, momentum)  # refuses numbers that no update takes
        self.network, self.images, self.labels = network, images, labels.astype(np.uint32)
        self.batch, self.seed = int(batch), seed
        self.learning_rate, self.momentum = learning_rate, momentum
        network.update(learning_rate, momentum)  # refuses a rate or a momentum that float32 cannot hold
        self.step, self.moments = 0, []
        self._space = network.workspace(self.batch)
        self._history = _History(self._space)
        self._batches = _Batches(self._space, images, self.labels)
        self.states = {0: _kept(network)}
        run(*self.states[0])

    @property
    def steps_per_epoch(self) -> int:
        """How many full batches the images make."""
        return len(self.images) // self.batch

    def steps_in(self, epochs: float) -> int:
        """Return how many steps make this many passes through the images; refuse a number below 0 or not finite."""
        check_number("epochs", epochs, MAX_SIZE // self.steps_per_epoch)
        return ceil(epochs * self.steps_per_epoch)

    def run(self, epochs: float = 1) -> "Training":
        """Train for this many passes through the images, and return itself. Raises DivergedError as `advance` does."""
        if steps := self.steps_in(epochs):
            self.advance(steps)
        return self

    def stages(self, until: int) -> Iterator[int]:
        """Train to this step, and yield the number of steps done at each state that is kept, and at the end."""
        check_size("until", as_int(until), 0)
        while self.step < until:
            self.advance(min(EVERY - self.step % EVERY, until - self.step))
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
        until, update = self.step + steps, self.network.update(self.learning_rate, self.momentum)
        while self.step < until:
            first, count = self.step, min(self._history.rows, until - self.step)
            try:
                moments = self._history.moments(first, self._submit(first, count, update))
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
        step, until, labels = first, first + count, []
        while step < until:
            epoch, place = divmod(step, self.steps_per_epoch)
            if epoch != self._batches.epoch:
                self._batches.begin(epoch, shuffled(len(self.images), self.seed, epoch))
            end, passes = min(step + TOGETHER, (epoch + 1) * self.steps_per_epoch, until), []
            for at in range(step, end):
                passes += [self._batches.take(place + at - step), *self._space.forward, *self._space.backward]
                passes += [self._history.record(at - first), *update]
                if (at + 1) % EVERY == 0:
                    self.states[at + 1] = _kept(self.network)
                    passes += self.states[at + 1]
            with turn(self.network):  # another thread may predict a batch of this size
                run(*passes)
            chosen = self._batches.order[place * self.batch : (place + end - step) * self.batch]
            labels.append(self.labels[chosen])
            step = end
        return np.concatenate(labels).reshape(count, self.batch)

    def _go_back(self, bad: Moment) -> str:
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
        good = max(kept for kept in self.states if kept <= step)
        run(*(Copy(kept.target, kept.source) for kept in self.states[good]))
        self.states = {kept: state for kept, state in self.states.items() if kept <= good}
        self.step, self.moments = good, self.moments[:good]
        return good


def check_training(training: Training) -> None:
    """Refuse what is not a Training."""
    if not isinstance(training, Training):
        raise TypeError(f"training is a {type(training).__name__}: it must be a Training")


def shuffled(count: int, seed: int, epoch: int) -> Array:
    """The order in which an epoch takes the images."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def _kept(network: Network) -> tuple[Copy, ...]:
    """Copies that keep all parameters and velocities, each in a buffer of its own."""
    copied = [network.buffers[name] for name in ("parameters", "velocities")]
    return tuple(Copy(buffer, empty(buffer.size, "state")) for buffer in copied)


@cache
def _kernel(name: str) -> Kernel:
    """A kernel beside this file."""
    return Kernel(Path(__file__).with_name(f"{name}.wgsl").read_text(encoding="utf-8"), name)


def _dispatch(name: str, count: int, buffers: Sequence, *params: int) -> Pass:
    """A kernel with a thread for each of `count` numbers."""
    return Pass(_kernel(name), (*buffers, uniform(params)), flat(count))


class _Batches:
    """All images and labels on the GPU, the order of the epoch, and `take`: the dispatch that brings a batch of them.

    It is made once for each place in an epoch.
    """

    def __init__(self, space: Workspace, images: Array, labels: Array) -> None:
        self.epoch, self.order, batch, size = -1, np.arange(len(images)), space.batch, prod(images.shape[1:])
        self._places = upload(self.order.astype(np.uint32), "order")
        whole = self._places, upload(images, "images"), upload(labels, "labels")
        buffers = *whole, space.buffers["images"], space.buffers["labels"]
        self.take = cache(lambda place: _dispatch("take_batch", batch * size, buffers, place * batch, batch, size))

    def begin(self, epoch: int, order: Array) -> None:
        """Take the images in another order from now on."""
        write(self._places, order.astype(np.uint32))
        self.epoch, self.order = epoch, order


class _History:
    """Room on the GPU for what is recorded of `rows` steps, so that the host need not wait for each.

    A row has the losses, the logits, the first layer's parameters as they lie in the network's buffer, and their
    gradients; `record` is the dispatch that writes it, which is made once for each row.
    """

    def __init__(self, space: Workspace) -> None:
        network, slices = space.network, space.network.slices()
        own = [name for name in network.shapes if name.startswith(f"{network.layers[0].name}.")]
        ends = [(slices[name].offset + slices[name].size) // 4 for name in own]
        counts = space.batch, space.batch * network.classes, max(ends, default=0)
        self._places = {
            of(name): (begin + slices[name].offset // 4, network.shapes[name])
            for of, begin in ((str, sum(counts[:2])), (gradient_of, sum(counts)))  # parameters, and their gradients
            for name in own
        }
        self._classes, self._words = network.classes, (words := sum(counts) + counts[2])
        self.rows = max(1, min(MOST_ROWS, MOST_BYTES // (4 * words)))
        self._room = empty(4 * words * self.rows, "history")
        batch = space.buffers["losses"], space.buffers[space.logits]
        buffers = *batch, network.buffers["parameters"], network.buffers["gradients"], self._room
        self.record = cache(lambda row: _dispatch("record", words, buffers, row, *counts))

    def moments(self, first: int, labels: Array) -> list[Moment]:
        """What was recorded since step `first`; the right answers are labels (steps, batch)."""
        steps, batch = labels.shape
        rows = read(self._room, (steps, self._words))
        losses = np.ascontiguousarray(rows[:, :batch]).mean(1).tolist()
        logits = rows[:, batch : batch * (1 + self._classes)].reshape(steps, batch, self._classes)
        right = (logits.argmax(2) == labels).mean(1).tolist()
        tensors = [
            {name: row[begin : begin + prod(shape)].reshape(shape) for name, (begin, shape) in self._places.items()}
            for row in rows
        ]
        return [*map(Moment, range(first, first + steps), losses, right, tensors)]
