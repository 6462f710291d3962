"""The twin of a network in float64: the same steps, from the same start, by NumPy's matrix products.

It walks the network's own list of steps, so it proves the kernels and their order in one submission. The list itself
is proven by finite differences of the twin's loss, which use the forward half alone.
"""

import numpy as np

from helpers.activations import act
from helpers.convolution.shapes import ConvShape
from helpers.network.layers import Step, gradient_of
from helpers.network.network import Network
from helpers.network.reference import sgd
from helpers.operations import OPERATIONS

Array = np.ndarray


def _columns(s: ConvShape, x: Array) -> Array:
    """im2col: the window of each output as a row, (N*oH*oW, Ci*kH*kW)."""
    (rows, columns), (down, right) = s.padding, s.stride
    padded = np.pad(x, [(0, 0), (0, 0), (rows, rows), (columns, columns)])
    seen = np.lib.stride_tricks.sliding_window_view(padded, s.weight[2:], (2, 3))[:, :, ::down, ::right]
    return seen.transpose(0, 2, 3, 1, 4, 5).reshape(-1, np.prod(s.weight[1:]))


def _rows(s: ConvShape, grad: Array) -> Array:
    """The gradient of an output with the channels last, (N*oH*oW, Co)."""
    return grad.transpose(0, 2, 3, 1).reshape(-1, s.out_channels)


def _conv2d(x: Array, w: Array, b: Array, s: ConvShape) -> Array:
    output = (_columns(s, x) @ w.reshape(len(w), -1).T + b).reshape(s.batch, s.out_h, s.out_w, -1)
    return act(output.transpose(0, 3, 1, 2), s.activation)


def _grad_input(grad: Array, w: Array, s: ConvShape) -> Array:
    """col2im: each window's share is added where the window lies."""
    (n, ci, h, width), (rows, columns), (down, right) = s.input, s.padding, s.stride
    shares = (_rows(s, grad) @ w.reshape(len(w), -1)).reshape(n, s.out_h, s.out_w, *s.weight[1:])
    padded = np.zeros((n, ci, h + 2 * rows, width + 2 * columns))
    for kh, kw in np.ndindex(s.weight[2:]):
        under = padded[:, :, kh : kh + down * s.out_h : down, kw : kw + right * s.out_w : right]
        under += shares[..., kh, kw].transpose(0, 3, 1, 2)
    return padded[:, :, rows : rows + h, columns : columns + width]


RIGHT = {
    name: operation.answer for name, operation in OPERATIONS.items()
} | {  # beside the references of convolution, which are einsums over all windows
    "conv2d": _conv2d,
    "conv2d_grad_weight": lambda dy, x, s: (_rows(s, dy).T @ _columns(s, x)).reshape(s.weight),
    "conv2d_grad_input": _grad_input,
}


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
        return {name: self.tensors[gradient_of(name)].reshape(own.shape) for name, own in self.parameters.items()}

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
        own, given = step.operation.inputs, dict(zip(step.operation.tensors, step.tensors, strict=True))
        inputs = [self.tensors[given[name]].reshape(step.shape.of(name)) for name in own]
        found = RIGHT[step.operation.name](*inputs, step.shape)
        found = found if isinstance(found, tuple) else (found,)
        for name, array in zip(step.operation.outputs, found, strict=True):
            self.tensors[given[name]] = array
