"""The limits of the simulator: the length of a run, and the number of accesses that are kept."""

import pytest
from support.small_kernels import run

from wgsl.simulator import trace as traces
from wgsl.simulator.work import Work


def test_a_run_that_is_too_long_is_refused_with_how_far_it_came(monkeypatch):
    monkeypatch.setattr(Work.__init__, "__defaults__", (1_000_000,))
    with pytest.raises(
        ValueError, match=r"stopped after 103 statements, with up to 8 threads each; simulate a smaller"
    ):
        run("for (var i = 0u; i < 1000u; i++) { tile[t] = i; }")


def test_accesses_past_the_limit_are_counted_and_none_is_kept_after_the_first_of_them(monkeypatch):
    monkeypatch.setattr(traces, "MOST", 12)
    trace = run("tile[t] = 1u;\n tile[t] = 2u;\n if (t < 3u) { tile[t] = 3u; }")
    assert (trace.accesses["value"].tolist(), trace.dropped) == ([1] * 8, 8 + 3)
    assert trace.counts.total["stores_workgroup"] == 8 + 8 + 3
