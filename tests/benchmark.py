"""Every rung of every gradient, timed side by side on this adapter, and beside PyTorch's library where it is installed.

    python tests/benchmark.py [FILE.md]

Prints one table; a figure means something only beside the others of the same run. Shapes: LeNet's first layer, and
two layers of a residual network at a batch of 32.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from helpers import gpu, ops, timing
from helpers.shapes import ConvShape
from helpers.wgsl import rungs

SMALL = {"LeNet conv1, 1 image": ConvShape(1, 1, 28, 28, 6, 5, 5)}
LARGE = {  # for hardware only
    "LeNet conv1, 256 images": ConvShape(256, 1, 28, 28, 6, 5, 5),
    "32x64x56x56, 3x3": ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 1, 1),
    "32x256x14x14, 3x3": ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1, 1),
}
GRADIENTS = ("conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias")


def rung_times(operation: str, shape: ConvShape) -> dict[str, float]:
    """Median milliseconds of each rung, on random data that stays on the GPU."""
    random = np.random.default_rng(0)
    tensors = ops.OPERATIONS[operation].tensors
    buffers = tuple(gpu.upload(random.standard_normal(shape.of(name), np.float32), name) for name in tensors)
    passes = {rung: ops.prepare(operation, buffers, shape, kernel=rung) for rung in rungs(operation)}
    return {rung: timing.measure(each).median / 1e6 for rung, each in passes.items()}


def library_times(shape: ConvShape) -> dict[str, float]:
    """Median milliseconds of PyTorch's float32 gradients on an NVIDIA GPU, or nothing where there is none."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False  # float32, as the kernels
    torch.backends.cudnn.benchmark = True
    x, w, dy = (torch.randn(shape.of(name), device="cuda") for name in ("input", "weight", "grad_output"))
    pads, strides = [shape.padding_h, shape.padding_w], [shape.stride] * 2

    def gradient(*wanted: bool) -> Callable[[], object]:
        backward = torch.ops.aten.convolution_backward
        return lambda: backward(dy, x, w, [shape.out_channels], strides, pads, [1, 1], False, [0, 0], 1, list(wanted))

    runs = {
        "conv2d_grad_weight": gradient(False, True, False),
        "conv2d_grad_input": gradient(True, False, False),
        "conv2d_grad_bias": lambda: dy.sum((0, 2, 3)),
    }
    return {operation: _cuda_median(torch, run) for operation, run in runs.items()}


def _cuda_median(torch, run: Callable[[], object], repeats: int = 20, calls: int = 10) -> float:
    """Milliseconds of one call inside a captured graph: what the GPU needs, without the host's time to launch it."""
    for _ in range(5):
        run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            run()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return statistics.median(times)


def rows() -> Iterator[str]:
    """The table, line by line."""
    yield f"Adapter: {gpu.banner().summary}, {gpu.banner().driver}; medians of 20, milliseconds."
    yield "\n| layer | gradient | rung 1 | rung 2 | 1 / 2 | library | 2 / library |\n|---|---|---|---|---|---|---|"
    for name, shape in {**SMALL, **({} if gpu.banner().kind == "software" else LARGE)}.items():
        library = library_times(shape)
        for operation in GRADIENTS:
            one, two = rung_times(operation, shape).values()
            theirs = f"{library[operation]:.3g} | {two / library[operation]:.3g}" if library else "not here | "
            yield f"| {name} | {operation} | {one:.3g} | {two:.3g} | {one / two:.3g} | {theirs} |"


if __name__ == "__main__":
    table = "\n".join(rows())
    print(table)
    for file in sys.argv[1:]:
        Path(file).write_text(table + "\n")
