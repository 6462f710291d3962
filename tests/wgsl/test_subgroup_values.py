"""Functions of subgroups beside the adapter, on random values; the simulator takes the adapter's size of a subgroup."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import wgpu

import wgsl
from helpers.gpu.adapter import WGPUS_SUBGROUPS, adapter
from helpers.gpu.subgroups import without_enabling
from wgsl.types.subgroups import OPERATIONS

TEXT = """enable subgroups;
@group(0) @binding(0) var<storage, read> x: array<{type}>;
@group(0) @binding(1) var<storage, read_write> y: array<{result}>;
@compute @workgroup_size({threads}) fn main(
  @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u, @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32, @builtin(num_subgroups) count: u32,
) {{
  let at = group.x * {threads}u + i;
  let v = x[at];
  {main}
}}
"""
GROUPS = 3
DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}
ALL_OF_A_SUBGROUP = ("Add", "Mul", "Min", "Max", "And", "Or", "Xor", "BroadcastFirst")
REDUCTIONS = [f"subgroup{kind}" for kind in ALL_OF_A_SUBGROUP]
SCANS = [f"subgroup{which}{kind}" for which in ("Inclusive", "Exclusive") for kind in ("Add", "Mul")]
VOTES = ["subgroupAll", "subgroupAny", "subgroupBallot"]
TAKEN = {  # from a thread that exists
    "subgroupBroadcast": "subgroupBroadcast(v, 1u)",
    "subgroupShuffle": "subgroupShuffle(v, (lane * 5u + 1u) % size)",
    "subgroupShuffleXor": "subgroupShuffleXor(v, 3u)",
    "subgroupShuffleUp": "select(v, subgroupShuffleUp(v, 1u), lane >= 1u)",
    "subgroupShuffleDown": "select(v, subgroupShuffleDown(v, 2u), lane + 2u < size)",
    "quadBroadcast": "quadBroadcast(v, 2u)",
    "quadSwapX": "quadSwapX(v)",
    "quadSwapY": "quadSwapY(v)",
    "quadSwapDiagonal": "quadSwapDiagonal(v)",
}
AROUND = ("MAIN", "if i % 3u != 1u { MAIN }", "for (var k = 0u; k < i % 4u + 1u; k++) { MAIN }")
Run = Callable[[str, np.ndarray, np.ndarray], np.ndarray]


@pytest.fixture(scope="module")
def on_adapter() -> Iterator[Run]:
    """A function that runs a text on the adapter, on a device of its own: ours does without this feature."""
    if WGPUS_SUBGROUPS not in adapter().features:
        pytest.skip(f"{adapter().summary} has no subgroups")
    device = adapter().request_device_sync(required_features=[WGPUS_SUBGROUPS])

    def run(text: str, numbers: np.ndarray, output: np.ndarray) -> np.ndarray:
        module = device.create_shader_module(code=without_enabling(text))
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
        buffers = [device.create_buffer_with_data(data=array, usage=usage) for array in (numbers, output)]
        entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
        compute.dispatch_workgroups(GROUPS, 1, 1)
        compute.end()
        device.queue.submit([encoder.finish()])
        return np.frombuffer(device.queue.read_buffer(buffers[1]), output.dtype)

    yield run
    device.destroy()


@pytest.fixture(scope="module")
def size(on_adapter) -> int:
    text = TEXT.format(type="u32", result="u32", threads=64, main="y[at] = size + v * 0u;")
    sizes = {*on_adapter(text, np.zeros(GROUPS * 64, np.uint32), np.zeros(GROUPS * 64, np.uint32)).tolist()}
    assert len(sizes) == 1
    return sizes.pop()


def numbers(type: str, count: int, seed: int) -> np.ndarray:
    dice = np.random.default_rng(seed)
    if type == "f32":
        return dice.standard_normal(count).astype(np.float32)
    return dice.integers(0, 2**32, count, dtype=np.uint32).view(DTYPES[type])


def agree(on_adapter: Run, size: int, main: str, type: str, threads: int, result: str = "") -> None:
    """Compare the adapter's values with those of the simulator; a sum may be rounded in another order."""
    result = result or type
    text = TEXT.format(type=type, result=result, threads=threads, main=main)
    values = numbers(type, GROUPS * threads, seed=threads)
    output = np.zeros(GROUPS * threads, DTYPES[result])
    trace = wgsl.simulate(text, [values, output], (GROUPS, 1, 1), subgroup_size=size)
    assert {finding.kind for finding in trace.findings} <= {"not portable", "unwritten output"}
    expected = trace.buffers[1]
    found = on_adapter(text, values, output)
    if result == "f32":
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=text)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=text)


@pytest.mark.parametrize("name", REDUCTIONS + SCANS)
def test_sums_and_their_like(on_adapter, size, name):
    """With some threads away, and with a subgroup that is not full."""
    for type in DTYPES:
        if name in ("subgroupAnd", "subgroupOr", "subgroupXor") and type == "f32":
            continue
        for around, threads in zip(AROUND, (64, 29, 13), strict=True):
            agree(on_adapter, size, around.replace("MAIN", f"y[at] = {name}(v);"), type, threads)


@pytest.mark.parametrize("name", VOTES)
def test_votes(on_adapter, size, name):
    shown = "dot(RESULT, vec4u(1u, 3u, 5u, 7u))" if name == "subgroupBallot" else "u32(RESULT)"
    store = f"y[at] = {shown.replace('RESULT', f'{name}(v > 100u)')};"
    for around, threads in zip(AROUND, (64, 29, 13), strict=True):
        agree(on_adapter, size, around.replace("MAIN", store), "u32", threads)


@pytest.mark.parametrize("name", TAKEN)
def test_values_of_other_threads(on_adapter, size, name):
    for type in DTYPES:
        agree(on_adapter, size, f"y[at] = {TAKEN[name]};", type, threads=64)


def test_vectors(on_adapter, size):
    main = "let sums = subgroupAdd(vec3u(v, v / 2u, 1u)); y[at] = sums.x ^ sums.y ^ sums.z;"
    agree(on_adapter, size, main, "u32", threads=29)


def test_built_in_values(on_adapter, size):
    agree(on_adapter, size, "y[at] = v * 0u + lane + 100u * id + 10000u * count;", "u32", threads=64)


def test_every_function_is_compared():
    """The compiler of wgpu lacks `subgroupElect`."""
    assert {*OPERATIONS} == {*REDUCTIONS, *SCANS, *VOTES, *TAKEN, "subgroupElect"}


# --- The line that enables them -----------------------------------------------------------------------------------


def test_the_line_is_taken_out_and_all_places_stay():
    text = "// enable subgroups;\nenable\n subgroups ;\nfn f() { }"
    assert without_enabling(text) == f"// enable subgroups;\n{' ' * 6}\n{' ' * 12}\nfn f() {{ }}"
    assert without_enabling("fn f() { } // enable subgroups;") == "fn f() { } // enable subgroups;"


def test_the_adapters_compiler_needs_it_taken_out(on_adapter):
    """The function has no use any more where it takes the line."""
    device = adapter().request_device_sync(required_features=[WGPUS_SUBGROUPS])
    text = "enable subgroups;\n@compute @workgroup_size(1) fn main() { _ = subgroupAdd(1u); }"
    with pytest.raises(wgpu.GPUError, match="`subgroups` enable-extension is not yet supported"):
        device.create_shader_module(code=text)
    device.create_shader_module(code=without_enabling(text))
    device.destroy()
