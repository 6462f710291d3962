"""The same operations by libraries that are installed: PyTorch on each device it has, NumPy and SciPy.

Each takes an operation, its shape and its inputs by name (float32 arrays in binding order). Where an operation applies
an activation, it is ReLU.
"""

import importlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from helpers.bench.contenders import Contender, Row, clocked
from helpers.convolution.schedules.shared import is_simple
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Shape
from helpers.speed.layers import select

Array = np.ndarray
Call = Callable[[], object]


class Library(Protocol):
    """A library on one device."""

    name: str
    on_gpu: bool

    def runs(self, operation: str, shape: Shape) -> bool:
        """Whether the library has this operation."""

    def call(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """From arrays to arrays."""

    def contender(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Contender:
        """Ready to be timed on tensors that are on its device."""


def found(words: Sequence[str]) -> list[Library]:
    """The installed libraries whose names contain one of the words: all of them without a word, none for "none".

    Raises ValueError for a word that is in no name.
    """
    if [*words] == ["none"]:
        return []
    everything = [Numpy()]
    if importlib.util.find_spec("scipy"):
        everything.append(Scipy())
    if importlib.util.find_spec("torch"):
        everything += torch_devices()
    names = select(words, [each.name for each in everything], "--beside")
    return [each for each in everything if each.name in names]


# --- NumPy and SciPy ---------------------------------------------------------------------------------------


class Numpy:
    """Windows of the input as a view, and one matrix product over them."""

    name, on_gpu = "NumPy", False

    def runs(self, operation: str, shape: Shape) -> bool:
        """All that has a function of its name below, without dilation and groups."""
        return hasattr(self, f"_{operation}") and (not isinstance(shape, ConvShape) or is_simple(shape))

    def call(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """The function that is named as the operation."""
        return lambda: getattr(self, f"_{operation}")(shape, *tensors.values())

    def contender(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Contender:
        """On the processor, arrays are where they have to be: a call is all there is to time."""
        call = self.call(row.operation, shape, tensors)
        return Contender(row, lambda count: [clocked(call) for _ in range(count)], clocked(call), call=call)

    @staticmethod
    def _conv2d(s: ConvShape, x: Array, w: Array, b: Array) -> Array:
        pre = np.tensordot(_windows(s, x), w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2) + b.reshape(-1, 1, 1)
        return np.maximum(pre, 0)

    @staticmethod
    def _conv2d_grad_weight(s: ConvShape, dy: Array, x: Array) -> Array:
        return np.tensordot(dy, _windows(s, x), ((0, 2, 3), (0, 2, 3)))

    @staticmethod
    def _conv2d_grad_input(s: ConvShape, dy: Array, w: Array) -> Array:
        padded = np.zeros((s.batch, s.in_channels, s.padded("h"), s.padded("w")), np.float32)
        for kh, kw in np.ndindex(s.kernel_h, s.kernel_w):
            (top, left), (down, right) = (kh, kw), s.stride
            rows = slice(top, top + down * (s.out_h - 1) + 1, down)
            columns = slice(left, left + right * (s.out_w - 1) + 1, right)
            padded[:, :, rows, columns] += np.tensordot(dy, w[:, :, kh, kw], (1, 0)).transpose(0, 3, 1, 2)
        return padded[:, :, s.padding_h :, s.padding_w :][:, :, : s.in_h, : s.in_w]

    @staticmethod
    def _conv2d_grad_bias(s: ConvShape, dy: Array) -> Array:
        return dy.sum((0, 2, 3))

    @staticmethod
    def _gemm_bias_act(s: Shape, a: Array, b: Array, bias: Array) -> Array:
        return np.maximum(a @ b + bias, 0)

    @staticmethod
    def _gemm_bias_act_backward(s: Shape, a: Array, b: Array, bias: Array, grad: Array) -> tuple[Array, ...]:
        grad_pre = grad * (a @ b + bias > 0)
        return grad_pre @ b.T, (a.transpose(0, 2, 1) @ grad_pre).sum(0), grad_pre.sum((0, 1))

    @staticmethod
    def _sum(s: Shape, numbers: Array) -> Array:
        return numbers.sum(keepdims=True)


def _windows(s: ConvShape, x: Array) -> Array:
    """Every position of the filter on its images, as a view: (N, Ci, oH, oW, kH, kW)."""
    return _slide(_padded(s, x), s)[:, :, :: s.stride_h, :: s.stride_w]


def _slide(padded: Array, s: ConvShape) -> Array:
    return np.lib.stride_tricks.sliding_window_view(padded, (s.kernel_h, s.kernel_w), axis=(2, 3))


def _padded(s: ConvShape, x: Array) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (s.padding_h, s.padding_h), (s.padding_w, s.padding_w)))


class Scipy(Numpy):
    """scipy.signal.correlate, which has no strides: a call for each image and channel, with the other axes inside."""

    name = "SciPy"

    def runs(self, operation: str, shape: Shape) -> bool:
        """Convolutions at stride 1 alone."""
        if not isinstance(shape, ConvShape) or operation == "conv2d_grad_bias":
            return False
        return super().runs(operation, shape) and shape.stride == (1, 1)

    def contender(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Contender:
        """As NumPy's; what the import takes is not timed."""
        importlib.import_module("scipy.signal")
        return super().contender(row, shape, tensors)

    @staticmethod
    def _conv2d(s: ConvShape, x: Array, w: Array, b: Array) -> Array:
        from scipy.signal import correlate

        x = _padded(s, x)
        pre = np.float32([[correlate(image, f, "valid")[0] + c for f, c in zip(w, b, strict=True)] for image in x])
        return np.maximum(pre, 0)

    @staticmethod
    def _conv2d_grad_weight(s: ConvShape, dy: Array, x: Array) -> Array:
        from scipy.signal import correlate

        x, dy = _padded(s, x).swapaxes(0, 1), dy.swapaxes(0, 1)
        return np.float32([[correlate(plane, grad, "valid")[0] for plane in x] for grad in dy])

    @staticmethod
    def _conv2d_grad_input(s: ConvShape, dy: Array, w: Array) -> Array:
        from scipy.signal import correlate

        rows, columns = s.kernel_h - 1, s.kernel_w - 1
        dy, w = np.pad(dy, ((0, 0), (0, 0), (rows, rows), (columns, columns))), w.swapaxes(0, 1)[:, :, ::-1, ::-1]
        full = np.float32([[correlate(grad, flipped, "valid")[0] for flipped in w] for grad in dy])
        return full[:, :, s.padding_h :, s.padding_w :][:, :, : s.in_h, : s.in_w]


# --- PyTorch ------------------------------------------------------------------------------------------------

GRAPH = 20  # calls in one CUDA graph


def torch_devices() -> list["Torch"]:
    """PyTorch on the processor and on each kind of GPU that it finds, in full float32."""
    import torch

    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
    products = [TorchProducts("cuda")] * torch.cuda.is_available()
    return [*(Torch(device) for device in devices), *products]


class Torch:
    """PyTorch on one device."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, device
        self.name, self.on_gpu = f"PyTorch {device.upper()}", device != "cpu"

    def runs(self, operation: str, shape: Shape) -> bool:
        """All that has a function of its name below."""
        return hasattr(self, f"_{operation}")

    def run(self, operation: str, shape: Shape, tensors: list) -> Call:
        """A function on tensors of this device."""
        return lambda: getattr(self, f"_{operation}")(shape, *tensors)

    def call(self, operation: str, shape: Shape, tensors: dict[str, Array]) -> Call:
        """Copies to the device and back included."""

        def call() -> tuple[Array, ...]:
            found = self.run(operation, shape, self._moved(tensors))()
            return tuple(each.cpu().numpy() for each in (found if isinstance(found, tuple) else (found,)))

        return call

    def contender(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Contender:
        """On CUDA in a captured graph, which has no host's time in it; else by the wall clock."""
        run, call = self.run(row.operation, shape, self._moved(tensors)), self.call(row.operation, shape, tensors)
        if self.device == "cuda":
            return self._graph(row, run, call)
        run()
        once = self._clocked(run)
        host = None if self.device == "cpu" else lambda: self._launch(run)
        return Contender(row, lambda count: [self._clocked(run) for _ in range(count)], once, 1, host, call)

    def _moved(self, tensors: dict[str, Array]) -> list:
        return [self.torch.from_numpy(array).to(self.device) for array in tensors.values()]

    def _wait(self) -> None:
        if self.on_gpu:
            getattr(self.torch, self.device).synchronize()

    def _launch(self, run: Call) -> float:
        """Seconds until the host may go on."""
        self._wait()
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    def _clocked(self, run: Call) -> float:
        begin = time.perf_counter()
        run()
        self._wait()
        return time.perf_counter() - begin

    def _graph(self, row: Row, run: Call, call: Call) -> Contender:
        for _ in range(5):  # cuDNN tries its algorithms
            run()
        graph, cuda = self.torch.cuda.CUDAGraph(), self.torch.cuda
        with cuda.graph(graph):
            for _ in range(GRAPH):
                run()

        def once() -> float:
            begin, done = (cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            done.record()
            cuda.synchronize()
            return begin.elapsed_time(done) / 1e3

        def sample(count: int) -> list[float]:
            return [once() / GRAPH for _ in range(count)]

        return Contender(row, sample, sample(2)[-1], GRAPH, lambda: self._launch(run), call)

    # The operations, on tensors in binding order.

    def _conv2d(self, s: ConvShape, x, w, b):
        return self.torch.relu_(self.torch.nn.functional.conv2d(x, w, b, s.stride, s.padding, s.dilation, s.groups))

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
        return (grad_pre @ b.T)[None], a[0].T @ grad_pre, grad_pre.sum(0)

    def _sum(self, s: Shape, numbers):
        return numbers.sum(0, keepdim=True)


class TorchProducts(Torch):
    """The matrix products of a layer alone, without bias and activation: what the vendor's GEMM takes for them."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.name = f"{self.name}, products alone"

    def runs(self, operation: str, shape: Shape) -> bool:
        """GEMM alone."""
        return operation.startswith("gemm")

    def contender(self, row: Row, shape: Shape, tensors: dict[str, Array]) -> Contender:
        """It computes no operation, so there is no call from arrays to arrays."""
        return replace(super().contender(row, shape, tensors), call=None)

    def _gemm_bias_act(self, s: Shape, a, b, bias):
        return a[0] @ b

    def _gemm_bias_act_backward(self, s: Shape, a, b, bias, grad):
        return a[0] @ b, grad[0] @ b.T, a[0].T @ grad[0]
