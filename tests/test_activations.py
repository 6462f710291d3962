"""The six activations and their slopes: against SciPy, at the ends of float32, at the kink, in the tails."""

import numpy as np
import pytest
from gemm_problems import EXTREMES, backward, bias_alone, forward, forward_report, require_backward
from scipy.differentiate import derivative
from scipy.special import expit

from helpers import check_gemm, gemm
from helpers import reference_gemm as reference

every_activation = pytest.mark.parametrize("activation", gemm.ACTIVATIONS)
every_smooth = pytest.mark.parametrize("activation", ["gelu", "silu", "sigmoid", "tanh"])
DENSE = np.linspace(-12, 12, 4001, dtype=np.float32)
TAILS = np.linspace(-100, 100, 4001, dtype=np.float32)


def slopes(x: np.ndarray, activation: str) -> np.ndarray:
    """act'(x) as the GPU computes it."""
    return backward(bias_alone(x), activation)[2]


# --- The reference itself ---------------------------------------------------------------------------------

SCIPY = {  # written with SciPy's and NumPy's own functions, where they do not cancel
    "none": lambda x: x,
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * expit(x),
    "sigmoid": expit,
    "tanh": lambda x: np.expm1(2 * x) / (np.expm1(2 * x) + 2),
}


def test_kernels_and_reference_know_the_same_six():
    assert gemm.ACTIVATIONS == tuple(reference.ACTIVATIONS) == tuple(SCIPY) == tuple(check_gemm.STEEPEST)


@every_activation
def test_the_reference_agrees_with_scipy(activation):
    x = DENSE.astype(np.float64)
    np.testing.assert_allclose(reference.act(x, activation), SCIPY[activation](x), rtol=1e-13, atol=1e-15)


@every_smooth
def test_the_references_slope_is_the_derivative_of_scipys_function(activation):
    x = np.linspace(-12, 12, 501)
    numerical = derivative(SCIPY[activation], x, initial_step=0.1, order=10).df
    np.testing.assert_allclose(reference.slope(x, activation), numerical, rtol=1e-9, atol=1e-9)


@every_smooth
def test_the_steepest_slopes_are_as_steep_as_they_are_said_to_be(activation):
    x = np.linspace(-20, 20, 40_001)
    slope = reference.slope(x, activation)
    first, second = check_gemm.STEEPEST[activation]
    assert 0.95 * first < abs(slope).max() <= first
    assert 0.95 * second < abs(np.gradient(slope, x)).max() <= second


def test_the_references_tails_keep_their_digits():
    """expit keeps them too; 1 - tanh(x)^2 would be 0 from x = 19 on."""
    x = np.array([-700.0, -80.0, -40.0, 40.0, 80.0])
    np.testing.assert_allclose(reference.sigmoid(x), expit(x), rtol=1e-12)
    np.testing.assert_allclose(reference.slope(x, "sigmoid"), expit(x) * expit(-x), rtol=1e-12)
    np.testing.assert_allclose(reference.slope(x / 2, "tanh"), 4 * np.exp(-abs(x)), rtol=1e-12)
    np.testing.assert_allclose(reference.slope(x, "silu")[:3], (1 + x[:3]) * np.exp(x[:3]), rtol=1e-12)


# --- On the GPU -------------------------------------------------------------------------------------------


@every_activation
@pytest.mark.parametrize("x", [EXTREMES, DENSE, TAILS], ids=["extremes", "dense", "tails"])
def test_outputs_are_right_to_their_last_digits(activation, x):
    forward_report(bias_alone(x), activation).require()


@every_activation
@pytest.mark.parametrize("x", [EXTREMES, DENSE, TAILS], ids=["extremes", "dense", "tails"])
def test_slopes_are_right_to_their_last_digits(activation, x):
    require_backward(bias_alone(x), activation)


FAR = [100, 1e4, 3e38, -100, -1e4, -3e38]
FAR_SLOPES = {
    "none": [1, 1, 1, 1, 1, 1],
    "relu": [1, 1, 1, 0, 0, 0],
    "gelu": [1, 1, 1, 0, 0, 0],
    "silu": [1, 1, 1, 0, 0, 0],
    "sigmoid": [0, 0, 0, 0, 0, 0],
    "tanh": [0, 0, 0, 0, 0, 0],
}
FAR_OUTPUTS = {
    "none": FAR,
    "relu": [100, 1e4, 3e38, 0, 0, 0],
    "gelu": [100, 1e4, 3e38, 0, 0, 0],
    "silu": [100, 1e4, 3e38, 0, 0, 0],
    "sigmoid": [1, 1, 1, 0, 0, 0],
    "tanh": [1, 1, 1, -1, -1, -1],
}


@every_activation
def test_far_from_zero_nothing_overflows(activation):
    """The slope of GELU at 100 is 1: a formula that overflows gives NaN there, which would count as 0."""
    assert slopes(FAR, activation).tolist() == FAR_SLOPES[activation]
    assert np.array_equal(forward(bias_alone(FAR), activation).ravel(), np.float32(FAR_OUTPUTS[activation]))


def test_relu_has_slope_0_at_both_zeros_and_1_right_of_them():
    assert slopes([0.0, -0.0, 2.0**-126, -(2.0**-126)], "relu").tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(("activation", "slope"), [("gelu", 0.5), ("silu", 0.5), ("sigmoid", 0.25), ("tanh", 1.0)])
def test_the_slope_at_zero_is_the_known_one(activation, slope):
    assert np.allclose(slopes([0.0, -0.0, 1e-38], activation), slope, rtol=1e-6, atol=0)


@every_smooth
def test_tails_are_right_relative_to_their_own_size(activation):
    """A slope of 1e-30 times a large gradient is no longer small: so its digits count."""
    x = np.linspace(-8, -3, 501, dtype=np.float32) if activation == "gelu" else np.linspace(-40, -3, 501)
    x = x.astype(np.float32)
    want = reference.slope(x, activation)
    assert abs(want).min() < 1e-13
    np.testing.assert_allclose(slopes(x, activation), want, rtol=1e-4)


def test_tanh_keeps_its_digits_near_zero():
    x = np.float32(np.concatenate([10.0 ** np.arange(-37, 0), np.linspace(0.05, 0.2, 1001)]))
    x = np.concatenate([x, -x])
    np.testing.assert_allclose(forward(bias_alone(x), "tanh").ravel(), np.tanh(x.astype(np.float64)), rtol=5e-6)


@every_activation
def test_a_pre_activation_that_overflowed_still_has_its_slope(activation):
    """3e38 * 3e38 is too large for float32, and no reason to lose a slope of 1."""
    data = bias_alone(np.zeros(2))
    data["a"][:], data["b"][:] = 3e38, [[3e38, -3e38]]
    assert backward(data, activation)[2].tolist() == FAR_SLOPES[activation][2::3]
