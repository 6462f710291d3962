"""The six activations and their derivatives: against SciPy, at the ends of float32, at the kink, in the tails."""

import numpy as np
import pytest
from scipy.differentiate import derivative
from scipy.special import expit
from support.problems import general_versions_of, require_close, versions_of
from support.sample import sample

from helpers import activations as reference
from helpers.activations import ACTIVATIONS
from helpers.gemm.operations import BACKWARD, FORWARD
from helpers.gemm.shapes import GemmShape
from helpers.oracles.harness import EXTREMES, bias_alone, conv_bias_alone, launched
from helpers.wgsl import load

CONVOLUTIONS = [kernel for kernel in versions_of("conv2d") if "fn activate" in kernel.code]
VERSIONS = general_versions_of(FORWARD.name) + general_versions_of(BACKWARD.name)
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)
every_smooth = pytest.mark.parametrize("activation", [name for name in ACTIVATIONS if name not in ("none", "relu")])
DENSE = np.linspace(-12, 12, 4001, dtype=np.float32)
TAILS = np.linspace(-100, 100, 4001, dtype=np.float32)


def outputs(x: np.ndarray, activation: str) -> np.ndarray:
    """act(x) as the GPU computes it, one row for each version."""
    return np.array(
        [launched(kernel, *bias_alone(x, activation))[0].ravel() for kernel in general_versions_of(FORWARD.name)]
    )


def derivatives(x: np.ndarray, activation: str) -> np.ndarray:
    """act'(x) as the GPU computes it, one row for each version."""
    return np.array([launched(kernel, *bias_alone(x, activation))[2] for kernel in general_versions_of(BACKWARD.name)])


# --- The reference itself ---------------------------------------------------------------------------------

SCIPY = {  # written with SciPy's and NumPy's own functions, where they do not cancel
    "none": lambda x: x,
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * expit(x),
    "sigmoid": expit,
    "tanh": lambda x: np.expm1(2 * x) / (np.expm1(2 * x) + 2),
}


def test_kernels_and_reference_have_the_same_six():
    assert tuple(reference.FUNCTIONS) == tuple(SCIPY) == tuple(reference.STEEPEST) == ACTIVATIONS


@every_activation
def test_the_reference_agrees_with_scipy(activation):
    x = DENSE.astype(np.float64)
    np.testing.assert_allclose(reference.act(x, activation), SCIPY[activation](x), rtol=1e-13, atol=1e-15)


@every_smooth
def test_the_references_derivative_is_that_of_scipys_function(activation):
    x = np.linspace(-12, 12, 501)
    numerical = derivative(SCIPY[activation], x, initial_step=0.1, order=10).df
    np.testing.assert_allclose(reference.derivative(x, activation), numerical, rtol=1e-9, atol=1e-9)


@every_smooth
def test_the_steepest_derivatives_are_as_steep_as_declared(activation):
    x = np.linspace(-20, 20, 40_001)
    values, (first, second) = reference.derivative(x, activation), reference.STEEPEST[activation]
    assert 0.95 * first < abs(values).max() <= first
    assert 0.95 * second < abs(np.gradient(values, x)).max() <= second


def test_the_references_tails_keep_their_digits():
    """expit keeps them too; 1 - tanh(x)^2 would be 0 from x = 19 on."""
    x = np.array([-700.0, -80.0, -40.0, 40.0, 80.0])
    np.testing.assert_allclose(reference.sigmoid(x), expit(x), rtol=1e-12)
    np.testing.assert_allclose(reference.derivative(x, "sigmoid"), expit(x) * expit(-x), rtol=1e-12)
    np.testing.assert_allclose(reference.derivative(x / 2, "tanh"), 4 * np.exp(-abs(x)), rtol=1e-12)
    np.testing.assert_allclose(reference.derivative(x, "silu")[:3], (1 + x[:3]) * np.exp(x[:3]), rtol=1e-12)


# --- On the GPU -------------------------------------------------------------------------------------------


@every_activation
@pytest.mark.parametrize("x", [EXTREMES, DENSE, TAILS], ids=["extremes", "dense", "tails"])
def test_outputs_and_derivatives_are_right_to_their_last_digits(activation, x):
    for kernel in VERSIONS:
        require_close(kernel, *bias_alone(x, activation))


@pytest.mark.parametrize(
    "name", sample([f"{k.name} {activation}" for k in CONVOLUTIONS for activation in ACTIVATIONS], 8)
)
def test_a_convolution_applies_them_to_sum_and_bias(name):
    """All have the same text for it (test_kernel_files), which is compiled anew for each."""
    version, activation = name.split()
    kernel = load(*version.split("/"))
    shape, tensors = conv_bias_alone(np.concatenate([FAR, EXTREMES, DENSE[::20], TAILS[::20]]), activation)
    require_close(kernel, shape, tensors)
    (got,) = launched(kernel, shape, tensors)
    assert (got.ravel()[: len(FAR)] == np.float32(FAR_OUTPUTS[activation])).all()


FAR = [100, 1e4, 3e38, -100, -1e4, -3e38]
FAR_DERIVATIVES = {
    "none": (1,) * 6,
    **dict.fromkeys(["relu", "gelu", "silu"], (1, 1, 1, 0, 0, 0)),
    **dict.fromkeys(["sigmoid", "tanh"], (0,) * 6),
}
FAR_OUTPUTS = {
    "none": FAR,
    **dict.fromkeys(["relu", "gelu", "silu"], (100, 1e4, 3e38, 0, 0, 0)),
    "sigmoid": [1, 1, 1, 0, 0, 0],
    "tanh": [1, 1, 1, -1, -1, -1],
}


@every_activation
def test_far_from_zero_nothing_overflows(activation):
    """The derivative of GELU at 100 is 1: a formula that overflows gives NaN there, which would count as 0."""
    assert (derivatives(FAR, activation) == FAR_DERIVATIVES[activation]).all()
    assert (outputs(FAR, activation) == np.float32(FAR_OUTPUTS[activation])).all()


@every_smooth
def test_tails_are_right_relative_to_their_own_size(activation):
    """A derivative of 1e-30 times a large gradient is no longer small: so its digits count."""
    x = np.linspace(-8, -3, 501, dtype=np.float32) if activation == "gelu" else np.linspace(-40, -3, 501)
    x = x.astype(np.float32)
    want = reference.derivative(x, activation)
    assert abs(want).min() < 1e-13
    got = derivatives(x, activation)
    np.testing.assert_allclose(got, np.broadcast_to(want, got.shape), rtol=1e-4)


def test_tanh_keeps_its_digits_near_zero():
    x = np.float32(np.concatenate([10.0 ** np.arange(-37, 0), np.linspace(0.05, 0.2, 1001)]))
    x = np.concatenate([x, -x])
    got = outputs(x, "tanh")
    np.testing.assert_allclose(got, np.broadcast_to(np.tanh(x, dtype=np.float64), got.shape), rtol=5e-6)


@every_activation
def test_a_pre_activation_that_overflows_still_has_its_derivative(activation):
    """3e38 * 3e38 is too large for float32, and no reason to lose a derivative of 1."""
    shape, tensors = bias_alone(np.zeros(2), activation)
    tensors |= {"a": np.full((1, 1, 1), 3e38), "b": np.array([[3e38, -3e38]])}
    for kernel in general_versions_of(BACKWARD.name):
        assert launched(kernel, shape, tensors)[2].tolist() == list(FAR_DERIVATIVES[activation][2::3])


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_a_pre_activation_that_is_not_a_number_has_derivative_zero(activation):
    """Two products that overflow in opposite directions."""
    shape, tensors = GemmShape(1, 2, 1, activation=activation), bias_alone(np.zeros(1), activation)[1]
    tensors |= {"a": np.full((1, 1, 2), 3e38), "b": np.array([[3e38], [-3e38]])}
    for kernel in general_versions_of(BACKWARD.name):
        assert launched(kernel, shape, tensors)[2] == 0
