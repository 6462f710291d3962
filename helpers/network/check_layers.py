"""Which kernel of a network is wrong? One step of training, and each of its operations judged on its own tensors.

A loss that falls proves little: many wrong gradients learn, too. Here every operation is judged alone, by what it read
on the GPU and what it wrote there. An error that an operation was given is none of its own, so a wrong kernel does not
make the steps after it wrong.

Gradients that are sums of products are judged by the adjoint test, whose one dot product has blind spots: what a
gradient adds at right angles to the argument (which of several equal pixels pooling takes, say: in LeNet they are
zeros, whose gradient the ReLU drops, or lie over empty paper, where the filter sees the same), what is smaller than the
rounding errors that are allowed (they grow with the batch, so take a few images), and what two mistakes cancel. A
forward pass, the derivative of ReLU, the loss and the update are compared with the formula, number by number. What no
step of this network shows, such as a stride of 2 in LeNet, is not judged at all.
"""

from collections.abc import Sequence

import numpy as np

from helpers.checks.adjoint import directions
from helpers.checks.report import Report
from helpers.data.turns import turn
from helpers.gpu import read, run
from helpers.gpu.buffers import write
from helpers.network.network import Network, check_batch
from helpers.operations.network import check
from helpers.operations.network.shapes import UpdateShape

Array = np.ndarray
UPDATE = "update: sgd"


class StepReports(dict[str, tuple[Report, ...]]):
    """The reports on the arrays of each step, by the step's name, such as "conv2: conv2d_grad_weight"."""

    @property
    def wrong(self) -> list[str]:
        """The names of the steps that are wrong."""
        return [name for name, reports in self.items() if not all(reports)]

    def __repr__(self) -> str:
        lines = [f"{name:<30}{_said(reports)}" for name, reports in self.items()]
        return "\n".join([*lines, f"{len(self) - len(self.wrong)} of {len(self)} steps are right"])


def _said(reports: Sequence[Report]) -> str:
    """One line: that all is right, or the first report that says otherwise."""
    wrong = next((report for report in reports if not report), None)
    return "right" if wrong is None else f"wrong: {' '.join(repr(wrong).split())}"


def check_step(
    network: Network, images: Array, labels: Array, learning_rate: float = 0.05, momentum: float = 0.9
) -> StepReports:
    """Make one step of training, judge each of its operations, and take the step back.

    The arguments are those of `Network.step`; 4 to 16 images are enough. The gradient of the images, which training
    leaves out, is judged as well.
    """
    check_batch(network, images, labels)
    UpdateShape(network.words, learning_rate, momentum)  # refuses numbers that no update takes
    with turn(network):
        return _judged(network, images, labels, learning_rate, momentum)


def _judged(network: Network, images: Array, labels: Array, learning_rate: float, momentum: float) -> StepReports:
    """Return what is said of each operation; no other thread may use the network meanwhile."""
    before, space = network.state(), network.workspace(len(images))
    space.compute(images, labels)
    tensors = {name: space.tensor(name) for step in space.all_steps for name in step.tensors}
    reports = StepReports()
    for step in space.all_steps:
        operation, shape = step.operation, step.shape
        names = zip(operation.tensors, step.tensors, strict=True)
        own = {own: tensors[name].reshape(shape.of(own)) for own, name in names}  # an output is the next one's input
        got = [own[name] for name in operation.outputs]
        reports[step.name] = tuple(operation.reports(shape, own, got, operation.adjoint))
    try:
        reports[UPDATE] = _update(network, learning_rate, momentum)
    finally:
        network.restore(before)
    return reports


def _update(network: Network, learning_rate: float, momentum: float) -> tuple[Report, ...]:
    """Run the update on velocities that are not 0, and compare what it wrote with the formula."""
    write(network.buffers["velocities"], directions((network.words,))[0])

    def buffers(*names: str) -> list[Array]:
        return [read(network.buffers[name], (network.words,)) for name in names]

    given = buffers("parameters", "gradients", "velocities")
    run(*network.update(learning_rate, momentum))
    shape = UpdateShape(network.words, learning_rate, momentum)
    return tuple(check.sgd(buffers("parameters", "velocities"), *given, shape))
