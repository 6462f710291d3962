"""PyTorch on each device that it finds, in full float32.

Tensors stay on their device while a call is timed, and a GPU's kernels are timed without the host's time to launch them
where that can be done: CUDA runs them in a captured graph.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from helpers.bench.contender import Contender, Row
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Shape

Array = np.ndarray
Call = Callable[[], object]
GRAPH = 20  # calls in one CUDA graph


def devices() -> list["Torch"]:
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
