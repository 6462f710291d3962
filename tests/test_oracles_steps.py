"""Trusting a gradient: the layer's checks without a reference gradient, and what the pictures of the checks compute."""

import inspect
from functools import partial

import numpy as np
import pytest

from helpers import activations
from helpers.gemm import check, reference
from helpers.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.grading.report import Report
from helpers.grading.tolerance import compare_sums
from helpers.oracles import dot_products, errors

GRADIENTS = ("d_a", "d_b", "d_bias")
SHAPE = GemmShape(4, 5, 6, 3)
Layer = dict[str, np.ndarray]
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


def layer(shape: GemmShape, seed: int = 0, whole: bool = False) -> Layer:
    """Random tensors of a layer."""
    rng = np.random.default_rng(seed)
    draw = (lambda size: rng.integers(-4, 5, size)) if whole else rng.standard_normal
    return {name: draw(shape.of(name)).astype(np.float32) for name in ("a", "b", "bias", "grad")}


def single(arrays: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    """Three gradients by their names, rounded to float32."""
    return dict(zip(GRADIENTS, (np.float32(array) for array in arrays), strict=True))


def in_float32(shape: GemmShape, tensors: Layer) -> dict[str, np.ndarray]:
    """The gradients as a float32 kernel finds them, rounding after each product and each sum."""
    a, b, bias, grad = tensors.values()
    pre = (a[..., None] * np.broadcast_to(b, (len(a), *b.shape[-2:]))[:, None]).cumsum(axis=2, dtype=np.float32)[
        :, :, -1
    ]
    grad_pre = grad * np.float32(reference.derivative(pre + bias, shape.activation))
    d_b = (a[..., None] * grad_pre[:, :, None]).cumsum(axis=1, dtype=np.float32)[:, -1]
    d_a = (grad_pre[:, :, None] * np.broadcast_to(b, (len(a), *b.shape[-2:]))[:, None]).cumsum(axis=3, dtype=np.float32)
    d_bias = grad_pre.reshape(-1, len(bias)).cumsum(axis=0, dtype=np.float32)[-1]
    return single((d_a[..., -1], d_b if shape.per_item else d_b.cumsum(axis=0, dtype=np.float32)[-1], d_bias))


def differences(got: dict[str, np.ndarray], tensors: Layer, activation: str, **options) -> list[Report]:
    """All three gradients, judged by finite differences."""
    return [check.finite_differences(got[of], *tensors.values(), activation, of=of, **options) for of in GRADIENTS]


# --- A layer's gradients ----------------------------------------------------------------------------------


@every_activation
def test_right_gradients_of_all_sizes_pass(activation):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        own = bool(seed % 3 == 0)
        shape = GemmShape(
            *rng.integers(1, 9, 3).tolist(), int(rng.integers(1, 4)), activation, own, own or seed % 3 == 1
        )
        tensors = layer(shape, seed, whole=bool(seed % 2))
        got = in_float32(shape, tensors)
        check.adjoint(*tensors.values(), activation, **got).require()
        for report in differences(got, tensors, activation, samples=10):
            report.require()


@pytest.mark.parametrize(("of", "sizes"), [("d_a", (1, 1, 3000)), ("d_b", (3000, 1, 1)), ("d_bias", (3000, 1, 1))])
def test_every_term_of_a_gradient_may_round(of, sizes):
    shape = GemmShape(*sizes)
    tensors = {name: np.full(shape.of(name), 0.1, np.float32) for name in ("a", "b", "bias", "grad")}
    got = in_float32(shape, tensors)[of]
    for factor, right in ((1, True), (1.001, False)):
        scaled = got * np.float32(factor)
        assert bool(check.adjoint(*tensors.values(), **{of: scaled})) == right
        assert bool(check.finite_differences(scaled, *tensors.values(), of=of)) == right


BUGS = {
    "derivative forgotten": ("grad * derivative(pre_loops(a, b, bias), activation)", "np.float64(grad)"),
    "activation instead of its derivative": ("derivative(pre", "act(pre"),
    "bias forgotten in the recomputed pre": ("pre_loops(a, b, bias)", "pre_loops(a, b, 0 * bias)"),
    "upstream gradient forgotten": ("grad * derivative", "derivative"),
    "d_a without its last column": ("d_a[i, m, k] += ", "d_a[i, m, k] += (n < N - 1) * "),
    "d_a reads b transposed": ("* b[i, k, n]", "* b[i].flat[n * K + k]"),
    "d_b of item 0 only": ("d_b[k, n] += ", "d_b[k, n] += (i == 0) * "),
    "d_b is a mean over the batch": ("d_b[k, n] += ", "d_b[k, n] += 1 / batch * "),
    "d_b reads a transposed": ("+= a[i, m, k]", "+= a[i].flat[k * M + m]"),
    "d_bias of one row": ("d_bias[n] += ", "d_bias[n] = "),
    "d_bias shifted by one": ("d_bias[n] += ", "d_bias[n - 1] += "),
}


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
def test_both_checks_catch_every_planted_bug(bug, activation):
    source, (old, new) = inspect.getsource(reference.backward_loops), BUGS[bug]
    assert source.count(old) == 1
    space = dict(vars(reference))
    exec(source.replace(old, new), space)  # our own text, changed in one place
    tensors = layer(SHAPE)
    got = single(space["backward_loops"](*tensors.values(), activation))
    assert check.adjoint(*tensors.values(), activation, **got).wrong
    assert any(report.wrong for report in differences(got, tensors, activation))


def test_grad_pre_alone_is_enough_to_judge_the_last_three_passes():
    a, b, bias, grad = layer(SHAPE).values()
    grad_pre = np.float32(grad * reference.derivative(reference.pre(a, b, bias), "silu"))
    got = single(reference.sums(a, b, grad_pre))
    check.adjoint(a, b, bias, grad_pre, **got).require()
    assert not check.adjoint(a, b, bias, grad_pre, d_b=got["d_b"] * np.float32(1.001))


def test_what_fits_no_layer_is_refused():
    tensors = layer(SHAPE)
    got = single(reference.backward(*tensors.values()))
    judge = partial(check.adjoint, *tensors.values())
    assert "d_b must have the shape (3, 5, 6)" in judge(d_b=np.zeros((3, 6, 5), np.float32)).reason
    with pytest.raises(TypeError, match="adjoint got db: give it one or more of d_a=, d_b=, d_bias="):
        judge(db=got["d_b"])
    with pytest.raises(ValueError, match="of = 'b': it must be one of d_a, d_b, d_bias"):
        check.finite_differences(got["d_b"], *tensors.values(), of="b")
    assert (
        "d_a must have the shape (3, 4, 5)" in check.finite_differences(got["d_b"], *tensors.values(), of="d_a").reason
    )
    tensors["bias"] = tensors["bias"][1:]
    assert "do not fit together" in check.adjoint(*tensors.values(), **got).reason
    assert "do not fit together" in check.finite_differences(got["d_b"], *tensors.values()).reason


# --- What each check cannot see, and what its tolerance is for --------------------------------------------


def test_the_adjoint_identity_believes_the_derivative_and_finite_differences_do_not(monkeypatch):
    tensors = layer(SHAPE)
    right = single(reference.backward(*tensors.values(), "gelu"))
    value = activations.FUNCTIONS["gelu"][0]
    monkeypatch.setitem(
        activations.FUNCTIONS, "gelu", (value, lambda x: 1.001 * activations.smooth_derivative(x, "gelu"))
    )
    wrong = single(reference.backward(*tensors.values(), "gelu"))
    assert check.adjoint(*tensors.values(), "gelu", **wrong)
    assert not any(differences(wrong, tensors, "gelu"))
    assert all(differences(right, tensors, "gelu"))


@pytest.mark.parametrize("activation", ["gelu", "silu", "sigmoid", "tanh"])
def test_the_third_derivatives_are_bounded_tightly(activation):
    x, h = np.linspace(-12, 12, 48_001), 1e-3
    before, here, after = (reference.derivative(x + move, activation) for move in (-h, 0, h))
    assert 0.99 * check.THIRD[activation] < abs(after - 2 * here + before).max() / h**2 <= check.THIRD[activation]


@pytest.mark.parametrize("activation", ["gelu", "silu", "sigmoid", "tanh"])
def test_the_tolerance_covers_the_truncation_and_needs_it(activation, monkeypatch):
    one = np.ones((1, 1, 1), np.float32)
    a, b = 512 * one, np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64) / 128  # pre from -4 to 4
    tensors = {"a": a, "b": b, "bias": np.zeros(64, np.float32), "grad": np.ones((1, 1, 64), np.float32)}
    d_b = np.float32(reference.backward(*tensors.values(), activation)[1])
    judge = partial(check.finite_differences, d_b, *tensors.values(), activation)
    assert judge().require().tolerance_used > 0.05
    monkeypatch.setitem(check.THIRD, activation, 0)
    assert not judge()


@pytest.mark.parametrize(("bias", "forgiven"), [(0.0, True), (1.5 * check.STEP, False)])
def test_a_step_across_relus_kink_is_forgiven_and_only_there(bias, forgiven):
    one = np.ones((1, 1, 1), np.float32)
    got = np.zeros(1, np.float32)
    report = check.finite_differences(got, one * 0, one[0], np.float32([bias]), one, "relu", of="d_bias")
    assert bool(report) == forgiven


@pytest.mark.parametrize(("bias", "forgiven"), [(-0.1, True), (-0.09, False)])
def test_either_derivative_is_right_at_the_kink_and_only_there(bias, forgiven):
    """0.1 * 1 - 0.1 may round to either side of 0; 0.1 * 1 - 0.09 may not."""
    one = np.ones((1, 1, 1), np.float32)
    tensors = np.float32(0.1) * one, one[0], np.float32([bias]), one
    dead, alive = single((one * 0, one[0] * 0, one[0, 0] * 0)), single((one, 0.1 * one[0], one[0, 0]))
    for got, right in ((alive, True), (dead, forgiven)):
        report = check.adjoint(*tensors, "relu", **got)
        assert (report.count, report.wrong) == (3, 0 if right else 3)
        for of in GRADIENTS:
            assert bool(check.finite_differences(got[of], *tensors, "relu", of=of)) == right


def test_the_tolerance_covers_the_rounding_of_a_large_loss():
    tensors = layer(SHAPE)
    tensors["grad"] *= np.float32([1e6, 1, 1e-6, 1, 1, 1])
    for report in differences(in_float32(SHAPE, tensors), tensors, "none"):
        report.require()


# --- What the pictures show -------------------------------------------------------------------------------


def test_a_convolution_has_no_truncation_error_and_gelu_has_a_best_step():
    linear, curved = errors.of_convolution(), errors.of_gelu()
    assert np.all(linear.truncation < linear.errors / 1_000_000)
    assert linear.errors[errors.STEPS.index(0)] < linear.errors[errors.STEPS.index(-10)] / 100
    assert linear.errors.argmin() >= errors.STEPS.index(0)
    best = int(curved.errors.argmin())
    assert errors.STEPS[best] == -7
    assert np.all(np.diff(curved.errors[: best + 1]) < 0)
    assert np.all(np.diff(curved.errors[best:]) > 0)
    falling, rising = curved.errors[:best], curved.errors[best + 2 : best + 6]
    np.testing.assert_allclose(falling[5:] / falling[:-5], 1 / 32, rtol=0.5)  # half the error in each of five steps
    np.testing.assert_allclose(rising[1:] / rising[:-1], 4, rtol=0.02)


def test_measured_errors_are_below_the_tolerance():
    allowed = errors.allowed(2 ** np.array(errors.LENGTHS))
    assert np.all(errors.measured() > allowed / 10_000)
    assert np.all(errors.measured() < allowed)


def test_from_where_on_one_missing_term_passes():
    blind = errors.blind_from()
    assert blind == 2896
    for terms, passes in ((blind - 50, False), (blind + 50, True)):
        x = np.full((1, terms), 0.1, np.float32)
        one_less = np.float32([(np.float64(x) * x)[0, 1:].sum()])
        assert bool(compare_sums("dot", one_less, lambda a, b: (a * b).sum(axis=1), x, x)) == passes


def test_the_identity_shows_all_mistakes_but_those_that_the_data_hide():
    outcome = {}
    for kernel, data in np.ndindex(1 + len(dot_products.MISTAKES), len(dot_products.DATA)):
        here = dot_products.case(kernel, data)
        for gradient in here.got:
            wrong = not np.array_equal(here.got[gradient], here.right[gradient])
            same = here.dot(gradient) == here.loss
            assert not wrong or gradient == here.gradient
            assert wrong or same, "right numbers satisfy the identity"
            if gradient == here.gradient:
                outcome[kernel, data] = ("found", "hidden")[same] if wrong else "no effect"
    assert {where for where, what in outcome.items() if what == "hidden"} == {(1, 1), (4, 3)}
    assert {where for where, what in outcome.items() if what == "no effect"} == {(1, 2), (2, 3), (4, 2)}
    assert all(outcome[kernel, 0] == "found" for kernel in range(1, 1 + len(dot_products.MISTAKES)))
