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

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from helpers.checks.report import Report
from helpers.convolution import check as convolution
from helpers.convolution.shapes import STEPS, ConvShape
from helpers.gemm import check as gemm
from helpers.gpu import read, run
from helpers.gpu.buffers import write
from helpers.gpu.operation import Shape
from helpers.network import check, reference
from helpers.network.network import Network
from helpers.network.shapes import UpdateShape

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
    before, space = network.state(), network.workspace(len(images))
    space.compute(images, labels)
    tensors = {name: space.tensor(name) for step in space.all_steps for name in step.tensors}
    reports = StepReports()
    for step in space.all_steps:
        sizes = map(step.shape.of, step.operation.tensors)  # one layer's output is another one's input
        own = (tensors[name].reshape(size) for name, size in zip(step.tensors, sizes, strict=True))
        reports[step.name] = tuple(JUDGES[step.operation.name](step.shape, *own))
    try:
        reports[UPDATE] = _update(network, learning_rate, momentum)
    finally:
        network.restore(before)
    return reports


def _update(network: Network, learning_rate: float, momentum: float) -> tuple[Report, ...]:
    """Run the update on velocities that are not 0, and compare what it wrote with the formula."""
    write(network.buffers["velocities"], next(_directions((network.words,))))

    def buffers(*names: str) -> list[Array]:
        return [read(network.buffers[name], (network.words,)) for name in names]

    given = buffers("parameters", "gradients", "velocities")
    run(*network.update(learning_rate, momentum))
    shape = UpdateShape(network.words, learning_rate, momentum)
    return tuple(check.sgd(buffers("parameters", "velocities"), *given, shape))


# --- By the name of the operation: its sizes, and its tensors in binding order --------------------------------


def _steps(s: ConvShape) -> list:
    return [getattr(s, name) for name in STEPS]


def _conv2d(s: ConvShape, x: Array, w: Array, bias: Array, y: Array) -> list[Report]:
    return [convolution.conv2d(y, x, w, bias, *_steps(s), activation=s.activation)]


def _weight(s: ConvShape, dy: Array, x: Array, got: Array) -> list[Report]:
    return [convolution.adjoint(x, w, dy, *_steps(s), grad_weight=got) for w in _directions(s.weight)]


def _input(s: ConvShape, dy: Array, w: Array, got: Array) -> list[Report]:
    return [convolution.adjoint(x, w, dy, *_steps(s), grad_input=got) for x in _directions(s.input)]


def _bias(s: ConvShape, dy: Array, got: Array) -> list[Report]:
    arguments = np.zeros(s.input), np.zeros(s.weight), dy, *_steps(s)
    return [convolution.adjoint(*arguments, bias=bias, grad_bias=got) for bias in _directions((s.out_channels,))]


def _linear(s: Shape, a: Array, b: Array, bias: Array, dy: Array, pre: Array, *gradients: Array) -> list[Report]:
    named = dict(zip(gemm.GRADIENTS, gradients, strict=True))
    return [gemm.adjoint(a, b, bias, dy, s.activation, **named)]


JUDGES: dict[str, Callable[..., Sequence[Report]]] = {
    "conv2d": _conv2d,
    "conv2d_grad_weight": _weight,
    "conv2d_grad_input": _input,
    "conv2d_grad_bias": _bias,
    "gemm_bias_act": lambda s, a, b, bias, y: [gemm.gemm_bias_act(y, a, b, bias, s.activation)],
    "gemm_bias_act_backward": _linear,
    "max_pool2d": lambda s, x, y: [check.max_pool2d(y, x, s)],
    "max_pool2d_backward": lambda s, x, dy, got: [check.adjoint(got, x, dy, s, reference.max_pool2d)],
    "avg_pool2d": lambda s, x, y: [check.avg_pool2d(y, x, s)],
    "avg_pool2d_backward": lambda s, dy, got: [
        check.adjoint(got, x, dy, s, reference.avg_pool2d) for x in _directions(s.of("input"))
    ],
    "relu_backward": lambda s, y, dy, got: [check.relu_backward(got, y, dy)],
    "cross_entropy": lambda s, z, labels, losses, grad: check.cross_entropy((losses, grad), z, labels),
}


def _directions(shape: tuple[int, ...]) -> Iterator[Array]:
    """Three random arguments, in whose directions a linear operation is judged.

    Its own one may be 0 where the mistake is, and one may by chance lie at right angles to the mistake.
    """
    for seed in range(3):
        yield np.random.default_rng(seed).standard_normal(shape, np.float32)
