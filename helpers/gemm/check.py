"""Is the output of a fully connected layer right, and are its three gradients? The tolerance, in five steps:

1. The kernel's `pre` is a float32 sum, off by at most delta: `tolerance` of K products and a bias. So act(pre)
   and act'(pre) are off by at most delta times the steepest that act and act' ever are (STEEPEST).
2. All activations but none and relu are made of one s(z) = 1 / (1 + exp(-z)). WGSL allows exp(-|z|) an error of
   3 + 2 |z| units in the last place and a division 2.5; z, three roundings away from x, costs at most 6 |z| more. So
   s(z) is off by at most 5 + (3 + 8 |z|) s(-z) units of itself. What is below exp(-87) may be taken for zero.
3. Outputs are size * s(z), derivatives s(z) * (p + q * s(-z)): count the units of the factors, and the roundings.
4. grad_pre is one more product. d_a, d_b and d_bias are sums over grad_pre, so the effect of its error is added to
   their own `tolerance`.
5. At ReLU's kink the derivative jumps. Where |pre| <= delta both derivatives are right, so an error of |grad| is
   allowed there.

Step 5 is lenient, so also test with whole numbers: on them delta is 0, and so is every tolerance of "none" and "relu".
"""

from collections.abc import Sequence

import numpy as np

from helpers.gemm import reference
from helpers.gemm.reference import CUBE, ROOT, Array, sigmoid
from helpers.grading.report import Report, compare
from helpers.grading.tolerance import ROUNDING, SMALLEST_NORMAL, tolerance

STEEPEST = {  # the largest |act'| and |act''|, rounded up; ReLU's jump is step 5
    "none": (1.0, 0.0),
    "relu": (1.0, 0.0),
    "gelu": (1.13, 0.80),
    "silu": (1.10, 0.51),
    "sigmoid": (0.25, 0.10),
    "tanh": (1.00, 0.77),
}


class Reports(tuple[Report, ...]):
    """The reports on several arrays: true if all of them are right, one line each when shown."""

    def __bool__(self) -> bool:
        return all(self)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def require(self) -> "Reports":
        """Return these reports, or raise the CheckError that explains the first wrong array."""
        return Reports(report.require() for report in self)


def gemm_bias_act(got: Array, a: Array, b: Array, bias: Array, activation: str = "none") -> Report:
    """Judge an output, `got` (batch, M, N)."""
    if reason := _mismatch(a, b, bias, got):
        return Report("output", np.shape(got), reason=reason)
    pre, delta = _pre(a, b, bias)
    steepest, _ = STEEPEST[activation]
    return compare("output", got, reference.act(pre, activation), steepest * delta + _output_error(pre, activation))


def gemm_bias_act_backward(
    got: Sequence[Array], a: Array, b: Array, bias: Array, grad: Array, activation: str = "none"
) -> Reports:
    """Judge the three gradients, `got` = (d_a, d_b, d_bias); d_b has three axes where it is per item."""
    names, per_item = ("d_a", "d_b", "d_bias"), np.ndim(got[1]) == 3
    if reason := _mismatch(a, b, bias, grad):
        return Reports(Report(name, np.shape(part), reason=reason) for name, part in zip(names, got, strict=True))
    a, b, grad = (np.asarray(tensor, np.float64) for tensor in (a, b, grad))
    pre, delta = _pre(a, b, bias)
    error = _grad_pre_error(pre, delta, grad, activation)
    grad_pre = grad * reference.derivative(pre, activation)
    most = abs(grad_pre) + error
    wants = reference.sums(a, b, grad_pre, per_item)
    totals = reference.sums(abs(a), abs(b), most, per_item)
    terms = reference.sums(a != 0, b != 0, most != 0, per_item)
    inherited = reference.sums(abs(a), abs(b), error, per_item)
    allowed = [tolerance(*each, a, b, grad_pre, error) for each in zip(terms, totals, strict=True)]
    rows = zip(names, got, wants, allowed, inherited, strict=True)
    return Reports(compare(name, part, want, own + more) for name, part, want, own, more in rows)


def _pre(a: Array, b: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and how far a right float32 one may be from it: step 1. A bias alone is not rounded."""
    data = a, b, bias = tuple(np.asarray(tensor, np.float64) for tensor in (a, b, bias))
    products = reference.pre(a != 0, b != 0, np.zeros_like(bias))
    delta = tolerance(products + (bias != 0), reference.pre(*map(abs, data)), *data)
    return reference.pre(*data), np.where(products == 0, np.minimum(delta, SMALLEST_NORMAL), delta)


def _units(z: Array) -> Array:
    """The error of s(z), in units of itself: step 2."""
    return 5 + (3 + 8 * abs(z)) * sigmoid(-z)


def _output_error(pre: Array, activation: str) -> Array:
    """The error of act itself, without that of its argument: steps 2 and 3."""
    if activation in ("none", "relu"):
        return np.zeros_like(pre)
    z, _, _ = _parts(pre, activation)
    size = abs(pre) if activation in ("gelu", "silu") else np.ones_like(pre)
    if activation == "tanh":  # s(z) - s(-z): both errors together are at most twice the larger one's
        z, size = abs(z), 2 * size
    return ROUNDING * size * sigmoid(z) * (_units(z) + 2) + 2 * SMALLEST_NORMAL * (1 + np.minimum(size, 88))


def _grad_pre_error(pre: Array, delta: Array, grad: Array, activation: str) -> Array:
    """How far a right float32 grad_pre may be from the exact one: steps 1 to 5."""
    if activation == "none":
        return np.zeros_like(pre)
    if activation == "relu":
        return np.where((abs(pre) <= delta) & (delta > 0), abs(grad), 0.0)
    z, p, q = _parts(pre, activation)
    left = p * sigmoid(z) * (_units(z) + 3)
    right = abs(q) * sigmoid(z) * sigmoid(-z) * (_units(z) + _units(-z) + 10)
    flushed = 2 * SMALLEST_NORMAL * (1 + abs(q))
    return abs(grad) * (STEEPEST[activation][1] * delta + ROUNDING * (left + right) + flushed) + SMALLEST_NORMAL


def _parts(pre: Array, activation: str) -> tuple[Array, float, Array | float]:
    """z, p and q of a derivative s(z) * (p + q * s(-z)); beyond |x| = 88 they are constant in float32."""
    x = np.clip(pre, -88, 88)
    if activation == "gelu":
        x = np.clip(x, -11, 11)
        return 2 * ROOT * (x + CUBE * x**3), 1.0, x * 2 * ROOT * (1 + 3 * CUBE * x**2)
    return {"silu": (x, 1.0, x), "sigmoid": (x, 0.0, 1.0), "tanh": (2 * x, 0.0, 4.0)}[activation]


def _mismatch(a: Array, b: Array, bias: Array, output: Array) -> str:
    """Why no layer has arrays of these shapes, or "" if one has."""
    a, b, bias, output = map(np.shape, (a, b, bias, output))
    fits = len(a) == 3 and b[:-1] in [a[2:], (a[0], a[2])] and b[-1:] == bias and output == (*a[:2], *bias)
    return "" if fits else f"a {a}, b {b}, bias {bias}, output {output} do not fit together"
