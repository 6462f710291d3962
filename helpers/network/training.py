"""Training: batches, one submission a step, what is recorded of the run, and going back in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from helpers.arguments import as_int, check_size
from helpers.gpu import empty, read, run, upload
from helpers.gpu.buffers import Slice, part_of
from helpers.gpu.passes import Copy
from helpers.network.layers import gradient_of
from helpers.network.network import Network, Workspace, check_batch
from helpers.network.shapes import UpdateShape

Array = np.ndarray
EVERY = 25  # steps between two readings of what was recorded; all parameters are kept then, too


class DivergedError(ValueError):
    """The loss is no longer a number. The network has the last good parameters again."""


@dataclass(frozen=True)
class Moment:
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
        Of the order of the images, another one in each epoch.

    Attributes
    ----------
    step : int
        Steps done.
    moments : list of Moment
        One a step.
    states : dict
        All parameters and velocities after every 25th step: what `rewind` goes back to.

    Raises
    ------
    TypeError, ValueError
        A wrong size, a number that is not finite, a label that is no class, or fewer images than one batch.
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
        check_size("batch", as_int(batch), largest=len(images))
        self.network, self.images, self.labels = network, images, labels.astype(np.uint32)
        self.batch, self.seed = int(batch), seed
        self.learning_rate, self.momentum = learning_rate, momentum
        self.step, self.moments = 0, []
        self.states = {0: network.state()}
        self._space, self._epoch = network.workspace(self.batch), -1
        self._history = _History(self._space)

    @property
    def steps_per_epoch(self) -> int:
        """How many full batches the images make."""
        return len(self.images) // self.batch

    def run(self, epochs: float = 1) -> "Training":
        """Train for this many passes through the images, and return itself. Raises DivergedError as `advance` does."""
        for _ in self.stages(self.step + ceil(epochs * self.steps_per_epoch)):
            pass
        return self

    def stages(self, until: int) -> Iterator[int]:
        """Train to this step, and yield the number of steps done at each reading."""
        while self.step < until:
            self.advance(min(EVERY - self.step % EVERY, until - self.step))
            yield self.step

    def advance(self, steps: int = EVERY) -> None:
        """Train for up to `EVERY` steps, then read once what was recorded.

        Raises
        ------
        DivergedError
            A loss was not a number. Parameters and velocities are those of the last state, and nothing later is kept.
        KeyboardInterrupt
            It is at the last state again, as nobody can say how many of these steps were done.
        """
        check_size("steps", as_int(steps), 1, EVERY)
        UpdateShape(1, self.learning_rate, self.momentum)  # refuses, before anything runs
        update = self.network.update(self.learning_rate, self.momentum)
        first, labels = self.step, []
        try:
            for at in range(steps):
                inputs, batch = self._next_batch(first + at)
                run(*inputs, *self._space.forward, *self._space.backward, *self._history.copies(at), *update)
                labels.append(batch)
            moments = [*self._history.moments(first, labels)]
        except KeyboardInterrupt:
            self.rewind(first)
            raise
        if bad := next((moment.step for moment in moments if not np.isfinite(moment.loss)), None):
            raise DivergedError(self._go_back(bad))
        self.moments += moments
        self.step += steps
        if self.step % EVERY == 0:
            self.states[self.step] = self.network.state()

    def _go_back(self, bad: int) -> str:
        good = self.rewind(bad)
        return (
            f"the loss of step {bad} is not a number, at learning_rate = {self.learning_rate}: the parameters of step "
            f"{good} are back; go on from there with a smaller learning_rate"
        )

    def rewind(self, step: int) -> int:
        """Go back to the last state at or before a step, and forget what came later; returns the step of that state.

        Training goes on from there, with the same batches as before.
        """
        check_size("step", as_int(step), 0)
        good = max(kept for kept in self.states if kept <= step)
        self.network.restore(self.states[good])
        self.states = {kept: state for kept, state in self.states.items() if kept <= good}
        self.step, self.moments = good, self.moments[:good]
        return good

    def _next_batch(self, step: int) -> tuple[list[Copy], Array]:
        """The copies that bring the batch of a step to where the network reads it, and its labels."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, (order := shuffled(len(self.images), self.seed, epoch))
            self._resident = [upload(self.images[order], "images"), upload(self.labels[order], "labels")]
        targets = [part_of(self._space.buffers[name]) for name in ("images", "labels")]
        sources = (Slice(whole, place * own.size, own.size) for whole, own in zip(self._resident, targets, strict=True))
        copies = [*map(Copy, sources, targets)]
        return copies, self.labels[self._order[place * self.batch : (place + 1) * self.batch]]


def shuffled(count: int, seed: int, epoch: int) -> Array:
    """The order in which an epoch takes the images."""
    return np.random.default_rng([seed, epoch]).permutation(count)


class _History:
    """Room on the GPU for what is recorded of `EVERY` steps, so that the host need not wait for each."""

    def __init__(self, space: Workspace) -> None:
        first = f"{space.network.layers[0].name}."
        own = [name for name in space.network.shapes if name.startswith(first)]
        names = ["losses", space.logits, *own, *map(gradient_of, own)]
        self._sources = [part_of(space.buffers[name]) for name in names]
        self._shapes = {name: space.sizes[name] for name in names}
        self._words = sum(map(prod, self._shapes.values()))
        self._room = empty(4 * self._words * EVERY, "history")

    def copies(self, at: int) -> Iterator[Copy]:
        """The copies that keep step number `at` since the last reading."""
        offset = 4 * self._words * at
        for source in self._sources:
            yield Copy(source, Slice(self._room, offset, source.size))
            offset += source.size

    def moments(self, first: int, labels: list[Array]) -> Iterator[Moment]:
        """What was kept since step `first`."""
        rows = read(self._room, (len(labels), self._words))
        ends = np.cumsum([prod(shape) for shape in self._shapes.values()])[:-1]
        for at, (row, batch) in enumerate(zip(rows, labels, strict=True)):
            parts = zip(self._shapes.items(), np.split(row, ends), strict=True)
            losses, logits, *kept = ((name, flat.reshape(shape)) for (name, shape), flat in parts)
            right = (logits[1].reshape(len(batch), -1).argmax(1) == batch).mean()
            yield Moment(first + at, float(losses[1].mean()), float(right), dict(kept))
