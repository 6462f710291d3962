"""Find the kernel of a network that is wrong: one step of training, each of its operations judged on its own tensors.

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

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.checks.adjoint import directions
from helpers.checks.report import Report
from helpers.data.turns import turn
from helpers.gpu import read, run
from helpers.gpu.buffers import write
from helpers.network.layers import Step
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
        lines = [f"{name:<30}{_in_one_line(reports)}" for name, reports in self.items()]
        right = len(self) - len(self.wrong)
        lines.append(f"{right} of {len(self)} steps are right")
        return "\n".join(lines)


def _in_one_line(reports: Sequence[Report]) -> str:
    """One line: that all is right, or the first report that says otherwise."""
    for report in reports:
        if not report:
            return f"wrong: {' '.join(repr(report).split())}"
    return "right"


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
        return _judge_step(network, images, labels, learning_rate, momentum)


def _judge_step(network: Network, images: Array, labels: Array, learning_rate: float, momentum: float) -> StepReports:
    """Return the reports on each operation; no other thread may use the network meanwhile."""
    before = network.state()
    space = network.workspace(len(images))
    space.compute(images, labels)
    tensors = {name: space.tensor(name) for name in space.sizes}
    reports = StepReports()
    for step in space.all_steps:
        reports[step.name] = _judge_operation(step, tensors)
    try:
        reports[UPDATE] = _judge_update(network, learning_rate, momentum)
    finally:
        network.restore(before)
    return reports


def _judge_operation(step: Step, tensors: Mapping[str, Array]) -> tuple[Report, ...]:
    """Return the reports on the outputs of a step, which are right for the inputs that it had."""
    operation = step.operation
    arrays = {}  # by the operation's names
    for tensor, name in zip(operation.tensors, step.tensors, strict=True):
        arrays[tensor] = tensors[name].reshape(step.shape.of(tensor))  # each layer has a shape of its own for a tensor
    outputs = [arrays[tensor] for tensor in operation.outputs]
    return tuple(operation.reports(step.shape, arrays, outputs, operation.adjoint))


def _judge_update(network: Network, learning_rate: float, momentum: float) -> tuple[Report, ...]:
    """Run the update on velocities that are not 0, and compare the numbers that it wrote with the formula."""
    write(network.buffers["velocities"], directions((network.words,))[0])
    before = _numbers(network, "parameters", "gradients", "velocities")
    run(*network.update(learning_rate, momentum))
    after = _numbers(network, "parameters", "velocities")
    shape = UpdateShape(network.words, learning_rate, momentum)
    return tuple(check.sgd(after, *before, shape))


def _numbers(network: Network, *buffers: str) -> list[Array]:
    """The numbers in some of a network's buffers (words,)."""
    return [read(network.buffers[name], (network.words,)) for name in buffers]
