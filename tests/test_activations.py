"""The activations and their derivatives: against SciPy, at the ends of float32, at the kink, in the tails."""

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import scipy  # whose parts are loaded where they are first used
from support.notebook_gate import NOTEBOOKS
from support.problems import general_versions_of, require_close, versions_of
from support.sample import sample

from helpers.checks.tolerance import SMALLEST_NORMAL, tolerance
from helpers.operations import activations as reference
from helpers.operations.activations import ACTIVATIONS, FUNCTIONS, SMOOTH
from helpers.operations.gemm import reference as gemm
from helpers.operations.gemm.operations import BACKWARD, FORWARD
from helpers.operations.gemm.shapes import GemmShape, bias_alone
from helpers.operations.harness import EXTREMES, conv_bias_alone, launched
from helpers.operations.kernels import load

CONVOLUTIONS = [kernel for kernel in versions_of("conv2d") if "fn activate" in kernel.code]
WITH_ACTIVATION = [f"{kernel.name} {activation}" for kernel, activation in product(CONVOLUTIONS, ACTIVATIONS)]
FORWARDS = general_versions_of(FORWARD.name)
BACKWARDS = general_versions_of(BACKWARD.name)
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)
every_smooth = pytest.mark.parametrize("activation", SMOOTH)
GLOSSARY = (NOTEBOOKS / "glossary.ipynb").read_text(encoding="utf-8")
ROW = re.compile(r"\| `(\w+)`(, derivative)? \| (\S+) \| `(.*?)` \| (NaN|0) \| (\S+) \|")
DENSE = np.linspace(-12, 12, 4001, dtype=np.float32)
TAILS = np.linspace(-100, 100, 4001, dtype=np.float32)


def outputs(x: np.ndarray, activation: str) -> list[np.ndarray]:
    """act(x) as the GPU computes it, by each version."""
    layer = bias_alone(x, activation)
    return [launched(kernel, *layer)[0].ravel() for kernel in FORWARDS]


def derivatives(x: np.ndarray, activation: str) -> list[np.ndarray]:
    """act'(x) as the GPU computes it, by each version."""
    layer = bias_alone(x, activation)
    return [launched(kernel, *layer)[2] for kernel in BACKWARDS]


# --- What the glossary says -------------------------------------------------------------------------------


def test_formulas_on_paper_fail_as_the_glossary_says():
    rows = ROW.findall(GLOSSARY)
    assert len(rows) == 5
    for name, derivative, at, formula, failed, right in rows:
        function = reference.derivative if derivative else reference.act
        exact = function(np.float64(at), name)
        assert exact == pytest.approx(float(right), rel=1e-3)
        x = np.float32(at)
        with np.errstate(all="ignore"):
            t = np.tanh(0.798 * x + 0.0357 * x * x * x)
            got = eval(formula, {"x": x, "t": t, "s": lambda x: 1 / (1 + np.exp(-x)), "exp": np.exp, "tanh": np.tanh})
        assert np.array_equal(got, float(failed), equal_nan=True)


# --- The reference itself ---------------------------------------------------------------------------------

SCIPY = {name: activation.function for name, activation in FUNCTIONS.items()}
SCIPY |= {  # written with SciPy's and NumPy's own functions, where they do not cancel
    "none": lambda x: x,
    "relu": lambda x: x * (x > 0),
    "gelu": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "silu": lambda x: x * scipy.special.expit(x),
    "sigmoid": lambda x: scipy.special.expit(x),
    "tanh": lambda x: np.expm1(2 * x) / (np.expm1(2 * x) + 2),
}


@every_activation
def test_the_reference_and_its_derivative_agree_with_scipy(activation):
    x = DENSE.astype(np.float64)
    np.testing.assert_allclose(reference.act(x, activation), SCIPY[activation](x), rtol=1e-13, atol=1e-15)
    x = x[abs(x) > 0.1][::8]  # without relu's kink
    numerical = scipy.differentiate.derivative(SCIPY[activation], x, initial_step=0.1, order=10).df
    np.testing.assert_allclose(reference.derivative(x, activation), numerical, rtol=1e-9, atol=1e-9)


@every_smooth
def test_the_steepest_derivatives_are_as_steep_as_declared(activation):
    x = np.linspace(-20, 20, 40_001)
    values = reference.derivative(x, activation)
    first, second = FUNCTIONS[activation].steepest
    assert 0.95 * first < abs(values).max() <= first
    assert 0.95 * second < abs(np.gradient(values, x)).max() <= second


def test_a_sum_without_a_product_is_its_bias_which_is_not_rounded():
    """The second and the third row have no product of two numbers that are not zero."""
    a = np.array([[[0.3, 0.1], [0, 0.2], [0, 0]]])
    b = np.array([[[0.7], [0]]])
    bias = np.array([0.1])
    pre, delta = reference.pre_and_error(gemm.pre, a, b, bias)
    np.testing.assert_allclose(pre.ravel(), [0.31, 0.1, 0.1])
    np.testing.assert_allclose(delta[0, 0], tolerance(2, 0.31, a, b, bias))
    assert (delta[0, 1:] <= SMALLEST_NORMAL).all()


# --- On the GPU -------------------------------------------------------------------------------------------


@every_activation
@pytest.mark.parametrize("x", [EXTREMES, DENSE, TAILS], ids=["extremes", "dense", "tails"])
def test_outputs_and_derivatives_are_right_to_their_last_digits(activation, x):
    """The derivative of GELU at 100 is 1: a formula that overflows gives NaN there, which would count as 0."""
    for kernel in FORWARDS + BACKWARDS:
        require_close(kernel, *bias_alone(x, activation))


@pytest.mark.parametrize("name", sample(WITH_ACTIVATION, 4))
def test_a_convolution_applies_them_to_sum_and_bias(name):
    """All have the same text for it (test_kernel_files), which is compiled anew for each."""
    version, activation = name.split()
    kernel = load(version)
    shape, tensors = conv_bias_alone(np.concatenate([FAR, EXTREMES, DENSE[::20], TAILS[::20]]), activation)
    require_close(kernel, shape, tensors)
    got = launched(kernel, shape, tensors)[0]
    assert (got.ravel()[: len(FAR)] == far(reference.act, activation)).all()


FAR = np.float32([100, 1e4, 3e38, -100, -1e4, -3e38])


def far(function: Callable, activation: str) -> np.ndarray:
    """The reference's outputs or derivatives far from zero; what is below float32's normal numbers counts as 0."""
    exact = np.float32(function(FAR, activation))
    return np.where(abs(exact) < 1e-37, 0, exact)


@every_smooth
def test_tails_are_right_relative_to_their_own_size(activation):
    """A derivative of 1e-30 times a large gradient is no longer small: so its digits count."""
    x = np.linspace(-8 if activation == "gelu" else -40, -3, 501, dtype=np.float32)
    want = reference.derivative(x, activation)
    assert abs(want).min() < 1e-13
    for got in derivatives(x, activation):
        np.testing.assert_allclose(got, want, rtol=1e-4)


def test_tanh_keeps_its_digits_near_zero():
    x = np.float32(np.concatenate([10.0 ** np.arange(-37, 0), np.linspace(0.05, 0.2, 1001)]))
    x = np.concatenate([x, -x])
    for got in outputs(x, "tanh"):
        np.testing.assert_allclose(got, np.tanh(x, dtype=np.float64), rtol=5e-6)


OVERFLOWS = np.full((1, 1, 1), 3e38), np.array([[3e38, -3e38]])  # 3e38 * 3e38 is too large for float32
CANCELS = np.full((1, 1, 2), 3e38), np.array([[3e38], [-3e38]])  # two products that overflow in opposite directions


@pytest.mark.parametrize(("layer", "names"), [(OVERFLOWS, ACTIVATIONS), (CANCELS, ("sigmoid", "tanh"))])
def test_a_pre_activation_that_overflows_has_its_derivative_and_one_that_is_not_a_number_has_0(layer, names):
    """An overflow is no reason to lose a derivative of 1."""
    a, b = layer
    k, n = b.shape
    for activation in names:
        _, tensors = bias_alone(np.zeros(n), activation)
        want = far(reference.derivative, activation)[2::3] if layer is OVERFLOWS else 0
        for kernel in BACKWARDS:
            got = launched(kernel, GemmShape(1, k, n, 1, activation), tensors | {"a": a, "b": b})[2]
            assert (got == want).all(), (kernel.name, activation)
