"""The twin of a network in float64: the same steps, from the same start, by the references.

It walks the network's own list of steps, so it proves the kernels and their order in one submission. The list itself
is proven by finite differences of the twin's loss, which use the forward half alone.
"""

import numpy as np

from helpers.network.layers import Step, gradient_of
from helpers.network.network import Network
from helpers.operations.network.reference import sgd
from helpers.operations.registry import OPERATIONS

Array = np.ndarray


RIGHT = {name: operation.answer for name, operation in OPERATIONS.items()}


class Float64Network:
    """The twin of a network. `tensors` holds those of the last step by name, `parameters` what it has learned."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.parameters = {name: array.astype(np.float64) for name, array in network.parameters().items()}
        self.velocities = {name: np.zeros_like(array) for name, array in self.parameters.items()}
        self.tensors: dict[str, Array] = {}

    def forward(self, images: Array, labels: Array) -> float:
        """The mean loss, at the parameters as they are."""
        self.tensors = {"images": images.astype(np.float64), "labels": labels.astype(np.int64), **self.parameters}
        for step in self._steps()[0]:
            self._run(step)
        return self.tensors["losses"].mean()

    def gradients(self, images: Array, labels: Array) -> dict[str, Array]:
        """The gradients of all parameters, by the names of these."""
        self.forward(images, labels)
        for step in self._steps()[1]:
            self._run(step)
        return {
            name: self.tensors[gradient_of(name)].reshape(parameter.shape)
            for name, parameter in self.parameters.items()
        }

    def step(self, images: Array, labels: Array, learning_rate: float = 0.05, momentum: float = 0.9) -> float:
        """One step of training; returns the mean loss before it."""
        for name, grad in self.gradients(images, labels).items():
            state = self.parameters[name], grad, self.velocities[name]
            self.parameters[name], self.velocities[name] = sgd(*state, learning_rate, momentum)
        return self.tensors["losses"].mean()

    def _steps(self) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """The steps up to the loss, and those behind it."""
        steps = self.network.workspace(len(self.tensors["images"])).steps
        middle = [step.layer for step in steps].index("loss") + 1
        return steps[:middle], steps[middle:]

    def _run(self, step: Step) -> None:
        """Compute what a step computes, and keep it under the names that it gives."""
        operation = step.operation
        names = dict(zip(operation.tensors, step.tensors, strict=True))  # the network's, by the operation's
        inputs = [self.tensors[names[name]].reshape(step.shape.of(name)) for name in operation.inputs]
        outputs = RIGHT[operation.name](*inputs, step.shape)
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        for name, array in zip(operation.outputs, outputs, strict=True):
            self.tensors[names[name]] = array
