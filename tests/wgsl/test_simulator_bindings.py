"""The simulator runs texts with any groups and bindings, or none, and takes their buffers by place or by name."""

import numpy as np
import pytest
import wgpu

from wgsl import adapter, simulate

SCATTERED = """
@group(1) @binding(7) var<storage, read_write> total: array<u32>;
@group(0) @binding(300) var<storage> numbers: array<u32>;
@group(3) @binding(0) var<uniform> step: vec4u;
@compute @workgroup_size(4) fn add(@builtin(local_invocation_index) t: u32) { total[t] += numbers[t] * step.x; }
@compute @workgroup_size(4) fn clear(@builtin(local_invocation_index) t: u32) { total[t] = 0; }
"""
NUMBERS = np.array([1, 2, 3, 4], np.uint32)
BEFORE = np.array([10, 20, 30, 40], np.uint32)
STEP = np.array([5, 0, 0, 0], np.uint32)
BY_PLACE = {(0, 300): NUMBERS, (1, 7): BEFORE, (3, 0): STEP}
BY_NAME = {"total": BEFORE, "step": STEP, "numbers": NUMBERS}
AFTER = [15, 30, 45, 60]


@pytest.mark.parametrize(("buffers", "key"), [([NUMBERS, BEFORE, STEP], 1), (BY_PLACE, (1, 7)), (BY_NAME, "total")])
def test_buffers_are_taken_as_a_list_or_by_group_and_binding_or_by_name(buffers, key):
    trace = simulate(SCATTERED, buffers, (1, 1, 1), entry_point="add")
    assert trace.buffers[key].tolist() == AFTER
    assert not trace.findings
    assert set(trace.accesses["binding"]) == {7, 300}


def test_several_dispatches_run_over_the_same_buffers():
    first = simulate(SCATTERED, BY_NAME, (1, 1, 1), entry_point="add")
    second = simulate(SCATTERED, first.buffers, (1, 1, 1), entry_point="add")
    assert second.buffers["total"].tolist() == [20, 40, 60, 80]
    assert simulate(SCATTERED, second.buffers, (1, 1, 1), entry_point="clear").buffers["total"].tolist() == [0] * 4
    assert BEFORE.tolist() == [10, 20, 30, 40]


def test_what_an_entry_point_does_not_use_can_be_left_out_of_a_mapping():
    trace = simulate(SCATTERED, {"total": BEFORE}, (1, 1, 1), entry_point="clear")
    assert [*trace.buffers] == ["total"]


def test_a_text_without_bindings_runs():
    entry = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32)"
    text = f"var<private> seen: array<u32, 2>;\n{entry} {{ seen[t] = t; }}"
    for buffers in ([], {}):
        trace = simulate(text, buffers, (1, 1, 1))
        assert [finding.kind for finding in trace.findings] == ["out-of-range write"]


@pytest.mark.parametrize("outputs", [[1], ["total"], [(1, 7)]])
def test_outputs_are_named_as_buffers_are(outputs):
    text = SCATTERED.replace("total[t] = 0", "if t > 0 { total[t] = 0; }")
    trace = simulate(text, BY_PLACE, (1, 1, 1), entry_point="clear", outputs=outputs)
    assert [(finding.kind, finding.count) for finding in trace.findings] == [("unwritten output", 1)]


def bound(gpu: object, kinds: dict[tuple[int, int], str]) -> tuple[list, list, list]:
    """The buffers on a device, and the layouts and bind groups of the groups 0 to 3."""
    usage = 0x80 | 0x40 | 0x8 | 0x4  # storage, uniform, and copies to and from it
    buffers = {place: gpu.create_buffer_with_data(data=array, usage=usage) for place, array in BY_PLACE.items()}
    layouts, groups = [], []
    for group in range(4):
        places = [place for place in BY_PLACE if place[0] == group]
        slots = [{"binding": place[1], "visibility": 4, "buffer": {"type": kinds[place]}} for place in places]
        layouts.append(gpu.create_bind_group_layout(entries=slots))
        entries = [{"binding": place[1], "resource": {"buffer": buffers[place]}} for place in places]
        groups.append(gpu.create_bind_group(layout=layouts[-1], entries=entries))
    return [*buffers.values()], layouts, groups


@pytest.mark.parametrize("package", [adapter, wgpu])
def test_the_simulated_adapter_binds_groups_and_gaps_as_wgpu_does(package):
    gpu = package.gpu.request_adapter_sync().request_device_sync()
    kinds = {(0, 300): "read-only-storage", (1, 7): "storage", (3, 0): "uniform"}
    buffers, layouts, groups = bound(gpu, kinds)
    compute = {"module": gpu.create_shader_module(code=SCATTERED), "entry_point": "add"}
    layout = gpu.create_pipeline_layout(bind_group_layouts=layouts)
    encoder = gpu.create_command_encoder()
    dispatches = encoder.begin_compute_pass()
    dispatches.set_pipeline(gpu.create_compute_pipeline(layout=layout, compute=compute))
    for number, group in enumerate(groups):
        dispatches.set_bind_group(number, group)
    dispatches.dispatch_workgroups(1)
    dispatches.end()
    gpu.queue.submit([encoder.finish()])
    assert np.frombuffer(gpu.queue.read_buffer(buffers[1]), np.uint32).tolist() == AFTER
