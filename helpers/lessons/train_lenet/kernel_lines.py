"""The line of a kernel's file that makes a number: the one that a simulated run of a small layer finds at work."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
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


def line_of(step: Step, tensor: str, version: str | Kernel | None = None) -> Line:
    """The line that does the most of the arithmetic of a step's tensor, or that writes it where it is chosen.

    `tensor` is the operation's name of it, `version` that of the network (`Network.kernels`), by default the best
    one for this adapter. Of a version that is specialized for a layer, it is the line of the file.
    """
    if version is None:
        version = step.operation.plan(step.shape).passes[0].kernel.version
    return _line(step.operation, step.shape, tensor, step.operation.kernel(version))


@lru_cache(maxsize=256)
def _line(operation: Operation, shape: Shape, tensor: str, kernel: Kernel) -> Line:
    traces = _simulated(operation, shape, tensor, kernel)
    first_place = [0] * len(shape.of(tensor))
    first = MADE[operation.name, tensor](shape, *first_place)
    if first.rule in WRITTEN:
        number = _last_writing_line(traces, operation.tensors.index(tensor))
    else:
        number = _busiest_line(traces)
    lines = kernel.source.split("\n")
    return Line(kernel.name, number, _statement(lines[number - 1 :]))


def _last_writing_line(traces: list[Trace], binding: int) -> int:
    lines = np.concatenate([_writing(trace, binding) for trace in traces])
    return int(lines[-1])


def _busiest_line(traces: list[Trace]) -> int:
    """The line with the most multiply-adds; of several, that with the most other arithmetic."""

    def arithmetic(line: tuple[int, Mapping[str, int]]) -> tuple[int, int]:
        _, counts = line
        return counts["multiply_adds"], counts["other_float"]

    lines = chain.from_iterable(trace.counts.by_line.items() for trace in traces)
    number, _ = max(lines, key=arithmetic)
    return number


def _statement(lines: list[str]) -> str:
    """The statement that begins in the first of these lines, in one line and without comments."""
    pieces = []
    for line in lines:
        code, _, _ = line.partition("//")
        pieces.append(code.strip())
        if code.rstrip().endswith((";", "{", "}")):
            break
    statement = " ".join(pieces)
    return statement.replace("( ", "(").replace(", )", ")")


def _simulated(operation: Operation, shape: Shape, tensor: str, kernel: Kernel) -> list[Trace]:
    """The first workgroup of each pass that has a part in a tensor: it or a scratch buffer is written there."""
    shape = _small(operation, shape, kernel)
    schedule = operation.versions[kernel.version](shape, kernel)
    text = with_sizes(kernel, schedule.constants) if schedule.constants else kernel
    arrays = []
    for name in operation.tensors:
        precision = np.uint32 if name == "labels" else np.float32
        arrays.append(np.zeros(shape.of(name), precision))
    outputs = [operation.tensors.index(tensor)]
    for nbytes in schedule.scratch.values():
        outputs.append(len(arrays))
        arrays.append(np.zeros(nbytes // 4, np.float32))
    if text.buffer_types[-1] == "uniform":
        arrays.append(np.array(operation.params(shape), np.uint32))
    traces = []
    for step in schedule.steps:
        trace = simulate(text, arrays, (1, 1, 1), entry_point=step.entry_point, outputs=())
        if any(_writing(trace, binding).size for binding in outputs):
            traces.append(trace)
    return traces


def _writing(trace: Trace, binding: int) -> np.ndarray:
    """The number of the line of each write to a binding, in the order of the run."""
    accesses = trace.accesses
    is_write = (accesses["binding"] == binding) & accesses["write"]
    return accesses["line"][is_write]


def _small(operation: Operation, shape: Shape, kernel: Kernel) -> Shape:
    """A smaller layer of the same kind, if the version takes it: a simulated run of the whole one takes seconds."""
    if isinstance(shape, GemmShape):
        most = 2 * SIDE
        small = replace(shape, m=min(shape.m, most), k=min(shape.k, most), n=min(shape.n, most))
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
    schedule = operation.versions[kernel.version](small, kernel)
    if schedule.refused:
        return shape
    return small
