"""Is a version right on the very layer that it is timed on? By float64, or for large layers in two cheaper steps.

On a small layer all outputs are compared with the float64 reference, within the tolerance that is proven for float32.
A large layer gets whole numbers, on which float32 sums are exact in every order:

1. The first version is compared with float64 on a part of the layer: a few images, channels, rows or columns at both
   ends. A part of a layer is a smaller layer: what it computes depends on no other data. (The backward pass of a GEMM
   has no such part: NumPy computes all of it, in float32.)
2. Every other version must then write the same numbers as the first one, in every output. One that is not exact on
   whole numbers (Winograd's transforms divide) must come nearer to them than to any other whole number, and is
   compared with float64 on the part, within its own tolerance.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt, prod

import numpy as np

from helpers.bench.libraries import Numpy
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Operation, Shape
from helpers.grading.report import compare
from helpers.oracles import harness
from helpers.speed.layers import multiply_adds
from helpers.wgsl import Kernel

Array = np.ndarray
LARGE = 30_000_000  # multiply-adds from which on float64 judges a part of the layer only
# An axis, as a shape calls its length.
SIZES = {"N": "batch", "C": "in_channels", "O": "out_channels", "G": "groups", "m": "m", "n": "n"}
AXES = {  # of each tensor; the last ones are left out where they are never cut
    ConvShape: {"input": "NC", "weight": "OC", "bias": "O", "output": "NO"},
    GemmShape: {"a": "Bmk", "b": "kn", "bias": "n", "output": "Bmn"},
}
CUT = {  # the axes that may be cut, because no sum runs over them
    "conv2d": "NO",
    "conv2d_grad_input": "NC",
    "conv2d_grad_weight": "OC",
    "conv2d_grad_bias": "O",
    "gemm_bias_act": "mn",
}
# The same where there are groups: a sum runs over the channels of one, so they stay together.
GROUPED = {"conv2d": "NG", "conv2d_grad_input": "NG", "conv2d_grad_weight": "G", "conv2d_grad_bias": "G"}
UNCUT = "gemm_bias_act_backward"
ROUNDS, NEAR = "winograd", 0.499  # in the name of a version that rounds on whole numbers, too; how far it may be off


class Check:
    """The check of all versions of one operation on one layer; `tensors` are the inputs that they are to be run on."""

    def __init__(self, operation: Operation, shape: Shape) -> None:
        self.operation, self.shape, name = operation, shape, operation.name
        self.large = multiply_adds(name, shape) > LARGE and name in (*CUT, UNCUT)
        self.tensors = harness.drawn(operation, shape, harness.whole if self.large else harness.normal)
        self.right: Sequence[Array] = Numpy().call(name, shape, self.tensors)() if self.large and name == UNCUT else ()

    def require(self, kernel: Kernel, outputs: Sequence[Array]) -> str:
        """Say how the outputs of a version were found right. Raises CheckError where they are wrong."""
        if not self.large:
            _require(kernel, self.shape, self.tensors, outputs)
            return "all outputs beside float64"
        rounds = ROUNDS in kernel.name
        for name, got, want in zip(self.operation.outputs, outputs, self.right or outputs, strict=True):
            if not np.abs(got - want).max() <= NEAR * rounds:
                compare(name, got, np.nan_to_num(want), NEAR * rounds).require()  # no NaN may remain
        if self.right and not rounds:
            return "all outputs, exactly"
        shape, ends = part(self.operation.name, self.shape)
        tensors = {name: cut(self.shape, name, array, ends) for name, array in self.tensors.items()}
        named = zip(self.operation.outputs, outputs, strict=True)
        _require(kernel, shape, tensors, [cut(self.shape, name, array, ends) for name, array in named])
        if not self.right:
            self.right = outputs
            return "a part of the outputs beside float64"
        return "all outputs nearly, and a part of them beside float64"


def _require(kernel: Kernel, shape: Shape, tensors: harness.Tensors, outputs: Sequence[Array]) -> None:
    for report in harness.reports(kernel, shape, tensors, outputs):
        report.require()


def part(operation: str, shape: Shape) -> tuple[Shape, dict[str, Array]]:
    """A smaller layer of both ends of the axes that may be cut, of about LARGE multiply-adds, and those ends.

    Of a layer with groups of channels, whole groups are kept.
    """
    grouped = getattr(shape, "groups", 1) > 1
    sizes = {axis: getattr(shape, SIZES[axis]) for axis in (GROUPED if grouped else CUT)[operation]}
    outputs = max(1, LARGE * prod(sizes.values()) // multiply_adds(operation, shape))
    length = isqrt(outputs) if len(sizes) == 2 else outputs
    ends = {axis: _ends(size, min(length, size)) for axis, size in sizes.items()}
    if grouped:
        ends |= {axis: _channels(getattr(shape, SIZES[axis]) // shape.groups, ends["G"]) for axis in "CO"}
    return replace(shape, **{SIZES[axis]: len(kept) for axis, kept in ends.items()}), ends


def _channels(count: int, groups: Array) -> Array:
    """The channels of these groups, with `count` in each."""
    return (groups[:, None] * count + np.arange(count)).ravel()


def _ends(size: int, count: int) -> Array:
    """The first and the last `count` // 2 indices, and one more of the first where it is odd."""
    return np.concatenate([np.arange(count - count // 2), np.arange(size - count // 2, size)])


def cut(shape: Shape, tensor: str, array: Array, ends: dict[str, Array]) -> Array:
    """What remains of a tensor of the whole layer."""
    for place, axis in enumerate(AXES[type(shape)][tensor.removeprefix("grad_")]):
        if axis in ends and array.shape[place] == getattr(shape, SIZES[axis]):  # else: a group's channels, all kept
            array = np.take(array, ends[axis], place)
    return array
