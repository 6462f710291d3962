"""The fused layer and its gradients: right for every shape, against its reference and without it."""

from dataclasses import replace
from math import ceil

import numpy as np
import pytest
from gemm_problems import (
    BACKWARD_KERNEL,
    FORWARD_KERNEL,
    backward,
    drawn,
    forward,
    forward_report,
    require_backward,
    shapes,
)
from hypothesis import given
from problems import normal, whole

import helpers
from helpers import check, check_gemm, digits, gemm
from helpers import reference_gemm as reference
from helpers.gemm import GemmShape

every_activation = pytest.mark.parametrize("activation", gemm.ACTIVATIONS)
every_exact = pytest.mark.parametrize("activation", ["none", "relu"])
GRADIENTS = ("d_a", "d_b", "d_bias")

# --- Right for every shape ------------------------------------------------------------------------------


@every_exact
@given(shape=shapes())
def test_whole_numbers_come_out_exactly(activation, shape):
    data = drawn(shape)
    inputs = data["a"], data["b"], data["bias"]
    check.compare("output", forward(data, activation), reference.forward(*inputs, activation), 0.0).require()
    wants = reference.backward(**data, activation=activation, per_item=shape.per_item)
    for name, got, want in zip(GRADIENTS, backward(data, activation, shape.per_item), wants, strict=True):
        check.compare(name, got, want, 0.0).require()


@every_activation
@given(shape=shapes())
def test_random_numbers_come_out_within_the_proven_tolerance(activation, shape):
    data = drawn(shape, normal)
    forward_report(data, activation).require()
    require_backward(data, activation, shape.per_item)


@every_activation
@given(shape=shapes())
def test_the_loops_agree_with_their_twins(activation, shape):
    data = drawn(replace(shape, m=ceil(shape.m / 8), n=ceil(shape.n / 8), k=ceil(shape.k / 8), per_item=False), normal)
    inputs = data["a"], data["b"], data["bias"]
    twin = reference.forward(*inputs, activation)
    np.testing.assert_allclose(reference.forward_loops(*inputs, activation), twin, rtol=1e-12, atol=1e-12)
    looped = reference.backward_loops(**data, activation=activation)
    for loops, twin in zip(looped, reference.backward(**data, activation=activation), strict=True):
        np.testing.assert_allclose(loops, twin, rtol=1e-12, atol=1e-12)


@every_exact
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(GemmShape(1, 1, 1), id="one of everything"),
        pytest.param(GemmShape(16, 16, 16, 2), id="exactly one tile"),
        pytest.param(GemmShape(17, 33, 49, 3, True, True), id="one past full tiles, b per item"),
        pytest.param(GemmShape(2, 5000, 3, 2), id="K of thousands"),
        pytest.param(GemmShape(3000, 2, 3, 2), id="M of thousands"),
        pytest.param(GemmShape(2, 3, 1030, 2), id="N over 256 and over 1,024"),
        pytest.param(GemmShape(1, 2, 3, 3000), id="thousands of items"),
        pytest.param(GemmShape(1, 2, 3, 3000, True, True), id="thousands of items with their own b"),
    ],
)
def test_a_named_case_comes_out_exactly(activation, shape):
    data = drawn(shape)
    forward_report(data, activation).require()
    for report in check_gemm.gemm_bias_act_backward(
        backward(data, activation, shape.per_item), **data, activation=activation
    ):
        assert report.require().error == 0


@every_activation
def test_a_long_sum_of_random_numbers_is_right(activation):
    data = drawn(GemmShape(3, 4000, 5, 2), normal)
    data["b"] /= 64  # pre stays near 0, where the slopes differ
    forward_report(data, activation).require()
    require_backward(data, activation)


@pytest.mark.parametrize("tile", [1, 4, 8])
def test_other_tiles_give_the_same_answer(tile):
    data = drawn(GemmShape(9, 10, 11, 2))
    kernel = FORWARD_KERNEL.with_constants(TILE=tile)
    assert np.array_equal(forward(data, "relu", kernel), forward(data, "relu"))
    require_backward(data, "relu", kernel=BACKWARD_KERNEL.with_constants(TILE=tile))


def test_a_view_gives_the_answer_of_its_copy():
    right = drawn(GemmShape(3, 4, 5, 2))
    views = {name: np.asfortranarray(value) for name, value in right.items()}
    for one, other in zip(helpers_backward(views, "silu"), helpers_backward(right, "silu"), strict=True):
        assert np.array_equal(one, other)
        assert one.dtype == np.float32
        assert one.flags.writeable


def test_items_add_up_only_where_they_share_one_b():
    data = drawn(GemmShape(5, 6, 7, 4))
    _, summed, _ = helpers_backward(data, "relu")
    _, apart, _ = helpers_backward(data, "relu", per_item=True)
    assert apart.shape == (4, 6, 7)
    assert np.array_equal(apart.sum(axis=0), summed)
    copies = data | {"b": np.repeat(data["b"][None], 4, axis=0)}
    for one, other in zip(helpers_backward(data, "relu"), helpers_backward(copies, "relu"), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ["a", "b", "grad"])
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_a_number_leaks_into_nothing_that_it_did_not_meet(name, poison):
    """Poison the first number of the last item: tiles reach past the edges of items 0 and 1, and must not read it."""
    shape = GemmShape(3, 5, 4, 2, True, True)
    clean, data = drawn(shape), drawn(shape)
    data[name][1, 0, 0] = poison
    for dirty, want in zip(backward(data, "none", True), backward(clean, "none", True), strict=True):
        if want.ndim == 3:
            assert np.array_equal(dirty[0], want[0])
    d_a, d_b, _ = backward(data, "none", True)
    spared = {"a": d_a[1], "b": d_a[1, :, 1:], "grad": d_a[1, 1:]}[name]
    assert np.isfinite(spared).all()
    spared = {"a": d_b[1, 1:], "b": d_b[1], "grad": d_b[1, :, 1:]}[name]
    assert np.isfinite(spared).all()


# --- Against what needs no reference gradient -------------------------------------------------------------


def helpers_backward(data: dict, activation: str, **options) -> tuple[np.ndarray, ...]:
    """The public function."""
    return gemm.gemm_bias_act_backward(*data.values(), activation, **options)


def test_a_convolutions_weight_gradient_is_this_gemm_on_its_windows():
    """Unfold each image into rows of windows: (N, oH*oW, Ci*kH*kW) @ (Ci*kH*kW, Co)."""
    x, dy = whole((3, 2, 9, 8), 0), whole((3, 4, 7, 5), 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 4), axis=(2, 3))  # (N, Ci, oH, oW, kH, kW)
    a = np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(3, 7 * 5, 2 * 3 * 4)
    grad = np.ascontiguousarray(dy.reshape(3, 4, 35).swapaxes(1, 2))
    _, d_b, d_bias = gemm.gemm_bias_act_backward(a, whole((24, 4)), whole((4,)), grad)
    assert np.array_equal(d_b.T.reshape(4, 2, 3, 4), helpers.conv2d_grad_weight(x, (4, 2, 3, 4), dy))
    assert np.array_equal(d_bias, helpers.conv2d_grad_bias(dy))


@every_activation
def test_finite_differences_on_real_digits(activation):
    """One layer from 784 pixels to 10 classes: a step along a gradient changes the loss as the gradient says."""
    a = digits.load()[0][:20].reshape(1, 20, 784) / np.float32(255)
    b, bias, grad = normal((784, 10), 1) / np.float32(20), normal((10,), 2), normal((1, 20, 10), 3)
    bias += np.float32(6 * (activation == "relu"))  # away from the kink, where there is no slope to measure

    def loss(*layer: np.ndarray) -> float:
        return float(np.vdot(grad.astype(np.float64), gemm.gemm_bias_act(*layer, activation)))

    d_a, d_b, d_bias = helpers_backward({"a": a, "b": b, "bias": bias, "grad": grad}, activation)
    moves = [d_a @ b, a @ d_b, d_bias]  # how pre moves where a, b or the bias moves along its gradient
    for place, gradient in enumerate((d_a, d_b, d_bias)):
        step = gradient * np.float32(0.05 / abs(moves[place]).max())
        up, down = [a, b, bias], [a, b, bias]
        up[place], down[place] = up[place] + step, down[place] - step
        said = float(np.vdot(gradient.astype(np.float64), step))
        assert said > 0.01
        assert (loss(*up) - loss(*down)) / 2 == pytest.approx(said, rel=2e-3)


# --- The judge itself -------------------------------------------------------------------------------------


def test_tensors_that_do_not_fit_are_not_judged():
    one = np.ones((1, 1, 1), np.float32)
    told = "a (1, 1, 1), b (2, 1), bias (1,), output (1, 1, 1) do not fit together"
    layer = one, np.ones((2, 1), np.float32), np.ones(1, np.float32)
    reports = check_gemm.gemm_bias_act(one, *layer), *check_gemm.gemm_bias_act_backward((one, one, one), *layer, one)
    for report in reports:
        assert not report
        assert told in repr(report)


@pytest.mark.parametrize(("bias", "forgiven"), [(-0.1, True), (-0.09, False)])
def test_either_slope_is_right_at_relus_kink_and_only_there(bias, forgiven):
    """0.1 * 1 - 0.1 may round to either side of 0; 0.1 * 1 - 0.09 may not."""
    one = np.ones((1, 1, 1), np.float32)
    layer = np.float32(0.1) * one, one[0], np.float32([bias]), one
    dead = np.zeros_like(one), np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    alive = one, np.float32([[0.1]]), np.ones(1, np.float32)
    for got, right in ((alive, True), (dead, forgiven)):
        assert [bool(report) for report in check_gemm.gemm_bias_act_backward(got, *layer, "relu")] == [right] * 3
