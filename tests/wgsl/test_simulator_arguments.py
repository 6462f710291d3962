"""What the simulator takes: buffers, constants, arguments that fit, and texts that it can run."""

import numpy as np
import pytest
from support.small_kernels import MAIN, run, text_of

from wgsl import Kernel, UnsupportedWgsl, WgslError, simulate
from wgsl.simulator import trace as traces
from wgsl.simulator.work import Work

SMALL = """@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32, 4>;
@group(0) @binding(2) var<uniform> count: u32;
override FACTOR: u32 = 2u;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {
  output[t] = input[t % count] * f32(FACTOR);
}
@compute @workgroup_size(256) fn wide(@builtin(global_invocation_id) id: vec3u) { output[id.x % 4u] = 1.0; }
"""


def small(**changes) -> dict[str, object]:
    """Arguments of `simulate` that fit, with some changed."""
    buffers = [np.float32([[1, 2], [3, 4]]), np.full((2, 2), 9, np.float32), np.array([3], np.uint32)]
    return {"kernel": SMALL, "buffers": buffers, "workgroups": (1, 1, 1), **changes}


def test_the_given_buffers_stay_and_the_trace_has_new_ones_of_the_same_form():
    arguments = small()
    before = [array.copy() for array in arguments["buffers"]]
    for array in arguments["buffers"]:
        array.flags.writeable = False
    trace = simulate(**arguments)
    assert all(map(np.array_equal, arguments["buffers"], before))
    assert [(array.shape, array.dtype) for array in trace.buffers] == [(array.shape, array.dtype) for array in before]
    assert trace.buffers[1].tolist() == [[2, 4], [6, 2]]


def test_a_kernel_brings_its_constants_and_a_call_changes_them():
    tripled = Kernel(SMALL).with_constants(FACTOR=3)
    assert simulate(**small(kernel=tripled)).buffers[1].ravel()[0] == 3
    assert simulate(**small(kernel=tripled), constants={"FACTOR": 5}).buffers[1].ravel()[0] == 5


# textures, derivatives, half precision, matrices
@pytest.mark.parametrize(
    "line",
    [
        "var image: texture_2d<f32>;",
        "fn f() -> f32 { return dpdx(1.0); }",
        "fn f() { var x: f16; }",
        "fn f() { var x: mat2x2h; }",
    ],
)
def test_what_the_simulator_does_not_run_is_refused_by_name_and_line(line):
    with pytest.raises(UnsupportedWgsl) as refused:
        run("numbers[t] = 1u;", declarations=f"\n\n{line}")
    assert refused.value.line == MAIN.count("\n") + 3
    assert refused.value.column >= 1


def test_calls_that_would_take_for_ever_to_analyze_are_refused_although_none_is_made():
    calls = "".join(f"fn f{i}() {{ f{i - 1}(); f{i - 1}(); }}\n" for i in range(1, 18))
    with pytest.raises(UnsupportedWgsl, match="no room for functions that call one another this often"):
        run("if (t > 99u) { f17(); } numbers[t] = 1u;", declarations=f"fn f0() {{}}\n{calls}")


def test_what_is_not_wgsl_is_refused_with_line_and_column():
    with pytest.raises(WgslError) as refused:
        run("numbers[t] = 1.5;")
    assert not isinstance(refused.value, UnsupportedWgsl)
    assert refused.value.line == text_of("").count("\n") - 1
    assert refused.value.column == 1


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
