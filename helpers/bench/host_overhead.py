"""What the helpers add to raw wgpu: the host's time of a launch, beside the same calls by hand."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from helpers import gpu
from helpers.bench.candidates import clocked
from helpers.convolution.operations import GRAD_WEIGHT, conv2d_grad_weight
from helpers.convolution.shapes import ConvShape
from helpers.gpu import passes

TINY = ConvShape(1, 1, 5, 5, 1, 3, 3)
VERSION = "1_thread_per_weight"
BATCH = 50
HEAD = "\n| host time | raw wgpu, µs | launcher, µs | ratio |\n|---|--:|--:|--:|"


def launches(repeats: int = 300) -> Iterator[str]:
    """A table: each way to launch, by raw wgpu calls and by the launcher in turn, each on an idle queue."""
    x, dy = np.ones(TINY.input, np.float32), np.ones(TINY.output, np.float32)
    buffers = gpu.upload(dy, "grad_output"), gpu.upload(x, "input"), gpu.empty(36, "grad_weight")
    (step,) = GRAD_WEIGHT.prepare(buffers, TINY, VERSION)
    group = step.compiled[1]
    submit, settle = partial(_submit, group), partial(gpu.read, buffers[2], (1,))
    rows = {
        "a prepared pass": (submit, partial(gpu.run, step)),
        f"{BATCH} of them in a batch": (partial(_submit, group, BATCH), partial(gpu.run, *[step] * BATCH)),
        "resident buffers": (submit, partial(GRAD_WEIGHT.launch, buffers, TINY, VERSION)),
        "array to array": (partial(_call, x, dy), partial(conv2d_grad_weight, x, TINY.weight, dy)),
    }
    yield HEAD
    for name, calls in rows.items():
        raw, ours = np.median([[clocked(call, settle) for call in calls] for _ in range(repeats)], axis=0) * 1e6
        yield f"| {name} | {raw:.3g} | {ours:.3g} | {ours / raw:.2f} |"


def _submit(group: object, count: int = 1) -> None:
    """One bind group, `count` dispatches, one submission."""
    encoder = gpu.device().create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(passes.pipeline(GRAD_WEIGHT.kernel(VERSION), "main"))
    compute.set_bind_group(0, group)
    for _ in range(count):
        compute.dispatch_workgroups(1)
    compute.end()
    gpu.device().queue.submit([encoder.finish()])


def _call(x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Make the buffers, upload, run and read."""
    device, raw = gpu.device(), []
    for array in (dy, x):
        raw.append(device.create_buffer(size=array.nbytes, usage="STORAGE|COPY_DST"))
        device.queue.write_buffer(raw[-1], 0, array)
    raw.append(device.create_buffer(size=36, usage="STORAGE|COPY_SRC"))
    raw.append(gpu.uniform(TINY.params()))
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(raw)]
    layout = passes.bind_group_layout(GRAD_WEIGHT.kernel(VERSION).buffer_types)
    _submit(device.create_bind_group(layout=layout, entries=entries))
    return np.frombuffer(device.queue.read_buffer(raw[2]), np.float32).reshape(TINY.weight)
