"""The line of a kernel's file that makes a number: the one that a simulated run of a small layer finds at work."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from helpers.lessons.train_lenet.indices import MADE
from helpers.network.layers import Step
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel
from wgsl.simulator.run import simulate
from wgsl.simulator.trace import Trace
from wgsl.specialize import with_sizes

WRITTEN = "switched", "softmax"  # by these rules, a number is computed in one expression, in the line that writes it
FEW = 4  # channels of a small convolution
SIDE = 8  # the outputs along each axis of a small convolution, and half of the numbers along that of a product


class Line(NamedTuple):
    """One line of a kernel's file, and the text of the statement that begins there."""

    kernel: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"line {self.number} of kernels/{self.kernel}.wgsl"


def line_of(step: Step, own: str, version: str | Kernel | None = None) -> Line:
    """The line that does the most of the arithmetic of a step's tensor, or that writes it where it is chosen.

    `own` is the operation's name of the tensor, `version` that of the network (`Network.kernels`), by default the best
    one for this adapter. Of a version that is specialized for a layer, it is the line of the file.
    """
    if version is None:
        version = step.operation.plan(step.shape).passes[0].kernel.version
    return _line(step.operation, step.shape, own, step.operation.kernel(version))


@lru_cache(maxsize=256)
def _line(operation: Operation, shape: Shape, own: str, kernel: Kernel) -> Line:
    traces = _simulated(operation, shape, own, kernel)
    binding = operation.tensors.index(own)
    first = MADE[operation.name, own](shape, *[0] * len(shape.of(own)))
    if first.rule in WRITTEN:
        number = [int(line) for trace in traces for line in _writing(trace, binding)][-1]
    else:
        counts = [pair for trace in traces for pair in trace.counts.by_line.items()]
        number, _ = max(counts, key=lambda pair: (pair[1]["multiply_adds"], pair[1]["other_float"]))
    return Line(kernel.name, number, _statement(kernel.source.split("\n")[number - 1 :]))


def _statement(lines: list[str]) -> str:
    """The statement that begins in the first of these lines, in one line and without comments."""
    pieces = []
    for line in lines:
        pieces.append(line.partition("//")[0].strip())
        if pieces[-1].endswith((";", "{", "}")):
            break
    return " ".join(pieces).replace("( ", "(").replace(", )", ")")


def _simulated(operation: Operation, shape: Shape, own: str, kernel: Kernel) -> list[Trace]:
    """The first workgroup of each pass that has a part in a tensor: it or a scratch buffer is written there."""
    shape = _small(operation, shape, kernel)
    schedule = operation.versions[kernel.version](shape, kernel)
    text = with_sizes(kernel, schedule.constants) if schedule.constants else kernel
    tensors = operation.tensors
    arrays = [np.zeros(shape.of(name), np.uint32 if name == "labels" else np.float32) for name in tensors]
    arrays += [np.zeros(nbytes // 4, np.float32) for nbytes in schedule.scratch.values()]
    arrays += [np.array(operation.params(shape), np.uint32)] * (text.buffer_types[-1] == "uniform")
    own_parts = {tensors.index(own), *range(len(tensors), len(tensors) + len(schedule.scratch))}
    runs = (simulate(text, arrays, (1, 1, 1), entry_point=step.entry_point, outputs=()) for step in schedule.steps)
    return [trace for trace in runs if any(_writing(trace, part).size for part in own_parts)]


def _writing(trace: Trace, binding: int) -> np.ndarray:
    """The number of the line of each write to a binding, in the order of the run."""
    seen = trace.accesses
    return seen["line"][(seen["binding"] == binding) & seen["write"]]


def _small(operation: Operation, shape: Shape, kernel: Kernel) -> Shape:
    """A smaller layer of the same kind, if the version takes it: a simulated run of the whole one takes seconds."""
    if isinstance(shape, GemmShape):
        small = replace(shape, **{size: min(getattr(shape, size), 2 * SIDE) for size in "mkn"})
    elif isinstance(shape, ConvShape) and shape.groups == 1 and operation.name != "conv2d_grad_bias":
        small = replace(
            shape,
            in_channels=min(shape.in_channels, FEW),
            out_channels=min(shape.out_channels, FEW),
            in_h=min(shape.in_h, shape.kernel_h + SIDE - 1),
            in_w=min(shape.in_w, shape.kernel_w + SIDE - 1),
        )
    else:
        return shape
    return shape if operation.versions[kernel.version](small, kernel).refused else small
