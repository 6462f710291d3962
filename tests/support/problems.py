"""What the kernel tests share: problems to solve, and launches that trust no element of an array.

Behind every input stand numbers that no kernel may read, behind every output one that no kernel may overwrite: a
driver answers an out-of-range read with 0, and drops an out-of-range write, so that neither would be noticed.
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import pytest
from hypothesis import strategies as st

from helpers import gpu, wgsl
from helpers.convolution import reference as convolution
from helpers.convolution.shapes import ConvShape
from helpers.gemm import check as gemm_check
from helpers.gemm import reference as gemm
from helpers.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.gpu.operation import Operation, Shape
from helpers.grading.report import Report, compare
from helpers.grading.tolerance import compare_sums
from helpers.operations import OPERATIONS
from helpers.summation import reference as summation
from helpers.summation.shapes import SumShape
from helpers.wgsl import Kernel

Array = np.ndarray
Tensors = dict[str, Array]

LARGE = 4099.0  # stands behind inputs of whole numbers; NaN behind all others
SENTINEL = 1234.5  # stands behind outputs
# Between two zeros of each sign and the ends of float32, and where float32 no longer distinguishes exp(-x) from 0.
EXTREMES = np.float32(
    [
        *(0.0, -0.0, 1e-38, -1e-38, 1e-3, -1e-3, 0.75, -0.75, 1.28, -1.28, 5, -5, 9, -9, 20, -20, 43, -43, 44, -44),
        *(45, -45, 86, -86, 87, -87, 88, -88, 89, -89, 100, -100, 1e4, -1e4, 1e13, -1e13, 1e30, -1e30, 3e38, -3e38),
    ]
)

# --- Operations and their versions ------------------------------------------------------------------------


def versions_of(operation: str) -> list[Kernel]:
    """Every kernel of an operation, simplest first."""
    return [wgsl.load(operation, version) for version in wgsl.versions(operation)]


EVERY_VERSION = [kernel for operation in OPERATIONS for kernel in versions_of(operation)]
every_version = pytest.mark.parametrize("kernel", EVERY_VERSION, ids=lambda kernel: kernel.name)


def operation_of(kernel: Kernel) -> Operation:
    """The operation that a version, or an edited copy of it, computes: the folder in its name."""
    return OPERATIONS[kernel.name.partition("/")[0]]


def kind_of(kernel: Kernel) -> type[Shape]:
    """The class of a kernel's problems."""
    kinds = {"sum": SumShape, "gemm_bias_act": GemmShape, "gemm_bias_act_backward": GemmShape}
    return kinds.get(operation_of(kernel).name, ConvShape)


def inputs_of(operation: Operation) -> list[str]:
    """The tensors that an operation only reads, in binding order."""
    return [name for name in operation.tensors if name not in (*operation.outputs, "grad_pre")]


def conv(shape: ConvShape) -> dict[str, object]:
    """Stride and padding, as the public functions and the references take them."""
    return {"stride": shape.stride, "padding": (shape.padding_h, shape.padding_w)}


# The float64 answer to each operation, from its inputs in binding order.
ANSWERS: dict[str, Callable[..., Array | tuple[Array, ...]]] = {
    "conv2d": lambda s, x, w, b: convolution.conv2d(x, w, b, **conv(s)),
    "conv2d_grad_weight": lambda s, dy, x: convolution.conv2d_grad_weight(x, s.weight, dy, **conv(s)),
    "conv2d_grad_input": lambda s, dy, w: convolution.conv2d_grad_input(s.input, w, dy, **conv(s)),
    "conv2d_grad_bias": lambda s, dy: convolution.conv2d_grad_bias(dy),
    "sum": lambda s, x: summation.total(x),
    "gemm_bias_act": lambda s, *layer: gemm.forward(*layer, s.activation),
    "gemm_bias_act_backward": lambda s, *layer: gemm.backward(*layer, s.activation, per_item=s.per_item),
}


def answer(operation: Operation, shape: Shape, tensors: Tensors) -> tuple[Array, ...]:
    """The right outputs of an operation, in float64."""
    right = ANSWERS[operation.name](shape, *(tensors[name] for name in inputs_of(operation)))
    return right if isinstance(right, tuple) else (right,)


# --- Problems ---------------------------------------------------------------------------------------------


@st.composite
def conv_shapes(draw: st.DrawFn, image: int = 12, filter: int = 5, padding: int = 7) -> ConvShape:
    """Convolutions of every proportion up to these sizes: stride or padding over the filter, nothing square."""
    filters, paddings = ([draw(st.integers(least, most)) for _ in "hw"] for least, most in ((1, filter), (0, padding)))
    sizes = [draw(st.integers(max(1, k - 2 * p), image)) for k, p in zip(filters, paddings, strict=True)]
    batch, in_channels, out_channels = (draw(st.integers(1, 3)) for _ in range(3))
    return ConvShape(batch, in_channels, *sizes, out_channels, *filters, draw(st.integers(1, 5)), *paddings)


@st.composite
def gemm_shapes(draw: st.DrawFn, activations: Sequence[str] = ACTIVATIONS) -> GemmShape:
    """Up to three tiles along each axis, rarely full ones, with every way to store b and d_b."""
    sizes = [draw(st.integers(1, 40)) for _ in range(3)]
    activation = draw(st.sampled_from(activations))
    return GemmShape(*sizes, draw(st.integers(1, 4)), activation, draw(st.booleans()), draw(st.booleans()))


def shapes_of(kernel: Kernel, exact: bool = False) -> st.SearchStrategy[Shape]:
    """Problems for a kernel; `exact` ones have an activation that keeps whole numbers whole."""
    kind = kind_of(kernel)
    if kind is SumShape:
        return st.builds(SumShape, st.integers(1, 3000))
    if kind is ConvShape:
        return conv_shapes()
    return gemm_shapes(["none", "relu"]) if exact else gemm_shapes()


def whole(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Float32 whole numbers from -4 to 4: their sums are exact in every order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def normal(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Float32 numbers from the normal distribution: their sums round."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def ones(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Ones: sums of their products count the products."""
    return np.ones(shape, np.float32)


def drawn(operation: Operation, shape: Shape, draw: Callable[..., Array] = whole) -> Tensors:
    """The inputs of an operation by their names, in binding order."""
    return {name: draw(shape.of(name), seed) for seed, name in enumerate(inputs_of(operation))}


def bias_alone(x: Array, activation: str) -> tuple[GemmShape, Tensors]:
    """A layer whose pre-activations are exactly `x`, under an upstream gradient of ones: d_bias is act'(x)."""
    shape = GemmShape(1, 1, len(x), activation=activation)
    a, b = np.zeros(shape.of("a"), np.float32), np.zeros(shape.of("b"), np.float32)
    return shape, {"a": a, "b": b, "bias": np.float32(x), "grad": ones(shape.of("grad"))}


# --- Launches ---------------------------------------------------------------------------------------------


def guarded(array: Array, guard: float) -> Array:
    """A flat copy with as many guards behind it as it has elements, and 64 more."""
    return np.concatenate([np.ravel(array), np.full(array.size + 64, guard)]).astype(np.float32)


def resident(operation: Operation, shape: Shape, tensors: Tensors, guard: float = LARGE) -> dict[str, object]:
    """Buffers by name, in binding order: inputs with `guard` behind them, and NaN to write over."""
    buffers = {}
    for name in operation.tensors:
        unwritten = np.concatenate([np.full(prod(shape.of(name)), np.nan), np.full(64, SENTINEL)]).astype(np.float32)
        buffers[name] = gpu.upload(guarded(tensors[name], guard) if name in tensors else unwritten, name)
    return buffers


def outputs(operation: Operation, shape: Shape, buffers: dict[str, object]) -> tuple[Array, ...]:
    """Read the outputs back; raises AssertionError where a launch wrote past the end of one."""
    found = []
    for name in operation.outputs:
        count = prod(shape.of(name))
        written = gpu.read(buffers[name], (count + 64,))
        assert (written[count:] == SENTINEL).all(), f"{operation.name} wrote past the end of {name}"
        found.append(written[:count].reshape(shape.of(name)))
    return tuple(found)


def launched(kernel: Kernel, shape: Shape, tensors: Tensors, guard: float = LARGE) -> tuple[Array, ...]:
    """What one launch over resident buffers writes; what it leaves unwritten is NaN."""
    operation = operation_of(kernel)
    tensors = {name: tensors[name] for name in inputs_of(operation)}
    buffers = resident(operation, shape, tensors, guard)
    operation.launch(tuple(buffers.values()), shape, kernel)
    return outputs(operation, shape, buffers)


def reports(kernel: Kernel, shape: Shape, tensors: Tensors, got: Sequence[Array]) -> Sequence[Report]:
    """Judge what a kernel wrote by the tolerance that can be proven for float32."""
    operation = operation_of(kernel)
    data = [tensors[name] for name in inputs_of(operation)]
    if operation.name == "gemm_bias_act":
        return [gemm_check.gemm_bias_act(*got, *data, shape.activation)]
    if operation.name == "gemm_bias_act_backward":
        return gemm_check.gemm_bias_act_backward(got, *data, shape.activation)
    return [compare_sums(operation.name, *got, lambda *data: ANSWERS[operation.name](shape, *data), *data)]


def require_exact(kernel: Kernel, shape: Shape) -> None:
    """Raise AssertionError unless a kernel computes every element exactly from whole numbers."""
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    rows = zip(operation.outputs, launched(kernel, shape, tensors), answer(operation, shape, tensors), strict=True)
    for name, got, want in rows:
        compare(name, got, want, 0.0).require()


def require_close(kernel: Kernel, shape: Shape, tensors: Tensors | None = None) -> None:
    """Raise AssertionError unless a kernel's float32 rounding stays within what can be proven."""
    tensors = tensors or drawn(operation_of(kernel), shape, normal)
    for report in reports(kernel, shape, tensors, launched(kernel, shape, tensors, np.nan)):
        report.require()
