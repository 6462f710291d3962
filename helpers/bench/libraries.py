"""The same operations by libraries that are installed: PyTorch on each device it has, NumPy and SciPy.

Each takes an operation, its shape and its inputs by name (float32 arrays in binding order). Where an operation applies
an activation, it is ReLU.
"""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from helpers.bench.contender import Contender, Row, clocked
from helpers.bench.layers import select
from helpers.convolution.schedules.shared import is_simple
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Shape

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
        from helpers.bench import pytorch

        everything += pytorch.devices()
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
