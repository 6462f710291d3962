"""Arrays that are too large for one binding: a convolution in chunks, computed one after the other.

Images are independent of each other, and so are output channels: outputs of the chunks lie side by side, and what sums
over images (gradients of weights and biases) or over output channels (that of the input) is added up.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.gpu.adapter import MAX_BINDING, GpuError
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.operation import Operation
from wgsl import Kernel

Array = np.ndarray
WHOLE_TILES = 128  # filters that fill whole tiles of every version


class Chunk(NamedTuple):
    """Some images and some channels of a convolution, as a convolution of its own."""

    shape: ConvShape
    images: slice
    in_channels: slice
    out_channels: slice

    def part(self, tensor: str, array: Array) -> Array:
        """A view of this chunk's part of a tensor, by the tensor's name or its gradient's."""
        parts = {
            "input": (self.images, self.in_channels),
            "output": (self.images, self.out_channels),
            "weight": self.out_channels,
            "bias": self.out_channels,
        }
        return array[parts[tensor.removeprefix("grad_")]]


def compute(operation: Operation, shape: ConvShape, kernel: str | Kernel | None, **inputs: Array) -> Array:
    """The one output of an operation; parts of it are added in the order of the chunks, the same on every run.

    Raises what `Operation.compute` raises, and GpuError where a chunk cannot be small enough.
    """
    if _fits(operation, shape, MAX_BINDING):
        return operation.compute(shape, kernel, **inputs)[0]
    (output,) = operation.outputs
    whole = np.zeros(shape.of(output), np.float32)
    for chunk in chunks(shape):
        parts = {name: chunk.part(name, array) for name, array in inputs.items()}
        target = chunk.part(output, whole)
        target += operation.compute(chunk.shape, kernel, **parts)[0]
    return whole


@lru_cache(maxsize=256)
def _fits(operation: Operation, shape: ConvShape, most: int) -> bool:
    """True where each tensor has at most this many bytes."""
    largest = max(prod(shape.of(name)) for name in operation.tensors)
    return largest <= most // 4


def chunks(s: ConvShape) -> Iterator[Chunk]:
    """The fewest chunks whose tensors all fit: cut along the channels only if one image, or the weights, are too large.

    Raises GpuError where one image, or one group of it, is too large.
    """
    for shape, in_channels, out_channels in _by_channels(s):
        inputs = _count_that_fit(f"one image, {shape.input[1:]},", prod(shape.input[1:]))
        outputs = _count_that_fit(f"one image, {shape.output[1:]},", prod(shape.output[1:]))
        images = min(s.batch, inputs, outputs)
        for first in range(0, s.batch, images):
            count = min(images, s.batch - first)
            yield Chunk(replace(shape, batch=count), slice(first, first + count), in_channels, out_channels)


def _by_channels(s: ConvShape) -> Iterator[tuple[ConvShape, slice, slice]]:
    """Convolutions with some of the output channels, and the input channels that they read.

    Raises GpuError where the channels of one group of an image are too large.
    """
    group_in = s.in_channels // s.groups
    group_out = s.out_channels // s.groups
    step = _channels_that_fit(s)
    first = 0
    while first < s.out_channels:
        group = first // group_out
        end_of_group = (group + 1) * group_out
        end = min(first + step, s.out_channels if step >= group_out else end_of_group)
        groups = max(1, (end - first) // group_out)
        in_channels = slice(group * group_in, (group + groups) * group_in)
        shape = replace(s, in_channels=groups * group_in, out_channels=end - first, groups=groups)
        yield shape, in_channels, slice(first, end)
        first = end


def _channels_that_fit(s: ConvShape) -> int:
    """The output channels of a chunk: whole groups, or a part of one group, in whole tiles where it has several."""
    group_out = s.out_channels // s.groups
    filters = _count_that_fit(f"one filter, {s.weight[1:]},", prod(s.weight[1:]))
    planes = _count_that_fit(f"one channel of an output, {s.output[2:]},", s.out_h * s.out_w)
    size = s.in_channels // s.groups, s.in_h, s.in_w
    whose = "one group of an image" if s.groups > 1 else "one image"
    inputs = group_out * _count_that_fit(f"{whose}, {size},", prod(size))
    fitting = min(s.out_channels, filters, inputs, planes)
    if fitting >= group_out:
        return fitting - fitting % group_out
    if fitting > WHOLE_TILES:
        return fitting - fitting % WHOLE_TILES
    return fitting


def _count_that_fit(name: str, numbers: int) -> int:
    """The number of arrays of this many numbers that fit into one binding."""
    fitting = MAX_BINDING // (4 * numbers)
    if not fitting:
        size = f"{4 * numbers / 2**20:.1f} MiB"
        raise GpuError(f"{name} takes {size}, more than the {MAX_BINDING >> 20} MiB that one binding may hold")
    return fitting
