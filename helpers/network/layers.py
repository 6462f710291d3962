"""The layers of a network: what each computes forward, and what it passes back.

A layer is a description. For an input size and a batch it names its steps, which are the operations of lessons 01 to
06, each with the tensors that it reads and writes. The chain rule is then a list of steps: all layers forward, and the
same layers backward.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from helpers.operations.convolution.operations import FORWARD, GRAD_BIAS, GRAD_INPUT, GRAD_WEIGHT
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.operations import BACKWARD as GEMM_BACKWARD
from helpers.operations.gemm.operations import FORWARD as GEMM
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.operations import AVG, AVG_BACKWARD, MAX, MAX_BACKWARD, RELU_BACKWARD
from helpers.operations.network.shapes import ElementShape, PoolShape
from helpers.operations.operation import Operation, Shape

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


def gradient_of(tensor: str) -> str:
    """The name of a tensor's gradient: conv1.output has conv1.grad_output."""
    layer, _, own = tensor.rpartition(".")
    return f"{layer}.grad_{own}" if layer else f"grad_{own}"


OWN = {"b": "weight", "grad": "grad_output", "d_b": "grad_weight", "d_bias": "grad_bias"}  # by the GEMM's names


@dataclass(frozen=True)
class Layer:
    """What a network asks of a layer. `input` is the name of the tensor that it reads, `size` is that of one item."""

    operations: ClassVar[tuple[Operation, ...]]  # forward, and those of its backward pass
    name: str

    def shape(self, size: Size, batch: int) -> Shape:
        """The sizes of the problem for a batch."""
        raise NotImplementedError

    def output_size(self, size: Size) -> Size:
        """The size of one item of its output."""
        return self.shape(size, 1).of("output")[1:]

    def parameters(self, size: Size) -> dict[str, Size]:
        """The shapes of its weight and bias, or none."""
        return {}

    def step(self, operation: Operation, shape: Shape, input: str, **others: str) -> Step:
        """One of its operations. All tensors but its input are its own, where no others are given."""
        grad = gradient_of(input)
        given = {"input": input, "a": input, "grad_input": grad, "d_a": grad, **others}
        names = (given.get(own, f"{self.name}.{OWN.get(own, own)}") for own in operation.tensors)
        return Step(self.name, operation, shape, tuple(names))

    def forward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """From its input to its output."""
        yield self.step(self.operations[0], self.shape(size, batch), input)

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """From the gradient of its output to those of its parameters and of its input."""
        for operation in self.operations[1:]:
            yield self.step(operation, self.shape(size, batch), input)


@dataclass(frozen=True)
class Conv2d(Layer):
    """A convolution and its ReLU in one kernel, as in lessons 01 to 04; arguments as those of torch.nn.Conv2d."""

    operations = FORWARD, GRAD_WEIGHT, GRAD_BIAS, GRAD_INPUT
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

    def parameters(self, size: Size) -> dict[str, Size]:
        """weight (Co, Ci, kH, kW), bias (Co,)"""
        return {"weight": self.shape(size, 1).weight, "bias": (self.out_channels,)}

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """The same, behind the derivative of the ReLU."""
        shape, grad = self.shape(size, batch), "grad_output"
        if self.activation == "relu":
            yield self.step(RELU_BACKWARD, ElementShape(prod(shape.output)), input)
            grad = "grad_pre"
        for operation in self.operations[1:]:
            yield self.step(operation, shape, input, grad_output=f"{self.name}.{grad}")


@dataclass(frozen=True)
class _Pool2d(Layer):
    """A pooling layer; arguments as those of torch.nn.MaxPool2d and AvgPool2d."""

    kernel_size: int
    stride: int | None = None
    padding: int = 0

    def shape(self, size: Size, batch: int) -> PoolShape:
        """The sizes of the problem for a batch."""
        return PoolShape(batch, *size, self.kernel_size, self.stride, self.padding)


class MaxPool2d(_Pool2d):
    """Keeps the largest pixel of each window, which takes the whole gradient."""

    operations = MAX, MAX_BACKWARD


class AvgPool2d(_Pool2d):
    """Keeps the mean of each window, whose pixels share the gradient equally."""

    operations = AVG, AVG_BACKWARD


@dataclass(frozen=True)
class Linear(Layer):
    """A fully connected layer with its activation, the fused GEMM of lesson 06.

    Its weight is (in, out), as the GEMM reads it: the transpose of torch.nn.Linear's.
    """

    operations = GEMM, GEMM_BACKWARD
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
