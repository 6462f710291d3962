"""Candidates that are timed: the result of each, taking turns, and the versions of an operation on one layer."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, prod

import numpy as np

from helpers import gpu
from helpers.bench.recorded import UNCHECKED
from helpers.gpu import timing
from helpers.gpu.buffers import write
from helpers.gpu.passes import Pass
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel

BUDGET = 0.5  # seconds that one candidate's samples may take, if that is more than one sample
ROUNDS = 4  # in which candidates take turns
SAMPLES = 4  # of each in a round
QUIET = 5e-3  # seconds without work after which the threads of the candidate before are asleep
SLOW = 0.25  # seconds of a call from which on the first one is all that is timed


@dataclass
class Row:
    """One line of the result: what was timed on which layer, or why it was not.

    Times are medians in microseconds. `kernel_us` is that of one call on a busy device, `host_us` what the host takes
    to encode and submit one, `array_us` a call from NumPy arrays to NumPy arrays, `prepare_ms` the first preparation
    in this process, which compiles; None is not measured.
    """

    operation: str
    layer: str
    name: str
    kind: str  # "version" or "library"
    activation: str = "none"  # of the layer; the time includes it
    checked: bool = True
    chosen: bool = False  # what a call without `kernel=` takes
    kernel_us: float | None = None
    samples: int = 0
    rate: float | None = None
    unit: str = ""
    ratio: float | None = None  # the library's time : this one
    host_us: float | None = None
    array_us: float | None = None
    prepare_ms: float | None = None
    check: str = ""
    skipped: str = ""
    wrong: str = ""

    @property
    def title(self) -> str:
        """The operation, and the activation in it."""
        if self.activation == "none":
            return self.operation
        return f"{self.operation}, with {self.activation}"

    @property
    def label(self) -> str:
        """The name, and a mark where bounds were left unchecked."""
        if self.checked:
            return self.name
        return self.name + UNCHECKED


@dataclass
class Candidate:
    """Something that is ready to be timed.

    Parameters
    ----------
    row : Row
        Where its figures go.
    sample : function
        Takes a count and returns as many figures: seconds of one call, on a device that is busy.
    once : float
        Seconds of one call, as it took before.
    calls : int
        How many calls make one sample.
    host : function, optional
        Seconds to encode and submit one call, after the queue is empty.
    call : function, optional
        Compute from arrays to arrays.
    times : list of float
        What `compete` took: seconds of a call, by each sample.
    """

    row: Row
    sample: Callable[[int], list[float]]
    once: float
    calls: int = 1
    host: Callable[[], float] | None = None
    call: Callable[[], object] | None = None
    times: list[float] = field(default_factory=list)


def compete(
    candidates: Sequence[Candidate],
    budget: float = BUDGET,
    on_cpu: bool = True,
    rounds: int = ROUNDS,
    slow: float = SLOW,
) -> None:
    """Take samples of all candidates in turn, so that a change of the clock is fair to all; keep the medians."""
    for turn in range(rounds):
        for candidate in candidates:
            seconds = candidate.once * candidate.calls
            if candidate.once <= slow and turn * seconds < budget:
                if on_cpu:
                    quiet()
                candidate.times += candidate.sample(_count(budget / rounds, seconds, SAMPLES))
    for candidate in candidates:
        candidate.times = candidate.times or [candidate.once]
        candidate.row.kernel_us = statistics.median(candidate.times) * 1e6
        candidate.row.samples = len(candidate.times)


def apart(candidate: Candidate, budget: float = BUDGET) -> None:
    """The host's time, and the time of a call from arrays to arrays."""
    quiet()
    if candidate.host:
        times = [candidate.host() for _ in range(_count(budget / 4, candidate.once, 20))]
        candidate.row.host_us = statistics.median(times) * 1e6
    if candidate.call:
        times = [clocked(candidate.call)]
        times += [clocked(candidate.call) for _ in range(_count(budget / 2, times[0], 6) - 1)]
        candidate.row.array_us = statistics.median(times) * 1e6


def quiet() -> None:
    """Wait until this process computes nothing: OpenBLAS's threads, say, turn in a loop for 30 ms after a product."""
    for _ in range(100):
        begin = time.process_time()
        time.sleep(QUIET)
        if time.process_time() - begin < QUIET / 10:
            return


def clocked(call: Callable[[], object], settle: Callable[[], object] | None = None) -> float:
    """Seconds of one call by the wall clock, after `settle` has waited for what came before."""
    if settle:
        settle()
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _count(budget: float, seconds: float, most: int) -> int:
    return max(1, min(most, int(budget / max(seconds, 1e-9))))


# --- The versions of an operation on one layer --------------------------------------------------------------

Array = np.ndarray
LONG = 1e-3  # seconds of work in one submission, beside which what an empty timed pass costs does not count
MOST = 100  # calls in one submission
_compiled: set[tuple[Kernel, str, bool]] = set()


class Resident:
    """The tensors of one operation on one layer, in buffers that all of its versions share."""

    def __init__(self, operation: Operation, shape: Shape) -> None:
        self.operation = operation
        self.shape = shape
        self.buffers = {name: gpu.empty(4 * prod(shape.of(name)), name) for name in operation.tensors}

    def write(self, tensors: dict[str, Array]) -> None:
        """Put the inputs onto the GPU."""
        for name, array in tensors.items():
            write(self.buffers[name], array)

    def outputs(self, passes: Sequence[Pass]) -> tuple[Array, ...]:
        """The outputs of the passes, which hold NaN before."""
        for name in self.operation.outputs:
            write(self.buffers[name], np.full(self.shape.of(name), np.nan, np.float32))
        gpu.run(*passes)
        return tuple(gpu.read(self.buffers[name], self.shape.of(name)) for name in self.operation.outputs)

    def settle(self) -> None:
        """Wait until the queue is empty."""
        gpu.read(self.buffers[self.operation.outputs[-1]], (1,))

    def prepared(self, version: str, checked: bool) -> tuple[tuple[Pass, ...], float | None]:
        """The passes of a version, compiled, and the milliseconds that this took; None where it was compiled before."""
        begin = time.perf_counter()
        passes = self.operation.prepare(tuple(self.buffers.values()), self.shape, version)
        passes = tuple(replace(step, checked=checked) for step in passes)
        programs = set()
        for step in passes:
            _ = step.compiled  # compiles it
            programs.add((step.kernel, step.entry_point, checked))
        milliseconds = (time.perf_counter() - begin) * 1e3
        if programs <= _compiled:
            return passes, None
        _compiled.update(programs)
        return passes, milliseconds


def repetitions(passes: tuple[Pass, ...]) -> tuple[float, int]:
    """Seconds of the passes, as they took before, and the number of times that one submission repeats them."""
    once = timing.measure(*passes, repeats=1, awake=0).median / 1e9
    count = max(1, min(MOST, ceil(LONG / once)))
    return once, count


def version_candidate(row: Row, resident: Resident, passes: tuple[Pass, ...], tensors: dict[str, Array]) -> Candidate:
    """A version that was found right, ready to be timed."""
    once, calls = repetitions(passes)

    def sample(count: int) -> list[float]:
        timed = timing.measure(*passes * calls, repeats=count, awake=0)
        return [nanoseconds / calls / 1e9 for nanoseconds in timed.nanoseconds]

    host = partial(clocked, partial(gpu.run, *passes), resident.settle)
    call = None
    if row.checked:
        call = partial(resident.operation.compute, resident.shape, row.name, **tensors)
    return Candidate(row, sample, once, calls, host, call)


def wake(passes: Sequence[Pass]) -> None:
    """Keep a GPU busy until it has reached its full clock; a software adapter has none to reach."""
    if gpu.adapter_info().kind == "hardware":
        timing.measure(*passes, repeats=1)
