"""Is a gradient right? A tolerance that can be defended, one-line reports, and three independent oracles.

How far may a right float32 kernel be from the exact sum? In six lines:

1. One operation may be off by a factor (1 + d), |d| <= u. Rounding to nearest has u = 2**-24, but WGSL leaves
   the direction of rounding to the adapter, so u = 2**-23 here.
2. In a sum of n products each term meets one multiplication and at most n - 1 additions, in any order, tree
   or split; a fused multiply-add only leaves a rounding out.
3. So |got - exact| <= gamma_n * sum |terms|, with gamma_n = n u / (1 - n u).
   (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, chapters 3 and 4.)
4. An adapter may take numbers below 2**-126 for zero; the bound adds all that this can lose.
5. The formula itself tells the rest: on absolute values it gives sum |terms|, on "not zero?" it gives n.
6. Whole numbers with sum |terms| <= 2**24 stay exact in every order: there the tolerance is 0.

So a right kernel is never called wrong. The price: line 3 is the worst case, and real errors mostly cancel.
Beyond about 2,900 terms (n * n * u > 1) a kernel that drops one average term still passes, and with 100,000
terms 1.2 % of sum |terms| passes. Whole numbers (line 6) catch those: test with them first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from helpers import reference
from helpers.reference import Array, Padding
from helpers.shapes import ConvShape

UNIT = 2.0**-23  # u of line 1
TINY = 2.0**-126  # the smallest normal float32
LARGEST = float(np.finfo(np.float32).max)
SHOWN = 4  # mismatches that a report keeps


class CheckError(AssertionError):
    """A gradient is wrong; the message says where."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message without the stack."""
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict on one gradient: true if it is right, one line when shown."""

    name: str
    shape: tuple[int, ...]
    count: int = 0  # numbers compared
    wrong: int = 0  # those further off than their tolerance
    error: float = 0.0  # the largest |got - want|
    share: float = 0.0  # the largest |got - want| / tolerance
    mismatches: tuple[tuple[tuple, float, float], ...] = ()  # the first few (index, got, want)
    reason: str = ""  # why nothing was compared

    @property
    def ok(self) -> bool:
        """Something was compared, and all of it was right."""
        return self.count > 0 and self.wrong == 0

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        head = f"{self.name:<11}  {self.shape!s:<17}"
        if self.reason:
            return f"{head}  not compared: {self.reason}"
        right = f"{self.count - self.wrong} of {self.count} right"
        return f"{head}  {right:<24}  largest error {self.error:.2g} ({self.share:.2f} of the tolerance)"

    def explain(self) -> str:
        """The count and the first mismatches, one a line."""
        if not self.wrong:
            return repr(self)
        lines = [f"{self.name} {self.shape}: {self.wrong} of {self.count} wrong"]
        for index, got, want in self.mismatches:
            lines.append(f"  at [{', '.join(map(str, index))}]: got {got:.9g}, want {want:.9g}")
        more = self.wrong - len(self.mismatches)
        return "\n".join(lines + [f"  and {more} more"] * (more > 0))

    def require(self) -> "Report":
        """Return this report, or raise the CheckError that explains it."""
        if not self.ok:
            raise CheckError(self.explain())
        return self


# --- Comparing ------------------------------------------------------------------------


def compare(name: str, got: Array, want: Array, tolerance: float | Array, where: bool | Array = True) -> Report:
    """Judge float32 `got` by float64 `want`, element by element: is |got - want| <= tolerance?

    NaN is right only where NaN is wanted, an infinity only where the same one is; `where` picks what is judged.
    """
    got, want = np.asarray(got), np.asarray(want, np.float64)
    if got.dtype != np.float32:
        return Report(name, got.shape, reason=f"the dtype is {got.dtype}, it must be float32")
    if got.shape != want.shape:
        return Report(name, got.shape, reason=f"the shape must be {want.shape}")
    where = np.broadcast_to(where, got.shape)
    same = ~where | (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(same, 0.0, np.nan_to_num(np.abs(got - want), nan=np.inf, posinf=np.inf))
        share = np.where(same, 0.0, error / tolerance)
    wrong = ~same & ~((error <= tolerance) & np.isfinite(error))
    places = [tuple(map(int, place)) for place in np.argwhere(wrong)[:SHOWN]]
    first = tuple((place, float(got[place]), float(want[place])) for place in places)
    largest, part = float(error.max(initial=0)), float(share.max(initial=0))
    return Report(name, got.shape, int(where.sum()), int(wrong.sum()), largest, part, first)


def tolerance(terms: float | Array, total: float | Array, *data: Array, scale: float = 1.0) -> Array:
    """How far a right float32 sum may be from the exact one: `terms` (n) products, sum |terms| = `total`.

    `data` are the factors; `scale` is sum |c| where what is judged is in turn a sum of c * such a sum. A
    ValueError says that float32 promises nothing: 2**23 terms or more, or sums that may overflow.
    """
    exact = all(np.array_equal(a, np.rint(a)) for a in data) & (total <= 2**24)
    spread = UNIT * (np.asarray(terms) + 1)  # the one more pays for the float64 reference's own rounding
    flushed = TINY * terms * scale * (2 + sum(np.abs(a).max() for a in data))
    with np.errstate(all="ignore"):  # where spread >= 1 the bound becomes infinite, and is refused
        gamma = np.where(spread < 1, spread / (1 - spread), np.inf)
        bound = np.where(exact, 0.0, gamma * total + (1 + gamma) * flushed)
    if not np.all(total + bound <= LARGEST):
        raise ValueError(
            f"sum |terms| = {np.max(total):.3g} over {np.max(terms):.0f} terms: float32 promises nothing beyond "
            f"{LARGEST:.3g} or {1 / UNIT:.0f} terms; check a smaller case, with finite numbers"
        )
    return bound


# --- Against the reference ------------------------------------------------------------


def products(name: str, got: Array, formula: Callable, *data: Array) -> Report:
    """Judge `got` by ``formula(*data)``: any sum of products, with plus signs only, of the numbers the kernel read."""
    data = tuple(np.asarray(a, np.float64) for a in data)
    total = formula(*map(np.abs, data))
    terms = formula(*((a != 0).astype(np.float64) for a in data))
    return compare(name, got, formula(*data), tolerance(terms, total, *data))


def conv2d(
    got: Array, input: Array, weight: Array, bias: Array | None = None, stride: int = 1, padding: Padding = 0
) -> Report:
    """Judge an output, `got` (N, Co, oH, oW)."""
    if reason := _misfit(input, weight, got, stride, padding):
        return Report("conv2d", np.shape(got), reason=reason)
    data = (input, weight) if bias is None else (input, weight, bias)
    return products("conv2d", got, partial(reference.conv2d, stride=stride, padding=padding), *data)


def grad_weight(got: Array, input: Array, grad_output: Array, stride: int = 1, padding: Padding = 0) -> Report:
    """Judge a weight gradient, `got` (Co, Ci, kH, kW), whose own shape says how large the kernel is."""
    if reason := _misfit(input, got, grad_output, stride, padding):
        return Report("grad_weight", np.shape(got), reason=reason)

    def formula(x: Array, dy: Array) -> Array:
        return reference.conv2d_grad_weight(x, np.shape(got), dy, stride, padding)

    return products("grad_weight", got, formula, input, grad_output)


def grad_input(got: Array, weight: Array, grad_output: Array, stride: int = 1, padding: Padding = 0) -> Report:
    """Judge an input gradient, `got` (N, Ci, H, W), whose own shape says how large the input is."""
    if reason := _misfit(got, weight, grad_output, stride, padding):
        return Report("grad_input", np.shape(got), reason=reason)
    formula = partial(reference.conv2d_grad_input, np.shape(got), stride=stride, padding=padding)
    return products("grad_input", got, formula, weight, grad_output)


def grad_bias(got: Array, grad_output: Array) -> Report:
    """Judge a bias gradient, `got` (Co,)."""
    return products("grad_bias", got, reference.conv2d_grad_bias, grad_output)


def _misfit(input: Array, weight: Array, output: Array, stride: int, padding: Padding) -> str:
    """Why no convolution has arrays of these shapes, or "" if one has."""
    shapes = x, w, y = np.shape(input), np.shape(weight), np.shape(output)
    if len(x) == len(w) == len(y) == 4:
        try:
            sizes = ConvShape(*x, w[0], *w[2:], stride, *np.broadcast_to(padding, 2).tolist())
        except ValueError as error:
            return str(error)
        if shapes == (sizes.input, sizes.weight, sizes.output):
            return ""
    return f"input {x}, weight {w}, output {y} do not fit together at stride {stride}, padding {padding}"


# --- Without a reference gradient: the loss <conv2d(x, w), dy> is linear in x and in w -------------------------


def adjoint(
    input: Array, weight: Array, grad_output: Array, stride: int = 1, padding: Padding = 0, **gradients: Array
) -> Report:
    """Judge `grad_weight`, `grad_input` or both: <conv2d(x, w), dy> = <w, grad_weight> = <x, grad_input>.

    A symmetry in the data can hide a mistake here (a flipped kernel, say), so take random data.
    """
    x, w, dy = (np.asarray(a, np.float64) for a in (input, weight, grad_output))
    sides = {"grad_weight": (w, dy[:, 0].size), "grad_input": (x, w[:, 0].size)}  # terms: N oH oW, Co kH kW
    if not gradients or gradients.keys() - sides.keys():
        raise TypeError(f"adjoint got {sorted(gradients)}: give it grad_weight=, grad_input= or both")
    total = _loss(abs(x), abs(w), abs(dy), stride, padding)
    dots, allowed = [], []
    for name, gradient in gradients.items():
        argument, terms = sides[name]
        if np.shape(gradient) != argument.shape:
            return Report("adjoint", np.shape(gradient), reason=f"{name} must have the shape {argument.shape}")
        dots.append(np.float32(np.vdot(argument, gradient)))  # one more rounding, so one more term
        allowed.append(tolerance(terms + 1, total, x, w, dy, scale=abs(argument).sum()))
    return compare("adjoint", dots, [_loss(x, w, dy, stride, padding)] * len(dots), allowed)


def numerical(
    got: Array,
    input: Array,
    weight: Array,
    grad_output: Array,
    stride: int = 1,
    padding: Padding = 0,
    samples: int = 100,
) -> Report:
    """Judge a weight gradient by central differences, at `samples` weights: the same ones every time, or all."""
    x, w, dy = (np.asarray(a, np.float64) for a in (input, weight, grad_output))
    want, allowed, where = np.zeros(w.shape), np.zeros(w.shape), np.zeros(w.shape, bool)
    where.flat[np.random.default_rng(0).choice(w.size, min(samples, w.size), replace=False)] = True
    noise = (dy.size + w[0].size + 3) * 2.0**-53  # float64 rounding of a loss, for each unit of sum |terms|
    whole = _loss(abs(x), abs(w), abs(dy), stride, padding)
    for place in zip(*np.nonzero(where), strict=True):
        step = np.zeros(w.shape)
        step[place] = 1  # as long as we like: what is linear has no truncation error
        up, down = (_loss(x, moved, dy, stride, padding) for moved in (w + step, w - step))
        total = _loss(abs(x), step, abs(dy), stride, padding)
        want[place] = (up - down) / 2
        allowed[place] = tolerance(dy[:, 0].size, total, x, dy) + noise * (whole + total)
    return compare("numerical", got, want, allowed, where)


def _loss(x: Array, w: Array, dy: Array, stride: int, padding: Padding) -> float:
    """<conv2d(x, w), dy>: each output times its upstream gradient, added up."""
    return np.tensordot(reference.conv2d(x, w, None, stride, padding), dy, 4)[()]
