"""The layers that are timed, and how much work each operation does on them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape

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
        """The timed problem of an operation: a forward convolution with its bias and ReLU, all else as in the shape."""
        if operation == "conv2d":
            return replace(self.shape, activation="relu")
        return self.shape


ROWS = """
LeNet conv1, 1 image                         1x1x28x28 to 6, k5 s1 p0          tuned, small
LeNet conv2, 1 image                         1x6x12x12 to 16, k5 s1 p0         small, quick
1x16x28x28 to 16, k3 s1 p1                   small
4x64x28x28 to 64, k3 s1 p1                   small
LeNet conv1, 256 images                      256x1x28x28 to 6, k5 s1 p0        tuned
LeNet conv2, 256 images                      256x6x12x12 to 16, k5 s1 p0       tuned
32x64x56x56 to 64, k3 s1 p1                  tuned
32x256x14x14 to 256, k3 s1 p1                tuned
32x128x28x28 to 128, k3 s2 p1                tuned
32x64x56x56 to 256, k1 s1 p0                 tuned
32x3x224x224 to 64, k7 s2 p3                 -
32x512x7x7 to 512, k3 s1 p1                  -
32x64x56x56 to 128, k3 s2 p1                 -
128x1x28x28 to 32, k5 s1 p0                  -
32x128x56x56 depthwise, k3 s1 p1             32x128x56x56 to 128, k3 s1 p1 d1 g128   -
32x128x56x56 to 128 in 32 groups, k3 s1 p1   32x128x56x56 to 128, k3 s1 p1 d1 g32    -
32x64x56x56 to 64, k3 s1 p2 dilation 2       32x64x56x56 to 64, k3 s1 p2 d2          -
GEMM 64                                      small, quick
GEMM 256                                     small
GEMM 512                                     small
GEMM 1024                                    -
GEMM 2048                                    -
GEMM 4096                                    -
sum of 60,000                                small, quick
sum of 1,048,576                             -
sum of 4,194,304                             -
"""


def _layer(row: str) -> Layer:
    """A layer by its name, its sizes where the name is not made of them, and what it is for."""
    name, *sizes, marks = re.split(" {2,}", row)
    return Layer(name, _shape(*sizes or [name]), **dict.fromkeys(re.findall(r"\w+", marks), True))


def _shape(sizes: str) -> Shape:
    """Of a convolution: "NxCixHxW to Co, kernel, stride and padding", dilation and groups, if they are not 1."""
    first, *others = (int(digits.replace(",", "")) for digits in re.findall(r"[\d,]*\d", sizes))
    if sizes.startswith("GEMM"):
        return GemmShape(first, first, first, 1, "relu")
    if sizes.startswith("sum"):
        return SumShape(first)
    ci, h, w, co, k, *steps = others
    return ConvShape(first, ci, h, w, co, k, k, *steps)


LAYERS = tuple(map(_layer, ROWS.strip().split("\n")))
SHAPES = {layer.name: layer.shape for layer in LAYERS}


def multiply_adds(operation: str, shape: Shape) -> int:
    """Multiply-adds of the operation as its formula has them (of a bias gradient or a sum: additions)."""
    if isinstance(shape, SumShape):
        return shape.count
    if isinstance(shape, GemmShape):
        products = 3 if operation == "gemm_bias_act_backward" else 1
        return products * shape.batch_size * shape.m * shape.k * shape.n
    outputs = prod(shape.output)
    if operation == "conv2d_grad_bias":
        return outputs
    return outputs * prod(shape.weight[1:])


def rate(operation: str, shape: Shape, seconds: float) -> tuple[float, str]:
    """The rate with its unit: GFLOP/s by the formula's operations, or GB/s of the numbers that must be read."""
    count = multiply_adds(operation, shape) / seconds / 1e9
    if operation in BYTES_COUNT:
        return 4 * count, "GB/s"
    return 2 * count, "GFLOP/s"


def select(words: Sequence[str], names: Sequence[str], what: str) -> list[str]:
    """The names that contain one of the words (in any case), in their order; all of them without a word.

    Raises ValueError for a word that no name contains.
    """
    if not words:
        return list(names)
    chosen = set()
    for word in words:
        matches = [name for name in names if word.lower() in name.lower()]
        if not matches:
            raise ValueError(f"{what} = {word!r}: it is a part of none of these: {'; '.join(names)}")
        chosen.update(matches)
    return [name for name in names if name in chosen]
