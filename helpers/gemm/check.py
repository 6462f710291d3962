"""Is the output of a fully connected layer right, and are its three gradients? The tolerance, in four steps:

1. The kernel's `pre` is a float32 sum, off by at most delta: `tolerance` of K products and a bias.
2. helpers/activations.py says how far act(pre) may be off then: the judgement of an output.
3. It also says how far act'(pre) may be off.
4. grad_pre is one more product. d_a, d_b and d_bias are sums over grad_pre, so the effect of its error is added to
   their own `tolerance`.

At ReLU's kink that is lenient, so also test with whole numbers: on them delta is 0, and so is every tolerance of "none"
and "relu".
"""

from collections.abc import Sequence

import numpy as np

from helpers.activations import FUNCTIONS, compare_activated, pre_and_error
from helpers.checks.adjoint import Identity, compare_dots
from helpers.checks.differences import central_differences
from helpers.checks.report import Report, Reports, compare, sampled
from helpers.checks.tolerance import SMALLEST_NORMAL, tolerance
from helpers.gemm import reference
from helpers.gemm.reference import Array

STEP = 2.0**-12  # of finite differences: smaller ones raise the rounding errors, larger ones the truncation error
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
    a, b, _, grad, _, _, error, grad_pre = _layer(a, b, bias, grad, activation)
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
    = <bias, d_bias>. This takes act' from the reference, so let finite differences judge that. To judge the last
    three passes alone, give the grad_pre of the first one as `grad`, with the activation "none".
    """
    if reason := _mismatch(a, b, bias, grad):
        return Report("adjoint", np.shape(grad), reason=reason)
    a, b, bias, grad, _, _, error, grad_pre = _layer(a, b, bias, grad, activation)

    def identity(argument: Array, output: Array, most: Array, terms: int) -> Identity:
        inherited = np.vdot(most, error)
        total = np.vdot(most, abs(grad_pre)) + inherited
        return Identity(argument, np.vdot(output, grad_pre), total, terms, (a, b, bias, grad_pre, error), inherited)

    products, added = (a @ b, abs(a) @ abs(b)), np.broadcast_to(bias, grad.shape)
    own = _b_for(gradients.get("d_b", b), a, b)
    rows = grad[..., 0].size // (len(own) if own.ndim == 3 else 1)  # that add up to one number of d_b
    identities = {
        "d_a": identity(a, *products, bias.size),
        "d_b": identity(own, *products, rows),
        "d_bias": identity(bias, added, abs(added), grad[..., 0].size),
    }
    return compare_dots(identities, gradients)


def finite_differences(
    got: Array,
    a: Array,
    b: Array,
    bias: Array,
    grad: Array,
    activation: str = "none",
    of: str = "d_b",
    samples: int = 100,
) -> Report:
    """Judge one gradient by central differences, at `samples` of its numbers (always the same ones) or at all.

    `of` says whether `got` is "d_a", "d_b" or "d_bias". No derivative comes from the reference. The tolerance has four
    parts:

    1. The rounding errors of a right kernel, as above, with the steepest that act ever is in the place of act'.
    2. Truncation: a step h moves pre by h * c, where c is a number of b, of a, or 1. By Taylor's formula, the central
       difference of act is off by at most h^2 / 6 * |c|^3 * max |act'''|, which counts |grad| times.
    3. The loss is rounded in float64, and its rounding errors are divided by h.
    4. Where a step may cross ReLU's kink, the difference lies between both derivatives: it may be off by |grad| |c|.
    """
    if of not in GRADIENTS:
        raise ValueError(f"of = {of!r}: it must be one of {', '.join(GRADIENTS)}")
    if reason := _mismatch(a, b, bias, grad):
        return Report("finite differences", np.shape(got), reason=reason)
    a, b, bias, grad = (np.asarray(tensor, np.float64) for tensor in (a, b, bias, grad))
    layer, place = [a, _b_for(got, a, b) if of == "d_b" else b, bias], GRADIENTS.index(of)
    moved = layer[place]
    if np.shape(got) != moved.shape:
        return Report("finite differences", np.shape(got), reason=f"{of} must have the shape {moved.shape}")

    def loss(moved: Array) -> float:
        return np.vdot(grad, reference.forward(*layer[:place], moved, *layer[place + 1 :], activation))

    want = central_differences(loss, moved, STEP, where := sampled(moved.shape, samples))
    allowed = _difference_errors(*layer, grad, activation)[place]
    return compare("finite differences", got, want, allowed, where)


def _b_for(d_b: Array, a: Array, b: Array) -> Array:
    """`b` as `d_b` is its gradient: one for each item where d_b has three axes."""
    return np.broadcast_to(b, (len(a), *b.shape[-2:])) if np.ndim(d_b) == 3 else b


def _difference_errors(a: Array, b: Array, bias: Array, grad: Array, activation: str) -> list[Array]:
    """How far right float32 gradients may be from central differences, for d_a, d_b and d_bias."""
    per_item, sizes = b.ndim == 3, (abs(a), abs(b), abs(grad))
    *_, pre, delta, error, _ = _layer(a, b, bias, grad, activation)
    slope, _, third = FUNCTIONS[activation].steepest
    if FUNCTIONS[activation].kink:
        reach = STEP * max(1, sizes[0].max(), sizes[1].max())
        error = np.where(abs(pre) <= delta + reach, sizes[2], 0.0)
    most = slope * sizes[2] + error
    largest = 1 + sizes[0] @ sizes[1] + abs(bias)  # of pre and act(pre), and of their rounding errors before u
    noise = (grad.size + a.shape[2] + 20) * 2.0**-52 / STEP * np.vdot(sizes[2], largest)
    cut = STEP**2 / 6 * third
    factors = (
        (a != 0, b != 0, grad != 0),  # terms
        (*sizes[:2], most),  # their total
        (*sizes[:2], error),  # what is inherited
        (sizes[0] ** 3, sizes[1] ** 3, sizes[2]),  # cubes
    )
    sums = (reference.sums(*tensors, per_item) for tensors in factors)
    return [
        tolerance(terms, total, a, b, grad, error) + inherited + cut * cubes + noise
        for terms, total, inherited, cubes in zip(*sums, strict=True)
    ]


# --- What the tolerances are made of ------------------------------------------------------------------------


def _pre(a: Array, b: Array, bias: Array) -> tuple[Array, Array]:
    """The pre-activation, and how far a right float32 one may be from it: step 1."""
    return pre_and_error(reference.pre, a, b, bias)


def _layer(a: Array, b: Array, bias: Array, grad: Array, activation: str) -> Sequence[Array]:
    """These tensors in float64; pre and its error; the error of grad_pre, and the exact one."""
    a, b, bias, grad = (np.asarray(tensor, np.float64) for tensor in (a, b, bias, grad))
    pre, delta = _pre(a, b, bias)
    error = _grad_pre_error(pre, delta, grad, activation)
    return a, b, bias, grad, pre, delta, error, grad * reference.derivative(pre, activation)


def _grad_pre_error(pre: Array, delta: Array, grad: Array, activation: str) -> Array:
    """How far a right float32 grad_pre may be from the exact one: steps 1, 3 and 4."""
    own = FUNCTIONS[activation]
    return abs(grad) * own.derivative_error(pre, delta) + SMALLEST_NORMAL * bool(own.factors)


def _mismatch(a: Array, b: Array, bias: Array, output: Array) -> str:
    """Why no layer has arrays of these shapes, or "" if one has."""
    a, b, bias, output = map(np.shape, (a, b, bias, output))
    fits = len(a) == 3 and b[:-1] in [a[2:], (a[0], a[2])] and b[-1:] == bias and output == (*a[:2], *bias)
    return "" if fits else f"a {a}, b {b}, bias {bias}, output {output} do not fit together"
