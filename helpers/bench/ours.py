"""The versions of an operation on one layer: prepared, run for the check, and ready to be timed."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import ceil, prod
from pathlib import Path

import numpy as np

from helpers import gpu
from helpers.bench.contender import Contender, Row
from helpers.gpu import timing
from helpers.gpu.adapter import MAX_WORKGROUPS
from helpers.gpu.operation import Operation, Shape
from helpers.gpu.passes import Pass
from helpers.wgsl import Kernel

Array = np.ndarray
LONG = 1e-3  # seconds of work in one submission, beside which what an empty timed pass costs does not count
MOST = 100  # calls in one submission


class Resident:
    """The tensors of one operation on one layer, in buffers that all of its versions share."""

    def __init__(self, operation: Operation, shape: Shape) -> None:
        self.operation, self.shape = operation, shape
        self.buffers = {name: gpu.empty(4 * prod(shape.of(name)), name) for name in operation.tensors}

    def write(self, tensors: dict[str, Array]) -> None:
        """Put the inputs onto the GPU."""
        for name, array in tensors.items():
            gpu.device().queue.write_buffer(self.buffers[name], 0, array)

    def outputs(self, passes: Sequence[Pass]) -> tuple[Array, ...]:
        """What the passes write into outputs that hold NaN before."""
        for name in self.operation.outputs:
            gpu.device().queue.write_buffer(self.buffers[name], 0, np.full(self.shape.of(name), np.nan, np.float32))
        gpu.run(*passes)
        return tuple(gpu.read(self.buffers[name], self.shape.of(name)) for name in self.operation.outputs)

    def settle(self) -> None:
        """Wait until the queue is empty."""
        gpu.read(self.buffers[self.operation.outputs[-1]], (1,))


_compiled: set[tuple[Kernel, str, bool]] = set()


def prepared(
    operation: Operation, resident: Resident, version: str | Kernel, checked: bool
) -> tuple[tuple[Pass, ...], float | None]:
    """The passes of a version, compiled, and the milliseconds that this took; None where it was compiled before."""
    begin = time.perf_counter()
    passes = operation.prepare(tuple(resident.buffers.values()), resident.shape, version)
    passes = passes if checked else tuple(replace(each, checked=False) for each in passes)
    for each in passes:
        _ = each.ready
    taken = (time.perf_counter() - begin) * 1e3
    programs = {(each.kernel, each.entry_point, checked) for each in passes}
    known = programs <= _compiled
    _compiled.update(programs)
    return passes, None if known else taken


def contender(row: Row, resident: Resident, passes: tuple[Pass, ...], tensors: dict[str, Array]) -> Contender:
    """A version that was found right, ready to be timed."""
    once = timing.measure(*passes, repeats=1, awake=0).median / 1e9
    calls = max(1, min(MOST, ceil(LONG / once)))

    def sample(count: int) -> list[float]:
        timed = timing.measure(*passes * calls, repeats=count, awake=0)
        return [nanoseconds / calls / 1e9 for nanoseconds in timed.nanoseconds]

    def host() -> float:
        resident.settle()
        begin = time.perf_counter()
        gpu.run(*passes)
        taken = time.perf_counter() - begin
        resident.settle()
        return taken

    operation, shape = resident.operation, resident.shape
    call = (lambda: operation.compute(shape, row.name, **tensors)) if row.checked else None
    return Contender(row, sample, once, calls, host, call)


def copy(row: Row, resident: Resident, tensor: str) -> Contender:
    """A copy of one tensor to a buffer of its size."""
    source = resident.buffers[tensor]
    blocks = ceil(source.size / 16 / 256)
    grid = min(blocks, MAX_WORKGROUPS), ceil(blocks / MAX_WORKGROUPS), 1
    passes = (Pass(_copy(), (source, gpu.empty(source.size, "copy")), grid),)
    return replace(contender(row, resident, passes, {}), call=None)


@cache
def _copy() -> Kernel:
    return Kernel(Path(__file__).with_name("copy.wgsl").read_text(encoding="utf-8"), "copy")


def wake(passes: Sequence[Pass]) -> None:
    """Keep a GPU busy until it has reached its full clock; a software adapter has none to reach."""
    if gpu.adapter_info().kind == "hardware":
        timing.measure(*passes, repeats=1)
