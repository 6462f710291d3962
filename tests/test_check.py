"""The checks, checked: right sums always pass, planted bugs never do, and reports say where an array is wrong."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from IPython.core.interactiveshell import InteractiveShell
from support.edits import edited
from support.problems import conv_shapes
from support.sample import ALL, sample

from helpers.checks.report import Report, compare
from helpers.checks.tolerance import SMALLEST_NORMAL, compare_sums
from helpers.lessons.trusting_a_gradient.problems import good
from helpers.operations import harness
from helpers.operations.activations import ACTIVATIONS, act
from helpers.operations.convolution import check, reference
from helpers.operations.convolution.operations import OPERATIONS
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.kernels import load
from wgsl import Kernel

# --- A right sum is never called wrong: every rounding, every order ---------------------


def toward_zero(exact: np.ndarray) -> np.ndarray:
    """Round float64 to float32 toward zero, as WGSL allows."""
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)


def flushed(exact: np.ndarray) -> np.ndarray:
    """Round to nearest, and turn what is below the normal range into zero."""
    return np.where(np.abs(exact) < SMALLEST_NORMAL, np.float32(0), exact.astype(np.float32))


def sequential(x: np.ndarray, y: np.ndarray, rounded, fused: bool = False) -> np.ndarray:
    """One thread: multiply, round, add, round; a fused multiply-add has one rounding a step."""
    total = np.zeros(len(x), np.float32)
    for term in (np.float64(x) * y).T:
        addend = term if fused else rounded(term)
        total = rounded(np.float64(total) + addend)
    return total


def random_tree(x: np.ndarray, y: np.ndarray, rounded) -> np.ndarray:
    """Any two partial sums are added, until one is left."""
    rng = np.random.default_rng(3)
    sums = list(rounded(np.float64(x) * y).T)
    while len(sums) > 1:
        a = sums.pop(rng.integers(len(sums)))
        b = sums.pop(rng.integers(len(sums)))
        sums.append(rounded(np.float64(a) + b))
    return sums[0]


def factors(kind: str, trials: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two float32 arrays (trials, n) of one kind of difficulty."""
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, trials, n))  # "normal"
    if kind == "constant":  # every rounding error has the same sign
        x, y = np.repeat(rng.uniform(0.01, 1, (2, trials, 1)), n, axis=2)
        x[0] = y[0] = 0.1
    elif kind == "cancelling":  # the sum is tiny, its terms are not
        half = n - n // 2
        x[:, n // 2 :] = -x[:, :half]
        y[:, n // 2 :] = y[:, :half] * (1 + 1e-6)
    elif kind == "wide":  # 24 powers of ten
        x, y = np.array([x, y]) * 10.0 ** rng.integers(-6, 7, (2, trials, n))
    elif kind == "subnormal":  # factors and products at the edge of the normal range, and below
        x, y = np.array([x, y]) * 2.0 ** rng.integers(-85, -40, (2, trials, n))
        x[:, ::3] *= 2.0**-75
        y[:, ::3] = np.sign(y[:, ::3])
    elif kind == "sparse":  # as after a ReLU
        x, y = np.array([x, y]) * (rng.random((2, trials, n)) < 0.4)
    return x.astype(np.float32), y.astype(np.float32)


def dot_report(got: np.ndarray, x: np.ndarray, y: np.ndarray) -> Report:
    """Judge sums over the last axis."""
    return compare_sums("dot", got, lambda a, b: (a * b).sum(axis=1), x, y)


@pytest.mark.parametrize("kind", ["normal", "constant", "cancelling", "wide", "subnormal", "sparse"])
@pytest.mark.parametrize("rounded", [np.float32, toward_zero, flushed])  # np.float32 rounds to nearest
@pytest.mark.parametrize("order", [sequential, partial(sequential, fused=True), random_tree])
def test_a_right_sum_is_never_called_wrong(kind, rounded, order):
    for n in (1, 2, 3, 17, 150):
        x, y = factors(kind, 60, n)
        dot_report(order(x, y, rounded), x, y).require()


def test_the_bound_is_nearly_reached_and_no_smaller_one_is_sound():
    x, y = factors("constant", 400, 150)
    assert 0.25 < dot_report(sequential(x, y, toward_zero), x, y).tolerance_used < 1
    x, y = factors("constant", 400, 1)
    exact = (np.float64(x) * y)[:, 0]
    error = np.abs(sequential(x, y, toward_zero) - exact)
    assert np.any(error > 2.0**-24 * np.abs(exact)), "u = 2**-24 would call rounding toward zero wrong"


# --- Planted bugs -----------------------------------------------------------------------

FLIPPED = "kH - 1 - kh, kW - 1 - kw]"
TO = {"weight": "grad_weight[co, ci, kh, kw] +=", "input": "grad_input[n, ci, ih, iw] +="}
BUGS = {
    "conv2d": (
        ("forgets the bias", "+= bias[co]", "+= 0"),
        ("flips the filter", "+= x * w", f"+= x * weight[co, ci, {FLIPPED}"),
        ("reads past the top", "if 0 <= ih < H and", "if ih < H and"),
        ("ignores the stride", "oh * S", "oh"),
    ),
    "conv2d_grad_weight": (
        ("forgets to sum over the batch", "+= dy * x", "+= dy * x * (n == 0)"),
        ("reads the first item's gradient", "+= dy * x", "+= grad_output[0, co, oh, ow] * x"),
        ("flips the filter", TO["weight"], f"grad_weight[co, ci, {FLIPPED} +="),
        ("transposes the filter", TO["weight"], "grad_weight[co, ci, kw, kh] +="),
        ("swaps the channels in memory", TO["weight"], "grad_weight.flat[((ci * Co + co) * kH + kh) * kW + kw] +="),
        ("is one row too low", "+ kh - Ph", "+ kh - Ph + 1"),
        ("is one column too far left", "+ kw - Pw", "+ kw - Pw - 1"),
        ("ignores the stride", "oh * S + kh - Ph, ow * S", "oh + kh - Ph, ow"),
        ("ignores the stride of the columns", "ow * S", "ow"),
        ("ignores the padding", "kh - Ph, ow * S + kw - Pw", "kh, ow * S + kw"),
        ("swaps the paddings", "np.broadcast_to(padding, 2)", "np.broadcast_to(padding, 2)[::-1]"),
        ("swaps height and width", "0 <= ih < H and 0 <= iw < W", "0 <= ih < min(H, W) and 0 <= iw < H"),
        ("wraps around above the top", "if 0 <= ih < H and", "if ih < H and"),
        ("skips the first row", "if 0 <= ih", "if 0 < ih"),
        ("skips the last column", "0 <= iw < W", "0 <= iw < W - 1"),
        ("forgets the last output row", "np.ndindex(N, Co, oH, oW)", "np.ndindex(N, Co, oH - 1, oW)"),
        ("reads one input channel", "+= dy * x", "+= dy * input[n, 0, ih, iw]"),
        ("reads one output channel", "+= dy * x", "+= grad_output[n, 0, oh, ow] * x"),
        ("overwrites instead of adding", TO["weight"], "grad_weight[co, ci, kh, kw] ="),
    ),
    "conv2d_grad_input": (
        ("forgets to sum over the output channels", "+= dy * w", "+= dy * w * (co == 0)"),
        ("correlates instead of flipping", "+= dy * w", f"+= dy * weight[co, ci, {FLIPPED}"),
        ("does not test divisibility", TO["input"], "grad_input[n, ci, ih : ih + S, iw : iw + S] +="),
        ("tests it for the rows only", TO["input"], "grad_input[n, ci, ih, iw : iw + S] +="),
        ("ignores the padding", "+ kh - Ph", "+ kh"),
        ("wraps around above the top", "if 0 <= ih < H and", "if ih < H and"),
        ("clamps at the last row", TO["input"], "grad_input[n, ci, ih :: S if oh == oH - 1 else H, iw] +="),
        ("loads 8 of the 9 weights", "+= dy * w", "+= dy * w * (kh * kW + kw < 8)"),
    ),
    "conv2d_grad_bias": (
        ("forgets to sum over the batch", "grad_bias[co] += dy", "grad_bias[co] += dy * (n == 0)"),
        ("averages", "grad_bias[co] += dy", "grad_bias[co] += dy / (oH * oW)"),
        ("stops one column early", "grad_bias[co] += dy", "grad_bias[co] += dy * (ow < oW - 1)"),
    ),
}
STRIDED = {"stride": 2, "padding": (1, 2)}
SETTINGS = [STRIDED, {"stride": 1, "padding": 0}]  # both have a 3x5 output


def case(whole: bool) -> dict[str, np.ndarray]:
    """Batch 2, 2 -> 3 channels, 5x7 input, 3x3 filter, upstream gradient 3x5."""
    draw = harness.whole if whole else harness.normal
    return good("conv2d_grad_weight", ConvShape(2, 2, 5, 7, 3, 3, 3, **STRIDED), draw).tensors


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_output_is_judged_with_its_activation(activation, whole):
    """That of a GPU is applied to the sum and the bias."""
    x, w, b, _ = case(whole).values()
    bias = b.reshape(-1, 1, 1)
    pre = reference.conv2d(x, w, **STRIDED)
    before_the_bias = act(pre, activation) + bias
    after_the_bias = act(pre + bias, activation)

    def passes(output: np.ndarray, b: np.ndarray | None) -> bool:
        return bool(check.conv2d(np.float32(output), x, w, b, **STRIDED, activation=activation))

    assert passes(after_the_bias, b)
    assert passes(before_the_bias, b) == (activation == "none")
    assert passes(act(pre, activation), None)


def judged(function: str, got: np.ndarray, tensors: dict[str, np.ndarray], steps: dict) -> dict[str, Report]:
    """The report of every check on an output or a gradient, by the check's name."""
    x, w, b, dy = tensors.values()
    name = function.removeprefix("conv2d_")
    arguments = {"conv2d": (x, w, b), "grad_weight": (x, dy), "grad_input": (w, dy), "grad_bias": (dy,)}[name]
    settings_of_check = {} if name == "grad_bias" else steps
    reports = {"reference": getattr(check, name)(got, *arguments, **settings_of_check)}
    if name != "conv2d":
        reports["adjoint"] = check.adjoint(x, w, dy, **steps, bias=b, **{name: got})
    return reports


@pytest.mark.parametrize("whole", sample([True, False], 1))
@pytest.mark.parametrize("function", BUGS)
def test_every_check_catches_every_planted_bug(function, whole):
    tensors = case(whole)
    place = list(BUGS).index(function)  # among the arrays that the loops return
    for name, old, new in BUGS[function]:
        wrong = edited(reference.conv2d_loops, old, new)
        reports = []
        for steps in SETTINGS:
            got = wrong(*tensors.values(), **steps)[place]
            reports.append(judged(function, np.float32(got), tensors, steps))
        for oracle in reports[0]:
            judgements = [of_one_setting[oracle] for of_one_setting in reports]
            caught = [report for report in judgements if not report]
            assert caught, f"{oracle} misses that it {name}"
            assert all(report.wrong for report in caught), "caught by its numbers, not by its shape"


# --- Over the whole signature -----------------------------------------------------------

# The axes have different steps; two groups of 2 channels with 3 filters each.
GENERAL = ConvShape(3, 4, 5, 9, 6, 3, 2, (2, 3), (2, 1), (3, 2), 2)
VERSIONS = {"conv2d": "5_direct", "conv2d_grad_weight": "7_direct", "conv2d_grad_input": "8_direct"}
FAULTS = {  # other steps than the layer's, or an edit
    "dilation ignored along the rows": {"DILATION_H": 1},
    "dilation ignored along the columns": {"DILATION_W": 1},
    "dilations swapped": {"DILATION_H": GENERAL.dilation_w, "DILATION_W": GENERAL.dilation_h},
    "strides swapped": {"STRIDE_H": GENERAL.stride_w, "STRIDE_W": GENERAL.stride_h},
    "paddings swapped": {"PADDING_H": GENERAL.padding_w, "PADDING_W": GENERAL.padding_h},
    "groups mixed up": {},
}


def faulty(kernel: Kernel, fault: str) -> Kernel:
    """A version with a fault; where the groups are mixed up, it takes the channels or the filters of another one."""
    if FAULTS[fault]:
        return kernel.with_constants(**FAULTS[fault])
    group, size = "co / GROUP_OUT", "GROUP_IN"
    if "grad_input" in kernel.name:
        group, size = "ci / GROUP_IN", "GROUP_OUT"
    return kernel.edit(f"{group} * {size}", f"(GROUPS - 1u - {group}) * {size}")


@pytest.mark.parametrize(("function", "fault"), sample(product(VERSIONS, FAULTS), 8))
def test_every_check_passes_the_right_kernel_and_catches_each_fault(function, fault):
    kernel = load(function, VERSIONS[function])
    tensors = good(function, GENERAL, harness.normal).tensors
    for run, right in ((kernel, True), (faulty(kernel, fault), False)):
        (got,), _ = harness.simulated(run, GENERAL, tensors)
        for name, report in judged(function, got, tensors, GENERAL.steps).items():
            assert bool(report) == right, f"{name}: {report}"
            assert right or report.wrong, "caught by its numbers"


@settings(max_examples=40 if ALL else 12)
@given(conv_shapes(6, 3, 3, general=True))
def test_right_results_of_all_layers_pass_every_check(shape):
    draw = harness.whole if shape.batch % 2 else harness.normal
    tensors = good("conv2d", shape, draw).tensors
    for name, operation in OPERATIONS.items():
        (right,) = operation.right(shape, tensors)
        for report in judged(name, np.float32(right), tensors, shape.steps).values():
            report.require()


# --- Comparing and reporting ------------------------------------------------------------


def test_a_notebook_shows_the_message_and_no_stack(capsys):
    shell = InteractiveShell()
    shell.push({"report": compare("grad_bias", np.float32([1]), [2.0], 0)})
    assert shell.run_cell("assert report.require()").error_in_exec is not None
    shown = "".join(capsys.readouterr())
    assert "CheckError: grad_bias (1,): 1 of 1 wrong\n  at [0]: got 1, want 2" in shown
    assert "Traceback" not in shown
    assert "require" not in shown
