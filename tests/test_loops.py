"""The loop cap: what a launch declares is enough, what an adapter cannot count is refused, the rest is right."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import EVERY_RUNG, inputs, launched, operation, shapes

import helpers
from helpers import gpu, ops, plans, wgsl
from helpers.gpu import GpuError, Pass
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel

LONG = ConvShape(1, 1, 50, 60, 1, 1, 1)  # 3,000 products: a thread of rung 1 takes all of them, of rung 2 twelve
BROAD = ConvShape(1, 70_000, 1, 1, 1, 1, 1)  # rung 2 would need 70,000 workgroups in a row
CAP = 65_535  # the one that is known, of Mesa before 23

# --- Refused, or replaced, or right -----------------------------------------------------------------------


@pytest.fixture
def idle() -> Pass:
    """A pass that does nothing."""
    source = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n@compute @workgroup_size(1) fn main() {}"
    return Pass(Kernel(source, "idle kernel"), (gpu.empty(4, "x"),), (1, 1, 1))


def test_a_pass_over_the_cap_is_refused_by_name(idle, monkeypatch):
    monkeypatch.setattr(gpu, "loop_cap", lambda: 100)
    gpu.run(replace(idle, loops=100))
    with pytest.raises(GpuError) as refused:
        gpu.run(replace(idle, loops=101))
    for words in ("idle kernel", "may loop 101 times", gpu.banner().name, gpu.banner().driver, "after 100: choose"):
        assert words in str(refused.value)


def test_without_a_cap_every_loop_may_run(idle, monkeypatch):
    monkeypatch.setattr(gpu, "loop_cap", lambda: None)
    gpu.run(replace(idle, loops=10**9))


def test_the_default_falls_back_to_a_rung_that_can_run(monkeypatch):
    def chosen(shape: ConvShape) -> str:
        return ops.choose("conv2d_grad_weight", shape, None).kernel.name

    assert chosen(BROAD) == "conv2d_grad_weight/1_thread_per_weight"
    monkeypatch.setattr(gpu, "loop_cap", lambda: 100)
    assert chosen(LONG) == "conv2d_grad_weight/2_workgroup_per_weight"
    monkeypatch.setattr(gpu, "loop_cap", lambda: 10)
    with pytest.raises(GpuError, match="conv2d_grad_weight/"):
        chosen(LONG)


@pytest.mark.parametrize(
    ("shape", "rung", "reason"),
    [(LONG, "1_thread_per_weight", "may loop 3,1"), (BROAD, "2_workgroup_per_weight", "(70000, 1, 1) workgroups")],
)
def test_a_rung_asked_for_by_name_is_never_replaced(shape, rung, reason, monkeypatch):
    monkeypatch.setattr(gpu, "loop_cap", lambda: 1000)
    with pytest.raises(GpuError) as refused:
        ops.choose("conv2d_grad_weight", shape, rung)
    assert str(refused.value).startswith(f"conv2d_grad_weight/{rung}: ")
    assert reason in str(refused.value)


def test_a_sum_longer_than_the_cap_is_refused_or_right():
    """Where the adapter has the cap, rung 1 would stop after 65,535 of these 90,000 products, and say nothing."""
    ones = np.ones((1, 1, 300, 300), np.float32)

    def solve(kernel: str | None) -> float:
        return helpers.conv2d_grad_weight(ones, (1, 1, 1, 1), ones, kernel=kernel).item()

    assert solve(None) == 90_000
    if gpu.loop_cap():
        with pytest.raises(GpuError, match="1_thread_per_weight: a thread may loop 90,"):
            solve("1_thread_per_weight")
    else:
        assert solve("1_thread_per_weight") == 90_000


# --- The declared number is enough ------------------------------------------------------------------------

Nest = tuple  # (size, *nests): a loop, and the loops in its body


def iterations(size: int, *inner: Nest, idle: bool = False) -> int:
    """Count as a driver counts that runs several threads in step.

    The test that ends a loop is an iteration, in which the body is walked through once more for nobody; so are
    the loops inside, each of which ends at its first test.
    """
    total = 0
    for _ in range(0 if idle else size):
        total += 1 + sum(iterations(*nest) for nest in inner)
    return total + 1 + sum(iterations(*nest, idle=True) for nest in inner)


# The loops of each kernel, one after the other, read off its source.
LOOPS = {
    "conv2d/1_thread_per_output": lambda s: [(s.in_channels, (s.kernel_h, (s.kernel_w,)))],
    "conv2d_grad_weight/1_thread_per_weight": lambda s: [(s.batch, (s.out_h, (s.out_w,)))],
    "conv2d_grad_weight/2_workgroup_per_weight": lambda s: [(ceil(s.batch * s.out_h * s.out_w / 256),), (8,)],
    "conv2d_grad_input/1_gather": lambda s: [(s.out_channels, (s.kernel_h, (s.kernel_w,)))],
    "conv2d_grad_input/2_shared_weights": lambda s: [(1, (s.out_channels, (1, (1,), (s.kernel_h * s.kernel_w,))))],
    "conv2d_grad_bias/1_thread_per_channel": lambda s: [(s.batch, (s.out_h * s.out_w,))],
    "conv2d_grad_bias/2_workgroup_per_channel": lambda s: [(ceil(s.batch * s.out_h * s.out_w / 256),), (8,)],
}


@pytest.mark.parametrize("kernel", EVERY_RUNG, ids=lambda kernel: kernel.name)
@given(shape=shapes())
def test_a_launch_declares_what_its_busiest_thread_does(kernel, shape):
    true = sum(iterations(*nest) for nest in LOOPS[kernel.name](shape))
    assert true <= ops.choose(operation(kernel), shape, kernel).loops <= 2 * true


def shared_weights_iterations(s: ConvShape, layers: int, tile: int, chunk: int) -> int:
    """The same for several planes and chunks; the last chunk is rarely full."""
    total, taps = 0, s.kernel_h * s.kernel_w
    for _ in range(0, s.batch * s.in_channels, layers):
        for _ in range(s.out_channels):
            for first in range(0, taps, chunk):
                here = min(chunk, taps - first)
                total += 1 + iterations(ceil(here / tile**2)) + iterations(here)
            total += 1 + 3  # the chunk loop ends, and the two loops inside are walked through
        total += 1 + 4
    return total + 5


@given(shapes(), st.integers(1, 9), st.sampled_from([1, 2, 4]), st.sampled_from([3, 4, 7, 16]))
def test_shared_weights_declares_enough_for_several_planes_and_chunks(shape, layers, tile, chunk):
    source = f"override TILE: u32 = {tile}u;\nconst CHUNK: u32 = {chunk}u;"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "MAX_WORKGROUPS", layers)
        (_, _, planes), declared = plans.shared_weights(shape, Kernel(source))
    assert planes == min(layers, shape.batch * shape.in_channels)
    true = shared_weights_iterations(shape, planes, tile, chunk)
    assert true <= declared <= 2 * true


# --- The largest problem that a capped adapter may run is right -------------------------------------------


def largest(kernel: Kernel, grow: Callable[[int], ConvShape]) -> int:
    """The largest size for which the loops that are declared for ``grow(size)`` stay within the cap."""
    plan = ops.OPERATIONS[operation(kernel)].plans[kernel.rung]
    return bisect_right(range(2**25), CAP, lo=1, key=lambda size: plan(grow(size), kernel)[1]) - 1


GROWING = [  # one output element, and `size` products along each loop
    ("conv2d/1_thread_per_output", lambda size: ConvShape(1, size, 1, 1, 1, 1, 1)),
    ("conv2d/1_thread_per_output", lambda size: ConvShape(1, 1, size, 1, 1, size, 1)),
    ("conv2d/1_thread_per_output", lambda size: ConvShape(1, 1, 1, size, 1, 1, size)),
    ("conv2d_grad_weight/1_thread_per_weight", lambda size: ConvShape(size, 1, 1, 1, 1, 1, 1)),
    ("conv2d_grad_weight/1_thread_per_weight", lambda size: ConvShape(1, 1, size, 1, 1, 1, 1)),
    ("conv2d_grad_weight/1_thread_per_weight", lambda size: ConvShape(1, 1, 1, size, 1, 1, 1)),
    ("conv2d_grad_weight/2_workgroup_per_weight", lambda size: ConvShape(1, 1, 1, size, 1, 1, 1)),
    ("conv2d_grad_input/1_gather", lambda size: ConvShape(1, 1, 1, 1, size, 1, 1)),
    ("conv2d_grad_input/1_gather", lambda size: ConvShape(1, 1, 1, 1, 1, size, 1, 1, size)),
    ("conv2d_grad_input/2_shared_weights", lambda size: ConvShape(1, 1, 1, 1, size, 1, 1)),
    ("conv2d_grad_input/2_shared_weights", lambda size: ConvShape(1, 1, 1, 1, 1, size, 1, 1, size)),
    ("conv2d_grad_bias/1_thread_per_channel", lambda size: ConvShape(size, 1, 1, 1, 1, 1, 1)),
    ("conv2d_grad_bias/1_thread_per_channel", lambda size: ConvShape(1, 1, 1, size, 1, 1, 1)),
    ("conv2d_grad_bias/2_workgroup_per_channel", lambda size: ConvShape(1, 1, 1, size, 1, 1, 1)),
]


@pytest.mark.parametrize(("name", "grow"), GROWING)
def test_just_within_the_cap_no_product_is_lost(name, grow):
    kernel = wgsl.load(*name.split("/"))
    if "override THREADS" in kernel.code:  # fewer threads reach the cap with fewer products
        kernel = kernel.with_constants(THREADS=16)
    size = largest(kernel, grow)
    ones = inputs(kernel, grow(size), lambda shape, _: np.ones(shape, np.float32))
    bias = 1 if operation(kernel) == "conv2d" else 0
    assert launched(kernel, grow(size), ones).item() == size + bias


def test_every_rung_is_brought_to_the_cap():
    assert {name for name, _ in GROWING} == {kernel.name for kernel in EVERY_RUNG}
