"""The layers that are timed, and how much work each operation does on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Shape
from helpers.summation.shapes import SumShape

OPERATIONS_OF = {
    ConvShape: ("conv2d", "conv2d_grad_input", "conv2d_grad_weight", "conv2d_grad_bias"),
    GemmShape: ("gemm_bias_act", "gemm_bias_act_backward"),
    SumShape: ("sum",),
}
BYTES_COUNT = ("conv2d_grad_bias", "sum")  # limited by memory: their rate is in bytes


@dataclass(frozen=True)
class Layer:
    """A named problem.

    `tuned` says that versions were tuned on it, `quick` that it belongs to the shortest run, and `small` that a
    software adapter is given it by default.
    """

    name: str
    shape: Shape
    tuned: bool = False
    small: bool = False
    quick: bool = False

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that take such a shape."""
        return OPERATIONS_OF[type(self.shape)]

    def problem(self, operation: str) -> Shape:
        """What is timed of an operation: a forward convolution with its bias and ReLU, all else as the shape has it."""
        return replace(self.shape, activation="relu") if operation == "conv2d" else self.shape


def _conv(n, ci, h, w, co, k, s, p, name: str = "", dilation: int = 1, groups: int = 1, **marks: bool) -> Layer:
    sizes = f"{n}x{ci}x{h}x{w} to {co}, k{k} s{s} p{p}"
    return Layer(name or sizes, ConvShape(n, ci, h, w, co, k, k, s, p, dilation, groups), **marks)


def _gemm(size: int, **marks: bool) -> Layer:
    return Layer(f"GEMM {size}", GemmShape(size, size, size, 1, "relu"), **marks)


LAYERS = (
    _conv(1, 1, 28, 28, 6, 5, 1, 0, "LeNet conv1, 1 image", tuned=True, small=True),
    _conv(1, 6, 12, 12, 16, 5, 1, 0, "LeNet conv2, 1 image", small=True, quick=True),
    _conv(1, 16, 28, 28, 16, 3, 1, 1, small=True),
    _conv(4, 64, 28, 28, 64, 3, 1, 1, small=True),
    _conv(256, 1, 28, 28, 6, 5, 1, 0, "LeNet conv1, 256 images", tuned=True),
    _conv(256, 6, 12, 12, 16, 5, 1, 0, "LeNet conv2, 256 images", tuned=True),
    _conv(32, 64, 56, 56, 64, 3, 1, 1, tuned=True),
    _conv(32, 256, 14, 14, 256, 3, 1, 1, tuned=True),
    _conv(32, 128, 28, 28, 128, 3, 2, 1, tuned=True),
    _conv(32, 64, 56, 56, 256, 1, 1, 0, tuned=True),
    _conv(32, 3, 224, 224, 64, 7, 2, 3),
    _conv(32, 512, 7, 7, 512, 3, 1, 1),
    _conv(32, 64, 56, 56, 128, 3, 2, 1),
    _conv(128, 1, 28, 28, 32, 5, 1, 0),
    _conv(32, 128, 56, 56, 128, 3, 1, 1, "32x128x56x56 depthwise, k3 s1 p1", groups=128),
    _conv(32, 128, 56, 56, 128, 3, 1, 1, "32x128x56x56 to 128 in 32 groups, k3 s1 p1", groups=32),
    _conv(32, 64, 56, 56, 64, 3, 1, 2, "32x64x56x56 to 64, k3 s1 p2 dilation 2", dilation=2),
    _gemm(64, small=True, quick=True),
    _gemm(256, small=True),
    _gemm(512, small=True),
    _gemm(1024),
    _gemm(2048),
    _gemm(4096),
    Layer("sum of 60,000", SumShape(60_000), small=True, quick=True),
    Layer("sum of 1,048,576", SumShape(2**20)),
    Layer("sum of 4,194,304", SumShape(2**22)),
)


SHAPES = {layer.name: layer.shape for layer in LAYERS}


def multiply_adds(operation: str, shape: Shape) -> int:
    """Multiply-adds of the operation as its formula has them (of a bias gradient or a sum: additions)."""
    if isinstance(shape, SumShape):
        return shape.count
    if isinstance(shape, GemmShape):
        products = 3 if operation == "gemm_bias_act_backward" else 1
        return products * shape.batch_size * shape.m * shape.k * shape.n
    outputs = prod(shape.output)
    return outputs if operation == "conv2d_grad_bias" else outputs * prod(shape.weight[1:])


def rate(operation: str, shape: Shape, seconds: float) -> tuple[float, str]:
    """What was reached, with its unit: GFLOP/s by the formula's operations, or GB/s of what is read at least once."""
    count = multiply_adds(operation, shape) / seconds / 1e9
    return (4 * count, "GB/s") if operation in BYTES_COUNT else (2 * count, "GFLOP/s")


def select(words: Sequence[str], names: Sequence[str], what: str) -> list[str]:
    """The names that contain one of the words (in any case), in their order; all of them without a word.

    Raises ValueError for a word that no name contains.
    """
    for word in words:
        if not any(word.lower() in name.lower() for name in names):
            raise ValueError(f"{what} = {word!r}: it is a part of none of these: {'; '.join(names)}")
    return [name for name in names if not words or any(word.lower() in name.lower() for word in words)]
