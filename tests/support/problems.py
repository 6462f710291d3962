"""Help for the kernel tests: all versions, problems of every proportion, and judges that raise AssertionError."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import chain

import numpy as np
import pytest
from hypothesis import strategies as st

from helpers.operations.activations import ACTIVATIONS, SMOOTH
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import LARGE, Tensors, drawn, launched, normal, operation_of, reports
from helpers.operations.kernels import load
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Operation, Shape
from helpers.operations.registry import OPERATIONS
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel
from wgsl.simulator.trace import Trace

# --- Operations and their versions ------------------------------------------------------------------------


def versions_of(operation: str) -> list[Kernel]:
    """Every kernel of an operation, simplest first."""
    return [load(operation, version) for version in OPERATIONS[operation].versions]


EVERY_VERSION = [*chain.from_iterable(map(versions_of, OPERATIONS))]


def parametrized(kernels: Sequence[Kernel]) -> pytest.MarkDecorator:
    """A test's mark: run it for each of these kernels."""
    return pytest.mark.parametrize("kernel", kernels, ids=lambda kernel: kernel.name)


every_version = parametrized(EVERY_VERSION)


def kind_of(kernel: Kernel) -> type[Shape]:
    """The class of a kernel's problems."""
    return kind_for(operation_of(kernel))


def kind_for(operation: Operation) -> type[Shape]:
    """The class of an operation's problems."""
    return type(operation.examples[0])


GENERAL_VERSIONS = [kernel for kernel in EVERY_VERSION if not kernel.specialized]


def general_versions_of(operation: str) -> list[Kernel]:
    """The kernels of an operation that run for every shape as they stand, simplest first."""
    return [kernel for kernel in versions_of(operation) if not kernel.specialized]


# A driver takes up to a second to compile a specialized text, anew for each layer: of these, fewer examples are drawn.
every_general_version = parametrized(GENERAL_VERSIONS)
every_specialized_version = parametrized([kernel for kernel in EVERY_VERSION if kernel.specialized])


def general(kernel: Kernel) -> bool:
    """Does a version take a stride and a dilation along each axis, and groups?"""
    return "const DILATION_H" in kernel.code


def refused(kernel: Kernel, shape: Shape) -> str | None:
    """The reason why a version does not take a shape, or None."""
    return operation_of(kernel).versions[kernel.version](shape, kernel).refused


def with_its(kernel: Kernel, constants: dict[str, int]) -> Kernel:
    """A kernel with those of the constants that it has."""
    return kernel.with_constants(**{k: value for k, value in constants.items() if f"override {k}" in kernel.code})


# --- Problems ---------------------------------------------------------------------------------------------

# What the versions with limits take, from the mildest change of a shape to the strongest.
CHANGES = (
    {},
    {"activation": "none"},
    {"stride": 1},
    {"stride": 2},
    {"kernel_h": 3, "kernel_w": 3, "stride": 1},
    {"kernel_h": 3, "kernel_w": 3, "stride": 1, "in_w": 8, "padding": 1},
    {"k": 4, "n": 4},
    {"k": 20, "n": 24},
)


def fitted(kernel: Kernel, shape: Shape) -> Shape:
    """The shape, or the one nearest to it that the version takes.

    Raises ValueError where it takes none of them.
    """
    for change in CHANGES:
        if set(change) <= {field.name for field in fields(shape)}:
            larger = {f"in_{axis}": max(3, getattr(shape, f"in_{axis}")) for axis in "hw" if "kernel_h" in change}
            changed = replace(shape, **{**larger, **change})
            if not refused(kernel, changed):
                return changed
    raise ValueError(f"{kernel.name} takes neither {shape} nor one near it: {refused(kernel, shape)}")


def both(draw: st.DrawFn, least: int, most: int) -> tuple[int, int]:
    """Draw a number for each of the axes h and w."""
    return draw(st.integers(least, most)), draw(st.integers(least, most))


@st.composite
def conv_shapes(
    draw: st.DrawFn,
    image: int = 12,
    filter: int = 5,
    padding: int = 7,
    activations: Sequence[str] = ("none",),
    general: bool = False,
) -> ConvShape:
    """Convolutions of every proportion up to these sizes: stride or padding over the filter, nothing square.

    The `general` ones have a stride and a dilation along each axis, and groups.
    """

    filters = both(draw, 1, filter)
    paddings = both(draw, 0, padding)
    strides = both(draw, 1, 5)
    dilations = both(draw, 1, 4) if general else (1, 1)
    groups = draw(st.sampled_from((1, 2, 3))) if general else 1
    least = [(k - 1) * d + 1 - 2 * p for k, d, p in zip(filters, dilations, paddings, strict=True)]
    sizes = [draw(st.integers(max(1, size), max(image, size))) for size in least]
    batch, in_channels, out_channels = (draw(st.integers(1, 3)) for _ in range(3))
    steps = strides if general else strides[0], paddings, dilations, groups
    channels = in_channels * groups, *sizes, out_channels * groups
    return ConvShape(batch, *channels, *filters, *steps, draw(st.sampled_from(activations)))


@st.composite
def gemm_shapes(draw: st.DrawFn, activations: Sequence[str] = ACTIVATIONS, most: int = 40) -> GemmShape:
    """Up to three tiles along each axis, rarely full ones, with every way to store b and d_b."""
    sizes = [draw(st.integers(1, size)) for size in (most, most, most, 4)]
    return GemmShape(*sizes, draw(st.sampled_from(activations)), draw(st.booleans()), draw(st.booleans()))


@st.composite
def pool_shapes(draw: st.DrawFn, image: int = 9) -> PoolShape:
    """Pooling layers: windows that overlap or leave pixels out, padding of up to half a window, nothing square."""
    windows = both(draw, 1, 4)
    strides = both(draw, 1, 4)
    paddings = [draw(st.integers(0, window // 2)) for window in windows]
    least = [window - 2 * zeros for window, zeros in zip(windows, paddings, strict=True)]
    sizes = [draw(st.integers(max(1, size), image)) for size in least]
    planes = [draw(st.integers(1, 3)) for _ in range(2)]
    return PoolShape(*planes, *sizes, windows, strides, tuple(paddings))


OTHER_SHAPES = {  # those that have no activation
    SumShape: st.builds(SumShape, st.integers(1, 3000)),
    PoolShape: pool_shapes(),
    ElementShape: st.builds(ElementShape, st.integers(1, 600)),
    LossShape: st.builds(LossShape, st.integers(1, 150), st.integers(1, 12)),
    # In eighths, updates of whole numbers are exact.
    StartShape: st.builds(StartShape, st.integers(1, 600), st.just(0.25), *[st.integers(0, 2**32 - 1)] * 2),
    UpdateShape: st.builds(UpdateShape, st.integers(1, 600), *[st.integers(0, 7).map(lambda i: i / 8)] * 2),
}


def shapes_of(kernel: Kernel, exact: bool = False) -> st.SearchStrategy[Shape]:
    """Problems that a kernel takes; `exact` ones have an activation that keeps whole numbers whole."""
    kind = kind_of(kernel)
    activations = [name for name in ACTIVATIONS if not (exact and name in SMOOTH)]
    if kind in OTHER_SHAPES:
        return OTHER_SHAPES[kind]
    if "bias" not in operation_of(kernel).tensors:  # a convolution's gradients, which ignore it
        activations = ("none",)
    if kind is GemmShape:
        shapes = gemm_shapes(activations)
    else:
        shapes = conv_shapes(activations=activations, general=general(kernel))
    return shapes.map(partial(fitted, kernel))


# --- Judges -----------------------------------------------------------------------------------------------


def require_exact(kernel: Kernel, shape: Shape) -> None:
    """Raise AssertionError unless a kernel computes every element exactly from whole numbers: their tolerance is 0.

    Winograd's transforms, means, exponentials and updates round: there, within what can be proven.
    """
    require_close(kernel, shape, drawn(operation_of(kernel), shape), LARGE)


def require_close(kernel: Kernel, shape: Shape, tensors: Tensors | None = None, guard: float = np.nan) -> float:
    """Raise AssertionError unless a kernel's float32 rounding stays within what can be proven; returns its share."""
    tensors = tensors or drawn(operation_of(kernel), shape, normal)
    made = reports(kernel, shape, tensors, launched(kernel, shape, tensors, guard))
    return max(report.require().tolerance_used for report in made)


def findings(traces: Sequence[Trace]) -> list[str]:
    """All findings of an operation's passes, as text."""
    lines = []
    for trace in traces:
        lines += [f"{trace.entry_point}: {finding}" for finding in trace.findings]
    return lines
