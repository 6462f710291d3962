"""The doubt, doubted: right sums always pass, planted bugs never do, and reports say where."""

import dataclasses
import inspect
import math

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from helpers import check, reference

TINY = 2.0**-126

# --- A right sum is never called wrong: every rounding, every order ---------------------


def nearest(exact: np.ndarray) -> np.ndarray:
    """Round float64 to float32 as most hardware does."""
    return exact.astype(np.float32)


def toward_zero(exact: np.ndarray) -> np.ndarray:
    """Round float64 to float32 toward zero, as WGSL allows."""
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)


def flushed(exact: np.ndarray) -> np.ndarray:
    """Round to nearest, and turn what is below the normal range into zero."""
    return np.where(np.abs(exact) < TINY, np.float32(0), exact.astype(np.float32))


def sequential(x: np.ndarray, y: np.ndarray, rounded) -> np.ndarray:
    """One thread: multiply, round, add, round."""
    total = np.zeros(len(x), np.float32)
    for a, b in zip(x.T, y.T, strict=True):
        total = rounded(np.float64(total) + rounded(np.float64(a) * b))
    return total


def fused(x: np.ndarray, y: np.ndarray, rounded) -> np.ndarray:
    """One thread with fused multiply-add: one rounding a step."""
    total = np.zeros(len(x), np.float32)
    for a, b in zip(x.T, y.T, strict=True):
        total = rounded(np.float64(total) + np.float64(a) * b)
    return total


def workgroup(x: np.ndarray, y: np.ndarray, rounded, threads: int = 8) -> np.ndarray:
    """Thread t takes every 8th product; then a tree, 4, 2, 1."""
    sums = [sequential(x[:, t::threads], y[:, t::threads], rounded) for t in range(threads)]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [rounded(np.float64(a) + b) for a, b in zip(sums[:half], sums[half:], strict=True)]
    return sums[0]


def random_tree(x: np.ndarray, y: np.ndarray, rounded) -> np.ndarray:
    """Any two partial sums are added, until one is left."""
    rng = np.random.default_rng(3)
    sums = list(rounded(np.float64(x) * y).T)
    while len(sums) > 1:
        a, b = sums.pop(rng.integers(len(sums))), sums.pop(rng.integers(len(sums)))
        sums.append(rounded(np.float64(a) + b))
    return sums[0]


def factors(kind: str, trials: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two float32 arrays (trials, n) of one kind of difficulty."""
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, trials, n))
    if kind == "constant":  # every rounding error has the same sign
        x[:], y[:] = rng.uniform(0.01, 1, (2, trials, 1))
        x[0], y[0] = 0.1, 0.1
    elif kind == "cancelling":  # the sum is tiny, its terms are not
        x[:, n // 2 :], y[:, n // 2 :] = -x[:, : n - n // 2], y[:, : n - n // 2] * (1 + 1e-6)
    elif kind == "wide":  # 24 powers of ten
        x, y = x * 10.0 ** rng.integers(-6, 7, x.shape), y * 10.0 ** rng.integers(-6, 7, y.shape)
    elif kind == "subnormal":  # factors and products at the edge of the normal range, and below
        x, y = x * 2.0 ** rng.integers(-80, -40, x.shape), y * 2.0 ** rng.integers(-90, -40, y.shape)
        x[:, ::3], y[:, ::3] = x[:, ::3] * 2.0**-75, np.sign(y[:, ::3])
    elif kind == "sparse":  # what a ReLU leaves
        x, y = x * (rng.random(x.shape) < 0.3), y * (rng.random(y.shape) < 0.5)
    return x.astype(np.float32), y.astype(np.float32)


def dot_report(got: np.ndarray, x: np.ndarray, y: np.ndarray) -> check.Report:
    """Judge sums over the last axis."""
    return check.products("dot", got, lambda a, b: (a * b).sum(axis=1), x, y)


@pytest.mark.parametrize("kind", ["normal", "constant", "cancelling", "wide", "subnormal", "sparse"])
@pytest.mark.parametrize("rounded", [nearest, toward_zero, flushed])
@pytest.mark.parametrize("order", [sequential, fused, workgroup, random_tree])
def test_a_right_sum_is_never_called_wrong(kind, rounded, order) -> None:
    for n in (1, 2, 3, 17, 150):
        x, y = factors(kind, 60, n)
        dot_report(order(x, y, rounded), x, y).require()


def test_a_flushed_factor_is_paid_for() -> None:
    x, y = np.float32([[2.0**-127]]), np.float32([[2.0**100]])
    report = dot_report(np.float32([0]), x, y)  # an adapter that reads the factor as zero
    assert report
    assert report.share > 0.3
    assert not dot_report(np.float32([0]), x * 8, y), "2**-124 is a normal number"


def test_the_bound_is_nearly_reached_and_no_smaller_one_is_sound() -> None:
    x, y = factors("constant", 400, 150)
    share = dot_report(sequential(x, y, toward_zero), x, y).share
    assert 0.25 < share < 1
    x, y = factors("constant", 400, 1)
    exact = (np.float64(x) * y)[:, 0]
    error = np.abs(sequential(x, y, toward_zero) - exact)
    assert np.any(error > 2.0**-24 * np.abs(exact)), "u = 2**-24 would call rounding toward zero wrong"


def test_terms_of_zero_do_not_count() -> None:
    x, y = np.zeros((1, 1000), np.float32), np.full((1, 1000), 0.1, np.float32)
    x[0, 5] = 1.5
    assert dot_report(np.float32([1.5]) * y[:, 5], x, y)
    assert not dot_report(np.float32([1.5]) * y[:, 5] * np.float32(1 + 2.0**-20), x, y)


def test_adjoint_allows_for_every_term_of_a_gradient() -> None:
    many, one = np.full((200, 1, 1, 1), 0.1, np.float32), np.full((1, 1, 1, 1), 0.3, np.float32)
    across = many.reshape(1, 200, 1, 1)  # 200 output channels
    gradient = sequential(many.reshape(1, 200), many.reshape(1, 200), toward_zero).reshape(1, 1, 1, 1)
    assert check.adjoint(many, one, many, grad_weight=gradient)
    assert check.adjoint(one, many, across, grad_input=gradient)
    assert not check.adjoint(many, one, many, grad_weight=gradient * np.float32(1.0001))
    assert not check.adjoint(one, many, across, grad_input=gradient * np.float32(1.0001))


def test_adjoint_and_numerical_allow_for_a_gradient_that_was_flushed() -> None:
    x, w = np.full((2, 2, 5, 7), 2.0**-70, np.float32), np.full((3, 2, 3, 3), 1.5, np.float32)
    dy = np.full((2, 3, 3, 5), 2.0**-60, np.float32)
    assert check.adjoint(x, w, dy, grad_weight=np.zeros_like(w))
    assert check.numerical(np.zeros_like(w), x, w, dy)
    assert not check.adjoint(x * 1024, w, dy, grad_weight=np.zeros_like(w))
    assert not check.numerical(np.zeros_like(w), x * 1024, w, dy)


def test_numerical_allows_for_its_own_float64_rounding() -> None:
    x, w, _, dy = case(whole=True).values()
    got = np.float32(reference.conv2d_grad_weight(x, w.shape, dy))  # whole, and so without a float32 tolerance
    weight = w + np.random.default_rng(2).random(w.shape)
    check.numerical(got, x, weight, dy).require()
    assert not check.numerical(got * np.float32(1 + 2.0**-22), x, weight, dy)


def test_the_reference_sum_is_near_enough_to_the_exact_one() -> None:
    x, y = factors("cancelling", 20, 150)
    exact = [math.fsum(np.float64(a) * b) for a, b in zip(x, y, strict=True)]
    total = (np.abs(np.float64(x)) * np.abs(y)).sum(axis=1)
    assert np.all(np.abs((np.float64(x) * y).sum(axis=1) - exact) <= check.UNIT / 1000 * total)


# --- Whole numbers ----------------------------------------------------------------------


def test_whole_numbers_have_no_tolerance_until_2_to_the_24() -> None:
    x, y = np.full((1, 16), 1024.0, np.float32), np.full((1, 16), 1024.0, np.float32)
    exactly = np.float32([2**24])
    report = dot_report(exactly, x, y)
    assert report
    assert report.share == 0
    assert not dot_report(np.nextafter(exactly, np.float32(0)), x, y)
    assert dot_report(np.nextafter(exactly * 2, np.float32(0)), x * 2, y), "beyond 2**24 sums may round"
    assert dot_report(np.nextafter(exactly / 2, np.float32(0)), x + 0.5, y - 512.25), "fractions may round"


def test_one_forgotten_term_of_4000_hides_in_the_bound_but_not_among_whole_numbers() -> None:
    x, y = np.full((1, 4000), 0.1, np.float32), np.full((1, 4000), 0.1, np.float32)
    assert dot_report(np.float32([(np.float64(x) * y)[0, 1:].sum()]), x, y)
    assert not dot_report(np.float32([3999]), np.ones_like(x), np.ones_like(y))
    assert not dot_report(np.float32([(np.float64(x) * y)[0, 1:400].sum()]), x[:, :400], y[:, :400])


@pytest.mark.parametrize(
    ("x", "why"),
    [
        (np.full((1, 2), 3e38, np.float32), "sums overflow"),
        (np.float32([[1, np.nan]]), "not a number"),
        (np.float32([[1, np.inf]]), "infinite"),
    ],
)
def test_where_float32_promises_nothing_the_check_refuses(x, why) -> None:
    with pytest.raises(ValueError, match="float32 promises nothing"):
        dot_report(np.float32([0]), x, np.float32([[1]]))


def test_too_many_terms_are_refused() -> None:
    assert check.tolerance(2**23 - 2, 1.0, np.float64([0.1])) > 1
    for terms in (2**23 - 1, 2**23, 2**25):
        with pytest.raises(ValueError, match=r"beyond 3\.4e\+38 or 8388608 terms"):
            check.tolerance(terms, 1.0, np.float64([0.1]))


# --- Planted bugs -----------------------------------------------------------------------

BUGS = {
    "conv2d": {
        "forgets the bias": ("0.0 if bias is None else float(bias[co])", "0.0"),
        "flips the kernel": ("weight[co, ci, kh, kw]", "weight[co, ci, kH - 1 - kh, kW - 1 - kw]"),
        "reads past the top": ("if 0 <= ih < H and", "if ih < H and"),
        "ignores the stride": ("oh * S", "oh"),
    },
    "conv2d_grad_weight": {
        "forgets to sum over the batch": ("np.ndindex(N, oH, oW)", "np.ndindex(1, oH, oW)"),
        "reads the first item's gradient": ("grad_output[n, co", "grad_output[0, co"),
        "averages over the batch": ("kw] = total", "kw] = total / N"),
        "flips the kernel": ("[co, ci, kh, kw] = total", "[co, ci, kH - 1 - kh, kW - 1 - kw] = total"),
        "transposes the kernel": ("[co, ci, kh, kw] = total", "[co, ci, kw, kh] = total"),
        "swaps the channels in memory": (
            "grad_weight[co, ci, kh, kw] =",
            "grad_weight.flat[((ci * Co + co) * kH + kh) * kW + kw] =",
        ),
        "is one row too low": ("+ kh - Ph", "+ kh - Ph + 1"),
        "is one column too far left": ("+ kw - Pw", "+ kw - Pw - 1"),
        "ignores the stride": ("oh * S + kh - Ph, ow * S", "oh + kh - Ph, ow"),
        "ignores the stride of the columns": ("ow * S", "ow"),
        "ignores the padding": ("kh - Ph, ow * S + kw - Pw", "kh, ow * S + kw"),
        "swaps the paddings": ("np.broadcast_to(padding, 2)", "np.broadcast_to(padding, 2)[::-1]"),
        "swaps height and width": ("0 <= ih < H and 0 <= iw < W", "0 <= ih < min(H, W) and 0 <= iw < H"),
        "wraps around above the top": ("if 0 <= ih < H and", "if ih < H and"),
        "skips the first row": ("if 0 <= ih", "if 0 < ih"),
        "skips the last column": ("0 <= iw < W", "0 <= iw < W - 1"),
        "forgets the last output row": ("np.ndindex(N, oH, oW)", "np.ndindex(N, oH - 1, oW)"),
        "reads one input channel": ("input[n, ci", "input[n, 0"),
        "reads one output channel": ("grad_output[n, co", "grad_output[n, 0"),
        "overwrites instead of adding": ("total +=", "total ="),
        "subtracts": ("total +=", "total -="),
        "leaves the last weight out": ("return grad_weight", "grad_weight.flat[-1] = 0\n    return grad_weight"),
    },
    "conv2d_grad_input": {
        "forgets to sum over the output channels": ("np.ndindex(Co, kH, kW)", "np.ndindex(1, kH, kW)"),
        "correlates instead of flipping": ("weight[co, ci, kh, kw]", "weight[co, ci, kH - 1 - kh, kW - 1 - kw]"),
        "does not test divisibility": ("rest_h == rest_w == 0 and ", ""),
        "tests it for the rows only": ("rest_h == rest_w == 0", "rest_h == 0"),
        "ignores the padding": ("ih + Ph - kh", "ih - kh"),
        "wraps around above the top": ("0 <= oh < oH and", "oh < oH and"),
        "clamps at the last row": ("if rest_h ==", "oh, oH = min(oh, oH - 1), oH\n            if rest_h =="),
        "loads 8 of the 9 weights": ("total += ", "total += (kh * kW + kw < 8) * "),
    },
    "conv2d_grad_bias": {
        "forgets to sum over the batch": ("np.ndindex(N, oH, oW)", "np.ndindex(1, oH, oW)"),
        "averages": ("= total", "= total / (oH * oW)"),
        "stops one column early": ("np.ndindex(N, oH, oW)", "np.ndindex(N, oH, oW - 1)"),
    },
}
STRIDE, PADDING = 2, (1, 2)
SETTINGS = [{"stride": STRIDE, "padding": PADDING}, {"stride": 1, "padding": 0}]  # both have a 3x5 output


def case(whole: bool) -> dict[str, np.ndarray]:
    """Batch 2, 2 -> 3 channels, 5x7 input, 3x3 kernel, upstream gradient 3x5."""
    rng = np.random.default_rng(1)
    sizes = {"input": (2, 2, 5, 7), "weight": (3, 2, 3, 3), "bias": (3,), "grad_output": (2, 3, 3, 5)}
    draw = (lambda size: rng.integers(-4, 5, size)) if whole else rng.standard_normal
    return {name: draw(size).astype(np.float32) for name, size in sizes.items()}


def planted(function: str, old: str = "", new: str = ""):
    """The loops of a function with one piece of their text replaced."""
    source = inspect.getsource(getattr(reference, function + "_loops"))
    assert old in source, f"{function} no longer says {old!r}"
    space = dict(vars(reference))
    exec(source.replace(old, new), space)  # our own text, changed in one place
    return space[function + "_loops"]


def judge(function: str, loops, whole: bool, conv: dict) -> dict[str, check.Report]:
    """All the checks that speak about one function's result."""
    x, w, b, dy = case(whole).values()
    if function == "conv2d":
        return {"reference": check.conv2d(np.float32(loops(x, w, b, **conv)), x, w, b, **conv)}
    if function == "conv2d_grad_bias":
        return {"reference": check.grad_bias(np.float32(loops(dy)), dy)}
    if function == "conv2d_grad_input":
        got = np.float32(loops(x.shape, w, dy, **conv))
        adjoint = check.adjoint(x, w, dy, **conv, grad_input=got)
        return {"reference": check.grad_input(got, w, dy, **conv), "adjoint": adjoint}
    got = np.float32(loops(x, w.shape, dy, **conv))
    return {
        "reference": check.grad_weight(got, x, dy, **conv),
        "adjoint": check.adjoint(x, w, dy, **conv, grad_weight=got),
        "numerical": check.numerical(got, x, w, dy, **conv),
    }


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "random"])
@pytest.mark.parametrize("conv", SETTINGS, ids=["strided", "plain"])
@pytest.mark.parametrize("function", BUGS)
def test_what_is_right_passes_every_check(function: str, conv: dict, whole: bool) -> None:
    for report in judge(function, planted(function), whole, conv).values():
        report.require()


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "random"])
@pytest.mark.parametrize(
    ("function", "bug"),
    [pytest.param(name, bug, id=f"{name} {bug}") for name, bugs in BUGS.items() for bug in bugs],
)
def test_every_planted_bug_is_caught_by_every_check(function: str, bug: str, whole: bool) -> None:
    loops = planted(function, *BUGS[function][bug])
    strided, plain = (judge(function, loops, whole, conv) for conv in SETTINGS)
    for oracle in strided:
        caught = [report for report in (strided[oracle], plain[oracle]) if not report]
        assert caught, f"{oracle} misses it with and without stride and padding"
        assert all(report.wrong for report in caught), "caught by its numbers, not by its shape"


def test_numerical_looks_at_as_many_weights_as_asked_always_the_same() -> None:
    x, w, _, dy = case(whole=False).values()
    got = np.float32(reference.conv2d_grad_weight(x, w.shape, dy, STRIDE, PADDING))
    reports = [check.numerical(got * 2, x, w, dy, STRIDE, PADDING, samples=10) for _ in range(2)]
    assert (reports[0].count, reports[0].wrong) == (10, 10)
    assert reports[0] == reports[1]
    assert check.numerical(got, x, w, dy, STRIDE, PADDING).count == w.size


def test_adjoint_judges_both_gradients_and_wants_at_least_one() -> None:
    x, w, _, dy = case(whole=True).values()
    grad_weight = np.float32(reference.conv2d_grad_weight(x, w.shape, dy, STRIDE, PADDING))
    grad_input = np.float32(reference.conv2d_grad_input(x.shape, w, dy, STRIDE, PADDING))
    report = check.adjoint(x, w, dy, STRIDE, PADDING, grad_weight=grad_weight, grad_input=grad_input + 1)
    assert (report.count, report.wrong, report.mismatches[0][0]) == (2, 1, (1,))
    with pytest.raises(TypeError, match="grad_weight=, grad_input= or both"):
        check.adjoint(x, w, dy, STRIDE, PADDING)
    with pytest.raises(TypeError, match="adjoint got \\['grad_bias'\\]"):
        check.adjoint(x, w, dy, STRIDE, PADDING, grad_bias=dy[0, :, 0, 0])
    swapped = check.adjoint(x, w, dy, STRIDE, PADDING, grad_weight=grad_weight.swapaxes(0, 1))
    assert not swapped
    assert "grad_weight must have the shape (3, 2, 3, 3)" in swapped.reason


# --- Comparing and reporting ------------------------------------------------------------


def test_reports_are_one_line_each_and_stand_below_each_other() -> None:
    reports = [
        check.Report("grad_weight", (6, 1, 5, 5), count=150),
        check.Report("d_b", (32, 256, 14, 14), count=1605632, wrong=2, error=3.81e-6, share=1.5),
        check.Report("grad_bias", (6,), count=6, error=2.5, share=np.inf),
    ]
    lines = [repr(report) for report in reports]
    words = "grad_weight  (6, 1, 5, 5)       150 of 150 right          largest error 0 (0.00 of the tolerance)"
    assert lines[0] == words
    assert "1605630 of 1605632 right" in lines[1]
    for column in (" (", "largest error "):
        assert len({line.index(column) for line in lines}) == 1, lines
    assert not any("\n" in line for line in lines)


def test_nan_and_infinity_are_right_only_where_they_are_wanted() -> None:
    nan, inf = np.nan, np.inf
    got = np.float32([nan, inf, nan, inf, -inf, 1, 1, 2])
    want = [nan, inf, 1, 1, inf, nan, inf, 2]
    report = check.compare("special", got, want, 10)
    assert (report.count, report.wrong, report.error) == (8, 5, inf)
    assert not check.compare("special", np.float32([inf]), [1.0], inf), "even an infinite tolerance"
    assert not check.compare("special", np.float32([1]), [2.0], nan), "a tolerance of NaN allows nothing"


def test_the_tolerance_may_differ_from_element_to_element() -> None:
    report = check.compare("steps", np.float32([1, 2, 3]), [1.5, 2.5, 3], [0.5, 0.25, 0])
    assert (report.wrong, report.error, report.share) == (1, 0.5, 2)
    assert report.mismatches == (((1,), 2.0, 2.5),)


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (np.zeros((2, 3), np.float32), "the shape must be (3, 2)"),
        (np.zeros((3, 2)), "float64, it must be float32"),
        (np.zeros((3, 2), np.float16), "float16, it must be float32"),
        ([[0, 0]] * 3, "int64, it must be float32"),
        (None, "object, it must be float32"),
    ],
)
def test_a_wrong_shape_or_dtype_is_a_failing_report(got, reason: str) -> None:
    report = check.compare("zeros", got, np.zeros((3, 2)), 1)
    assert not report
    assert reason in repr(report)
    assert report.explain() == repr(report)


def test_a_gradient_that_fits_no_convolution_is_a_failing_report() -> None:
    x, w, b, dy = case(whole=True).values()
    conv = {"stride": STRIDE, "padding": PADDING}
    reports = [
        check.conv2d(dy[:, :, 1:], x, w, b, **conv),
        check.grad_weight(w[:, :, :, :-2], x, dy, **conv),
        check.grad_weight(w[0], x, dy, **conv),
        check.grad_weight(w.swapaxes(0, 1), x, dy, **conv),
        check.grad_weight(np.zeros((3, 2, 9, 9), np.float32), x, dy, **conv),
        check.grad_input(x[1:], w, dy, **conv),
        check.grad_bias(b[1:], dy),
    ]
    assert not any(reports)
    assert all(report.reason and report.count == 0 for report in reports)
    assert "do not fit together at stride 2, padding (1, 2)" in repr(reports[1])


def test_nothing_compared_is_not_right() -> None:
    assert not check.compare("empty", np.zeros((0, 3), np.float32), np.zeros((0, 3)), 1)
    assert not check.compare("nowhere", np.zeros(3, np.float32), np.zeros(3), 1, where=False)


def test_a_report_says_where_and_how_many() -> None:
    got, want = np.zeros((2, 5), np.float32), np.zeros((2, 5))
    assert check.compare("right", got, want, 0).require().ok
    got[1] = [0, 0.5, 1, 2, np.nan]
    got[0, 0] = -3
    report = check.compare("grad_weight", got, want, 0.75)
    assert (report.wrong, report.count, report.mismatches[:2]) == (4, 10, (((0, 0), -3.0, 0.0), ((1, 2), 1.0, 0.0)))
    text = report.explain()
    assert text.splitlines()[0] == "grad_weight (2, 5): 4 of 10 wrong"
    assert "  at [1, 2]: got 1, want 0" in text.splitlines()
    assert "more" not in text
    assert "  and 1 more" in check.compare("x", got, want, 0.25).explain()
    with pytest.raises(check.CheckError, match=r"4 of 10 wrong\n  at \[0, 0\]: got -3, want 0"):
        report.require()
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.wrong = 0


def test_a_notebook_shows_the_message_and_no_stack(capsys: pytest.CaptureFixture) -> None:
    shell = InteractiveShell()
    shell.push({"report": check.compare("grad_bias", np.float32([1]), [2.0], 0)})
    assert shell.run_cell("assert report.require()").error_in_exec is not None
    shown = "".join(capsys.readouterr())
    assert "CheckError: grad_bias (1,): 1 of 1 wrong\n  at [0]: got 1, want 2" in shown
    assert "Traceback" not in shown
    assert "require" not in shown
