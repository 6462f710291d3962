"""The activations that a layer applies to each of its outputs: names, functions and derivatives, and their errors.

Fully connected layers and convolutions share them. How far a right float32 act(pre) may be from the exact one, in four
steps:

1. The kernel's `pre` is a float32 sum, off by at most delta. So act(pre) is off by at most delta times the steepest
   that act ever is (STEEPEST).
2. All activations but none and relu are made of one s(z) = 1 / (1 + exp(-z)). WGSL allows exp(-|z|) an error of
   3 + 2 |z| units in the last place and a division 2.5; z, three roundings away from x, costs at most 6 |z| more. So
   s(z) is off by at most 5 + (3 + 8 |z|) s(-z) units of itself. What is below exp(-87) may be taken for zero.
3. Outputs are size * s(z), derivatives s(z) * (p + q * s(-z)): count the units of the factors, and the roundings.
4. Whole numbers have a delta of 0, so that the tolerance of "none" and "relu" is 0, too.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from helpers.checks.report import Report, compare
from helpers.checks.tolerance import ROUNDING, SMALLEST_NORMAL, tolerance

Array = np.ndarray
ROOT, CUBE = np.sqrt(2 / np.pi), 0.044715  # GELU's, in its tanh form

# --- Functions and derivatives -----------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow on the left and without losing the last digits there."""
    return np.exp(-np.logaddexp(0, -x))


def gelu(x: Array) -> Array:
    """x * (1 + tanh(u)) / 2 = x * sigmoid(2u), with u = sqrt(2/pi) * (x + 0.044715 x^3)."""
    return x * sigmoid(2 * ROOT * (x + CUBE * x**3))


def smooth_derivative(x: Array, activation: str) -> Array:
    """The product rule on size * s(z): s(z) * (p + q * s(-z)), where 1 - s(z) is s(-z)."""
    z, p, q = factors(x, activation)
    return sigmoid(z) * (p + q * sigmoid(-z))


def factors(x: Array, activation: str) -> tuple[Array, float, Array | float]:
    """z, p and q of a derivative s(z) * (p + q * s(-z)); 1 - tanh(x)^2 is 4 s(2x) s(-2x)."""
    if activation == "gelu":
        return 2 * ROOT * (x + CUBE * x**3), 1.0, 2 * ROOT * x * (1 + 3 * CUBE * x**2)
    return {"silu": (x, 1.0, x), "sigmoid": (x, 0.0, 1.0), "tanh": (2 * x, 0.0, 4.0)}[activation]


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {  # each with its derivative
    "none": (lambda x: x, np.ones_like),
    "relu": (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0)),
    "gelu": (gelu, partial(smooth_derivative, activation="gelu")),
    "silu": (lambda x: x * sigmoid(x), partial(smooth_derivative, activation="silu")),
    "sigmoid": (sigmoid, partial(smooth_derivative, activation="sigmoid")),
    "tanh": (np.tanh, partial(smooth_derivative, activation="tanh")),
}


def act(x: Array, activation: str) -> Array:
    """The activation, element by element."""
    return FUNCTIONS[activation][0](np.asarray(x, np.float64))


def derivative(x: Array, activation: str) -> Array:
    """Its derivative, element by element; ReLU's at 0 is 0."""
    return FUNCTIONS[activation][1](np.asarray(x, np.float64))


# --- Names ---------------------------------------------------------------------------------------------------

ACTIVATIONS = tuple(FUNCTIONS)  # the kernels number them in this order


def check_activation(name: str) -> None:
    """Refuse what is not the name of an activation."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation = {name!r}: it must be one of {', '.join(ACTIVATIONS)}")


# --- Errors --------------------------------------------------------------------------------------------------

STEEPEST = {  # the largest |act'| and |act''|, rounded up; ReLU's derivative jumps
    "none": (1.0, 0.0),
    "relu": (1.0, 0.0),
    "gelu": (1.13, 0.80),
    "silu": (1.10, 0.51),
    "sigmoid": (0.25, 0.10),
    "tanh": (1.00, 0.77),
}


def units(z: Array) -> Array:
    """The error of s(z), in units of itself: step 2."""
    return 5 + (3 + 8 * abs(z)) * sigmoid(-z)


def output_error(pre: Array, activation: str) -> Array:
    """The error of act itself, without that of its argument: steps 2 and 3."""
    if activation in ("none", "relu"):
        return np.zeros_like(pre)
    z, _, _ = parts(pre, activation)
    size = abs(pre) if activation in ("gelu", "silu") else np.ones_like(pre)
    if activation == "tanh":  # s(z) - s(-z): both errors together are at most twice the larger one's
        z, size = abs(z), 2 * size
    return ROUNDING * size * sigmoid(z) * (units(z) + 2) + 2 * SMALLEST_NORMAL * (1 + np.minimum(size, 88))


def parts(pre: Array, activation: str) -> tuple[Array, float, Array | float]:
    """`factors` where they still change in float32: beyond |x| = 88, and GELU's beyond 11, they are constant."""
    most = 11 if activation == "gelu" else 88
    return factors(np.clip(pre, -most, most), activation)


def pre_and_error(formula: Callable[..., Array], left: Array, right: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and how far a right float32 one may be from it: delta of step 1.

    ``formula(left, right, bias)`` adds a bias to sums of products. A bias alone is not rounded.
    """
    data = left, right, bias = tuple(np.asarray(tensor, np.float64) for tensor in (left, right, bias))
    products = formula(left != 0, right != 0, np.zeros_like(bias))
    delta = tolerance(formula(left != 0, right != 0, bias != 0), formula(*map(abs, data)), *data)
    return formula(*data), np.where(products == 0, np.minimum(delta, SMALLEST_NORMAL), delta)


def compare_activated(name: str, got: Array, pre: Array, delta: Array, activation: str) -> Report:
    """Judge `got` = act(pre), where the kernel's own `pre` may be off by `delta`."""
    steepest, _ = STEEPEST[activation]
    return compare(name, got, act(pre, activation), steepest * delta + output_error(pre, activation))
