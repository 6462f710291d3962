"""Checks of a convolution and its gradients: reports against the reference, and some that need none."""

import numpy as np

from helpers.checks.adjoint import Identity, compare_dots, directions
from helpers.checks.report import Report
from helpers.checks.tolerance import compare_sums
from helpers.operations.activations import compare_activated, pre_and_error
from helpers.operations.convolution import reference
from helpers.operations.convolution.reference import Array, Pair
from helpers.operations.convolution.shapes import STEPS, ConvShape, padded_by_word

# --- Against the reference ------------------------------------------------------------


def output(got: Array, input: Array, weight: Array, bias: Array, shape: ConvShape) -> Report:
    """Judge an output, `got` (N, Co, oH, oW), whose sizes fit."""
    pre, error = pre_and_error(lambda *data: reference.pre(*data, shape), input, weight, bias)
    return compare_activated("output", got, pre, error, shape.activation)


def conv2d(
    got: Array,
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
    *,
    activation: str = "none",
) -> Report:
    """Judge an output, `got` (N, Co, oH, oW); the padding may also be "same" or "valid"."""
    if isinstance(padding, str) and np.ndim(input) == np.ndim(weight) == 4:
        input, padding = padded_by_word(input, padding, np.shape(weight)[2:], stride, dilation)
    steps = stride, padding, dilation, groups
    mismatch = _mismatch(input, weight, got, *steps)
    if mismatch:
        return Report("conv2d", np.shape(got), reason=mismatch)
    if bias is None:
        bias = np.zeros(np.shape(weight)[0])
    pre, error = pre_and_error(lambda *data: reference.conv2d(*data, *steps), input, weight, bias)
    return compare_activated("conv2d", got, pre, error, activation)


def grad_weight(
    got: Array,
    input: Array,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Report:
    """Judge a weight gradient, `got` (Co, Ci/groups, kH, kW), whose shape gives the size of the filter."""
    steps = stride, padding, dilation, groups
    mismatch = _mismatch(input, got, grad_output, *steps)
    if mismatch:
        return Report("grad_weight", np.shape(got), reason=mismatch)

    def formula(x: Array, dy: Array) -> Array:
        return reference.conv2d_grad_weight(x, np.shape(got), dy, *steps)

    return compare_sums("grad_weight", got, formula, input, grad_output)


def grad_input(
    got: Array,
    weight: Array,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Report:
    """Judge an input gradient, `got` (N, Ci, H, W), whose shape gives the size of the input."""
    steps = stride, padding, dilation, groups
    mismatch = _mismatch(got, weight, grad_output, *steps)
    if mismatch:
        return Report("grad_input", np.shape(got), reason=mismatch)

    def formula(w: Array, dy: Array) -> Array:
        return reference.conv2d_grad_input(np.shape(got), w, dy, *steps)

    return compare_sums("grad_input", got, formula, weight, grad_output)


def grad_bias(got: Array, grad_output: Array) -> Report:
    """Judge a bias gradient, `got` (Co,)."""
    return compare_sums("grad_bias", got, reference.conv2d_grad_bias, grad_output)


def _mismatch(input: Array, weight: Array, output: Array, *steps: Pair) -> str:
    """The reason why no convolution has arrays of these shapes, or "" if one has."""
    x, w, y = np.shape(input), np.shape(weight), np.shape(output)
    if len(x) == len(w) == len(y) == 4:
        try:
            sizes = ConvShape(*x, w[0], *w[2:], *steps)
        except ValueError as error:
            return str(error)
        if (x, w, y) == (sizes.input, sizes.weight, sizes.output):
            return ""
    named = [f"{name} {step}" for name, step in zip(STEPS, steps, strict=True)]
    return f"input {x}, weight {w}, output {y} do not fit together at {', '.join(named)}"


# --- Without a reference gradient: the loss <conv2d(x, w) + bias, dy> is linear in x, in w and in the bias ----


def adjoint(
    input: Array,
    weight: Array,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    bias: Array | None = None,
    **gradients: Array,
) -> Report:
    """Judge `grad_weight`, `grad_input` and `grad_bias`, or some of them, by dot products.

    <conv2d(x, w), dy> = <w, grad_weight> = <x, grad_input>, and <the bias at every output, dy> = <bias, grad_bias>:
    for `grad_bias`, give any `bias` (Co,).

    A symmetry in the data can hide a mistake here (a flipped filter, say), so take random data.
    """
    steps = stride, padding, dilation, groups
    mismatch = _mismatch(input, weight, grad_output, *steps)
    if mismatch:
        return Report("adjoint", np.shape(grad_output), reason=mismatch)
    x, w, dy = (np.asarray(array, np.float64) for array in (input, weight, grad_output))
    identities = _identities(x, w, dy, *steps)
    if bias is not None:
        identities["grad_bias"] = _bias_identity(np.asarray(bias, np.float64), dy)
    elif "grad_bias" in gradients:
        raise TypeError("adjoint got grad_bias without a bias: give it bias=, one number for each output channel")
    return compare_dots(identities, gradients)


def _identities(x: Array, w: Array, dy: Array, *steps: Pair) -> dict[str, Identity]:
    """<conv2d(x, w), dy> = <w, grad_weight> = <x, grad_input>."""
    groups = steps[-1]
    loss = _loss(x, w, dy, *steps)
    total = _loss(abs(x), abs(w), abs(dy), *steps)
    terms_of_weight = dy[:, 0].size  # N oH oW
    terms_of_pixel = w[:, 0].size // groups  # Co/G kH kW
    return {
        "grad_weight": Identity(w, loss, total, terms_of_weight, (x, w, dy)),
        "grad_input": Identity(x, loss, total, terms_of_pixel, (x, w, dy)),
    }


def weight_adjoint(got: Array, grad_output: Array, input: Array, shape: ConvShape) -> list[Report]:
    """Judge the weight gradient of a layer by `adjoint`, without the weight."""
    return [adjoint(input, w, grad_output, **shape.steps, grad_weight=got) for w in directions(shape.weight)]


def input_adjoint(got: Array, grad_output: Array, weight: Array, shape: ConvShape) -> list[Report]:
    """Judge the input gradient of a layer by `adjoint`, without the input."""
    return [adjoint(x, weight, grad_output, **shape.steps, grad_input=got) for x in directions(shape.input)]


def bias_adjoint(got: Array, grad_output: Array, shape: ConvShape) -> list[Report]:
    """Judge the bias gradient of a layer by `adjoint`, without the bias."""
    reports = []
    for bias in directions((shape.out_channels,)):
        identities = {"grad_bias": _bias_identity(bias, grad_output)}
        reports.append(compare_dots(identities, {"grad_bias": got}))
    return reports


def _bias_identity(bias: Array, dy: Array) -> Identity:
    """<the bias at every output, dy> = <bias, grad_bias>."""
    added = np.broadcast_to(bias.reshape(-1, 1, 1), dy.shape)
    loss = np.vdot(added, dy)
    total = np.vdot(abs(added), abs(dy))
    terms = dy[:, 0].size
    return Identity(bias, loss, total, terms, (bias, dy))


def _loss(x: Array, w: Array, dy: Array, *steps: Pair) -> float:
    """<conv2d(x, w), dy>: each output times its upstream gradient, added up."""
    return np.tensordot(reference.conv2d(x, w, None, *steps), dy, 4)[()]
