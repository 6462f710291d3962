"""Is the output of a fully connected layer right, and are its three gradients? The tolerance, in four steps:

1. The kernel's `pre` is a float32 sum, off by at most delta: `tolerance` of K products and a bias.
2. helpers/operations/activations.py says how far act(pre) may be off then: the judgement of an output.
3. It also says how far act'(pre) may be off.
4. grad_pre is one more product. d_a, d_b and d_bias are sums over grad_pre, so the effect of its error is added to
   their own `tolerance`.

At ReLU's kink that is lenient, so also test with whole numbers: on them delta is 0, and so is every tolerance of "none"
and "relu".
"""

from collections.abc import Sequence

import numpy as np

from helpers.checks.adjoint import Identity, compare_dots
from helpers.checks.report import Report, Reports, compare
from helpers.checks.tolerance import SMALLEST_NORMAL, tolerance
from helpers.operations.activations import FUNCTIONS, compare_activated, pre_and_error
from helpers.operations.gemm import reference
from helpers.operations.gemm.reference import Array

GRADIENTS = ("d_a", "d_b", "d_bias")


def gemm_bias_act(got: Array, a: Array, b: Array, bias: Array, activation: str = "none") -> Report:
    """Judge an output, `got` (batch, M, N)."""
    if reason := _mismatch(a, b, bias, got):
        return Report("output", np.shape(got), reason=reason)
    return compare_activated("output", got, *_pre(a, b, bias), activation)


def gemm_bias_act_backward(
    got: Sequence[Array], a: Array, b: Array, bias: Array, grad: Array, activation: str = "none"
) -> Reports:
    """Judge the three gradients, `got` = (d_a, d_b, d_bias); d_b has three axes where it is per item."""
    names, per_item = GRADIENTS, np.ndim(got[1]) == 3
    if reason := _mismatch(a, b, bias, grad):
        return Reports(Report(name, np.shape(part), reason=reason) for name, part in zip(names, got, strict=True))
    a, b, _, error, grad_pre = _layer(a, b, bias, grad, activation)
    most = abs(grad_pre) + error
    totals = reference.sums(abs(a), abs(b), most, per_item)
    terms = reference.sums(a != 0, b != 0, most != 0, per_item)
    own = (tolerance(count, total, a, b, grad_pre, error) for count, total in zip(terms, totals, strict=True))
    allowed = map(np.add, own, reference.sums(abs(a), abs(b), error, per_item))
    return Reports(map(compare, names, got, reference.sums(a, b, grad_pre, per_item), allowed))


# --- Without a reference gradient -------------------------------------------------------------------------


def adjoint(a: Array, b: Array, bias: Array, grad: Array, activation: str = "none", **gradients: Array) -> Report:
    """Judge `d_a`, `d_b` and `d_bias`, or some of them, by dot products.

    With grad_pre = grad * act'(pre): <a @ b, grad_pre> = <a, d_a> = <b, d_b>, and <the bias at every output, grad_pre>
    = <bias, d_bias>. This takes act' from the reference. To judge the last three passes alone, give the grad_pre of the
    first one as `grad`, with the activation "none".
    """
    if reason := _mismatch(a, b, bias, grad):
        return Report("adjoint", np.shape(grad), reason=reason)
    a, b, bias, error, grad_pre = _layer(a, b, bias, grad, activation)

    def identity(argument: Array, output: Array, most: Array, terms: int) -> Identity:
        inherited = np.vdot(most, error)
        total = np.vdot(most, abs(grad_pre)) + inherited
        return Identity(argument, np.vdot(output, grad_pre), total, terms, (a, b, bias, grad_pre, error), inherited)

    products, added = (a @ b, abs(a) @ abs(b)), np.broadcast_to(bias, grad_pre.shape)
    per_item = np.ndim(gradients.get("d_b", b)) == 3
    own = np.broadcast_to(b, (len(a), *b.shape[-2:])) if per_item else b
    rows = grad_pre[..., 0].size // (len(own) if per_item else 1)  # that add up to one number of d_b
    identities = {
        "d_a": identity(a, *products, bias.size),
        "d_b": identity(own, *products, rows),
        "d_bias": identity(bias, added, abs(added), grad_pre[..., 0].size),
    }
    return compare_dots(identities, gradients)


# --- What the tolerances are made of ------------------------------------------------------------------------


def _pre(a: Array, b: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and how far a right float32 one may be from it: step 1."""
    return pre_and_error(reference.pre, a, b, bias)


def _layer(a: Array, b: Array, bias: Array, grad: Array, activation: str) -> Sequence[Array]:
    """a, b and bias in float64, how far a right float32 grad_pre may be from the exact one, and the exact one."""
    a, b, bias, grad = (np.asarray(tensor, np.float64) for tensor in (a, b, bias, grad))
    (pre, delta), own = _pre(a, b, bias), FUNCTIONS[activation]
    error = abs(grad) * own.derivative_error(pre, delta) + SMALLEST_NORMAL * bool(own.factors)  # steps 1, 3 and 4
    return a, b, bias, error, grad * reference.derivative(pre, activation)


def _mismatch(a: Array, b: Array, bias: Array, output: Array) -> str:
    """Why no layer has arrays of these shapes, or "" if one has."""
    a, b, bias, output = map(np.shape, (a, b, bias, output))
    fits = len(a) == 3 and b[:-1] in [a[2:], (a[0], a[2])] and b[-1:] == bias and output == (*a[:2], *bias)
    return "" if fits else f"a {a}, b {b}, bias {bias}, output {output} do not fit together"
