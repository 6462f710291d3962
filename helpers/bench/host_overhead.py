"""What the helpers add to raw wgpu: the host's time of a launch, beside the same calls by hand."""

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from helpers import gpu
from helpers.convolution.operations import GRAD_WEIGHT, conv2d_grad_weight
from helpers.convolution.shapes import ConvShape
from helpers.gpu import passes

TINY = ConvShape(1, 1, 5, 5, 1, 3, 3)
VERSION = "1_thread_per_weight"
BATCH = 50
HEAD = "\n| host time | raw wgpu, µs | launcher, µs | ratio |\n|---|--:|--:|--:|"


def launches(repeats: int = 300) -> Iterator[str]:
    """A table: each way to launch, by raw wgpu calls and by the launcher in alternation."""
    x, dy = np.ones(TINY.input, np.float32), np.ones(TINY.output, np.float32)
    buffers = gpu.upload(dy, "grad_output"), gpu.upload(x, "input"), gpu.empty(36, "grad_weight")
    (step,) = GRAD_WEIGHT.prepare(buffers, TINY, VERSION)
    many, group = (step,) * BATCH, step.compiled[1]
    rows = {
        "a prepared pass": (lambda: _submit(group), lambda: gpu.run(step)),
        f"{BATCH} of them in a batch": (lambda: _submit(group, BATCH), lambda: gpu.run(*many)),
        "resident buffers": (lambda: _submit(group), lambda: GRAD_WEIGHT.launch(buffers, TINY, VERSION)),
        "array to array": (lambda: _call(x, dy), lambda: conv2d_grad_weight(x, TINY.weight, dy)),
    }
    yield HEAD
    for name, calls in rows.items():
        raw, ours = _alternating(calls, lambda: gpu.read(buffers[2], (1,)), repeats)
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


def _alternating(calls: tuple[Callable, Callable], settle: Callable, repeats: int) -> list[float]:
    """Median microseconds of calls made in turn, each on an idle queue."""
    taken = [[] for _ in calls]
    for _ in range(repeats):
        for call, times in zip(calls, taken, strict=True):
            settle()
            begin = time.perf_counter()
            call()
            times.append((time.perf_counter() - begin) * 1e6)
    return [statistics.median(times) for times in taken]
