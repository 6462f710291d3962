"""Kernels with numbers of 16 bits on the adapter: the course's own device does without them."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import wgpu

from wgsl import Kernel

FEATURE = "shader-f16"
STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC


@cache
def device() -> wgpu.GPUDevice | None:
    """A device with numbers of 16 bits; None where the adapter has none."""
    adapter = wgpu.gpu.request_adapter_sync()
    return adapter.request_device_sync(required_features=[FEATURE]) if FEATURE in adapter.features else None


def has_halves() -> bool:
    """Return True where the adapter has numbers of 16 bits."""
    return device() is not None


def launch_halves(
    text: str, buffers: Sequence[np.ndarray], workgroups: tuple[int, int, int] = (1, 1, 1)
) -> list[np.ndarray]:
    """Run the entry point `main` over copies of storage buffers, and return all but the first as they are then."""
    kinds = [{"type": kind} for kind in Kernel(text).buffer_types]
    bindings = [{"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": kind} for i, kind in enumerate(kinds)]
    bindings_layout = device().create_bind_group_layout(entries=bindings)
    pipeline = device().create_compute_pipeline(
        layout=device().create_pipeline_layout(bind_group_layouts=[bindings_layout]),
        compute={"module": device().create_shader_module(code=text), "entry_point": "main"},
    )
    bound = [device().create_buffer_with_data(data=buffer, usage=STORAGE) for buffer in buffers]
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(bound)]
    group = device().create_bind_group(layout=bindings_layout, entries=entries)
    encoder = device().create_command_encoder()
    run = encoder.begin_compute_pass()
    run.set_pipeline(pipeline)
    run.set_bind_group(0, group)
    run.dispatch_workgroups(*workgroups)
    run.end()
    device().queue.submit([encoder.finish()])
    pairs = zip(bound[1:], buffers[1:], strict=True)
    return [np.frombuffer(device().queue.read_buffer(buffer), array.dtype) for buffer, array in pairs]
