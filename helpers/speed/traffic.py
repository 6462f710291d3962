"""Which thread of a workgroup loads, reads and writes which numbers, as a simulated run of the kernel shows.

Each number of both operands is its own name, 1, 2, 3, ..., so that what a thread reads from workgroup memory says from
where it came.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from helpers.gemm.operations import FORWARD
from helpers.gemm.shapes import GemmShape
from helpers.simulator.run import simulate
from helpers.simulator.trace import Trace
from helpers.wgsl import Kernel

Cell = tuple[int, int]  # row and column in a matrix


@dataclass(frozen=True)
class Traffic:
    """One workgroup and one turn of a product a @ b, of which a is (rows, depth) and b (depth, columns).

    `loaded` are the cells that each thread loads from storage memory, in its order, and `multiplied` those that it
    multiplies, in any order; both by the name of the matrix, in a list with a place for each thread. `written` are the
    results of each thread. `counts` are the simulator's, of the whole workgroup.
    """

    rows: int
    columns: int
    depth: int
    loaded: dict[str, list[list[Cell]]]
    multiplied: dict[str, list[set[Cell]]]
    written: list[list[Cell]]
    counts: dict[str, float]

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return len(self.written)

    @property
    def multiply_adds(self) -> int:
        """The products of the turn."""
        return self.rows * self.columns * self.depth

    @property
    def loads(self) -> int:
        """Numbers that the workgroup loads from both operands."""
        return sum(len(cells) for lists in self.loaded.values() for cells in lists)

    @property
    def reads(self) -> int:
        """Numbers that its threads read from workgroup memory; stores are left out."""
        return int(self.counts["bytes_workgroup"] / 4) - self.loads * bool(self.counts["bytes_workgroup"])


@cache
def traffic(kernel: Kernel, rows: int, columns: int, depth: int) -> Traffic:
    """What a version of the fused layer does for a @ b, where one workgroup computes all results in one turn."""
    shape = GemmShape(rows, depth, columns)
    kernel, schedule = FORWARD.scheduled(shape, kernel)
    (step,) = schedule.steps
    trace = simulate(kernel, _buffers(kernel, shape), step.workgroups, entry_point=step.entry_point)
    if trace.findings or trace.dropped or np.prod(step.workgroups) != 1:
        raise ValueError(f"{kernel.name}: {step.workgroups} workgroups, {trace.dropped:,} dropped; {trace!r}")
    sizes = {"a": (rows, depth), "b": (depth, columns)}
    loaded = {name: _cells(trace, _stored(trace, i, write=False), size) for i, (name, size) in enumerate(sizes.items())}
    named = _values(trace, _of_tiles(trace)) or _values(trace, _of_operands(trace))
    return Traffic(
        rows,
        columns,
        depth,
        loaded,
        {name: [_among(numbers, name, sizes) for numbers in named] for name in sizes},
        _cells(trace, _stored(trace, 3, write=True), (rows, columns)),
        trace.counts.total,
    )


def _buffers(kernel: Kernel, shape: GemmShape) -> list[np.ndarray]:
    """Both operands with a number of its own in each place, no bias, and the output."""
    a, b = shape.m * shape.k, shape.k * shape.n
    arrays = [np.arange(1, a + 1), np.arange(a + 1, a + b + 1), np.zeros(shape.n), np.zeros(shape.m * shape.n)]
    arrays = [array.astype(np.float32) for array in arrays]
    return [*arrays, np.array(shape.params(), np.uint32)] if kernel.bindings[-1] == "uniform" else arrays


def _stored(trace: Trace, binding: int, *, write: bool) -> np.ndarray:
    """The accesses to an array in storage memory."""
    return trace.accesses[(trace.accesses["binding"] == binding) & (trace.accesses["write"] == write)]


def _of_tiles(trace: Trace) -> np.ndarray:
    """What is read from workgroup memory."""
    return trace.accesses[(trace.accesses["space"] == "workgroup") & ~trace.accesses["write"]]


def _of_operands(trace: Trace) -> np.ndarray:
    """What is read from a and b."""
    return trace.accesses[np.isin(trace.accesses["binding"], (0, 1)) & ~trace.accesses["write"]]


def _threads(trace: Trace) -> int:
    return int(np.prod(trace.workgroup_size))


def _cells(trace: Trace, accesses: np.ndarray, size: Cell) -> list[list[Cell]]:
    """The cells of a matrix that each thread uses, in its order."""
    found: list[list[Cell]] = [[] for _ in range(_threads(trace))]
    for thread, index in zip(accesses["invocation"].tolist(), accesses["index"].tolist(), strict=True):
        found[thread].append(divmod(index, size[1]))
    return found


def _values(trace: Trace, accesses: np.ndarray) -> list[set[int]]:
    """The values that each thread reads; nothing where there are no such accesses."""
    found: list[set[int]] = [set() for _ in range(_threads(trace) * bool(len(accesses)))]
    values = accesses["value"].view(np.float32).astype(int)
    for thread, number in zip(accesses["invocation"].tolist(), values.tolist(), strict=True):
        found[thread].add(number)
    return found


def _among(numbers: set[int], name: str, sizes: dict[str, Cell]) -> set[Cell]:
    """The cells of a or b that have these numbers."""
    a, (rows, columns) = np.prod(sizes["a"]), sizes[name]
    before = 1 + (int(a) if name == "b" else 0)
    return {divmod(each - before, columns) for each in numbers if 0 <= each - before < rows * columns}
