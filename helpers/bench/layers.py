"""The layers that are timed, and how much work each operation does on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from helpers.data import tables
from helpers.data.words import listed
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


SIZES = {"convolution": list, "product": int, "sum": int}  # each layer has one of them
MARKS = {"tuned": bool, "small": bool, "quick": bool}


def layers(file: Path) -> tuple[Layer, ...]:
    """Return the layers of a file such as layers.toml, in their order.

    Raises ValueError, with the file, the layer, the key and the rule, where a table is no layer.
    """
    rows = []
    for name, table in tables.read(file, {}, SIZES | MARKS).items():
        marks = {mark: table[mark] for mark in MARKS if mark in table}
        rows.append(Layer(name, _shape(f"{file.name}, [{name}]", table), **marks))
    return tuple(rows)


def _shape(place: str, table: Mapping[str, object]) -> Shape:
    """Return the shape of a layer's table, which has either `convolution`, `product` or `sum`."""
    kinds = [kind for kind in SIZES if kind in table]
    if len(kinds) != 1:
        raise ValueError(
            f"{place} has {listed(kinds) if kinds else 'no sizes'}: it must have one of {', '.join(SIZES)}"
        )
    if "product" in table:
        size = table["product"]
        return GemmShape(size, size, size, 1, "relu")
    if "sum" in table:
        return SumShape(table["sum"])
    sizes = table["convolution"]
    if not 8 <= len(sizes) <= 10:
        raise ValueError(
            f"{place}: convolution has {len(sizes)} numbers: they must be N, Ci, H, W, Co, kernel, stride and padding, "
            "and may be dilation and groups, too"
        )
    batch, in_channels, in_h, in_w, out_channels, kernel, *steps = sizes
    return ConvShape(batch, in_channels, in_h, in_w, out_channels, kernel, kernel, *steps)


LAYERS = layers(Path(__file__).with_suffix(".toml"))
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
