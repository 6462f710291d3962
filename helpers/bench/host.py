"""What the helpers add to raw wgpu: the host's time of a launch, and the time from an empty process to a gradient."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import helpers
from helpers import gpu
from helpers.convolution.operations import GRAD_WEIGHT
from helpers.convolution.shapes import ConvShape
from helpers.gpu import passes

ROOT = Path(__file__).resolve().parents[2]
TINY = ConvShape(1, 1, 5, 5, 1, 3, 3)
VERSION = "1_thread_per_weight"
BATCH = 50


def launches(repeats: int = 300) -> Iterator[str]:
    """What a launch costs the host: the same raw wgpu calls, and the launcher, in alternation."""
    x, dy = np.ones(TINY.input, np.float32), np.ones(TINY.output, np.float32)
    buffers = gpu.upload(dy, "grad_output"), gpu.upload(x, "input"), gpu.empty(36, "grad_weight")
    (step,) = GRAD_WEIGHT.prepare(buffers, TINY, VERSION)
    many, group = (step,) * BATCH, step.compiled[1]

    def call() -> np.ndarray:
        return helpers.conv2d_grad_weight(x, TINY.weight, dy, kernel=VERSION)

    rows = {
        "a prepared pass": (lambda: _raw_submit(group), lambda: gpu.run(step), 1),
        f"a dispatch in a batch of {BATCH}": (lambda: _raw_submit(group, BATCH), lambda: gpu.run(*many), BATCH),
        "a public call, array to array": (lambda: _raw_call(x, dy), call, 1),
        "a launch on resident buffers": (
            lambda: _raw_submit(group),
            lambda: GRAD_WEIGHT.launch(buffers, TINY, VERSION),
            1,
        ),
    }
    yield "\n| host time | raw wgpu, µs | launcher, µs | ratio |\n|---|--:|--:|--:|"
    for name, (raw, ours, share) in rows.items():
        theirs, us = _alternating(raw, ours, lambda: gpu.read(buffers[2], (1,)), repeats)
        yield f"| {name} | {theirs / share:.3g} | {us / share:.3g} | {us / theirs:.2f} |"


def _raw_submit(group: object, count: int = 1) -> None:
    """One bind group, `count` dispatches, one submission."""
    encoder = gpu.device().create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(passes.pipeline(GRAD_WEIGHT.kernel(VERSION), "main"))
    compute.set_bind_group(0, group)
    for _ in range(count):
        compute.dispatch_workgroups(1)
    compute.end()
    gpu.device().queue.submit([encoder.finish()])


def _raw_call(x: np.ndarray, dy: np.ndarray) -> None:
    """Make the buffers, upload, run and read."""
    device, raw = gpu.device(), []
    for array in (dy, x):
        raw.append(device.create_buffer(size=array.nbytes, usage="STORAGE|COPY_DST"))
        device.queue.write_buffer(raw[-1], 0, array)
    raw.append(device.create_buffer(size=36, usage="STORAGE|COPY_SRC"))
    raw.append(device.create_buffer_with_data(data=np.array(TINY.params(), np.uint32), usage="UNIFORM"))
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(raw)]
    layout = passes.bind_group_layout(GRAD_WEIGHT.kernel(VERSION).bindings)
    _raw_submit(device.create_bind_group(layout=layout, entries=entries))
    device.queue.read_buffer(raw[2])


def _alternating(one: Callable, other: Callable, settle: Callable, repeats: int) -> tuple[float, float]:
    """Median microseconds of two calls made in turn, each on an idle queue."""
    taken = {one: [], other: []}
    for _ in range(repeats):
        for call in taken:
            settle()
            begin = time.perf_counter()
            call()
            taken[call].append((time.perf_counter() - begin) * 1e6)
    return tuple(statistics.median(times) for times in taken.values())


RAW_START = """
import time; begin = time.perf_counter()
import os, tempfile
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
import numpy as np, wgpu
adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
device = adapter.request_device_sync(required_features=[f for f in adapter.features if f == "timestamp-query"])
module = device.create_shader_module(code=open("kernels/conv2d_grad_weight/1_thread_per_weight.wgsl").read())
pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
arrays = np.ones(9, "f4"), np.ones(25, "f4"), np.zeros(9, "f4")
usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
buffers = [device.create_buffer_with_data(data=array, usage=usage) for array in arrays]
sizes = np.array([1, 1, 5, 5, 1, 3, 3, 1, 0, 3, 3, 0], "u4")
buffers.append(device.create_buffer_with_data(data=sizes, usage=wgpu.BufferUsage.UNIFORM))
entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
encoder = device.create_command_encoder()
compute = encoder.begin_compute_pass()
compute.set_pipeline(pipeline)
compute.set_bind_group(0, group)
compute.dispatch_workgroups(1)
compute.end()
device.queue.submit([encoder.finish()])
gradient = np.frombuffer(device.queue.read_buffer(buffers[2]), "f4")
print(time.perf_counter() - begin)
"""
OUR_START = """
import time; begin = time.perf_counter()
import numpy as np, helpers
gradient = helpers.conv2d_grad_weight(np.ones((1, 1, 5, 5), "f4"), (1, 1, 3, 3), np.ones((1, 1, 3, 3), "f4"))
print(time.perf_counter() - begin)
"""


def start(repeats: int = 7) -> Iterator[str]:
    """Seconds from an empty process to the first gradient, raw and by the helpers, in alternation."""
    taken = {RAW_START: [], OUR_START: []}
    for _ in range(repeats):
        for code, seconds in taken.items():
            done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
            seconds.append(float(done.stdout))
    raw, ours = (statistics.median(seconds) for seconds in taken.values())
    yield "\n| from start to first gradient | raw wgpu, s | helpers, s | ratio |\n|---|--:|--:|--:|"
    yield f"| median of {repeats} | {raw:.3g} | {ours:.3g} | {ours / raw:.2f} |"


TABLES = {"host": launches, "start": start}
