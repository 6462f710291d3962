"""The numbers that each thread of a workgroup loads, reads and writes, as a simulated run of the kernel shows.

Each number of both operands is its own name, 1, 2, 3, ..., so that what a thread reads from workgroup memory says from
where it came.
"""

from dataclasses import dataclass
from functools import cache
from itertools import chain
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
        lists = chain.from_iterable(self.loaded.values())
        return sum(map(len, lists))

    @property
    def reads(self) -> int:
        """Numbers that its threads read from workgroup memory; stores are left out."""
        if not self.counts["bytes_workgroup"]:
            return 0
        stores = self.loads
        return int(self.counts["bytes_workgroup"] / 4) - stores

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
        if not self.reads:
            return f"{loads} numbers loaded"
        return f"{loads} numbers loaded, and {numbers} numbers in {reads} reads of workgroup memory"


@cache
def traffic(kernel: Kernel, rows: int, columns: int, depth: int) -> Traffic:
    """The traffic of a version of the fused layer for a @ b, where one workgroup computes all results in one turn."""
    shape = GemmShape(rows, depth, columns)
    kernel, schedule = FORWARD.scheduled(shape, kernel)
    (step,) = schedule.steps
    trace = simulate(kernel, _buffers(kernel, shape), step.workgroups, entry_point=step.entry_point)
    if trace.findings or trace.dropped or np.prod(trace.workgroups) != 1:
        raise ValueError(f"{kernel.name}: {trace.workgroups} workgroups, {trace.dropped:,} dropped; {trace!r}")
    sizes = {"a": (rows, depth), "b": (depth, columns), "results": (rows, columns)}
    accesses = trace.accesses
    reads = accesses[~accesses["write"]]
    loaded = {
        "a": _cells(trace, reads[reads["binding"] == 0], sizes["a"]),
        "b": _cells(trace, reads[reads["binding"] == 1], sizes["b"]),
    }
    of_tiles = reads[reads["space"] == "workgroup"]
    multiplied = _multiplied(trace, of_tiles if len(of_tiles) else reads, sizes)
    written = _cells(trace, accesses[(accesses["binding"] == 3) & accesses["write"]], sizes["results"])
    return Traffic(sizes, loaded, multiplied, written, trace.counts.total)


def _buffers(kernel: Kernel, shape: GemmShape) -> list[np.ndarray]:
    """a and b with their numbers 1, 2, 3, ..., a bias and results of zeros, and the sizes."""
    count_a = shape.m * shape.k
    count_b = shape.k * shape.n
    buffers = [
        np.arange(1, count_a + 1, dtype=np.float32),
        np.arange(count_a + 1, count_a + count_b + 1, dtype=np.float32),
        np.zeros(shape.n, np.float32),
        np.zeros(shape.m * shape.n, np.float32),
    ]
    if kernel.buffer_types[-1] == "uniform":
        buffers.append(np.array(shape.params(), np.uint32))
    return buffers


def _multiplied(trace: Trace, reads: np.ndarray, sizes: dict[str, Cell]) -> dict[str, list[set[Cell]]]:
    """The cells of each operand that each thread multiplies: what it reads says by its value from where it came."""
    rows, depth = sizes["a"]
    _, columns = sizes["b"]
    count_a = rows * depth
    multiplied: dict[str, list[set[Cell]]] = {"a": [], "b": []}
    for bits in _split_by_thread(trace, reads, "value"):
        numbers = np.array(bits, np.uint32).view(np.float32).astype(int).tolist()
        multiplied["a"].append({divmod(number - 1, depth) for number in numbers if 0 < number <= count_a})
        multiplied["b"].append({divmod(number - 1 - count_a, columns) for number in numbers if number > count_a})
    return multiplied


def _split_by_thread(trace: Trace, accesses: np.ndarray, field: str) -> list[list[int]]:
    """A field of the accesses, in a list for each thread, in its order."""
    lists: list[list[int]] = [[] for _ in range(np.prod(trace.workgroup_size))]
    for thread, value in accesses[["invocation", field]].tolist():
        lists[thread].append(value)
    return lists


def _cells(trace: Trace, accesses: np.ndarray, size: Cell) -> list[list[Cell]]:
    """The cells of a matrix that each thread uses, in its order."""
    _, columns = size
    cells = []
    for indices in _split_by_thread(trace, accesses, "index"):
        cells.append([divmod(index, columns) for index in indices])
    return cells
