"""Trusting a gradient: the layer's checks without a reference gradient, and the numbers of the checks' pictures."""

from dataclasses import replace

import numpy as np
import pytest
from support.edits import Edit, edited

import helpers
from helpers.checks.differences import central_differences
from helpers.checks.report import Report
from helpers.checks.tolerance import tolerance
from helpers.lessons.trusting_a_gradient import errors
from helpers.operations.activations import FUNCTIONS
from helpers.operations.gemm import check, reference
from helpers.operations.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.operations.harness import normal, whole

GRADIENTS = ("d_a", "d_b", "d_bias")
SHAPE = GemmShape(4, 5, 6, 3)
Layer = dict[str, np.ndarray]


def layer(shape: GemmShape, seed: int = 0, draw=normal) -> Layer:
    """Random tensors of a layer."""
    return {name: draw(shape.of(name), seed + i) for i, name in enumerate(("a", "b", "bias", "grad"))}


def single(arrays: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    """Three gradients by their names, rounded to float32."""
    return dict(zip(GRADIENTS, (np.float32(array) for array in arrays), strict=True))


def right(tensors: Layer, activation: str = "none") -> dict[str, np.ndarray]:
    """The gradients as they are, rounded to float32."""
    return single(reference.backward(*tensors.values(), activation))


def judged(got: dict[str, np.ndarray], tensors: Layer, activation: str = "none") -> Report:
    """The judgement on all three gradients by the adjoint identity."""
    return check.adjoint(*tensors.values(), activation, **got)


# --- A layer's gradients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_right_gradients_of_all_sizes_pass(activation):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        per_item = seed % 3 == 0
        b_per_item = per_item or seed % 3 == 1
        sizes = *rng.integers(1, 9, 3).tolist(), int(rng.integers(1, 4))
        draw = whole if seed % 2 else normal
        tensors = layer(GemmShape(*sizes, activation, per_item, b_per_item), seed, draw)
        got = single(helpers.gemm_bias_act_backward(*tensors.values(), activation, per_item=per_item))
        judged(got, tensors, activation).require()


BUGS = (
    Edit("derivative forgotten", "grad * derivative(pre_loops(a, b, bias), activation)", "np.float64(grad)"),
    Edit("activation instead of its derivative", "derivative(pre", "act(pre"),
    Edit("bias forgotten in the recomputed pre", "pre_loops(a, b, bias)", "pre_loops(a, b, 0 * bias)"),
    Edit("upstream gradient forgotten", "grad * derivative", "derivative"),
    Edit("d_a without its last column", "d_a[i, m, k] += ", "d_a[i, m, k] += (n < N - 1) * "),
    Edit("d_a reads b transposed", "* b[i, k, n]", "* b[i].flat[n * K + k]"),
    Edit("d_b of item 0 only", "d_b[k, n] += ", "d_b[k, n] += (i == 0) * "),
    Edit("d_b is a mean over the batch", "d_b[k, n] += ", "d_b[k, n] += 1 / batch * "),
    Edit("d_b reads a transposed", "+= a[i, m, k]", "+= a[i].flat[k * M + m]"),
    Edit("d_bias of one row", "d_bias[n] += ", "d_bias[n] = "),
    Edit("d_bias shifted by one", "d_bias[n] += ", "d_bias[n - 1] += "),
)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
def test_the_adjoint_check_catches_every_planted_bug(bug, activation):
    tensors = layer(SHAPE)
    wrong = edited(reference.backward_loops, bug.old, bug.new)
    assert judged(single(wrong(*tensors.values(), activation)), tensors, activation).wrong


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("factor", [1, 1.00001])
def test_gradients_are_slopes_of_the_loss_without_a_formula_for_the_derivative(activation, factor):
    """Not so near to relu's kink that a step crosses it."""
    *tensors, grad = (array.astype(float) for array in layer(replace(SHAPE, b_per_item=True)).values())
    got = reference.backward(*tensors, grad, activation, per_item=True)
    for place, gradient in enumerate(got):

        def loss(moved: np.ndarray, place: int = place) -> float:
            return np.vdot(grad, reference.forward(*tensors[:place], moved, *tensors[place + 1 :], activation))

        slopes = central_differences(loss, tensors[place], 2.0**-14)
        assert np.allclose(gradient * factor, slopes, rtol=1e-6, atol=1e-6) == (factor == 1)


# --- What the check cannot see, and what its tolerance is for ---------------------------------------------


def test_the_adjoint_identity_believes_the_derivative(monkeypatch):
    tensors = layer(SHAPE)
    gelu = FUNCTIONS["gelu"]
    monkeypatch.setattr(reference, "derivative", lambda x, name: 1.001 * gelu.derivative(x))
    assert judged(right(tensors, "gelu"), tensors, "gelu")


def test_the_tolerance_covers_the_rounding_of_a_large_loss():
    tensors = layer(SHAPE)
    tensors["grad"] *= np.float32([1e6, 1, 1e-6, 1, 1, 1])
    judged(single(helpers.gemm_bias_act_backward(*tensors.values())), tensors).require()


@pytest.mark.parametrize(("factor", "accepted"), [(0.7, True), (1.3, False)])
def test_the_tolerance_of_a_gradient_counts_the_terms_that_are_not_zero(factor, accepted):
    """Without an activation, grad_pre is exact: a gradient is off by the rounding of its own sum alone."""
    a, b, bias, grad = layer(GemmShape(m=6, k=3, n=8)).values()
    a[:, 1:] = 0
    totals = reference.backward(abs(a), abs(b), bias, abs(grad))
    terms = reference.backward(a != 0, b != 0, bias, grad != 0)
    moved = [
        np.float32(exact + factor * tolerance(number, total, a, b, grad))
        for exact, number, total in zip(reference.backward(a, b, bias, grad), terms, totals, strict=True)
    ]
    judged_apart = check.gemm_bias_act_backward(moved, a, b, bias, grad)
    assert [bool(report) for report in judged_apart] == [accepted] * 3


# --- What the pictures show -------------------------------------------------------------------------------


def test_a_convolution_has_no_truncation_error_and_gelu_has_a_best_step():
    linear = errors.convolution_differences()
    assert np.all(linear.truncation < linear.errors / 1_000_000)
    assert linear.errors.argmin() >= errors.STEPS.index(0)
    curved = errors.gelu_differences()
    best = errors.STEPS.index(-7)
    assert curved.errors.argmin() == best
    falling, rising = curved.errors[:best], curved.errors[best + 2 : best + 6]
    np.testing.assert_allclose(falling[5:] / falling[:-5], 1 / 32, rtol=0.5)  # half the error in each of five steps
    np.testing.assert_allclose(rising[1:] / rising[:-1], 4, rtol=0.02)
