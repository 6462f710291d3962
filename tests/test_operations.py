"""Operations: what is planned, which version is chosen and why, and launches over buffers that stay on the GPU."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.launcher import ROOT, python
from support.problem_lists import listed
from support.problems import kind_for
from support.sample import at_night

import helpers
from helpers import gpu
from helpers.gpu import GpuError, passes
from helpers.operations.convolution import operations as convolution
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.operations import BACKWARD
from helpers.operations.gemm.reference import backward
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, normal, resident
from helpers.operations.operation import Choice, Operation
from helpers.operations.registry import OPERATIONS
from helpers.operations.summation.shapes import SumShape

SOFTWARE, HARDWARE = (replace(gpu.adapter_info(), kind=kind) for kind in ("software", "hardware"))
GRAD_WEIGHT, GRAD_BIAS = convolution.GRAD_WEIGHT, convolution.GRAD_BIAS
SMALL, CONV1 = ConvShape(1, 2, 12, 13, 3, 3, 3), ConvShape(1, 1, 28, 28, 6, 5, 5)
MIDDLE, STRIDED = ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 1), ConvShape(32, 128, 28, 28, 128, 3, 3, 2, 1)
DILATED = ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 2, 2)
DEPTHWISE = ConvShape(32, 128, 56, 56, 128, 3, 3, 1, 1, groups=128)
LAYERS = SMALL, CONV1, MIDDLE, STRIDED, ConvShape(256, 6, 12, 12, 16, 5, 5), DILATED, DEPTHWISE
SHAPES = {
    SumShape: [SumShape(30), SumShape(30_000)],
    GemmShape: [GemmShape(5, 6, 7), GemmShape(512, 512, 512), GemmShape(512, 512, 511)],
    ConvShape: [replace(SMALL, dilation=2), *LAYERS],
}
WIDE = ConvShape(1, 70_000, 1, 1, 1, 1, 1)  # version 2 would need 70,000 workgroups in x
LONG = ConvShape(1, 1, 50, 60, 1, 1, 1)  # 3,000 products: a thread of version 1 takes all of them, of version 2 twelve
ONE, MANY = "1_thread_per_weight", "2_workgroup_per_weight"
TEACHING = "1_thread_per_output"
NO_ACTIVATION = f"conv2d/{TEACHING}: activation = 'relu': it has none; choose another version"

every_adapter = pytest.mark.parametrize("adapter", [SOFTWARE, HARDWARE], ids=["software", "hardware"])


def taken(operation: Operation, shape: object) -> str:
    """The version that a call takes."""
    return operation.plan(shape).passes[0].kernel.version


# --- Which version runs -----------------------------------------------------------------------------------


# Beside the layers of test_choice: both sides of a threshold, software adapters.
@pytest.mark.parametrize(("operation", "shape", "kind", "version"), listed("choices"))
def test_the_version_that_was_measured_to_be_best_is_chosen(operation, shape, kind, version):
    adapter = SOFTWARE if kind == "software" else HARDWARE
    assert OPERATIONS[operation].choose(shape, adapter)[0].version == version


@pytest.mark.parametrize(("size", "dilation"), [((3, 3), 1), ((2, 3), 1), ((4, 2), (1, 3)), ((1, 5), (2, 2))])
def test_with_the_padding_same_the_output_is_as_large_as_the_input(size, dilation):
    x, w = normal((2, 3, 7, 9)), normal((4, 3, *size), 1)
    zeros = [(k - 1) * d for k, d in zip(size, np.broadcast_to(dilation, 2), strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *((count // 2, count - count // 2) for count in zeros)])
    got = helpers.conv2d(x, w, padding="same", dilation=dilation)
    right = reference.conv2d(padded, w, dilation=dilation)
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)
    assert np.array_equal(helpers.conv2d(x, w, padding="valid"), helpers.conv2d(x, w))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_version_is_a_choice_somewhere(operation):
    shapes = SHAPES.get(kind_for(OPERATIONS[operation]), OPERATIONS[operation].examples)
    chosen = set()
    for shape, adapter in product(shapes, (SOFTWARE, HARDWARE)):
        chosen |= {choice.version for choice in OPERATIONS[operation].choose(shape, adapter)}
    steps = {"4_vec4_tiles"}  # of the speed ladder only: a later version of the same idea is faster
    assert chosen == {*OPERATIONS[operation].versions} - steps


ANY = {"conv2d": "5_direct", "conv2d_grad_input": "8_direct", "conv2d_grad_weight": "7_direct"}
# The weights of the first are too many for tiles: laid out for them, they take more than a binding holds.
HUGE = ConvShape(8, 512, 7, 7, 1337, 7, 7), ConvShape(1, 2**17, 3, 3, 1, 3, 3)


@pytest.mark.parametrize("shape", [*LAYERS, *(replace(shape, activation="relu") for shape in HUGE)], ids=str)
@every_adapter
def test_one_of_the_choices_takes_every_layer(shape, adapter, monkeypatch):
    monkeypatch.setattr("helpers.operations.operation.adapter_info", lambda: adapter)
    monkeypatch.setattr(passes, "loop_cap", lambda: None)
    for name, version in ANY.items():
        layer = shape if name == "conv2d" else replace(shape, activation="none")
        assert version in [choice.version for choice in OPERATIONS[name].choose(layer, adapter)]
        assert OPERATIONS[name].problem(layer, version) is None
        assert OPERATIONS[name].plan(layer)


def preferring(*best_first: str) -> Operation:
    """The weight gradient, as if these of its versions had been measured to be the fastest."""
    choices = [Choice(version, f"{version} is fast") for version in best_first]
    return replace(GRAD_WEIGHT, choose=lambda shape, adapter: choices)


@pytest.mark.parametrize("best_first", [(ONE, MANY), (MANY, ONE)])
def test_the_first_choice_that_can_run_is_taken_wherever_its_file_stands(best_first):
    operation, best = preferring(*best_first), best_first[0]
    assert operation.explain_choice(SMALL) == f"conv2d_grad_weight takes {best}: {best} is fast."
    assert taken(operation, SMALL) == best
    assert taken(operation, WIDE) == ONE
    skipped = f"({MANY} comes first, but cannot run: conv2d_grad_weight/{MANY}: (70000, 1, 1)"
    assert (skipped in operation.explain_choice(WIDE)) == (best == MANY)


def test_a_version_that_would_pass_the_loop_cap_gives_way_unless_it_is_named(monkeypatch):
    monkeypatch.setattr(passes, "CAP", 1000)
    monkeypatch.setattr(passes, "loop_cap", lambda: 1000)
    operation = preferring(ONE, MANY)
    assert taken(operation, LONG) == MANY
    with pytest.raises(GpuError, match=f"conv2d_grad_weight/{ONE}: a thread may loop 3,1"):
        operation.plan(LONG, ONE)


def test_a_sum_longer_than_the_cap_is_right_or_refused():
    """Version 1 would stop after 65,535 of these 90,000 products without an error where the adapter has the cap."""
    ones = np.ones((1, 1, 300, 300), np.float32)
    assert helpers.conv2d_grad_weight(ones, (1, 1, 1, 1), ones) == 90_000
    if passes.loop_cap():
        with pytest.raises(GpuError, match=f"{ONE}: a thread may loop 90,"):
            helpers.conv2d_grad_weight(ones, (1, 1, 1, 1), ones, kernel=ONE)


@at_night
def test_a_bias_gradient_longer_than_a_workgroup_may_loop_under_the_cap_is_right():
    """More than 65,535 numbers for each of 256 threads; the sums of all parts are whole numbers that float32 holds."""
    assert helpers.conv2d_grad_bias(np.ones((1, 1, 4097, 4096), np.float32)) == 4097 * 4096


def test_a_kernel_file_that_was_edited_is_planned_again(tmp_path, monkeypatch):
    source = Path("conv2d_grad_bias/1_thread_per_channel.wgsl")
    right = (ROOT / "kernels" / source).read_text(encoding="utf-8")
    (tmp_path / source.parent).mkdir()
    monkeypatch.setattr("helpers.operations.kernels.KERNELS", tmp_path)
    for start in (0, 5):
        text = right.replace("var sum = 0.0", f"var sum = {start}.0") + " " * start
        (tmp_path / source).write_text(text, encoding="utf-8")
        got = helpers.conv2d_grad_bias(np.ones((1, 1, 3, 2), np.float32), kernel=source.stem)
        assert got == 6 + start


# --- Buffers that stay on the GPU -------------------------------------------------------------------------


def test_launches_follow_each_other_without_a_read():
    arrays = drawn(convolution.FORWARD, SMALL)
    forward, bias = (resident(operation, SMALL, arrays, before=0) for operation in (convolution.FORWARD, GRAD_BIAS))
    bias["grad_output"] = forward["output"]  # the loss is half the sum of squares
    convolution.FORWARD.launch([*forward.values()], SMALL)
    GRAD_BIAS.launch([*bias.values()], SMALL)
    want = reference.conv2d(*arrays.values()).sum((0, 2, 3))
    assert np.array_equal(gpu.read(bias["grad_bias"], SMALL.of("bias")), want)


ALL = GemmShape(18, 20, 36, 2, "relu")
DATA = drawn(BACKWARD, ALL)


@pytest.mark.parametrize("version", BACKWARD.versions)
@pytest.mark.parametrize("order", [(1, 0, 2, 3), (2, 1, 0, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_of_the_passes_matters(order, version):
    """A pass that runs before grad_pre is written reads the zeros of a new buffer."""
    buffers = resident(BACKWARD, ALL, DATA, before=0)
    passes = BACKWARD.prepare([*buffers.values()], ALL, version)
    last = len(passes) - 1  # where there are fewer than four, it writes what further ones would
    gpu.run(*(passes[i] for i in order if i <= last))
    got = [gpu.read(buffers[name], ALL.of(name)) for name in BACKWARD.outputs]
    equal = [np.array_equal(*pair) for pair in zip(got, backward(**DATA, activation="relu"), strict=True)]
    assert equal == [order.index(min(i, last)) > order.index(0) for i in (1, 2, 3)]


# --- Imports ------------------------------------------------------------------------------------------------

WITHOUT_WGPU = """
import sys
sys.modules["wgpu"] = None  # an import of it fails
import helpers
from helpers import pictures, simulate
from helpers.widgets import stepper
from helpers.operations.convolution import check, indices, reference, shapes
from helpers.lessons.shared import pictures
from helpers.operations.gemm import check, indices, reference, shapes
from helpers.lessons.fused_gemm_backward.pictures import gradients, passes, tiles, transposed_load
from helpers.operations.network import check, reference, shapes
from helpers.operations.summation import check, reference, shapes
from helpers.lessons.shared import sums as indices
from helpers.lessons.bias_gradient.pictures import channel_sums, loads, race, tree
from helpers.data import digits
from helpers.operations.kernels import load
print(digits.conv1_input().shape, len(load("conv2d", "1_thread_per_output").buffer_types))
try: helpers.conv2d
except ImportError as error: print("needs", error.name)
"""


def test_what_needs_no_gpu_imports_without_wgpu():
    assert python(WITHOUT_WGPU).split("\n")[:2] == ["(1, 1, 28, 28) 5", "needs wgpu"]
