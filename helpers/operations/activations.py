"""The activations that a layer applies to each of its outputs: names, functions and derivatives, and their errors.

Fully connected layers and convolutions share them; each is one entry of FUNCTIONS. How far a right float32 act(pre) or
act'(pre) may be from the exact one, in five steps:

1. The kernel's `pre` is a float32 sum, off by at most delta. So act(pre) is off by at most delta times the steepest
   that act ever is, and act'(pre) by delta times the steepest that act' is (`steepest`).
2. All activations but those of straight lines (none and relu) are made of one s(z) = 1 / (1 + exp(-z)). WGSL allows
   exp(-|z|) an error of 3 + 2 |z| units in the last place and a division 2.5; z, three roundings away from x, costs at
   most 6 |z| more. So s(z) is off by at most 5 + (3 + 8 |z|) s(-z) units of itself. What is below exp(-87) may be taken
   for zero.
3. Outputs are size * s(z), derivatives s(z) * (p + q * s(-z)): count the units of the factors, and the roundings.
4. Whole numbers have a delta of 0, so that the tolerance of straight lines is 0, too.
5. At a kink the derivative jumps. Where |pre| <= delta both derivatives are right, so an error of 1 is allowed there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helpers.checks.report import Report, compare
from helpers.checks.tolerance import ROUNDING, SMALLEST_NORMAL, tolerance

Array = np.ndarray
ROOT = np.sqrt(2 / np.pi)  # of GELU in its tanh form
CUBE = 0.044715  # likewise
FAR = 1e4  # the sigmoid of -FAR is 0 in float64: cut off there, -infinity times 0 is no NaN

# --- The functions, their derivatives and their errors -----------------------------------------------------


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow on the left and without losing the last digits there."""
    with np.errstate(invalid="ignore"):  # NaN stays NaN
        return np.exp(-np.logaddexp(0, -x))


def units(z: Array) -> Array:
    """The error of s(z), in units of itself: step 2."""
    return 5 + (3 + 8 * abs(z)) * sigmoid(-z)


@dataclass(frozen=True)
class Activation:
    """One activation.

    Parameters
    ----------
    function : function
        act, element by element.
    steepest : two floats
        The largest |act'| and |act''|, rounded up; those of a kink do not count.
    factors : function, optional
        z, p and q of a derivative s(z) * (p + q * s(-z)). If it is not given, the function is made of straight lines.
    lines : function
        The derivative of straight lines.
    size : function
        Of an output size * s(z).
    odd : bool
        An output is s(z) - s(-z).
    flat : float
        Beyond this |x|, float32's factors are constant.
    kink : bool
        At 0 the derivative jumps, by 1.
    """

    function: Callable[[Array], Array]
    steepest: tuple[float, float] = (1.0, 0.0)
    factors: Callable[[Array], tuple[Array, float, Array | float]] | None = None
    lines: Callable[[Array], Array] = np.ones_like
    size: Callable[[Array], Array] = np.ones_like
    odd: bool = False
    flat: float = 88.0
    kink: bool = False

    def derivative(self, x: Array) -> Array:
        """act', element by element: where it is smooth, by the product rule, in which 1 - s(z) is s(-z)."""
        if not self.factors:
            return self.lines(x)
        z, p, q = self.factors(np.clip(x, -FAR, FAR))
        return sigmoid(z) * (p + q * sigmoid(-z))

    def output_error(self, pre: Array) -> Array:
        """The error of act itself, without that of its argument: steps 2 and 3."""
        if not self.factors:
            return np.zeros_like(pre)
        z, _, _ = self.factors(np.clip(pre, -self.flat, self.flat))
        size = self.size(pre)
        if self.odd:  # both errors together are at most twice the larger one's
            z = abs(z)
            size = 2 * size
        rounded = ROUNDING * size * sigmoid(z) * (units(z) + 2)
        flushed = 2 * SMALLEST_NORMAL * (1 + np.minimum(size, 88))
        return rounded + flushed

    def derivative_error(self, pre: Array, delta: Array) -> Array:
        """The error of act': steps 1 to 5."""
        if not self.factors:
            at_kink = self.kink & (abs(pre) <= delta) & (delta > 0)
            return np.where(at_kink, 1.0, 0.0)
        z, p, q = self.factors(np.clip(pre, -self.flat, self.flat))
        left = p * sigmoid(z) * (units(z) + 3)
        right = abs(q) * sigmoid(z) * sigmoid(-z) * (units(z) + units(-z) + 10)
        of_argument = self.steepest[1] * delta
        rounded = ROUNDING * (left + right)
        flushed = 2 * SMALLEST_NORMAL * (1 + abs(q))
        return of_argument + rounded + flushed


def gelu(x: Array) -> Array:
    """x * (1 + tanh(u)) / 2 = x * sigmoid(2u), with u = sqrt(2/pi) * (x + 0.044715 x^3)."""
    return np.maximum(x, -FAR) * sigmoid(2 * ROOT * (x + CUBE * x**3))


def silu(x: Array) -> Array:
    """x * sigmoid(x)"""
    return np.maximum(x, -FAR) * sigmoid(x)


def _gelu_factors(x: Array) -> tuple[Array, float, Array]:
    return 2 * ROOT * (x + CUBE * x**3), 1.0, 2 * ROOT * x * (1 + 3 * CUBE * x**2)


FUNCTIONS: dict[str, Activation] = {  # the kernels number them in this order
    "none": Activation(lambda x: x),
    "relu": Activation(lambda x: np.maximum(x, 0), lines=lambda x: np.where(x > 0, 1.0, 0.0), kink=True),
    "gelu": Activation(gelu, (1.13, 0.80), _gelu_factors, size=abs, flat=11),
    "silu": Activation(silu, (1.10, 0.51), lambda x: (x, 1.0, x), size=abs),
    "sigmoid": Activation(sigmoid, (0.25, 0.10), lambda x: (x, 0.0, 1.0)),
    # 1 - tanh(x)^2 is 4 s(2x) s(-2x)
    "tanh": Activation(np.tanh, (1.00, 0.77), lambda x: (2 * x, 0.0, 4.0), odd=True),
}
ACTIVATIONS = tuple(FUNCTIONS)
SMOOTH = tuple(name for name in ACTIVATIONS if FUNCTIONS[name].factors)

# --- By name -----------------------------------------------------------------------------------------------


def check_activation(name: str) -> None:
    """Refuse what is not the name of an activation."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation = {name!r}: it must be one of {', '.join(ACTIVATIONS)}")


def act(x: Array, activation: str) -> Array:
    """The activation, element by element: at an infinity its limit, and NaN of NaN."""
    return FUNCTIONS[activation].function(np.asarray(x, np.float64))


def derivative(x: Array, activation: str) -> Array:
    """Its derivative, element by element; ReLU's at 0 is 0, and one that is not finite counts as 0."""
    slopes = FUNCTIONS[activation].derivative(np.asarray(x, np.float64))
    return np.where(np.isfinite(slopes), slopes, 0.0)


def pre_and_error(formula: Callable[..., Array], left: Array, right: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and the most by which a right float32 one may be off: delta of step 1.

    ``formula(left, right, bias)`` adds a bias to sums of products. A bias alone is not rounded.
    """
    left, right, bias = (np.asarray(tensor, np.float64) for tensor in (left, right, bias))
    products = formula(left != 0, right != 0, np.zeros_like(bias))
    terms = formula(left != 0, right != 0, bias != 0)
    total = formula(abs(left), abs(right), abs(bias))
    delta = tolerance(terms, total, left, right, bias)
    bias_alone = np.minimum(delta, SMALLEST_NORMAL)
    return formula(left, right, bias), np.where(products == 0, bias_alone, delta)


def compare_activated(name: str, got: Array, pre: Array, delta: Array, activation: str) -> Report:
    """Judge `got` = act(pre), where the kernel's own `pre` may be off by `delta`."""
    function = FUNCTIONS[activation]
    want = function.function(pre)
    allowed = function.steepest[0] * delta + function.output_error(pre)
    return compare(name, got, want, allowed)
