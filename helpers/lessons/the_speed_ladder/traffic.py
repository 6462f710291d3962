"""The numbers that each thread of a workgroup loads, reads and writes, as a simulated run of the kernel shows.

Each number of both operands is its own name, 1, 2, 3, ..., so that what a thread reads from workgroup memory says from
where it came.
"""

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from helpers.operations.gemm.operations import FORWARD
from helpers.operations.gemm.shapes import GemmShape
from wgsl import Kernel
from wgsl.simulator.run import simulate
from wgsl.simulator.trace import Trace

Cell = tuple[int, int]  # row and column in a matrix


@dataclass(frozen=True)
class Traffic:
    """One workgroup and one turn of a product a @ b.

    `sizes` are the rows and columns of "a", "b" and "results". `loaded` are the cells that each thread loads from
    storage memory, in its order, and `multiplied` those that it multiplies, in any order; both by the name of the
    matrix, in a list with a place for each thread. `written` are the results of each thread. `counts` are the
    simulator's, of the whole workgroup.
    """

    sizes: dict[str, Cell]
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
        return prod(self.sizes["results"]) * self.sizes["b"][0]

    @property
    def loads(self) -> int:
        """Numbers that the workgroup loads from both operands."""
        return sum(len(cells) for lists in self.loaded.values() for cells in lists)

    @property
    def reads(self) -> int:
        """Numbers that its threads read from workgroup memory; stores are left out."""
        return int(self.counts["bytes_workgroup"] / 4) - self.loads * bool(self.counts["bytes_workgroup"])

    @property
    def costs(self) -> tuple[str, str, str]:
        """For each multiply-add: numbers loaded, numbers read from workgroup memory, and reads that these take."""
        counts = self.loads, self.reads, self.counts["loads_workgroup"]
        loads, numbers, reads = (f"{count / self.multiply_adds:.4g}" for count in counts)
        return loads, numbers, reads

    @property
    def costs_in_words(self) -> str:
        """The same, for a sentence."""
        loads, numbers, reads = self.costs
        return f"{loads} numbers loaded" + f", and {numbers} numbers in {reads} reads of workgroup memory" * bool(
            self.reads
        )


@cache
def traffic(kernel: Kernel, rows: int, columns: int, depth: int) -> Traffic:
    """The traffic of a version of the fused layer for a @ b, where one workgroup computes all results in one turn."""
    shape = GemmShape(rows, depth, columns)
    kernel, schedule = FORWARD.scheduled(shape, kernel)
    (step,) = schedule.steps
    a = rows * depth
    ab = depth * (rows + columns)
    arrays = np.arange(1, a + 1), np.arange(a + 1, ab + 1), np.zeros(columns), np.zeros(rows * columns)
    params = [np.array(shape.params(), np.uint32)] if kernel.buffer_types[-1] == "uniform" else []
    buffers = [*(array.astype(np.float32) for array in arrays), *params]
    trace = simulate(kernel, buffers, step.workgroups, entry_point=step.entry_point)
    if trace.findings or trace.dropped or np.prod(trace.workgroups) != 1:
        raise ValueError(f"{kernel.name}: {trace.workgroups} workgroups, {trace.dropped:,} dropped; {trace!r}")
    sizes = {"a": (rows, depth), "b": (depth, columns), "results": (rows, columns)}
    cells = [("", ()), *((name, cell) for name in "ab" for cell in np.ndindex(sizes[name]))]  # by their numbers
    seen = trace.accesses
    reads = seen[~seen["write"]]
    loaded = {name: _cells(trace, reads[reads["binding"] == i], sizes[name]) for i, name in enumerate("ab")}
    of_tiles = reads[reads["space"] == "workgroup"]
    values = _split_by_thread(trace, of_tiles if len(of_tiles) else reads, "value")
    named = [{*np.array(bits, np.uint32).view(np.float32).astype(int).tolist()} for bits in values]
    multiplied = {name: [{cells[i][1] for i in numbers if cells[i][0] == name} for numbers in named] for name in "ab"}
    written = _cells(trace, seen[(seen["binding"] == 3) & seen["write"]], sizes["results"])
    return Traffic(sizes, loaded, multiplied, written, trace.counts.total)


def _split_by_thread(trace: Trace, accesses: np.ndarray, field: str) -> list[list[int]]:
    """A field of the accesses, in a list for each thread, in its order."""
    lists: list[list[int]] = [[] for _ in range(np.prod(trace.workgroup_size))]
    for thread, value in accesses[["invocation", field]].tolist():
        lists[thread].append(value)
    return lists


def _cells(trace: Trace, accesses: np.ndarray, size: Cell) -> list[list[Cell]]:
    """The cells of a matrix that each thread uses, in its order."""
    return [[divmod(index, size[1]) for index in indices] for indices in _split_by_thread(trace, accesses, "index")]
