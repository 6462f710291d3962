"""The simulator under the names of the package wgpu: it runs what is recorded, and refuses it with wgpu's errors."""

import numpy as np
import pytest

from wgsl import adapter
from wgsl.adapter import GPUBuffer, GPUDevice, GPUError, GPUValidationError
from wgsl.simulator import run

TEXT = """@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32, 4>;
override SCALE: f32 = 1.0;
@compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3u) {
  STATEMENT
}
"""
SCALED = "output[id.x] = SCALE * input[id.x];"


def device() -> GPUDevice:
    return adapter.gpu.request_adapter_sync().request_device_sync()


def launch(statement: str, workgroups: int = 2, inputs: int = 4, outputs: int = 4, **constants: float) -> list[float]:
    """Run a statement over numbers from 1 on, and return the output, in which all was -1 before."""
    gpu = device()
    buffers = [
        gpu.create_buffer_with_data(data=np.arange(1, inputs + 1, dtype=np.float32), usage=0),
        gpu.create_buffer_with_data(data=np.full(outputs, -1, np.float32), usage=0),
    ]
    record(gpu, TEXT.replace("STATEMENT", statement), buffers, workgroups, constants)
    return np.frombuffer(gpu.queue.read_buffer(buffers[1]), np.float32).tolist()


def record(gpu: GPUDevice, text: str, buffers: list[GPUBuffer], workgroups: int, constants: dict[str, float]) -> None:
    """Compile a text, record one dispatch and submit it; the last binding is named first."""
    module = gpu.create_shader_module(code=text)
    compute = {"module": module, "entry_point": "main", "constants": constants}
    pipeline = gpu.create_compute_pipeline(layout=gpu.create_pipeline_layout(bind_group_layouts=[]), compute=compute)
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
    group = gpu.create_bind_group(layout=gpu.create_bind_group_layout(entries=[]), entries=entries[::-1])
    encoder = gpu.create_command_encoder()
    dispatches = encoder.begin_compute_pass()
    dispatches.set_pipeline(pipeline)
    dispatches.set_bind_group(0, group)
    dispatches.dispatch_workgroups(workgroups)
    dispatches.end()
    gpu.queue.submit([encoder.finish()])


def test_a_dispatch_changes_the_buffers_at_their_bindings():
    assert launch(SCALED) == [1, 2, 3, 4]
    assert launch(SCALED, workgroups=1, SCALE=3) == [3, 6, -1, -1]


def test_an_endless_loop_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "MAX_STEPS", 50)
    with pytest.raises(GPUError) as caught:
        launch("for (var i = 0u; i < 51u; i++) { output[id.x] += 1.0; }")
    assert "one thread has made 50 iterations of its loops" in str(caught.value)
    assert str(caught.value).endswith(" (in a browser with WebGPU, a GPU runs it)")
    assert launch("for (var i = 0u; i < 50u; i++) { output[id.x] += 1.0; }") == [49] * 4


def test_a_dispatch_that_is_too_large_is_an_error_with_advice():
    with pytest.raises(GPUError) as caught:
        launch(SCALED, workgroups=65_536)
    assert "65536: it must be from 1 to 65535" in str(caught.value)
    assert str(caught.value).endswith(" (in a browser with WebGPU, a GPU runs it)")


def test_a_buffer_that_is_too_small_is_an_error_and_more_of_it_is_left_alone():
    with pytest.raises(GPUValidationError, match="index 1 is bound with size 12 where the shader expects 16"):
        launch(SCALED, outputs=3)
    assert launch(SCALED, outputs=5) == [1, 2, 3, 4, -1]


def test_a_runtime_sized_array_has_as_many_elements_as_its_buffer_holds():
    assert launch("output[id.x] = f32(arrayLength(&input));", inputs=7) == [7] * 4


def test_a_text_is_refused_with_the_place():
    gpu = device()
    with pytest.raises(GPUValidationError, match=r"wgsl:2:11\n"):
        gpu.create_shader_module(code="const x = 1;\nconst y = ;")
    with pytest.raises(GPUValidationError, match=r"wgsl:5:3\n"):
        launch("output[id.x] = 1u;")
    with pytest.raises(GPUValidationError, match="the simulator has no "):
        launch("subgroupBarrier();")


def test_an_extension_is_refused_as_by_an_adapter_without_features():
    with pytest.raises(GPUValidationError, match=r"the `f16` extension is not supported .*\n.* wgsl:1:8\n"):
        device().create_shader_module(code="enable f16;\n" + TEXT.replace("STATEMENT", ""))


def test_a_constant_that_the_text_does_not_declare_is_refused():
    with pytest.raises(GPUValidationError, match="OTHER = 1: the kernel has no `override OTHER`"):
        launch(SCALED, OTHER=1)


def test_a_part_of_a_buffer_is_copied():
    gpu = device()
    source = gpu.create_buffer_with_data(data=np.arange(8, dtype=np.uint32), usage=0)
    destination = gpu.create_buffer(size=24, usage=0)
    encoder = gpu.create_command_encoder()
    encoder.copy_buffer_to_buffer(source, 8, destination, 4, 12)
    assert bytes(destination.read_mapped()) == bytes(24)
    gpu.queue.submit([encoder.finish()])
    assert np.frombuffer(destination.read_mapped(), np.uint32).tolist() == [0, 2, 3, 4, 0, 0]
    assert np.frombuffer(gpu.queue.read_buffer(destination, 4, 8), np.uint32).tolist() == [2, 3]
    assert np.frombuffer(gpu.queue.read_buffer(destination, 12), np.uint32).tolist() == [4, 0, 0]
