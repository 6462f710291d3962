"""The time that a launch takes: by the GPU's own timestamps where it has them, else by the wall clock."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain

import numpy as np
import wgpu

from helpers.gpu.adapter import NATIVE, adapter_info, device
from helpers.gpu.buffers import read
from helpers.gpu.passes import Pass, record, run, submit, submit_apart


@dataclass(frozen=True)
class Timing:
    """The nanoseconds that a launch took, once for each repeat; `clock` is "timestamps" or "wall"."""

    nanoseconds: tuple[float, ...]
    clock: str

    @property
    def median(self) -> float:
        """Nanoseconds of the middle run."""
        return statistics.median(self.nanoseconds)

    def __repr__(self) -> str:
        runs = len(self.nanoseconds)
        return f"{self.median / 1e6:.3f} ms, median of {runs} ({self.clock}, {adapter_info().name})"


AWAKE = 0.3  # seconds of work after which an idle GPU has reached its full clock; before, it may be 5 times slower
PATIENCE = 2  # seconds


def measure(*passes: Pass, repeats: int = 20, awake: float = AWAKE) -> Timing:
    """Keep the GPU busy with the passes for `awake` seconds, then time each of `repeats` runs.

    The GPU's own timestamps where it has them and they move; else the wall clock around submit and wait, which
    counts the host's overhead too. By the wall clock, no run begins after PATIENCE seconds but the first.
    """
    if not passes or repeats < 1:
        raise ValueError(f"{len(passes)} passes, repeats = {repeats}: there must be at least one of each")
    run(*passes)
    _wake(passes, awake)
    if "timestamp-query" in device().features:
        ticks = [_ticks_of(passes) for _ in range(repeats)]
        if min(ticks) > 0:  # some drivers return zeros
            return Timing(tuple(tick * _nanoseconds_per_tick() for tick in ticks), "timestamps")
    end = time.perf_counter() + PATIENCE
    runs = [_wall(passes)]
    while len(runs) < repeats and time.perf_counter() < end:
        runs.append(_wall(passes))
    return Timing(tuple(runs), "wall")


def _ticks_of(passes: tuple[Pass, ...]) -> int:
    """The ticks from the begin to the end of one run."""
    begin, end = _ticks(2, partial(submit, passes))
    return int(end - begin)


def _wake(passes: tuple[Pass, ...], seconds: float) -> None:
    """Run the passes again and again for this time, in submissions long enough to keep a GPU busy."""
    if adapter_info().simulated:
        return
    end = time.perf_counter() + seconds
    batch = passes
    while time.perf_counter() < end:
        if _wall(batch) < 20e6:  # nanoseconds
            batch = batch * 2


def timeline(*groups: Sequence[Pass], repeats: int = 20, awake: float = AWAKE) -> np.ndarray | None:
    """Begin and end of each group of passes, in nanoseconds since the first begin: the median of `repeats` runs.

    Each group is a compute pass of its own, in one submission. None where the adapter has no timestamps.
    """
    passes = tuple(chain(*groups))
    run(*passes)
    _wake(passes, awake)
    if "timestamp-query" not in device().features:
        return None
    ticks = np.array([_ticks(2 * len(groups), partial(submit_apart, groups)) for _ in range(repeats)])
    since = (ticks - ticks[:, :1]) * _nanoseconds_per_tick()
    if not since.any():  # some drivers return zeros
        return None
    return np.median(since, 0).reshape(-1, 2)


def host_times(*passes: Pass, repeats: int = 50) -> dict[str, float]:
    """Nanoseconds in which the host records the passes, finishes and submits them: medians, on an idle queue."""
    laps = np.median([_host_laps(passes) for _ in range(repeats)], 0)
    record_time, finish_time, submit_time = laps.tolist()
    return {"record": record_time, "finish": finish_time, "submit": submit_time}


def _host_laps(passes: tuple[Pass, ...]) -> tuple[int, int, int]:
    """Nanoseconds in which the host records the passes, finishes and submits them, once."""
    _wall(passes)
    begin = time.perf_counter_ns()
    encoder = device().create_command_encoder()
    record(encoder.begin_compute_pass(), passes)
    recorded = time.perf_counter_ns()
    commands = encoder.finish()
    finished = time.perf_counter_ns()
    device().queue.submit([commands])
    submitted = time.perf_counter_ns()
    return recorded - begin, finished - recorded, submitted - finished


def _ticks(count: int, submit_with: Callable[[wgpu.GPUQuerySet], None]) -> np.ndarray:
    """The ticks that a submission writes, as int64."""
    clock = device().create_query_set(type="timestamp", count=count)
    submit_with(clock)
    usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
    resolved = device().create_buffer(size=8 * count, usage=usage)
    encoder = device().create_command_encoder()
    encoder.resolve_query_set(clock, 0, count, resolved, 0)
    device().queue.submit([encoder.finish()])
    return read(resolved, (count,), np.uint64).astype(np.int64)


@cache
def _nanoseconds_per_tick() -> float:
    if not NATIVE:
        return 1  # a browser's ticks are nanoseconds
    from wgpu.backends.wgpu_native import _api  # wgpu 0.32 wraps no public way to this number

    return _api.libf.wgpuQueueGetTimestampPeriod(device().queue._internal)


def _wall(passes: tuple[Pass, ...]) -> float:
    start = time.perf_counter_ns()
    submit(passes)
    device().queue.read_buffer(passes[-1].buffers[0], size=4)
    return time.perf_counter_ns() - start
