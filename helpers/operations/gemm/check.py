"""Checks of a fully connected layer's output and of its three gradients. The tolerance, in four steps:

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
    mismatch = _mismatch(a, b, bias, got)
    if mismatch:
        return Report("output", np.shape(got), reason=mismatch)
    pre, delta = _pre(a, b, bias)
    return compare_activated("output", got, pre, delta, activation)


def gemm_bias_act_backward(
    got: Sequence[Array], a: Array, b: Array, bias: Array, grad: Array, activation: str = "none"
) -> Reports:
    """Judge the three gradients, `got` = (d_a, d_b, d_bias); d_b has three axes where it is per item."""
    mismatch = _mismatch(a, b, bias, grad)
    if mismatch:
        parts = zip(GRADIENTS, got, strict=True)
        return Reports(Report(name, np.shape(part), reason=mismatch) for name, part in parts)
    per_item = np.ndim(got[1]) == 3
    a, b, _, error, grad_pre = _layer(a, b, bias, grad, activation)
    most = abs(grad_pre) + error
    wants = reference.sums(a, b, grad_pre, per_item)
    totals = reference.sums(abs(a), abs(b), most, per_item)
    terms = reference.sums(a != 0, b != 0, most != 0, per_item)
    inherited = reference.sums(abs(a), abs(b), error, per_item)  # the effect of grad_pre's error: step 4
    reports = []
    for i, name in enumerate(GRADIENTS):
        allowed = tolerance(terms[i], totals[i], a, b, grad_pre, error) + inherited[i]
        reports.append(compare(name, got[i], wants[i], allowed))
    return Reports(reports)


# --- Without a reference gradient -------------------------------------------------------------------------


def adjoint(a: Array, b: Array, bias: Array, grad: Array, activation: str = "none", **gradients: Array) -> Report:
    """Judge `d_a`, `d_b` and `d_bias`, or some of them, by dot products.

    With grad_pre = grad * act'(pre): <a @ b, grad_pre> = <a, d_a> = <b, d_b>, and <the bias at every output, grad_pre>
    = <bias, d_bias>. This takes act' from the reference. To judge the last three passes alone, give the grad_pre of the
    first one as `grad`, with the activation "none".
    """
    mismatch = _mismatch(a, b, bias, grad)
    if mismatch:
        return Report("adjoint", np.shape(grad), reason=mismatch)
    a, b, bias, error, grad_pre = _layer(a, b, bias, grad, activation)

    def identity(argument: Array, output: Array, most: Array, terms: int) -> Identity:
        inherited = np.vdot(most, error)
        total = np.vdot(most, abs(grad_pre)) + inherited
        return Identity(argument, np.vdot(output, grad_pre), total, terms, (a, b, bias, grad_pre, error), inherited)

    product = a @ b
    most_of_product = abs(a) @ abs(b)
    added = np.broadcast_to(bias, grad_pre.shape)
    rows = grad_pre[..., 0].size  # of all items: they add up to one number of d_bias
    rows_of_d_b = rows
    b_of_identity = b
    if np.ndim(gradients.get("d_b", b)) == 3:  # per item
        b_of_identity = np.broadcast_to(b, (len(a), *b.shape[-2:]))
        rows_of_d_b = rows // len(a)
    identities = {
        "d_a": identity(a, product, most_of_product, bias.size),
        "d_b": identity(b_of_identity, product, most_of_product, rows_of_d_b),
        "d_bias": identity(bias, added, abs(added), rows),
    }
    return compare_dots(identities, gradients)


# --- The parts of the tolerances ----------------------------------------------------------------------------


def _pre(a: Array, b: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and the most by which a right float32 one may be off: step 1."""
    return pre_and_error(reference.pre, a, b, bias)


def _layer(a: Array, b: Array, bias: Array, grad: Array, activation: str) -> Sequence[Array]:
    """a, b and bias in float64, the most by which a right float32 grad_pre may be off, and the exact grad_pre."""
    a, b, bias, grad = (np.asarray(tensor, np.float64) for tensor in (a, b, bias, grad))
    pre, delta = _pre(a, b, bias)
    function = FUNCTIONS[activation]
    error = abs(grad) * function.derivative_error(pre, delta)  # steps 1, 3 and 4
    if function.factors:
        error = error + SMALLEST_NORMAL
    grad_pre = grad * reference.derivative(pre, activation)
    return a, b, bias, error, grad_pre


def _mismatch(a: Array, b: Array, bias: Array, output: Array) -> str:
    """The reason why no layer has arrays of these shapes, or "" if one has."""
    a, b, bias, output = (np.shape(array) for array in (a, b, bias, output))
    fits = (
        len(a) == 3
        and b[:-1] in [a[2:], (a[0], a[2])]  # one for all items, or one for each
        and b[-1:] == bias
        and output == (*a[:2], *bias)
    )
    if fits:
        return ""
    return f"a {a}, b {b}, bias {bias}, output {output} do not fit together"
