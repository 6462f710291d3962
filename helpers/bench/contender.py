"""What is timed, however it computes, and the result of timing it."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

BUDGET = 0.5  # seconds that one contender's samples may take, if that is more than one sample
ROUNDS, SAMPLES = 4, 4  # rounds in which contenders take turns, and samples of each in a round
QUIET = 5e-3  # seconds without work after which the threads of the contender before are asleep
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
    kind: str  # "version", "library" or "copy"
    activation: str = "none"  # of the layer, and computed in the time that is given
    checked: bool = True
    chosen: bool = False  # what a call without `kernel=` takes
    kernel_us: float | None = None
    fastest_us: float | None = None  # the fastest sample
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
        return self.operation + (f", with {self.activation}" if self.activation != "none" else "")


@dataclass
class Contender:
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
    """

    row: Row
    sample: Callable[[int], list[float]]
    once: float
    calls: int = 1
    host: Callable[[], float] | None = None
    call: Callable[[], object] | None = None


def compete(contenders: Sequence[Contender], budget: float = BUDGET, on_cpu: bool = True) -> None:
    """Take samples of all contenders in turn, so that a change of the clock is fair to all; keep the medians."""
    found = {id(each): [] for each in contenders}
    for turn in range(ROUNDS):
        for each in contenders:
            taken = found[id(each)]
            count = _count(budget / ROUNDS, each.once * each.calls, SAMPLES)
            if each.once > SLOW:
                taken += [each.once] * (not taken)
            elif not taken or turn * each.once * each.calls < budget:
                if on_cpu:
                    quiet()
                taken += each.sample(count)
    for each in contenders:
        times, row = found[id(each)], each.row
        row.kernel_us, row.fastest_us, row.samples = statistics.median(times) * 1e6, min(times) * 1e6, len(times)


def apart(each: Contender, budget: float = BUDGET) -> None:
    """The host's time, and the time of a call from arrays to arrays."""
    quiet()
    if each.host:
        times = [each.host() for _ in range(_count(budget / 4, each.once, 20))]
        each.row.host_us = statistics.median(times) * 1e6
    if each.call:
        times = [clocked(each.call)]
        times += [clocked(each.call) for _ in range(_count(budget / 2, times[0], 6) - 1)]
        each.row.array_us = statistics.median(times) * 1e6


def quiet() -> None:
    """Wait until this process computes nothing: OpenBLAS's threads, say, turn in a loop for 30 ms after a product."""
    for _ in range(100):
        begin = time.process_time()
        time.sleep(QUIET)
        if time.process_time() - begin < QUIET / 10:
            return


def clocked(call: Callable[[], object]) -> float:
    """Seconds of one call by the wall clock."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _count(budget: float, seconds: float, most: int) -> int:
    return max(1, min(most, int(budget / max(seconds, 1e-9))))
