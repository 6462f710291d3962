"""Findings of the simulator and their places: small kernels, one for each rule."""

import re
from ast import literal_eval

import numpy as np
import pytest
from support.messages import every
from support.small_kernels import DECLARED, expected, run, text_of
from support.speakers import found

import wgsl
from wgsl.simulator import run as simulator

# --- Which finding, in which line -----------------------------------------------------------------------------


@every("findings")
def test_each_mistake_is_found_where_it_is_and_said_and_nothing_else(family, heading, text, message):
    body, trace = f"\n{text}", found(heading, text)
    assert str(trace) == message
    if "without marks" in heading:
        return
    kinds, earlier = expected(body)
    assert sorted({(finding.kind, finding.line) for finding in trace.findings}) == kinds
    for finding in trace.findings:
        racing = finding.kind in ("data race", "overlapping writes")
        assert finding.other_line == ((earlier or finding.line) if racing else None)
        assert finding.source_line == text_of(body, DECLARED).split("\n")[finding.line - 1]


# --- Endless loops --------------------------------------------------------------------------------------------


def test_a_call_without_a_budget_has_the_default_one(monkeypatch):
    assert simulator.MAX_STEPS == 65_536
    monkeypatch.setattr(simulator, "MAX_STEPS", 100)
    assert not run("for (var i = 0u; i < 100u; i++) {}").findings
    assert [finding.kind for finding in run("for (var i = 0u; i < 101u; i++) {}").findings] == ["endless loop"]


# --- Outputs --------------------------------------------------------------------------------------------------


CALLED = "twice(&numbers); }\n fn twice(p: ptr<storage, array<u32>, read_write>) { (*p)[1] = 2u * (*p)[1];"
UNWRITTEN = [
    ("numbers[t] = t; numbers[t + 8u] = t;", "None", "nothing"),
    ("numbers[t] = t;", "None", "numbers 8"),
    ("numbers[t] = t;", "[0]", "numbers 8"),
    ("numbers[t] = t;", "[]", "nothing"),
    ("numbers[t] = t;", "[0, 1]", "numbers 8, floats 16"),
    ("numbers[t] = t; if (t > 9u) { floats[t] = 1.0; }", "None", "numbers 8, floats 16"),
    ("numbers[t] += t; numbers[2u * t + 1u] = 5u;", "None", "nothing"),
    ("numbers[t] += t; numbers[2u * t + 1u] = 5u;", "[0]", "numbers 4"),
    ("if (numbers[t] > 3u) { numbers[t] = 0u; }", "None", "nothing"),
    (CALLED, "None", "nothing"),
    ("if (atomicLoad(&counters[t % 4u]) > 0u) { atomicStore(&counters[t % 4u], 0u); }", "None", "nothing"),
    ("if (t < 3u) { atomicStore(&counters[t], 0u); }", "None", "counters 1"),
    ("if (2u == 1u) { floats[t] = 1.0; } else { numbers[t] = t; }", "None", "numbers 8"),
    ("numbers[t + 9u] = t;", "None", "numbers 9"),
]


@pytest.mark.parametrize(("body", "outputs", "expected"), UNWRITTEN)
def test_numbers_that_nobody_writes_are_reported_where_their_buffer_is_declared(body, outputs, expected):
    findings = run(body, outputs=literal_eval(outputs)).findings
    unwritten = [finding for finding in findings if finding.kind == "unwritten output"]
    names_and_counts = [re.search(r"> (\w+):", finding.source_line)[1] + f" {finding.count}" for finding in unwritten]
    assert (", ".join(names_and_counts) or "nothing") == expected
    assert all(finding.invocations == () and finding.other_line is None for finding in unwritten)


# --- Workgroup memory that nobody has written -----------------------------------------------------------------


def test_a_read_of_workgroup_memory_that_nobody_wrote_gives_0_and_is_reported_unless_the_driver_is_trusted():
    body = "numbers[t] = 7u + tile[t] + workgroupUniformLoad(&total); atomicAdd(&tally, 1u);"
    assert {finding.kind for finding in run(body).findings} == {"uninitialized read"}
    trusted = run(body, zero_initialized=True)
    assert not trusted.findings
    assert trusted.buffers[0].tolist() == [7] * 8 + [0] * 8


@pytest.mark.parametrize(
    ("value", "readers"),
    [
        ("select(0u, tile[t], t < 2u)", 0),
        ("select(tile[t], 0u, t >= 2u)", 0),
        ("select(9u, select(0u, tile[t], t < 5u), t < 2u)", 0),
        ("select(0u, tile[t], t < 4u)", 2),
        ("select(0u, select(0u, tile[t], t < 5u), t < 3u)", 1),
    ],
)
def test_workgroup_memory_that_nobody_wrote_may_be_read_where_select_discards_it(value, readers):
    body = f"if (t < 2u) {{ tile[t] = 1u; }} workgroupBarrier(); numbers[t] = {value};"
    counts = [finding.count for finding in run(body).findings if finding.kind == "uninitialized read"]
    assert sum(counts) == readers


IN_ROWS = """var<workgroup> rows: array<array<f32, 4>, 3>;
@group(0) @binding(0) var<storage, read_write> out: array<array<array<u32, 2>, 2>>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {
  out[1][t % 2u][1] = t;
  out[0][0][0] = u32(rows[2][t]);
}
"""


def test_an_element_of_an_array_in_an_array_is_named_by_all_of_its_indices():
    messages = [finding.message for finding in wgsl.simulate(IN_ROWS, [np.zeros(8, np.uint32)], (1, 1, 1)).findings]
    named = {name for message in messages for name in re.findall(r"`((?:out|rows)[\[\d\]]+)`", message)}
    assert named == {"out[1][0][1]", "out[0][0][0]", "rows[2][0]"}


# --- Indices that wrap around ---------------------------------------------------------------------------------

WRAPPED = "(t - 1u) % 7u"  # of thread 0 it is 3; among all whole numbers it would be 6


@pytest.mark.parametrize(
    ("body", "first", "kinds"),
    [
        (f"floats[t] = floats[{WRAPPED}];", 5.0, set()),
        (f"floats[t] = 1.0 + f32(t) * floats[{WRAPPED}];", 1.0, set()),
        (f"floats[t] = f32(numbers[{WRAPPED}]);", 0.0, {"index overflow"}),
        (f"floats[{WRAPPED}] = 2.0;", 0.0, {"index overflow"}),
        (f"floats[t] = floats[{WRAPPED}] + floats[t + 16u];", 5.0, {"out-of-range read"}),
    ],
)
def test_a_float_of_ones_choice_is_loaded_where_an_index_has_wrapped_around(body, first, kinds):
    body = f"if (t < 1u) {{ {body} }}"
    trace = run(body, wrapped=5.0)
    assert {finding.kind for finding in trace.findings} == kinds
    assert trace.buffers[1][0] == first
    assert "index overflow" in {finding.kind for finding in run(body).findings}
