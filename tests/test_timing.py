"""Times come from the clock that works, in nanoseconds. No test asks how long anything took."""

from dataclasses import replace

import pytest
from test_gpu import adder, numbers

from helpers import gpu, timing
from helpers.gpu import GpuError, Pass


@pytest.fixture
def step() -> Pass:
    return Pass(adder(1), (numbers(),), (1, 1, 1))


def test_a_measurement_has_a_positive_time_for_each_repeat(step):
    taken = timing.measure(step, replace(step, kernel=adder(2)), repeats=3)
    assert taken.clock in ("timestamps", "wall")
    assert len(taken.nanoseconds) == 3
    assert min(taken.nanoseconds) > 0
    assert (gpu.read(step.buffers[0], (64,)) >= 3 * (3 + 3)).all()  # three warm-ups, then three repeats


def test_ticks_become_nanoseconds(step, monkeypatch):
    ticks = iter([30, 10, 20])
    monkeypatch.setattr(timing, "_timestamps", lambda _: next(ticks))
    monkeypatch.setattr(timing, "_nanoseconds_per_tick", lambda: 2.5)
    monkeypatch.setattr(type(gpu.device()), "features", {"timestamp-query"})
    taken = timing.measure(step, repeats=3)
    assert taken == timing.Timing((75.0, 25.0, 50.0), "timestamps")
    assert taken.median == 50.0


@pytest.mark.parametrize("features", [set(), {"timestamp-query"}])
def test_a_clock_that_is_missing_or_stands_still_gives_way_to_the_wall(features, step, monkeypatch):
    monkeypatch.setattr(type(gpu.device()), "features", features)
    monkeypatch.setattr(timing, "_timestamps", lambda _: 0)
    taken = timing.measure(step, repeats=2)
    assert taken.clock == "wall"
    assert len(taken.nanoseconds) == 2
    assert min(taken.nanoseconds) > 0


def test_a_measurement_is_refused_like_a_run():
    with pytest.raises(GpuError, match="65,535"):
        timing.measure(Pass(adder(1), (numbers(),), (65_536, 1, 1)))


def test_a_timing_is_shown_with_its_clock_and_adapter():
    shown = repr(timing.Timing((1e6, 3e6, 2e6), "wall"))
    assert shown == f"2.000 ms, median of 3 (wall, {gpu.banner().summary})"


def test_nothing_to_measure_is_refused(step):
    for passes, repeats in ((), 3), ((step,), 0):
        with pytest.raises(ValueError, match="at least one of each"):
            timing.measure(*passes, repeats=repeats)


def test_a_stopwatch_leaves_no_gap_between_its_laps():
    watch = timing.Stopwatch()
    for name in ("open the door", "wait"):
        watch.lap(name)
    (first, start, lasted), (second, then, _) = watch.spans
    assert (first, second, start) == ("open the door", "wait", 0)
    assert then == pytest.approx(lasted)
    assert "the longest step: " in repr(watch)
