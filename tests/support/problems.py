"""What the kernel tests share: problems to solve, and a judge who trusts no element of the output."""

from collections.abc import Callable
from math import prod

import numpy as np
from hypothesis import strategies as st

from helpers import check, gpu, ops, reference, wgsl
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel

Array = np.ndarray


def rungs_of(operation: str) -> list[Kernel]:
    """Every kernel of an operation, simplest first."""
    return [wgsl.load(operation, rung) for rung in wgsl.rungs(operation)]


EVERY_RUNG = [kernel for operation in ops.OPERATIONS for kernel in rungs_of(operation)]
GUARD = 64  # elements past the end of an output that no kernel may touch


def _padding(s: ConvShape) -> tuple[int, int]:
    return s.padding_h, s.padding_w


# The float64 answer to each operation, from the same tensors in the same order as the kernel's bindings.
FORMULAS: dict[str, Callable[..., Array]] = {
    "conv2d": lambda s, x, w, b: reference.conv2d(x, w, b, s.stride, _padding(s)),
    "conv2d_grad_weight": lambda s, dy, x: reference.conv2d_grad_weight(x, s.weight, dy, s.stride, _padding(s)),
    "conv2d_grad_input": lambda s, dy, w: reference.conv2d_grad_input(s.input, w, dy, s.stride, _padding(s)),
    "conv2d_grad_bias": lambda s, dy: reference.conv2d_grad_bias(dy),
}


@st.composite
def shapes(draw: st.DrawFn) -> ConvShape:
    """Small problems of every proportion: strides over the kernel, padding over the kernel, no squares."""
    kernel, padding = draw(_pair(1, 5)), draw(_pair(0, 7))
    height, width = (draw(st.integers(max(1, k - 2 * p), 12)) for k, p in zip(kernel, padding, strict=True))
    batch, in_channels, out_channels = (draw(st.integers(1, 3)) for _ in range(3))
    return ConvShape(batch, in_channels, height, width, out_channels, *kernel, draw(st.integers(1, 5)), *padding)


def _pair(smallest: int, largest: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(smallest, largest), st.integers(smallest, largest))


def whole(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Float32 whole numbers from -4 to 4: their sums are exact in every order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def normal(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Float32 numbers from the normal distribution: their sums round."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def operation(kernel: Kernel) -> str:
    """The operation that a rung, or an edited copy of it, computes: the folder in its name."""
    return kernel.name.partition("/")[0]


def inputs(kernel: Kernel, shape: ConvShape, draw: Callable[..., Array] = whole) -> list[Array]:
    """The tensors that a kernel reads, in binding order."""
    *names, _ = ops.OPERATIONS[operation(kernel)].tensors
    return [draw(shape.of(name), seed) for seed, name in enumerate(names)]


def launched(kernel: Kernel, shape: ConvShape, tensors: list[Array]) -> Array:
    """What `ops.launch` writes over an output full of NaN; what it leaves unwritten is still NaN.

    Raises AssertionError where the launch wrote past the end of the output.
    """
    *names, output = ops.OPERATIONS[operation(kernel)].tensors
    poison = np.full(prod(shape.of(output)) + GUARD, np.nan, np.float32)
    buffers = [gpu.upload(tensor, name) for tensor, name in zip(tensors, names, strict=True)]
    buffers.append(gpu.upload(poison, output))
    ops.launch(operation(kernel), tuple(buffers), shape, kernel=kernel)
    written = gpu.read(buffers[-1], poison.shape)
    assert np.isnan(written[-GUARD:]).all(), f"{kernel.name} wrote past the end of {output}"
    return written[:-GUARD].reshape(shape.of(output))


def answer(kernel: Kernel, shape: ConvShape, *tensors: Array) -> Array:
    """The float64 answer to what a kernel computes from its tensors."""
    return FORMULAS[operation(kernel)](shape, *tensors)


def require_exact(kernel: Kernel, shape: ConvShape) -> None:
    """Raise AssertionError unless a kernel computes every element exactly from whole numbers."""
    tensors = inputs(kernel, shape)
    check.compare(kernel.name, launched(kernel, shape, tensors), answer(kernel, shape, *tensors), 0.0).require()


def require_close(kernel: Kernel, shape: ConvShape) -> None:
    """Raise AssertionError unless a kernel's float32 rounding stays within what can be proven."""
    tensors = inputs(kernel, shape, normal)
    got = launched(kernel, shape, tensors)
    check.products(kernel.name, got, lambda *data: answer(kernel, shape, *data), *tensors).require()
