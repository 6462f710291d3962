"""The layers of a network: what each computes forward, and what it passes back.

A layer is a description. For an input size and a batch it names its steps, which are the operations of lessons 01 to
06, each with the tensors that it reads and writes. The chain rule is then a list of steps: all layers forward, and the
same layers backward.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from helpers.checks.arguments import as_int, check_pair, check_size
from helpers.operations.activations import check_activation
from helpers.operations.convolution.operations import FORWARD, GRAD_BIAS, GRAD_INPUT, GRAD_WEIGHT
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.operations import BACKWARD as GEMM_BACKWARD
from helpers.operations.gemm.operations import FORWARD as GEMM
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.operations import AVG, AVG_BACKWARD, MAX, MAX_BACKWARD, RELU_BACKWARD
from helpers.operations.network.shapes import ElementShape, Pair, PoolShape
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
        """The name in a list: the layer and the operation."""
        return f"{self.layer}: {self.operation.name}"


def gradient_of(tensor: str) -> str:
    """The name of a tensor's gradient: conv1.output has conv1.grad_output."""
    layer, _, name = tensor.rpartition(".")
    if not layer:
        return f"grad_{name}"
    return f"{layer}.grad_{name}"


NAMES_OF_GEMM = {"b": "weight", "grad": "grad_output", "d_b": "grad_weight", "d_bias": "grad_bias"}


@dataclass(frozen=True)
class Layer:
    """A layer as a network sees it. `input` is the name of the tensor that it reads, `size` is that of one item.

    Raises
    ------
    TypeError, ValueError
        The name is not a word without a dot, or another argument breaks a rule; the message names the layer.
    """

    operations: ClassVar[tuple[Operation, ...]]  # forward, and those of its backward pass
    takes_images: ClassVar[bool] = True  # (C, H, W) alone
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name = {self.name!r} is a {type(self.name).__name__}: it must be text, such as 'conv1'")
        if not self.name.strip() or "." in self.name:
            rule = "it must be a word without a dot, as in 'conv1', whose weight is called conv1.weight"
            raise ValueError(f"name = {self.name!r}: {rule}")
        try:
            self._check()
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    def _check(self) -> None:
        """Refuse arguments that no input size makes right, by a TypeError or a ValueError."""
        raise NotImplementedError

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
        """One of its operations, over its input, the input's gradient, `others`, and the layer's tensors."""
        grad_input = gradient_of(input)
        shared = {"input": input, "a": input, "grad_input": grad_input, "d_a": grad_input, **others}
        names = []
        for tensor in operation.tensors:
            if tensor in shared:
                names.append(shared[tensor])
            else:
                names.append(f"{self.name}.{NAMES_OF_GEMM.get(tensor, tensor)}")
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
    """A convolution and its ReLU in one kernel, as in lessons 01 to 04; arguments as those of torch.nn.Conv2d.

    It takes images, (C, H, W), so it comes before the first Linear.
    """

    operations = FORWARD, GRAD_WEIGHT, GRAD_BIAS, GRAD_INPUT
    out_channels: int
    kernel_size: int | Pair
    stride: int | Pair = 1
    padding: int | Pair = 0
    activation: str = "relu"

    def _check(self) -> None:
        if self.activation not in ("none", "relu"):
            raise ValueError(f"activation = {self.activation!r}: a convolution here has none or relu")
        self.shape((1, *check_pair("kernel_size", self.kernel_size)), 1)  # the smallest image is a window

    def shape(self, size: Size, batch: int) -> ConvShape:
        """The sizes of the problem for a batch."""
        window = check_pair("kernel_size", self.kernel_size)
        steps = self.stride, self.padding
        return ConvShape(batch, *size, self.out_channels, *window, *steps, activation=self.activation)

    def parameters(self, size: Size) -> dict[str, Size]:
        """weight (Co, Ci, kH, kW), bias (Co,)"""
        shape = self.shape(size, 1)
        return {"weight": shape.weight, "bias": shape.of("bias")}

    def backward(self, input: str, size: Size, batch: int) -> Iterator[Step]:
        """The same, behind the derivative of the ReLU."""
        shape = self.shape(size, batch)
        grad = "grad_output"
        if self.activation == "relu":
            yield self.step(RELU_BACKWARD, ElementShape(prod(shape.output)), input)
            grad = "grad_pre"
        for operation in self.operations[1:]:
            yield self.step(operation, shape, input, grad_output=f"{self.name}.{grad}")


@dataclass(frozen=True)
class _Pool2d(Layer):
    """A pooling layer; arguments as those of torch.nn.MaxPool2d and AvgPool2d. It takes images, (C, H, W)."""

    kernel_size: int | Pair
    stride: int | Pair | None = None
    padding: int | Pair = 0

    def _check(self) -> None:
        self.shape((1, *check_pair("kernel_size", self.kernel_size)), 1)  # the smallest image is a window

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

    It takes any size: an image, (C, H, W), counts as C*H*W features, so that no layer is needed to flatten it. Its
    weight is (in, out), as the GEMM reads it: the transpose of torch.nn.Linear's.
    """

    operations = GEMM, GEMM_BACKWARD
    takes_images = False
    out_features: int
    activation: str = "relu"

    def _check(self) -> None:
        check_size("out_features", as_int(self.out_features))
        check_activation(self.activation)

    def shape(self, size: Size, batch: int) -> GemmShape:
        """The sizes of the problem for a batch."""
        return GemmShape(batch, prod(size), self.out_features, activation=self.activation)

    def output_size(self, size: Size) -> Size:
        """(out,)"""
        return self.shape(size, 1).of("bias")

    def parameters(self, size: Size) -> dict[str, Size]:
        """weight (in, out), bias (out,)"""
        shape = self.shape(size, 1)
        return {"weight": shape.of("b"), "bias": shape.of("bias")}


OF_LAYERS = (*Conv2d.operations, RELU_BACKWARD, *MaxPool2d.operations, *AvgPool2d.operations, *Linear.operations)
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
