"""Loop iterations: a copy of a kernel counts, and what a version declares is never too few, nor far too many."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import (
    EVERY_VERSION,
    GENERAL_VERSIONS,
    every_general_version,
    fitted,
    kind_of,
    parametrized,
    shapes_of,
)
from support.sample import ALL, sample

from helpers import gpu
from helpers.gpu.passes import CAP
from helpers.operations.convolution.schedules import conv2d_grad_input
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, launched, ones, operation_of, reports, resident, whole
from helpers.operations.kernels import load
from helpers.operations.network.shapes import LossShape, PoolShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel

# --- The counting copy ------------------------------------------------------------------------------------

COUNTER = """
@group(0) @binding({binding}) var<storage, read_write> counted_most: atomic<u32>;
var<private> counted_total: u32;

fn counted() {{
  counted_total++;
  atomicMax(&counted_most, counted_total);
}}
"""


class Counted(NamedTuple):
    """A counting copy: the u32 at `binding`, 0 at the start, becomes the iterations of the busiest invocation."""

    kernel: Kernel
    binding: int


def counted(kernel: Kernel, binding: int | None = None) -> Counted:
    """The counting copy of a kernel that compiles.

    The count is bound behind all other bindings by default; `binding` may name one of these that no entry point uses.
    """
    source = kernel.source
    loops = list(re.finditer(r"\b(for|while|loop)\b[^{]*\{", kernel.code))
    for loop in reversed(loops):
        source = f"{source[: loop.end()]} counted();{source[loop.end() :]}"
    if binding is None:
        binding = len(kernel.buffer_types)
    return Counted(replace(kernel, source=source + COUNTER.format(binding=binding)), binding)


# --- What a version declares ------------------------------------------------------------------------------


def peaked(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Zeros, and ones in the middle of each plane: the maximum of all of its windows."""
    planes = np.zeros(shape, np.float32)
    planes[..., shape[-2] // 2, shape[-1] // 2] = 1
    return planes


def iterations(kernel: Kernel, shape: Shape) -> list[tuple[int, int]]:
    """For each step of a version, the iterations that it declares, and those of its busiest invocation."""
    operation = operation_of(kernel)
    draw = peaked if isinstance(shape, PoolShape) else whole
    tensors = resident(operation, shape, drawn(operation, shape, draw))
    pairs = []
    for step in operation.prepare(tuple(tensors.values()), shape, kernel):
        copy = counted(*_alone(step.kernel, step.entry_point))
        count = gpu.empty(4, "count")
        buffers = list(step.buffers)
        buffers[copy.binding : copy.binding + 1] = [count]
        gpu.run(replace(step, kernel=copy.kernel, buffers=tuple(buffers)))
        pairs.append((step.iterations, int(gpu.read(count, (1,), np.uint32)[0])))
    return pairs


def _alone(kernel: Kernel, entry_point: str) -> tuple[Kernel, int | None]:
    """A kernel, and where the count is bound.

    Where 8 storage buffers, the most that there may be, are taken, the count replaces an output; what is written there
    goes to a private variable instead. It is an output that the entry point does not write, if there is one.
    """
    if sum(kind != "uniform" for kind in kernel.buffer_types) < 8:
        return kernel, None
    operation = operation_of(kernel)
    spared = next(name for name in operation.outputs if name.replace("_", "") not in entry_point)
    declaration = re.compile(rf"@group\(0\) @binding\(\d\)\s+var<storage, read_write> {spared}: array<(\w+)>;")
    source, count = declaration.subn(rf"var<private> {spared}: array<\1, 1>;", kernel.code)
    assert count == 1
    return replace(kernel, source=source), operation.tensors.index(spared)


def busy(shape: Shape) -> Shape:
    """A layer like this one in which some threads skip nothing: no padding, stride 1, pixels amid windows."""
    if isinstance(shape, PoolShape):
        rows, columns = shape.kernel
        return replace(shape, in_h=2 * rows + 1, in_w=2 * columns + 1, stride=1, padding=0)
    if not isinstance(shape, ConvShape):
        return shape
    in_h, in_w = shape.in_h + 2 * shape.kernel_h, shape.in_w + 2 * shape.kernel_w
    return replace(shape, in_h=in_h, in_w=in_w, stride=1, padding=0)


@every_general_version
@given(data=st.data())
def test_a_version_declares_what_its_busiest_thread_does_and_at_most_twice_as_much(kernel, data):
    require_declared(kernel, data.draw(shapes_of(kernel)))


@parametrized(sample([kernel for kernel in EVERY_VERSION if kernel.specialized], 8))
@settings(max_examples=1)
@given(data=st.data())
def test_so_does_a_specialized_version(kernel, data):
    require_declared(kernel, data.draw(shapes_of(kernel)), only_busy=not ALL)  # each is compiled anew


def require_declared(kernel: Kernel, shape: Shape, only_busy: bool = False) -> None:
    """Raise AssertionError unless a version declares enough for this problem, and not far too much for a busy one."""
    if not only_busy:
        assert all(true <= declared for declared, true in iterations(kernel, shape))
    for declared, true in iterations(kernel, fitted(kernel, busy(shape))):
        assert true <= declared <= 2 * true + 16


def test_several_planes_and_chunks_are_declared_too(monkeypatch):
    monkeypatch.setattr(conv2d_grad_input, "MAX_WORKGROUPS", 2)
    kernel = load("conv2d_grad_input", "2_shared_weights").edit("CHUNK: u32 = 4096u", "CHUNK: u32 = 5u")
    ((declared, true),) = iterations(kernel.with_constants(TILE=2), ConvShape(3, 3, 9, 8, 2, 4, 3))
    assert true <= declared <= 2 * true
    assert true > 5 * 2 * 3  # planes, channels, chunks


def test_a_loop_that_became_longer_is_noticed():
    kernel = load("conv2d_grad_bias", "1_thread_per_channel").edit("n < params.batch", "n < 4u * params.batch")
    ((declared, true),) = iterations(kernel, ConvShape(2, 1, 9, 9, 3, 2, 2))
    assert declared < true


# --- The largest problem that a driver with the cap may run is right --------------------------------------

GROWING = {  # from problems of one product: the sizes that are many, one loop after the other; or else each size
    "conv2d": ["in_channels", "in_h kernel_h", "in_w kernel_w"],
    "conv2d_grad_weight": ["batch", "in_h", "in_w"],
    "conv2d_grad_input": ["out_channels", "kernel_h padding_h", "kernel_w padding_w"],
    "conv2d_grad_bias": ["batch", "in_h", "in_w"],
    "gemm_bias_act": ["k"],
    "gemm_bias_act_backward": ["k", "n", "m", "batch_size"],
    PoolShape: ("window_h", "window_w"),
    "avg_pool2d_backward": (),  # to loop up to the cap, a pixel needs windows in an image too large for a test
    "cross_entropy": ["classes"],
}


def growing(kernel: Kernel) -> Sequence[str]:
    """The sizes of a kernel's loops."""
    operation = operation_of(kernel)
    schedule = operation.versions[kernel.version](operation.examples[0], kernel)
    if not any(step.iterations for step in schedule.steps):
        return ()
    if operation.name in GROWING:
        return GROWING[operation.name]
    kind = kind_of(kernel)
    every_size = [size.name for size in fields(kind) if size.type is int]
    return GROWING.get(kind, every_size)


def largest(kernel: Kernel, sizes: str) -> Shape:
    """The largest problem of its kind for which the declared iterations stay within the cap."""
    schedule = operation_of(kernel).versions[kernel.version]

    def declared(size: int) -> int:
        return max(step.iterations for step in schedule(grown(kernel, sizes, size), kernel).steps)

    most = bisect_right(range(2**25), CAP, lo=1, key=declared) - 1
    return grown(kernel, sizes, most)


ONES = {  # the smallest problem of each kind
    SumShape: SumShape(1),
    GemmShape: GemmShape(1, 1, 1),
    ConvShape: ConvShape(1, 1, 1, 1, 1, 1, 1),
    PoolShape: PoolShape(1, 1, 1, 1, 1),
    LossShape: LossShape(1, 1),
}


def grown(kernel: Kernel, sizes: str, size: int) -> Shape:
    """The smallest problem of a kernel's kind, but with some of its sizes grown."""
    changes = {}
    for name in sizes.split():
        match name:
            case "padding_h":
                changes |= {"padding": (size, 0)}
            case "padding_w":
                changes |= {"padding": (0, size)}
            case "window_h":
                changes |= {"kernel": (size, 1), "padding": (size // 2, 0)}
            case "window_w":
                changes |= {"kernel": (1, size), "padding": (0, size // 2)}
            case _:
                changes[name] = size
    return replace(ONES[kind_of(kernel)], **changes)


LOOPS = []
for kernel in GENERAL_VERSIONS:
    LOOPS += [pytest.param(kernel, sizes, id=f"{kernel.name}: {sizes}") for sizes in growing(kernel)]


@pytest.mark.parametrize(("kernel", "sizes"), sample(LOOPS, 3))
def test_just_within_the_cap_no_product_is_lost(kernel, sizes):
    if "override THREADS" in kernel.code:  # fewer threads reach the cap with fewer products
        kernel = kernel.with_constants(THREADS=16)
    if "override DEPTH" in kernel.code:  # likewise, and more products would need more workgroups than a dispatch has
        kernel = kernel.with_constants(DEPTH=32)
    shape = largest(kernel, sizes)
    tensors = drawn(operation_of(kernel), shape, ones)
    outputs = launched(kernel, shape, tensors)
    assert all(reports(kernel, shape, tensors, outputs))  # for sums of ones, the tolerance is 0
