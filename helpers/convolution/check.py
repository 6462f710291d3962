"""Is a convolution or one of its gradients right? Reports against the reference, and oracles without it."""

from functools import partial

import numpy as np

from helpers.convolution import reference
from helpers.convolution.reference import Array, Padding
from helpers.convolution.shapes import ConvShape
from helpers.grading.report import Report, compare
from helpers.grading.tolerance import compare_sums, tolerance

# --- Against the reference ------------------------------------------------------------


def conv2d(
    got: Array, input: Array, weight: Array, bias: Array | None = None, stride: int = 1, padding: Padding = 0
) -> Report:
    """Judge an output, `got` (N, Co, oH, oW)."""
    if reason := _mismatch(input, weight, got, stride, padding):
        return Report("conv2d", np.shape(got), reason=reason)
    data = (input, weight) if bias is None else (input, weight, bias)
    return compare_sums("conv2d", got, partial(reference.conv2d, stride=stride, padding=padding), *data)


def grad_weight(got: Array, input: Array, grad_output: Array, stride: int = 1, padding: Padding = 0) -> Report:
    """Judge a weight gradient, `got` (Co, Ci, kH, kW), whose shape gives the size of the filter."""
    if reason := _mismatch(input, got, grad_output, stride, padding):
        return Report("grad_weight", np.shape(got), reason=reason)

    def formula(x: Array, dy: Array) -> Array:
        return reference.conv2d_grad_weight(x, np.shape(got), dy, stride, padding)

    return compare_sums("grad_weight", got, formula, input, grad_output)


def grad_input(got: Array, weight: Array, grad_output: Array, stride: int = 1, padding: Padding = 0) -> Report:
    """Judge an input gradient, `got` (N, Ci, H, W), whose shape gives the size of the input."""
    if reason := _mismatch(got, weight, grad_output, stride, padding):
        return Report("grad_input", np.shape(got), reason=reason)
    formula = partial(reference.conv2d_grad_input, np.shape(got), stride=stride, padding=padding)
    return compare_sums("grad_input", got, formula, weight, grad_output)


def grad_bias(got: Array, grad_output: Array) -> Report:
    """Judge a bias gradient, `got` (Co,)."""
    return compare_sums("grad_bias", got, reference.conv2d_grad_bias, grad_output)


def _mismatch(input: Array, weight: Array, output: Array, stride: int, padding: Padding) -> str:
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

    A symmetry in the data can hide a mistake here (a flipped filter, say), so take random data.
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
        dots.append(np.float32(np.vdot(argument, gradient)))  # one more rounding counts as one more term
        allowed.append(tolerance(terms + 1, total, x, w, dy, scale=abs(argument).sum()))
    return compare("adjoint", dots, [_loss(x, w, dy, stride, padding)] * len(dots), allowed)


def finite_differences(
    got: Array,
    input: Array,
    weight: Array,
    grad_output: Array,
    stride: int = 1,
    padding: Padding = 0,
    samples: int = 100,
) -> Report:
    """Judge a weight gradient by central differences, at `samples` weights (always the same ones) or at all."""
    x, w, dy = (np.asarray(a, np.float64) for a in (input, weight, grad_output))
    want, allowed, where = np.zeros(w.shape), np.zeros(w.shape), np.zeros(w.shape, bool)
    where.flat[np.random.default_rng(0).choice(w.size, min(samples, w.size), replace=False)] = True
    noise = (dy.size + w[0].size + 3) * 2.0**-53  # float64 rounding of a loss, for each unit of sum |terms|
    whole = _loss(abs(x), abs(w), abs(dy), stride, padding)
    for place in zip(*np.nonzero(where), strict=True):
        step = np.zeros(w.shape)
        step[place] = 1  # any step will do: a linear loss has no truncation error
        up, down = (_loss(x, moved, dy, stride, padding) for moved in (w + step, w - step))
        total = _loss(abs(x), step, abs(dy), stride, padding)
        want[place] = (up - down) / 2
        allowed[place] = tolerance(dy[:, 0].size, total, x, dy) + noise * (whole + total)
    return compare("finite differences", got, want, allowed, where)


def _loss(x: Array, w: Array, dy: Array, stride: int, padding: Padding) -> float:
    """<conv2d(x, w), dy>: each output times its upstream gradient, added up."""
    return np.tensordot(reference.conv2d(x, w, None, stride, padding), dy, 4)[()]
