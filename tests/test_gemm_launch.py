"""The fused layer's launcher: one submission, nothing made twice, passes in their order, clear refusals."""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import ceil

import numpy as np
import pytest
from gemm_problems import (
    BACKWARD_KERNEL,
    FORWARD_KERNEL,
    backward,
    drawn,
    forward,
    outputs,
    require_backward,
    resident,
    shapes,
    sizes_of,
)
from hypothesis import given
from test_gpu import MADE_ONCE, Spy
from test_loops import CAP, iterations

from helpers import check_gemm, gemm, gpu
from helpers import reference_gemm as reference
from helpers.gemm import BACKWARD, FORWARD, TENSORS, GemmShape
from helpers.gpu import GpuError

GRADIENTS = ("d_a", "d_b", "d_bias")

# --- The launcher -----------------------------------------------------------------------------------------

SHAPE = GemmShape(18, 20, 37, 2)
LABELS = ["gemm_bwd_grad_pre", "gemm_bwd_da", "gemm_bwd_db", "gemm_bwd_dbias"]


def passes(shape: GemmShape = SHAPE, **options) -> tuple[tuple[gpu.Pass, ...], dict]:
    """Four passes over fresh buffers, and the buffers."""
    buffers = resident(BACKWARD, shape, drawn(shape))
    options = {"activation": "relu", "per_item": shape.per_item} | options
    return gemm.backward_passes(tuple(buffers.values()), **options, **sizes_of(shape)), buffers


def test_four_passes_are_labelled_ordered_and_dispatched_as_documented():
    four, _ = passes()
    assert [each.label for each in four] == LABELS
    assert [each.entry_point for each in four] == [f"{label}_f32" for label in LABELS]
    assert [each.workgroups for each in four] == [(3, 2, 2), (2, 2, 2), (3, 2, 1), (1, 1, 1)]
    assert len({each.buffers for each in four}) == 1
    apart, _ = passes(replace(SHAPE, per_item=True))
    assert apart[2].workgroups == (3, 2, 2)


@pytest.mark.parametrize("order", [p for p in permutations(range(4)) if p[0] != 0][::3])
def test_the_order_of_the_passes_matters(order):
    """A pass that runs before grad_pre is written reads NaN here."""
    four, buffers = passes()
    gpu.run(*(four[i] for i in order))
    got = outputs(SHAPE, buffers, *GRADIENTS)
    reports = check_gemm.gemm_bias_act_backward(got, **drawn(SHAPE), activation="relu")
    early = order[: order.index(0)]
    assert [bool(report) for report in reports] == [i not in early for i in (1, 2, 3)]


def test_a_launch_is_one_encoder_one_bind_group_one_submission_and_no_read(monkeypatch):
    shape = SHAPE
    buffers = tuple(resident(BACKWARD, shape, drawn(shape)).values())
    gemm.launch_backward(buffers, activation="gelu", **sizes_of(shape))
    spy = Spy(monkeypatch).on(gpu.device(), *MADE_ONCE, "create_command_encoder", "create_bind_group")
    spy.on(gpu.device().queue, "submit", "read_buffer")
    gemm.launch_backward(buffers, activation="silu", **sizes_of(shape))
    assert spy == Counter(create_command_encoder=1, create_bind_group=1, submit=1)


def test_a_fresh_kernel_is_one_module_one_layout_and_four_pipelines(monkeypatch):
    kernel = BACKWARD_KERNEL.edit("// 1. The", "// 1. A kernel that no cache has seen: the")
    spy = Spy(monkeypatch).on(gpu.device(), *MADE_ONCE)
    for _ in range(2):
        require_backward(drawn(SHAPE), "tanh", kernel=kernel)
    assert spy["create_shader_module"] == 1
    assert spy["create_compute_pipeline"] == 4
    assert spy["create_bind_group_layout"] <= 1


def test_layers_follow_each_other_without_a_read(monkeypatch):
    """The output of one layer is the `a` of the next."""
    one, two = GemmShape(4, 5, 6), GemmShape(4, 6, 3)
    first, second = drawn(one), drawn(two) | {"a": np.zeros(0)}
    buffers = resident(FORWARD, one, {name: first[name] for name in ("a", "b", "bias")})
    inputs = {"b": second["b"], "bias": second["bias"]}
    behind = resident(FORWARD, two, inputs) | {"a": buffers["output"]}
    spy = Spy(monkeypatch).on(gpu.device().queue, "read_buffer")
    gemm.launch_forward(tuple(buffers.values()), activation="relu", **sizes_of(one))
    gemm.launch_forward(tuple(behind[name] for name in TENSORS[FORWARD]), activation="relu", **sizes_of(two))
    assert not spy
    middle = reference.forward(first["a"], first["b"], first["bias"], "relu")
    (got,) = outputs(two, behind, "output")
    assert np.array_equal(got, reference.forward(middle, second["b"], second["bias"], "relu"))


@given(shape=shapes())
def test_a_launch_declares_what_its_busiest_thread_does(shape):
    def tiles(terms: int) -> tuple:
        return ceil(terms / 16), (16,)

    items = 1 if shape.per_item else shape.batch_size
    nests = [(1, tiles(shape.k)), (1, tiles(shape.n)), (items, tiles(shape.m)), (shape.batch_size * shape.m,)]
    four = gemm.plan(BACKWARD, shape)
    for each, nest in zip(four, nests, strict=True):
        assert iterations(*nest) <= each.loops <= 2 * iterations(*nest)


@pytest.mark.parametrize("axis", ["k", "n", "m", "batch_size"])
def test_just_within_the_cap_no_product_is_lost(axis):
    def sizes(size: int) -> GemmShape:
        return GemmShape(**({"m": 1, "k": 1, "n": 1, "batch_size": 1} | {axis: size}))

    def loops(size: int) -> int:
        return max(loops for _, loops in gemm.PLANS[BACKWARD](sizes(size), 16).values())

    shape = sizes(bisect_right(range(2**25), CAP, lo=1, key=loops) - 1)
    ones = drawn(shape, lambda size, _: np.ones(size, np.float32))
    d_a, d_b, d_bias = backward(ones, "none")
    assert (d_a == shape.n).all()
    assert (d_b == shape.batch_size * shape.m).all()
    assert (d_bias == shape.batch_size * shape.m).all()
    assert (forward(ones, "relu") == shape.k + 1).all()


def test_a_sum_longer_than_the_cap_is_refused(monkeypatch):
    monkeypatch.setattr(gpu, "loop_cap", lambda: 1000)
    refused(
        GpuError,
        "gemm_bias_act_backward/1_four_passes gemm_bwd_db: a thread may loop 1,1",
        **drawn(GemmShape(1000, 1, 1)),
    )


# --- Refused, by name -------------------------------------------------------------------------------------

RIGHT = drawn(GemmShape(3, 4, 5, 2))


def refused(error: type[Exception], *words: str, function: str = BACKWARD, **changed) -> None:
    """The call raises exactly this class, with these words, before anything is made on the GPU."""
    arguments = {name: RIGHT[name] for name in TENSORS[function] if name in RIGHT}
    gpu.loop_cap()  # found out once, with a buffer of its own
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "empty", lambda *_: pytest.fail("a buffer was made before the arguments were checked"))
        with pytest.raises(error) as caught:
            getattr(gemm, function)(**{**arguments, **changed})
    assert caught.type is error
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("function", [FORWARD, BACKWARD])
@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"a": [[[1.0]]]}, TypeError, ["a is a list", "plain NumPy array"]),
        ({"a": RIGHT["a"].astype(np.float64)}, TypeError, ["a has dtype float64", "must be float32"]),
        ({"a": RIGHT["a"][0]}, ValueError, ["a has shape (3, 4)", "(batch, M, K)"]),
        ({"a": RIGHT["a"][:0]}, ValueError, ["a has shape (0, 3, 4)", "no axis may be 0"]),
        ({"b": 3.0}, TypeError, ["b is a float", "plain NumPy array"]),
        ({"b": RIGHT["b"].astype(np.int32)}, TypeError, ["b has dtype int32"]),
        ({"b": RIGHT["b"][0]}, ValueError, ["b has shape (5,)", "(K, N)"]),
        ({"b": RIGHT["b"][:3]}, ValueError, ["b has shape (3, 5)", "a (2, 3, 4)", "(4, N)", "(2, 4, N)"]),
        ({"b": np.ones((3, 4, 5), np.float32)}, ValueError, ["b has shape (3, 4, 5)", "(2, 4, N)"]),
        ({"b": np.ones((1, 4, 5), np.float32)}, ValueError, ["b has shape (1, 4, 5)", "(2, 4, N)"]),
        ({"bias": RIGHT["bias"][:4]}, ValueError, ["bias has shape (4,)", "b (4, 5)", "make it (5,)"]),
        ({"bias": None}, TypeError, ["bias is a NoneType"]),
        ({"activation": "softmax"}, ValueError, ["activation = 'softmax'", ", ".join(gemm.ACTIVATIONS)]),
        ({"activation": None}, ValueError, ["activation = None"]),
        ({"activation": 1}, ValueError, ["activation = 1"]),
    ],
)
def test_a_bad_argument_is_named(function, changed, error, words):
    refused(error, f"{function}: ", *words, function=function, **changed)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"grad": RIGHT["grad"][:1]}, ValueError, ["grad has shape (1, 3, 5)", "make it (2, 3, 5)"]),
        ({"grad": RIGHT["grad"][0]}, ValueError, ["grad has shape (3, 5)", "(batch, M, N)"]),
        ({"per_item": 1}, TypeError, ["per_item = 1", "True or False"]),
        ({"kernel": "2_fast"}, ValueError, ["kernel = '2_fast'", "1_four_passes"]),
        ({"kernel": 2}, TypeError, ["kernel is a int", "it must be the name of a rung"]),
        ({"kernel": FORWARD_KERNEL}, ValueError, ["kernel = '1_tiled'", "1_four_passes"]),
    ],
)
def test_a_bad_argument_of_the_backward_pass_is_named(changed, error, words):
    refused(error, *words, **changed)


WIDE = np.zeros((65_536, 1, 1), np.float32)


def test_more_items_than_a_dispatch_has_layers_are_refused():
    small = {"a": WIDE, "b": np.zeros((1, 1), np.float32), "bias": np.zeros(1, np.float32)}
    refused(GpuError, "(1, 1, 65536) workgroups", "65,535", function=FORWARD, **small)
    refused(GpuError, "(1, 1, 65536) workgroups", "65,535", **small, grad=WIDE)


def test_what_one_binding_cannot_hold_is_refused_by_name():
    wide, row = np.broadcast_to(np.float32(0), (8192, 4097)), np.zeros(4097, np.float32)
    refused(GpuError, "b takes 128.0 MiB", function=FORWARD, a=wide[None, :1, :1].repeat(8192, 2), b=wide, bias=row)
    a, grad = np.zeros((2, 1, 4096), np.float32), np.zeros((2, 1, 4097), np.float32)
    refused(GpuError, "d_b takes 128.0 MiB", a=a, b=wide[:4096], bias=row, grad=grad, per_item=True)


RESIDENT = [
    ({"activation": "elu"}, ValueError, "activation = 'elu'"),
    ({"dtype": "float16"}, TypeError, "gemm_bias_act_backward: dtype = float16"),
    ({"m": 0}, ValueError, "m = 0"),
    ({"k": 2.0}, TypeError, "k = 2.0"),
    ({"batch_size": 3}, ValueError, "gemm_bias_act_backward: a is a buffer of"),
    ({"b_per_item": 1}, TypeError, "b_per_item = 1"),
]


@pytest.mark.parametrize(("changed", "error", "words"), RESIDENT)
def test_the_resident_layer_refuses_too(changed, error, words):
    buffers = tuple(gpu.empty(4 * np.prod(SHAPE.of(name)).item(), name) for name in TENSORS[BACKWARD])
    with pytest.raises(error, match=re.escape(words)):
        gemm.launch_backward(buffers, **{"activation": "relu", **sizes_of(SHAPE), **changed})


def test_one_buffer_for_two_tensors_is_refused():
    buffers = [gpu.empty(4 * np.prod(SHAPE.of(name)).item(), name) for name in TENSORS[BACKWARD]]
    buffers[4] = buffers[3]
    with pytest.raises(ValueError, match="one buffer stands for two tensors: a, b, bias"):
        gemm.launch_backward(tuple(buffers), activation="none", **sizes_of(SHAPE))
    with pytest.raises(ValueError, match="7 buffers: it takes 8"):
        gemm.launch_backward(tuple(buffers[:7]), activation="none", **sizes_of(SHAPE))
