"""How long a launch takes: by the GPU's own timestamps where it has them, else by the wall clock."""

import statistics
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
import wgpu

from helpers.gpu.adapter import adapter_info, device
from helpers.gpu.buffers import read
from helpers.gpu.passes import Pass, run, submit


@dataclass(frozen=True)
class Timing:
    """How long a launch took, in nanoseconds, once for each repeat; `clock` is "timestamps" or "wall"."""

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


def measure(*passes: Pass, repeats: int = 20, awake: float = AWAKE) -> Timing:
    """Keep the GPU busy with the passes for `awake` seconds, then time each of `repeats` runs.

    The GPU's own timestamps where it has them and they move; else the wall clock around submit and wait, which
    counts the host's overhead too.
    """
    if not passes or repeats < 1:
        raise ValueError(f"{len(passes)} passes, repeats = {repeats}: there must be at least one of each")
    run(*passes)
    _wake(passes, awake)
    if "timestamp-query" in device().features:
        ticks = [_timestamps(passes) for _ in range(repeats)]
        if min(ticks) > 0:  # some drivers return zeros
            return Timing(tuple(tick * _nanoseconds_per_tick() for tick in ticks), "timestamps")
    return Timing(tuple(_wall(passes) for _ in range(repeats)), "wall")


def _wake(passes: tuple[Pass, ...], seconds: float) -> None:
    """Run the passes again and again for this time, in submissions long enough to keep the GPU busy."""
    end, batch = time.perf_counter() + seconds, passes
    while time.perf_counter() < end:
        if _wall(batch) < 20e6:  # nanoseconds
            batch = batch * 2


def _timestamps(passes: tuple[Pass, ...]) -> int:
    clock = device().create_query_set(type="timestamp", count=2)
    submit(passes, clock)
    usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
    resolved = device().create_buffer(size=16, usage=usage)
    encoder = device().create_command_encoder()
    encoder.resolve_query_set(clock, 0, 2, resolved, 0)
    device().queue.submit([encoder.finish()])
    begin, end = read(resolved, (2,), np.uint64)
    return int(end) - int(begin)


@cache
def _nanoseconds_per_tick() -> float:
    from wgpu.backends.wgpu_native import _api  # wgpu 0.32 wraps no public way to this number

    return _api.libf.wgpuQueueGetTimestampPeriod(device().queue._internal)


def _wall(passes: tuple[Pass, ...]) -> float:
    start = time.perf_counter_ns()
    submit(passes)
    device().queue.read_buffer(passes[-1].buffers[0], size=4)
    return time.perf_counter_ns() - start


class Stopwatch:
    """The wall clock of a sequence of steps, for a timeline: call `lap` with a step's name when it has ended."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, float, float]] = []  # name, start and duration in milliseconds
        self._begin = self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """End the step that began at the lap before."""
        now = time.perf_counter()
        self.spans.append((name, (self._last - self._begin) * 1e3, (now - self._last) * 1e3))
        self._last = now

    def __repr__(self) -> str:
        if not self.spans:
            return "No step has ended yet."
        longest = max(self.spans, key=lambda span: span[2])[0]
        return f"All steps took {(self._last - self._begin) * 1e3:.1f} ms; the longest step: {longest}."
