"""What one step of training LeNet takes: our kernels, PyTorch, and PyTorch in a captured CUDA graph.

`python -m helpers.bench.training`: a step is forward, loss, backward and update over a batch that is on the device, by
the wall clock over many steps between two synchronizations, which is what a reader waits for. The contenders take
turns. Then a timeline by the GPU's timestamps: which step takes how long, and what lies between them.
"""

import argparse
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from helpers import gpu
from helpers.bench.__main__ import OUTPUT, about
from helpers.bench.contenders import clocked, quiet
from helpers.data.digits import seen_and_unseen
from helpers.gpu import timing
from helpers.gpu.passes import submit
from helpers.network.network import Network
from helpers.network.training import Training

BATCHES, ROUNDS = (32, 256), 7
LEARNING_RATE, MOMENTUM = 0.01, 0.9
CLOSE = 1e-3  # relative: how far the second step's losses may lie apart


@dataclass
class Contender:
    """One step, how to wait for all of them, the loss of the last one, and seconds a step, a round each."""

    name: str
    step: Callable[[], object]
    wait: Callable[[], object]
    loss: Callable[[], float]
    rounds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds of a step in the middle round."""
        return statistics.median(self.rounds)


# --- The contenders -----------------------------------------------------------------------------------------


def contenders(batch: int) -> Iterator[Contender]:
    """Ours first; each has made two steps from the same start."""
    yield _ours(batch)
    yield _recorded(batch)
    if importlib.util.find_spec("torch"):
        from helpers.bench.libraries import torch_devices

        for device in torch_devices():
            yield _eager(batch, device.device)
        if device.device == "cuda":
            yield _graph(batch)


def _ours(batch: int) -> Contender:
    """The passes of a step, in one submission."""
    seen, labels, *_ = seen_and_unseen()
    network = Network()
    for _ in range(2):
        loss = network.step(seen[:batch], labels[:batch], LEARNING_RATE, MOMENTUM)
    step = partial(gpu.run, *_passes(network, batch))
    return Contender("ours", step, partial(gpu.read, network.buffers["parameters"], (1,)), lambda: loss)


def _recorded(batch: int) -> Contender:
    """`Training`: every step brings a new batch, and keeps its loss, its answers and the first layer's parameters."""
    seen, labels, *_ = seen_and_unseen()
    network = Network()
    training = Training(network, seen[:batch], labels[:batch], batch=batch, learning_rate=LEARNING_RATE)
    training.advance(2)
    loss = training.moments[-1].loss
    del training.states[0]
    wait = partial(gpu.read, network.buffers["parameters"], (1,))
    return Contender("ours, Training", lambda: training.advance(1), wait, lambda: loss)


def _passes(network: Network, batch: int) -> tuple[gpu.Pass, ...]:
    space = network.workspace(batch)
    return *space.forward, *space.backward, *network.update(LEARNING_RATE, MOMENTUM)
