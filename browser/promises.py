"""The promises of wgpu on which the helpers rely, as a script: the package, the browser's stand-in and the simulator
must print the same. `tests/test_simulated_adapter.py` and `browser/tests/test_without_gpu.py` run it over the three."""

import gc

import numpy as np
import wgpu

USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
ADD = """override by: f32 = 1.0;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { b[id.x] += a[id.x] * by; }"""
KINDS = {"type": "read-only-storage"}, {"type": "storage"}

adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
clocks = sorted({"timestamp-query"} & {*adapter.features})  # some adapters have none
subgroups = sorted({"subgroup", "subgroups"} & {*adapter.features})  # wgpu's name, and a browser's
device = adapter.request_device_sync(required_features=clocks + subgroups)
entries = [{"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": kind} for i, kind in enumerate(KINDS)]
layout = device.create_bind_group_layout(entries=entries)
whole = device.create_pipeline_layout(bind_group_layouts=[layout])


def pipeline(code, **constants):
    compute = {"module": device.create_shader_module(code=code), "entry_point": "main", "constants": constants}
    return device.create_compute_pipeline(layout=whole, compute=compute)


def buffer(*numbers):
    return device.create_buffer_with_data(data=np.array(numbers, np.float32), usage=USAGE)


def group(*buffers):
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
    return device.create_bind_group(layout=layout, entries=entries)


add = pipeline(ADD)


def recorded(*groups, copy=None, run=add):
    """A dispatch over each group, then a copy of 16 bytes; of all else, no name is left."""
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(run)
    for bind_group in groups:
        work.set_bind_group(0, bind_group)
        work.dispatch_workgroups(1)
    work.end()
    if copy:
        encoder.copy_buffer_to_buffer(copy[0], 0, copy[1], 0, 16)
    return encoder.finish()


def submit(commands):
    gc.collect()
    device.queue.submit([commands])


def shown(name, source, *part):
    print(name, np.frombuffer(device.queue.read_buffer(source, *part), np.float32).tolist())


result = buffer(0, 0, 0, 0)
bound = group(buffer(1, 2, 3, 4), result)  # a buffer without a name
gc.collect()
submit(recorded(bound))
shown("a bind group keeps its buffers", result)
commands = recorded(bound, bound)
del bound
submit(commands)
shown("commands keep their groups, and run in their order", result)
commands = recorded(copy=(buffer(5, 6, 7, 8), result))
submit(commands)
shown("commands keep what they copy", result)
source = buffer(1, 1, 1, 1)
submit(recorded(group(source, result)))
device.queue.write_buffer(source, 0, np.full(4, 9, np.float32))
del source
shown("what is written later is not seen before", result)
submit(recorded(group(buffer(1, 1, 1, 1), result), run=pipeline(ADD, by=10.0)))
shown("a constant has the given value", result)
shown("a part is read", result, 4, 8)
shown("a new buffer is 0", device.create_buffer(size=16, usage=USAGE))
mapped = device.create_buffer(size=16, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)
submit(recorded(copy=(result, mapped)))
mapped.map_sync(wgpu.MapMode.READ)
print("mapped", np.frombuffer(mapped.read_mapped(), np.float32).tolist())
for wrong in ADD.replace("b[id.x] +=", "c[id.x] +="), ADD.replace("* by", "* true"):
    try:
        pipeline(wrong)
    except wgpu.GPUValidationError as error:
        print("a mistake is refused where it is", "wgsl:4:" in str(error))
mapped.destroy()


def in_order():
    """Two timestamps of a pass, where there are any; of their buffer and their set, no name is left."""
    if not clocks:
        return True
    times = device.create_query_set(type="timestamp", count=2)
    result = device.create_buffer(size=16, usage=wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC)
    encoder = device.create_command_encoder()
    marks = {"beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
    encoder.begin_compute_pass(label="timed", timestamp_writes={"query_set": times, **marks}).end()
    encoder.resolve_query_set(times, 0, 2, result, 0)
    del times
    submit(encoder.finish())
    begin, end = np.frombuffer(device.queue.read_buffer(result), np.uint64)
    return bool(begin <= end)


def added_in_a_subgroup():
    """The sums of four threads of one subgroup, where the adapter has any; wgpu's compiler refuses the first line."""
    if not subgroups:
        return [4] * 4
    added = buffer(0, 0, 0, 0)
    enable = "" if "subgroup" in subgroups else "enable subgroups; "
    text = enable + ADD.replace("b[id.x] += a[id.x] * by", "let sum = subgroupAdd(a[id.x] * by); b[id.x] = sum")
    submit(recorded(group(buffer(1, 1, 1, 1), added), run=pipeline(text)))
    return np.frombuffer(device.queue.read_buffer(added), np.float32).tolist()


print("timestamps are in order", in_order())
print("a subgroup adds", added_in_a_subgroup() == [4] * 4)
known = "device", "description", "backend_type", "adapter_type"
infos = [listed.info for listed in wgpu.gpu.enumerate_adapters_sync()]
print("an adapter names itself", all({*known} <= {*info} for info in infos))
print("and in one line", adapter.info["adapter_type"] in adapter.summary)
