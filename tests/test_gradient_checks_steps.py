"""Trusting a gradient: the layer's checks without a reference gradient, and what the pictures of the checks compute."""

from dataclasses import replace

import numpy as np
import pytest
from support.edits import edited, edits

import helpers
from helpers.activations import FUNCTIONS
from helpers.checks.differences import central_differences
from helpers.checks.report import Report
from helpers.checks.tolerance import ROUNDING, compare_sums
from helpers.gemm import check, reference
from helpers.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.gradient_checks import errors
from helpers.gradient_checks.harness import normal, whole

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
        per_item = bool(seed % 3 == 0)
        sizes = *rng.integers(1, 9, 3).tolist(), int(rng.integers(1, 4))
        shape = GemmShape(*sizes, activation, per_item, per_item or seed % 3 == 1)
        tensors = layer(shape, seed, whole if seed % 2 else normal)
        got = single(helpers.gemm_bias_act_backward(*tensors.values(), activation, per_item=per_item))
        judged(got, tensors, activation).require()


@pytest.mark.parametrize(("of", "sizes"), [("d_a", (1, 1, 3000)), ("d_b", (3000, 1, 1)), ("d_bias", (3000, 1, 1))])
def test_every_term_of_a_gradient_may_round(of, sizes):
    tenth = np.float32(0.1)
    tensors = layer(GemmShape(*sizes), draw=lambda size, seed: np.full(size, tenth))
    terms = np.full(3000, tenth if of == "d_bias" else tenth * tenth)
    got = np.full(GemmShape(*sizes).of(of), terms.cumsum(dtype=np.float32)[-1])
    for factor, passes in ((1, True), (1.001, False)):
        assert bool(judged({of: got * np.float32(factor)}, tensors)) == passes


BUGS = """
    derivative forgotten: `grad * derivative(pre_loops(a, b, bias), activation)` -> `np.float64(grad)`
    activation instead of its derivative: `derivative(pre` -> `act(pre`
    bias forgotten in the recomputed pre: `pre_loops(a, b, bias)` -> `pre_loops(a, b, 0 * bias)`
    upstream gradient forgotten: `grad * derivative` -> `derivative`
    d_a without its last column: `d_a[i, m, k] += ` -> `d_a[i, m, k] += (n < N - 1) * `
    d_a reads b transposed: `* b[i, k, n]` -> `* b[i].flat[n * K + k]`
    d_b of item 0 only: `d_b[k, n] += ` -> `d_b[k, n] += (i == 0) * `
    d_b is a mean over the batch: `d_b[k, n] += ` -> `d_b[k, n] += 1 / batch * `
    d_b reads a transposed: `+= a[i, m, k]` -> `+= a[i].flat[k * M + m]`
    d_bias of one row: `d_bias[n] += ` -> `d_bias[n] = `
    d_bias shifted by one: `d_bias[n] += ` -> `d_bias[n - 1] += `
"""


@pytest.mark.parametrize("bug", edits(BUGS), ids=lambda bug: bug.name)
@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
def test_the_adjoint_check_catches_every_planted_bug(bug, activation):
    tensors, wrong = layer(SHAPE), edited(reference.backward_loops, bug.old, bug.new)
    assert judged(single(wrong(*tensors.values(), activation)), tensors, activation).wrong


def test_grad_pre_alone_is_enough_to_judge_the_last_three_passes():
    a, b, bias, grad = layer(SHAPE).values()
    grad_pre = np.float32(grad * reference.derivative(reference.pre(a, b, bias), "silu"))
    got = single(reference.sums(a, b, grad_pre))
    check.adjoint(a, b, bias, grad_pre, **got).require()
    assert not check.adjoint(a, b, bias, grad_pre, d_b=got["d_b"] * np.float32(1.001))


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
    tensors, own = layer(SHAPE), FUNCTIONS["gelu"]
    monkeypatch.setattr(reference, "derivative", lambda x, name: 1.001 * own.derivative(x))
    assert judged(right(tensors, "gelu"), tensors, "gelu")


@pytest.mark.parametrize(("bias", "forgiven"), [(-0.1, True), (-0.09, False)])
def test_either_derivative_is_right_at_the_kink_and_only_there(bias, forgiven):
    """0.1 * 1 - 0.1 may round to either side of 0; 0.1 * 1 - 0.09 may not."""
    one = np.ones((1, 1, 1), np.float32)
    tensors = {"a": np.float32(0.1) * one, "b": one[0], "bias": np.float32([bias]), "grad": one}
    dead, alive = single((one * 0, one[0] * 0, one[0, 0] * 0)), single((one, 0.1 * one[0], one[0, 0]))
    for got, passes in ((alive, True), (dead, forgiven)):
        report = judged(got, tensors, "relu")
        assert (report.count, report.wrong) == (3, 0 if passes else 3)
        beside = check.gemm_bias_act_backward((*got.values(),), *tensors.values(), "relu")
        assert [*map(bool, beside)] == [passes] * 3


def test_the_tolerance_covers_the_rounding_of_a_large_loss():
    tensors = layer(SHAPE)
    tensors["grad"] *= np.float32([1e6, 1, 1e-6, 1, 1, 1])
    judged(single(helpers.gemm_bias_act_backward(*tensors.values())), tensors).require()


# --- What the pictures show -------------------------------------------------------------------------------


def test_a_convolution_has_no_truncation_error_and_gelu_has_a_best_step():
    linear, curved = errors.convolution_differences(), errors.gelu_differences()
    assert np.all(linear.truncation < linear.errors / 1_000_000)
    best = errors.STEPS.index(-7)
    assert (linear.errors.argmin() >= errors.STEPS.index(0), curved.errors.argmin()) == (True, best)
    falling, rising = curved.errors[:best], curved.errors[best + 2 : best + 6]
    np.testing.assert_allclose(falling[5:] / falling[:-5], 1 / 32, rtol=0.5)  # half the error in each of five steps
    np.testing.assert_allclose(rising[1:] / rising[:-1], 4, rtol=0.02)


def test_from_where_on_one_missing_term_passes():
    blind = 2896  # where n * n * u is 1
    assert abs(blind**2 * ROUNDING - 1) < 0.001
    for terms, passes in ((blind - 50, False), (blind + 50, True)):
        x = np.full((1, terms), 0.1, np.float32)
        one_less = np.float32([(np.float64(x) * x)[0, 1:].sum()])
        assert bool(compare_sums("dot", one_less, lambda a, b: (a * b).sum(axis=1), x, x)) == passes
