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
        """A view of what belongs to this chunk, of a tensor by its name or its gradient's."""
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
    """Whether each tensor has at most this many bytes."""
    return max(prod(shape.of(name)) for name in operation.tensors) <= most // 4


def chunks(s: ConvShape) -> Iterator[Chunk]:
    """The fewest chunks whose tensors all fit: cut along the channels only if one image, or the weights, are too large.

    Raises GpuError where one image, or one group of it, is too large.
    """
    for shape, in_channels, out_channels in _by_channels(s):
        sizes = shape.input[1:], shape.output[1:]
        images = min(s.batch, *(_count_that_fit(f"one image, {size},", prod(size)) for size in sizes))
        for first in range(0, s.batch, images):
            count = min(images, s.batch - first)
            yield Chunk(replace(shape, batch=count), slice(first, first + count), in_channels, out_channels)


def _by_channels(s: ConvShape) -> Iterator[tuple[ConvShape, slice, slice]]:
    """Convolutions with some of the output channels, and the input channels that they read.

    Raises GpuError where the channels of one group of an image are too large.
    """
    group_in, group_out = s.in_channels // s.groups, s.out_channels // s.groups
    filters = _count_that_fit(f"one filter, {s.weight[1:]},", prod(s.weight[1:]))
    planes = _count_that_fit(f"one channel of an output, {s.output[2:]},", s.out_h * s.out_w)
    size, whose = (group_in, *s.input[2:]), "one group of an image" if s.groups > 1 else "one image"
    inputs = group_out * _count_that_fit(f"{whose}, {size},", prod(size))
    step = min(s.out_channels, filters, inputs, planes)
    if step >= group_out:
        step -= step % group_out
    elif step > WHOLE_TILES:
        step -= step % WHOLE_TILES
    first = 0
    while first < s.out_channels:
        group = first // group_out
        end = min(first + step, s.out_channels if step >= group_out else (group + 1) * group_out)
        groups = max(1, (end - first) // group_out)
        in_channels = slice(group * group_in, (group + groups) * group_in)
        shape = replace(s, in_channels=groups * group_in, out_channels=end - first, groups=groups)
        yield shape, in_channels, slice(first, end)
        first = end


def _count_that_fit(what: str, numbers: int) -> int:
    """How many arrays of this many numbers fit into one binding."""
    fitting = MAX_BINDING // (4 * numbers)
    if not fitting:
        size = f"{4 * numbers / 2**20:.1f} MiB"
        raise GpuError(f"{what} takes {size}, more than the {MAX_BINDING >> 20} MiB that one binding may hold")
    return fitting
