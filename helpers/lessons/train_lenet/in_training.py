"""Wrong kernels in a network that trains: which of them stop it, and which learn all the same?

    Network(kernels=planted("weight gradient of one image"))

A run of a small network takes a second or two: two convolutions with a maximum between them, and one matrix.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers.data import tables
from helpers.data.digits import seen_and_unseen
from helpers.lessons.shared.pictures.curves import RunsPicture
from helpers.lessons.shared.wrong_kernels import BIAS_1, INPUT_1, WEIGHT_1, named, read_by_name
from helpers.network.layers import Conv2d, Linear, MaxPool2d
from helpers.network.network import Network
from wgsl import Kernel

SMALL = (
    Conv2d("conv1", 4, 5, stride=2),
    MaxPool2d("pool1", 2),
    Conv2d("conv2", 8, 3),
    Linear("fc1", 10, activation="none"),
)
BATCH, STEPS, LEARNING_RATE = 16, 80, 0.03  # of a run; it sees 40 batches of digits, each twice
UNSEEN = 250  # digits

OF_LESSON_05 = {  # version, and name in wrong_kernels.toml
    "weight gradient of one image": (WEIGHT_1, "batch not summed"),
    "weight gradient flipped": (WEIGHT_1, "filter flipped"),
    "input gradient not flipped": (INPUT_1, "correlated, not flipped"),
    "bias gradient of one image": (BIAS_1, "batch not summed"),
}
WRONG = {name: named(*row) for name, row in OF_LESSON_05.items()}
WRONG |= {wrong.name: wrong for wrong in read_by_name(Path(__file__).with_suffix(".toml"))}
NAMES = "right", *WRONG


def planted(name: str) -> dict[str, Kernel]:
    """The wrong kernel of this name, by its operation, as `Network` takes it; none for "right".

    Raises ValueError for a name that is not in NAMES.
    """
    if name not in NAMES:
        raise ValueError(f"name = {name!r}: it must be one of {', '.join(NAMES)}")
    if name == "right":
        return {}
    wrong = WRONG[name]
    operation, _, _ = wrong.kernel.partition("/")
    return {operation: wrong.wrong}


@dataclass(frozen=True)
class SmallRun:
    """A small network's run with one wrong kernel: the loss of each step, and what it then knows.

    The run ends where the loss is no longer a number; `accuracy` is the share of unseen digits that it names.
    """

    name: str
    losses: tuple[float, ...]
    accuracy: float

    def __repr__(self) -> str:
        if len(self.losses) < STEPS:
            end = f"NaN after {len(self.losses)} steps"
        else:
            end = f"loss {np.mean(self.losses[-10:]):.2f}, {self.accuracy:.0%} of unseen digits"
        return f"{self.name:<43}{end}"


def train_small(name: str = "right", learning_rate: float = LEARNING_RATE) -> SmallRun:
    """Train a small network with the wrong kernel of this name, always on the same digits in the same order."""
    images, labels, unseen, answers = seen_and_unseen()
    order = np.random.default_rng(0).permutation(BATCH * STEPS // 2)
    network, losses = Network(SMALL, kernels=planted(name)), []
    for step in range(STEPS):
        batch = np.resize(order, BATCH * STEPS)[step * BATCH : (step + 1) * BATCH]
        with np.errstate(over="ignore"):
            loss = network.step(images[batch], labels[batch], learning_rate)
        if not np.isfinite(loss):
            return SmallRun(name, tuple(losses), float("nan"))
        losses.append(loss)
    right = network.predict(unseen[:UNSEEN], batch=50) == answers[:UNSEEN]
    return SmallRun(name, tuple(losses), float(right.mean()))


# --- Exercise: which loss curve belongs to which mistake? -----------------------------------------------------

_CURVES = {
    "A": "weight gradient of one image",
    "B": "ReLU passes everything back",
    "C": "update adds the gradient",
    "D": "bias gradient of one image",
}
RECORDED = Path(__file__).with_name("four_curves.toml")


def recorded() -> dict[str, list[float]]:
    """The losses of all four runs, after those of a right run. Which is which? The question four_curves asks.

    They are recorded, as five runs take ten seconds on a processor, by
    `python -m helpers.lessons.train_lenet.in_training`.
    """
    return {name: table["losses"] for name, table in tables.read(RECORDED, {"losses": list}, {}).items()}


def curves() -> RunsPicture:
    """The same side by side."""
    return RunsPicture(recorded())


if __name__ == "__main__":
    runs = {"Right": train_small()} | {f"Curve {letter}": train_small(name) for letter, name in _CURVES.items()}
    text = "# The loss of each step, written by `python -m helpers.lessons.train_lenet.in_training`.\n"
    for name, run in runs.items():
        losses = ", ".join(f"{loss:.3f}" for loss in run.losses)
        text += f'\n["{name}"]\nlosses = [{losses}]\n'
    RECORDED.write_text(text, encoding="utf-8")
