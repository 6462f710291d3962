"""The limits of the simulator: the length of a run, and the number of accesses that are kept."""

import pytest
from support.small_kernels import run

from wgsl.simulator import footprint
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


def test_the_statements_of_a_long_run_are_kept_until_they_take_too_much_memory(monkeypatch):
    body = "for (var i = 0u; i < 9u; i++) { if (t < 3u) { tile[t] = i; } }"
    assert len(run(body).steps) == 2 + 10 + 9 + 9 + 9
    monkeypatch.setattr(traces, "MOST_ACTIVE", 6)
    trace = run(body)
    assert len(trace.steps) == 2 + 4 + 4 + 3
    assert trace.counts.total["stores_workgroup"] == 9 * 3


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("var many: array<u32, 500>; many[t] = 1u;", "many"),
        ("let many = array<u32, 500>(); own[0] = many[t];", "many"),
        ("if (t > 9u) { fill(array<u32, 500>()); }\n}\nfn fill(list: array<u32, 500>) { own[0] = list[0];", "list"),
        ("large[t] = 1u; }\nvar<workgroup> large: array<u32, 500>; fn none() {", "large"),
        ("large[t] = 1u; }\nvar<private> large: array<u32, 500>; fn none() {", "large"),
    ],
)
def test_a_run_that_takes_too_much_memory_is_refused_before_it_begins(body, name, monkeypatch):
    assert not run(body, 2).findings
    monkeypatch.setattr(footprint, "MOST_BYTES", 30_000)
    with pytest.raises(ValueError, match=rf"and the simulator has .*; `{name}` takes most of it: 500 words in each of"):
        run(body, 2)


def test_wrapped_numbers_are_kept_track_of_as_far_as_there_is_memory(monkeypatch):
    body = "var many: array<u32, 500>; many[t] = t - 1u; numbers[t] = many[t];"
    monkeypatch.setattr(footprint, "MOST_BYTES", 90_000)
    with pytest.raises(ValueError, match="`many` wrap around, and there is no memory to keep track of it"):
        run(body, 2)
