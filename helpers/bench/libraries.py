"""The same operations by libraries that are installed: PyTorch on each device it has, and NumPy.

Each takes an operation, its shape and its inputs by name (float32 arrays in binding order). Where an operation applies
an activation, it is ReLU.
"""

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from helpers.bench import products
from helpers.bench.candidates import Candidate, Row, clocked
from helpers.bench.layers import select
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.operation import Shape

Array = np.ndarray
Call = Callable[[], object]


def installed(words: Sequence[str]) -> list["Numpy | Torch"]:
    """The installed libraries whose names contain one of the words: all of them without a word, none for "none".

    Raises ValueError for a word that no name contains.
    """
    if list(words) == ["none"]:
        return []
    everything = [Numpy(), *torch_devices()]
    names = select(words, [library.name for library in everything], "--beside")
    return [library for library in everything if library.name in names]


class Numpy:
    """The functions in `products`, by the names of operations."""

    name = "NumPy"
    on_gpu = False

    def call(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """From arrays to arrays."""
        return partial(getattr(products, operation), shape, *tensors.values())

    def candidate(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Candidate:
        """On the processor, arrays are where they have to be: a call is all there is to time."""
        call = self.call(row.operation, shape, tensors)

        def sample(count: int) -> list[float]:
            return [clocked(call) for _ in range(count)]

        return Candidate(row, sample, clocked(call), call=call)


# --- PyTorch ------------------------------------------------------------------------------------------------

GRAPH = 20  # calls in one CUDA graph


def torch_devices() -> list["Torch"]:
    """PyTorch on the processor and on each kind of GPU that it finds, in full float32; none where it is not there."""
    if not importlib.util.find_spec("torch"):
        return []
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    devices = ["cpu"]
    if torch.cuda.is_available():
        devices.append("cuda")
    if torch.backends.mps.is_available():
        devices.append("mps")
    return [Torch(device) for device in devices]


class Torch:
    """PyTorch on one device."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch = torch
        self.device = device
        self.name = f"PyTorch {device.upper()}"
        self.on_gpu = device != "cpu"

    def run(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """A function on copies of the tensors on this device."""
        moved = [self.torch.from_numpy(array).to(self.device) for array in tensors.values()]
        return partial(getattr(self, f"_{operation}"), shape, *moved)

    def call(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """From arrays to arrays, copies to the device and back included."""

        def call() -> tuple[Array, ...]:
            outputs = self.run(operation, shape, tensors)()
            if not isinstance(outputs, tuple):
                outputs = (outputs,)
            return tuple(output.cpu().numpy() for output in outputs)

        return call

    def candidate(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Candidate:
        """On CUDA in a captured graph, which has no host's time in it; else by the wall clock."""
        run = self.run(row.operation, shape, tensors)
        call = self.call(row.operation, shape, tensors)
        host = partial(clocked, run, self._wait) if self.on_gpu else None
        for _ in range(5):  # cuDNN tries its algorithms
            run()
        calls = 1
        once = partial(self._clocked, run)
        if self.device == "cuda":
            calls = GRAPH
            once = self._graph(run)

        def sample(count: int) -> list[float]:
            return [once() for _ in range(count)]

        return Candidate(row, sample, once(), calls, host, call)

    def _clocked(self, run: Call) -> float:
        """Seconds of one call, until the device is done."""

        def run_and_wait() -> None:
            run()
            self._wait()

        return clocked(run_and_wait, self._wait)

    def _wait(self) -> None:
        if self.on_gpu:
            getattr(self.torch, self.device).synchronize()

    def _graph(self, run: Call) -> Callable[[], float]:
        """A function that runs a graph of calls, and returns the seconds of one of them."""
        cuda = self.torch.cuda
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(GRAPH):
                run()

        def once() -> float:
            begin = cuda.Event(enable_timing=True)
            done = cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            done.record()
            cuda.synchronize()
            return begin.elapsed_time(done) / 1e3 / GRAPH

        once()
        return once

    # The operations, on tensors in binding order.

    def _conv2d(self, s: ConvShape, x, w, b):
        pre = self.torch.nn.functional.conv2d(x, w, b, s.stride, s.padding, s.dilation, s.groups)
        return self.torch.relu_(pre)

    def _conv2d_grad_weight(self, s: ConvShape, dy, x):
        return self._backward(s, dy, x, x.new_empty(s.weight), (False, True, False))[1]

    def _conv2d_grad_input(self, s: ConvShape, dy, w):
        return self._backward(s, dy, w.new_empty(s.input), w, (True, False, False))[0]

    def _backward(self, s: ConvShape, dy, x, w, wanted):
        backward = self.torch.ops.aten.convolution_backward
        steps = s.stride, s.padding, s.dilation
        return backward(dy, x, w, [s.out_channels], *steps, False, [0, 0], s.groups, wanted)

    def _conv2d_grad_bias(self, s: ConvShape, dy):
        return dy.sum((0, 2, 3))

    def _gemm_bias_act(self, s: Shape, a, b, bias):
        return self.torch.relu(self.torch.addmm(bias, a[0], b))[None]

    def _gemm_bias_act_backward(self, s: Shape, a, b, bias, grad):
        pre = self.torch.addmm(bias, a[0], b)
        grad_pre = self.torch.ops.aten.threshold_backward(grad[0], pre, 0)
        d_a = (grad_pre @ b.T)[None]
        d_b = a[0].T @ grad_pre
        d_bias = grad_pre.sum(0)
        return d_a, d_b, d_bias

    def _sum(self, s: Shape, numbers):
        return numbers.sum(0, keepdim=True)
