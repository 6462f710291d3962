"""LeNet trained by several workers: each computes the gradients of some parts of a batch, which a tree combines.

Which parts there are, and in which order they are combined, does not depend on the workers: so the losses are the same
to the last bit, whoever computes them.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from helpers.data.digits import seen_and_unseen
from helpers.data.turns import turn
from helpers.gpu import read
from helpers.grading.verdict import MessageAlone
from helpers.lessons.many_gpus.own_lines import OURS, OwnLines, own_lines
from helpers.network.network import Network
from helpers.workers import WorkersError

if TYPE_CHECKING:
    from distributed import Client, Future

    from helpers.workers.cluster import Workers

Array = np.ndarray
Tree = Callable[["Client", Sequence["Future"]], "Future"]

# of a batch, and images of each of them
PARTS = 4
EACH = 2
LEARNING_RATE = 0.05
MOMENTUM = 0.9
GOES_ON = "The lesson goes on with two workers on this machine."
NOT_OURS = (
    "Your workers were not started here, and may be computing for others: none of them is killed. Two start on this "
    "machine, and one of these is. If its GPU is of another make, the last bits may differ."
)
IN_A_BROWSER = (
    "a page in a browser cannot start workers: read this lesson as a page, with what was stored of each cell; "
    "installed on a machine of your own, as the README says, it runs"
)


class NoWorkersError(MessageAlone, WorkersError):
    """The reason why there are no workers."""


class _Nobody:
    """A stand-in for workers where there can be none: each use of it says why."""

    def __repr__(self) -> str:
        return IN_A_BROWSER

    def __getattr__(self, name: str) -> NoReturn:
        raise NoWorkersError(IN_A_BROWSER)


def start(address: str = "2") -> "Workers":
    """Workers of the Dask scheduler at an address, or as many processes on this machine; `close` ends them.

    Where nobody answers, or a worker differs from this process, it says so, and starts two here.
    """
    if sys.platform == "emscripten":
        sys.modules["dask"] = _Nobody()  # which is not there either: to import it says the same
        return sys.modules["dask"]
    from helpers.workers.cluster import Workers  # which imports Dask

    try:
        return Workers(address)
    except WorkersError as error:
        why = error.why
        if error.workers is not None:  # in a notebook without the name of the option, which is a command's
            why = f"{error.workers}: {why}"
        print(f"{why}\n{GOES_ON}")
        return Workers("2")


# --- What travels -------------------------------------------------------------------------------------------------


class _Sized:
    """Says how many bytes its arrays have: Python alone would count none of them."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(getattr(value, "nbytes", 8) for value in vars(self).values())


@dataclass(frozen=True)
class Part(_Sized):
    """A recipe for a gradient: the parameters of LeNet, and the first image and the first one after the last.

    These numbers travel, and so do the lines by which gradients are combined. The buffers that a worker's GPU fills
    from the numbers cannot.
    """

    parameters: Array
    first: int
    end: int
    lines: OwnLines = OURS


@dataclass(frozen=True)
class Gradient(_Sized):
    """The mean gradient of some images, their mean loss, and the lines by which both are combined with others."""

    numbers: Array
    loss: float
    images: int
    lines: OwnLines = OURS


@cache
def _network() -> Network:
    """This process's LeNet, whose kernels are compiled once."""
    return Network()


def gradient(part: Part) -> Gradient:
    """Follow a recipe on a worker: its GPU computes, and numbers come back."""
    images, labels, *_ = seen_and_unseen()
    return gradient_in(_network(), images, labels, part)


def gradient_in(network: Network, images: Array, labels: Array, part: Part) -> Gradient:
    """The mean gradient of a part of some images in a network."""
    chosen = slice(part.first, part.end)
    with turn(network):  # a worker may have several threads
        network.restore((part.parameters, np.zeros_like(part.parameters)))
        loss = network.step(images[chosen], labels[chosen], learning_rate=0)
        numbers = read(network.buffers["gradients"], (network.words,))
    return Gradient(numbers, loss, part.end - part.first, part.lines)


def combine(a: Gradient, b: Gradient) -> Gradient:
    """The mean over the images of both, by the reader's lines if they are right."""
    numbers = a.lines.mean_gradient(a.numbers, b.numbers, a.images, b.images)
    loss = a.lines.mean(a.loss, b.loss, a.images, b.images)
    return Gradient(numbers, loss, a.images + b.images, a.lines)


# --- Who computes -------------------------------------------------------------------------------------------------


def parts(parameters: Array, step: int, images: int = EACH) -> list[Part]:
    """The recipes of a batch, with this many images in each part; the reader's lines split it, if they are right."""
    lines = own_lines()
    first = step * PARTS * images
    bounds = lines.bounds(PARTS * images, PARTS)
    return [Part(parameters, first + begin, first + end, lines) for begin, end in bounds]


def gradients(
    workers: "Workers", recipes: Sequence[Part], alone: bool = False, made: Callable[[Part], Gradient] = gradient
) -> list["Future"]:
    """Have each worker compute neighboring parts, or the first one all; others step in where one is gone."""
    names = workers.names[:1] if alone else workers.names
    chosen = (names[k * len(names) // len(recipes)] for k in range(len(recipes)))
    how = {"allow_other_workers": True, "pure": False}
    return [
        workers.client.submit(made, recipe, workers=[name], **how) for recipe, name in zip(recipes, chosen, strict=True)
    ]


def start_of_lenet() -> Array:
    """LeNet's parameters before training."""
    return _network().state()[0]


def train(
    workers: "Workers", tree: Tree, steps: int = 3, alone: bool = False, kill_in_step: int | None = None
) -> list[float]:
    """The losses of LeNet in some steps; in the middle of `kill_in_step`, the last worker is killed.

    Only a process that was started here is killed: of others' workers, none is, and two that start here take over.
    """
    if kill_in_step is not None and not workers.own:
        print(NOT_OURS)
        with closing(start()) as ours:
            return train(ours, tree, steps, alone, kill_in_step)
    workers.wait()
    parameters = start_of_lenet()
    velocity = np.zeros_like(parameters)
    losses = []
    for step in range(steps):
        computed = gradients(workers, parts(parameters, step), alone)
        if step == kill_in_step:
            workers.kill(computed[-2:-1])  # its own first part is done, its second one is not
        mean = tree(workers.client, computed).result()
        velocity = np.float32(MOMENTUM) * velocity + mean.numbers
        parameters = parameters - np.float32(LEARNING_RATE) * velocity
        losses.append(mean.loss)
    return losses


def overhead(workers: "Workers", times: int = 20) -> float:
    """Seconds that handing over takes: the median of some steps in which every worker returns what it was given."""
    numbers = np.zeros(_network().words, np.float32)
    took = []
    for _ in range(times):
        begin = perf_counter()
        sent = [workers.client.submit(np.negative, numbers, workers=[name], pure=False) for name in workers.names]
        workers.client.gather(sent)
        took.append(perf_counter() - begin)
    return float(np.median(took))
