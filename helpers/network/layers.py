"""The layers of a network: what each computes forward, and what it passes back.

A layer is a description. For an input size and a batch it names its steps, which are the operations of lessons 01 to
06, each with the tensors that it reads and writes. The chain rule is then a list of steps: all layers forward, and the
same layers backward.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, Protocol

from helpers.convolution.operations import FORWARD, GRAD_BIAS, GRAD_INPUT, GRAD_WEIGHT
from helpers.convolution.shapes import ConvShape
from helpers.gemm.operations import BACKWARD as GEMM_BACKWARD
from helpers.gemm.operations import FORWARD as GEMM
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Operation, Shape
from helpers.network.operations import AVG, AVG_BACKWARD, MAX, MAX_BACKWARD, RELU_BACKWARD
from helpers.network.shapes import ElementShape, PoolShape

Size = tuple[int, ...]  # (C, H, W), or (features,)


class Step(NamedTuple):
    """One operation of a network: its sizes, and the names of its tensors in binding order."""

    layer: str
    operation: Operation
    shape: Shape
    tensors: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in a list: the layer and the operation."""
        return f"{self.layer}: {self.operation.name}"


class Layer(Protocol):
    """What a network asks of a layer. `input` is the name of the tensor that it reads, `size` is that of one item."""

    name: str

    def output_size(self, size: Size) -> Size:
        """The size of one item of its output."""

    def parameters(self, size: Size) -> dict[str, Size]:
        """The shapes of its weight and bias, or none."""

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """From its input to its output."""

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """From the gradient of its output to those of its parameters and of its input."""


def gradient_of(tensor: str) -> str:
    """The name of a tensor's gradient: conv1.output has conv1.grad_output."""
    layer, _, own = tensor.rpartition(".")
    return f"{layer}.grad_{own}" if layer else f"grad_{own}"


def names(layer: str, tensors: str) -> tuple[str, ...]:
    """The full names of a layer's own tensors."""
    return tuple(f"{layer}.{tensor}" for tensor in tensors.split())


@dataclass(frozen=True)
class Conv2d:
    """A convolution and its ReLU in one kernel; arguments as those of torch.nn.Conv2d."""

    name: str
    out_channels: int
    kernel_size: int
    stride: int = 1
    padding: int = 0
    activation: str = "relu"

    def __post_init__(self) -> None:
        if self.activation not in ("none", "relu"):
            raise ValueError(f"{self.name}: activation = {self.activation!r}: a convolution here has none or relu")

    def shape(self, size: Size, batch: int) -> ConvShape:
        """The sizes of the problem for a batch."""
        filters = self.out_channels, self.kernel_size, self.kernel_size
        return ConvShape(batch, *size, *filters, self.stride, self.padding, activation=self.activation)

    def output_size(self, size: Size) -> Size:
        """(Co, oH, oW)"""
        return self.shape(size, 1).output[1:]

    def parameters(self, size: Size) -> dict[str, Size]:
        """weight (Co, Ci, kH, kW), bias (Co,)"""
        return {"weight": self.shape(size, 1).weight, "bias": (self.out_channels,)}

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Lesson 01."""
        tensors = input, *names(self.name, "weight bias output")
        yield Step(self.name, FORWARD, self.shape(size, batch), tensors)

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Lessons 02, 03 and 04, behind the derivative of the ReLU."""
        shape, (grad,) = self.shape(size, batch), names(self.name, "grad_output")
        if self.activation == "relu":
            tensors = names(self.name, "output grad_output grad_pre")
            yield Step(self.name, RELU_BACKWARD, ElementShape(prod(shape.output)), tensors)
            grad = tensors[-1]
        weight, grad_weight, grad_bias = names(self.name, "weight grad_weight grad_bias")
        yield Step(self.name, GRAD_WEIGHT, shape, (grad, input, grad_weight))
        yield Step(self.name, GRAD_BIAS, shape, (grad, grad_bias))
        yield Step(self.name, GRAD_INPUT, shape, (grad, weight, gradient_of(input)))


@dataclass(frozen=True)
class _Pool2d:
    """A pooling layer; arguments as those of torch.nn.MaxPool2d and AvgPool2d."""

    name: str
    kernel_size: int
    stride: int | None = None
    padding: int = 0

    def shape(self, size: Size, batch: int) -> PoolShape:
        """The sizes of the problem for a batch."""
        return PoolShape(batch, *size, self.kernel_size, self.stride, self.padding)

    def output_size(self, size: Size) -> Size:
        """(C, oH, oW)"""
        return self.shape(size, 1).of("output")[1:]

    def parameters(self, size: Size) -> dict[str, Size]:
        """None."""
        return {}


class MaxPool2d(_Pool2d):
    """The largest pixel of each window."""

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Keeps the largest pixel of each window."""
        yield Step(self.name, MAX, self.shape(size, batch), (input, f"{self.name}.output"))

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Each window passes its gradient to its largest pixel."""
        tensors = input, f"{self.name}.grad_output", gradient_of(input)
        yield Step(self.name, MAX_BACKWARD, self.shape(size, batch), tensors)


class AvgPool2d(_Pool2d):
    """The mean of each window."""

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Keeps the mean of each window."""
        yield Step(self.name, AVG, self.shape(size, batch), (input, f"{self.name}.output"))

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Each window passes an equal share of its gradient to each of its pixels."""
        tensors = f"{self.name}.grad_output", gradient_of(input)
        yield Step(self.name, AVG_BACKWARD, self.shape(size, batch), tensors)


@dataclass(frozen=True)
class Linear:
    """A fully connected layer with its activation, the fused GEMM of lesson 06.

    Its weight is (in, out), as the GEMM reads it: the transpose of torch.nn.Linear's.
    """

    name: str
    out_features: int
    activation: str = "relu"

    def shape(self, size: Size, batch: int) -> GemmShape:
        """The sizes of the problem for a batch."""
        return GemmShape(batch, prod(size), self.out_features, activation=self.activation)

    def output_size(self, size: Size) -> Size:
        """(out,)"""
        return (self.out_features,)

    def parameters(self, size: Size) -> dict[str, Size]:
        """weight (in, out), bias (out,)"""
        return {"weight": (prod(size), self.out_features), "bias": (self.out_features,)}

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Lesson 06, forward."""
        tensors = input, *names(self.name, "weight bias output")
        yield Step(self.name, GEMM, self.shape(size, batch), tensors)

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """Lesson 06, backward: four passes."""
        own = names(self.name, "weight bias grad_output grad_pre")
        gradients = gradient_of(input), *names(self.name, "grad_weight grad_bias")
        yield Step(self.name, GEMM_BACKWARD, self.shape(size, batch), (input, *own, *gradients))


LENET = (
    Conv2d("conv1", 6, 5),
    MaxPool2d("pool1", 2),
    Conv2d("conv2", 16, 5),
    MaxPool2d("pool2", 2),
    Linear("fc1", 120),
    Linear("fc2", 84),
    Linear("fc3", 10, activation="none"),
)
DIGIT = (1, 28, 28)  # the size of one image
