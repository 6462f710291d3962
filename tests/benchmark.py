"""Every version of every operation, timed side by side on this adapter, and what the host adds to a launch.

    python tests/benchmark.py [versions] [host] [start]

Without a word it prints all three tables. A figure means something only beside the others of the same run. Times of
versions are medians on a GPU that was kept busy before; beside them stands PyTorch's library where it is installed.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import wgpu

import helpers
from helpers import gpu
from helpers.convolution.operations import GRAD_WEIGHT
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu import passes, timing
from helpers.gpu.operation import Operation, Shape
from helpers.operations import OPERATIONS
from helpers.summation.shapes import SumShape

ROOT = Path(__file__).resolve().parents[1]
BY_SHAPE = {
    ConvShape: ("conv2d", "conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias"),
    GemmShape: ("gemm_bias_act", "gemm_bias_act_backward"),
    SumShape: ("sum",),
}
SMALL = {
    "LeNet conv1, 1 image": ConvShape(1, 1, 28, 28, 6, 5, 5),
    "LeNet conv2, 1 image": ConvShape(1, 6, 12, 12, 16, 5, 5),
    "GEMM 256": GemmShape(256, 256, 256, 1, "relu"),
    "sum of 60,000": SumShape(60_000),
}
LARGE = {  # for hardware only
    "LeNet conv1, 256 images": ConvShape(256, 1, 28, 28, 6, 5, 5),
    "LeNet conv2, 256 images": ConvShape(256, 6, 12, 12, 16, 5, 5),
    "32x64x56x56, 3x3": ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 1, 1),
    "32x64x56x56, 3x3, stride 2": ConvShape(32, 64, 56, 56, 64, 3, 3, 2, 1, 1),
    "32x256x14x14, 3x3": ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1, 1),
    "GEMM 1024": GemmShape(1024, 1024, 1024, 1, "relu"),
    "GEMM 4096": GemmShape(4096, 4096, 4096, 1, "relu"),
    "sum of 1,048,576": SumShape(2**20),
    "sum of 16,777,216": SumShape(2**24),
}

# --- Versions ---------------------------------------------------------------------------------------------


def version_times(operation: Operation, shape: Shape) -> dict[str, float]:
    """Median milliseconds of each version that can run here, on random data that stays on the GPU."""
    random = np.random.default_rng(0)
    data = ((name, random.standard_normal(shape.of(name), np.float32)) for name in operation.tensors)
    buffers = [gpu.upload(array, name) for name, array in data]
    able = [name for name in operation.versions if not operation.problem(shape, name)]
    return {name: timing.measure(*operation.prepare(buffers, shape, name)).median / 1e6 for name in able}


def library_times(shape: Shape) -> dict[str, float]:
    """Median milliseconds of PyTorch in float32 on an NVIDIA GPU for the same operations, or nothing without one."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # float32, as the kernels
    torch.backends.cudnn.benchmark = True
    calls = {ConvShape: _convolutions, GemmShape: _products, SumShape: _sums}[type(shape)](torch, shape)
    return {operation: _cuda_median(torch, call) for operation, call in calls.items()}


def _convolutions(torch, shape: ConvShape) -> dict[str, Callable[[], object]]:
    x, w, b, dy = (torch.randn(shape.of(name), device="cuda") for name in ("input", "weight", "bias", "output"))
    pads, strides = [shape.padding_h, shape.padding_w], [shape.stride] * 2

    def gradient(*wanted: bool) -> Callable[[], object]:
        backward = torch.ops.aten.convolution_backward
        return lambda: backward(dy, x, w, [shape.out_channels], strides, pads, [1, 1], False, [0, 0], 1, list(wanted))

    return {
        "conv2d": lambda: torch.nn.functional.conv2d(x, w, b, strides, pads),
        "conv2d_grad_weight": gradient(False, True, False),
        "conv2d_grad_input": gradient(True, False, False),
        "conv2d_grad_bias": lambda: dy.sum((0, 2, 3)),
    }


def _products(torch, shape: GemmShape) -> dict[str, Callable[[], object]]:
    """The same sums as the passes: one product forward; one again, two more and a column sum backward."""
    a, b, bias, grad = (torch.randn(shape.of(name), device="cuda") for name in ("a", "b", "bias", "grad"))

    def backward() -> object:
        grad_pre = grad * (a @ b + bias > 0)
        return grad_pre @ b.T, (a.transpose(1, 2) @ grad_pre).sum(0), grad_pre.sum((0, 1))

    return {"gemm_bias_act": lambda: torch.relu(a @ b + bias), "gemm_bias_act_backward": backward}


def _sums(torch, shape: SumShape) -> dict[str, Callable[[], object]]:
    numbers = torch.randn(shape.count, device="cuda")
    return {"sum": lambda: numbers.sum()}


def _cuda_median(torch, call: Callable[[], object], repeats: int = 20, calls: int = 10) -> float:
    """Milliseconds of one call inside a captured graph, on a GPU that is awake: without the host's time to launch."""
    for _ in range(5):
        call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    end = time.perf_counter() + timing.AWAKE
    while time.perf_counter() < end:
        graph.replay()
        torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        done.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(done) / calls)
    return statistics.median(times)


def versions() -> Iterator[str]:
    """One row for each version: its time, against the first version, and against the library."""
    yield "| shape | operation | version | ms | first version : this | library ms | this : library |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for name, shape in {**SMALL, **({} if gpu.adapter_info().kind == "software" else LARGE)}.items():
        library = library_times(shape)
        for operation in BY_SHAPE[type(shape)]:
            times = version_times(OPERATIONS[operation], shape)
            first, theirs = next(iter(times.values())), library.get(operation)
            for version, ms in times.items():
                compared = f"{theirs:.3g} | {ms / theirs:.3g}" if theirs else "not here | "
                yield f"| {name} | {operation} | {version} | {ms:.3g} | {first / ms:.3g} | {compared} |"


# --- The host ---------------------------------------------------------------------------------------------

TINY = ConvShape(1, 1, 5, 5, 1, 3, 3)
VERSION = "1_thread_per_weight"
BATCH = 50


def host() -> Iterator[str]:
    """What a launch costs the host: the same raw wgpu calls, and the launcher, in alternation."""
    x, dy = np.ones(TINY.input, np.float32), np.ones(TINY.output, np.float32)
    kernel = GRAD_WEIGHT.kernel(VERSION)
    pipeline, layout = passes.pipeline(kernel, "main"), passes.bind_group_layout(kernel.bindings)
    buffers = gpu.upload(dy, "grad_output"), gpu.upload(x, "input"), gpu.empty(36, "grad_weight")
    (step,) = GRAD_WEIGHT.prepare(buffers, TINY, VERSION)
    many = (step,) * BATCH

    def raw_submit(group=step.ready[1], count: int = 1) -> None:
        encoder = gpu.device().create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        for _ in range(count):
            compute.dispatch_workgroups(1)
        compute.end()
        gpu.device().queue.submit([encoder.finish()])

    def raw_call() -> None:
        raw, usage = [], wgpu.BufferUsage
        for array in (dy, x):
            raw.append(gpu.device().create_buffer(size=array.nbytes, usage=usage.STORAGE | usage.COPY_DST))
            gpu.device().queue.write_buffer(raw[-1], 0, array)
        raw.append(gpu.device().create_buffer(size=36, usage=usage.STORAGE | usage.COPY_SRC))
        sizes = np.array(TINY.params(), np.uint32)
        raw.append(gpu.device().create_buffer_with_data(data=sizes, usage=usage.UNIFORM))
        entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(raw)]
        raw_submit(gpu.device().create_bind_group(layout=layout, entries=entries))
        gpu.device().queue.read_buffer(raw[2])

    rows = {
        "a prepared pass": (raw_submit, lambda: gpu.run(step), 1),
        f"a dispatch in a batch of {BATCH}": (lambda: raw_submit(count=BATCH), lambda: gpu.run(*many), BATCH),
        "a public call, array to array": (
            raw_call,
            lambda: helpers.conv2d_grad_weight(x, TINY.weight, dy, kernel=VERSION),
            1,
        ),
        "a launch on resident buffers": (raw_submit, lambda: GRAD_WEIGHT.launch(buffers, TINY, VERSION), 1),
    }
    yield "| host time | raw wgpu, µs | launcher, µs | ratio |\n|---|--:|--:|--:|"
    for name, (raw, ours, share) in rows.items():
        theirs, us = _alternating(raw, ours, lambda: gpu.read(buffers[2], (1,)))
        yield f"| {name} | {theirs / share:.3g} | {us / share:.3g} | {us / theirs:.2f} |"


def _alternating(one: Callable, other: Callable, settle: Callable, repeats: int = 300) -> tuple[float, float]:
    """Median microseconds of two calls made in turn, each on an idle queue."""
    taken = {one: [], other: []}
    for _ in range(repeats):
        for call in taken:
            settle()
            begin = time.perf_counter()
            call()
            taken[call].append((time.perf_counter() - begin) * 1e6)
    return tuple(statistics.median(times) for times in taken.values())


# --- From start to first gradient --------------------------------------------------------------------------

RAW_START = """
import time; begin = time.perf_counter()
import numpy as np, os, tempfile
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
import wgpu
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
    yield "| from start to first gradient | raw wgpu, s | helpers, s | ratio |\n|---|--:|--:|--:|"
    yield f"| median of {repeats} | {raw:.3g} | {ours:.3g} | {ours / raw:.2f} |"


TABLES = {"versions": versions, "host": host, "start": start}

if __name__ == "__main__":
    print(f"Adapter: {gpu.adapter_info().summary}, {gpu.adapter_info().driver}.")
    for word in sys.argv[1:] or TABLES:
        print()
        for line in TABLES[word]():
            print(line, flush=True)
