"""The reference itself: loops against vectorized versions, both against SciPy, and numbers worked out by hand."""

import inspect

import numpy as np
import pytest
from hypothesis import example, given, settings
from scipy import signal
from support.problems import conv_shapes

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.oracles.harness import conv, normal

FUNCTIONS = ["conv2d", "conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias"]
small_shapes = conv_shapes(image=6, filter=4, padding=5)
SKIPPED = ConvShape(2, 2, 7, 6, 3, 2, 1, stride=4)  # no window covers rows 2, 3 and 6 of the input
PADDED = ConvShape(1, 1, 1, 2, 2, 2, 3, stride=3, padding=(5, 4))  # windows in the padding alone


def data(shape: ConvShape) -> list[np.ndarray]:
    """Input, weight, bias and upstream gradient, float32."""
    return [normal(shape.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"])]


def all_four(shape: ConvShape, suffix: str = "") -> list[np.ndarray]:
    """Output and the three gradients, from the loops or vectorized."""
    x, w, b, dy = data(shape)
    forward, grad_weight, grad_input, grad_bias = (getattr(reference, name + suffix) for name in FUNCTIONS)
    options = {"stride": shape.stride_h, "padding": shape.padding} if suffix else conv(shape)
    return [
        forward(x, w, b, **options),
        grad_weight(x, w.shape, dy, **options),
        grad_input(x.shape, w, dy, **options),
        grad_bias(dy),
    ]


def derived_four(shape: ConvShape) -> list[np.ndarray]:
    """The same by the loops at stride 1, from what the words mean.

    A dilated filter has zeros between its weights, a group's filter has zeros for the channels of other groups, and a
    stride keeps some of the outputs, rows and columns each their own.
    """
    x, w, b, dy = data(shape)
    group_in, group_out = shape.weight[1], shape.out_channels // shape.groups
    filters = np.zeros((shape.out_channels, shape.in_channels, shape.span("h"), shape.span("w")))
    spread = np.zeros((*dy.shape[:2], shape.padded("h") - shape.span("h") + 1, shape.padded("w") - shape.span("w") + 1))
    spread[:, :, :: shape.stride_h, :: shape.stride_w] = dy

    def own(array: np.ndarray) -> list[np.ndarray]:
        """For each filter, a view of its own weights."""
        firsts = (co // group_out * group_in for co in range(len(array)))
        steps = np.s_[:: shape.dilation_h, :: shape.dilation_w]
        return [each[first : first + group_in][:, *steps] for each, first in zip(array, firsts, strict=True)]

    for mine, weights in zip(own(filters), w, strict=True):
        mine[:] = weights
    output = reference.conv2d_loops(x, filters, b, 1, shape.padding)[:, :, :: shape.stride_h, :: shape.stride_w]
    grad_weight = reference.conv2d_grad_weight_loops(x, filters.shape, spread, 1, shape.padding)
    grad_input = reference.conv2d_grad_input_loops(x.shape, filters, spread, 1, shape.padding)
    return [output, np.array(own(grad_weight)), grad_input, reference.conv2d_grad_bias_loops(dy)]


def scipy_four(shape: ConvShape) -> list[np.ndarray]:
    """The same by SciPy: correlate, correlate with the spread-out upstream gradient, full convolution, sum."""
    x, w, b, dy = (a.astype(np.float64) for a in data(shape))
    (ph, pw), (h, wd), s = shape.padding, (shape.in_h, shape.in_w), shape.stride_h
    padded = np.zeros((*x.shape[:2], h + 2 * ph, wd + 2 * pw))
    padded[:, :, ph : ph + h, pw : pw + wd] = x
    spread = np.zeros((*dy.shape[:2], (shape.out_h - 1) * s + 1, (shape.out_w - 1) * s + 1))
    spread[:, :, ::s, ::s] = dy  # zeros between the upstream gradients
    output, grad_weight, grad_input = np.zeros(dy.shape), np.zeros(w.shape), np.zeros(padded.shape)
    for n, co, ci in np.ndindex(shape.batch, shape.out_channels, shape.in_channels):
        output[n, co] += signal.correlate2d(padded[n, ci], w[co, ci], "valid")[::s, ::s]
        correlated = signal.correlate2d(padded[n, ci], spread[n, co], "valid")
        grad_weight[co, ci] += correlated[: shape.kernel_h, : shape.kernel_w]
        full = signal.convolve2d(spread[n, co], w[co, ci], "full")
        grad_input[n, ci, : full.shape[0], : full.shape[1]] += full
    grad_input = grad_input[:, :, ph : ph + h, pw : pw + wd]
    return [output + b[:, None, None], grad_weight, grad_input, np.einsum("nohw->o", dy)]


def agree(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """Same shapes, all float64, and equal up to float64 rounding."""
    return all(
        a.shape == b.shape and a.dtype == b.dtype == np.float64 and np.allclose(a, b, rtol=1e-12, atol=1e-12)
        for a, b in zip(left, right, strict=True)
    )


@settings(max_examples=60)
@given(conv_shapes(6, 3, 3, general=True))
def test_the_whole_signature_is_what_its_words_mean(shape: ConvShape) -> None:
    assert agree(derived_four(shape), all_four(shape))


@settings(max_examples=120)
@given(small_shapes)
@example(SKIPPED)
@example(PADDED)
def test_loops_vectorized_versions_and_scipy_agree(shape: ConvShape) -> None:
    vectorized = all_four(shape)
    assert agree(all_four(shape, "_loops"), vectorized)
    assert agree(scipy_four(shape), vectorized)


MISTAKES = {
    "shifted": lambda windows: np.roll(windows, 1, axis=3),
    "transposed": lambda windows: windows.swapaxes(4, 5),
    "one item for all": lambda windows: windows[:1].repeat(len(windows), axis=0),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_scipy_notices_a_mistake_in_the_windows(mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    right, shape = reference._windows, ConvShape(2, 2, 5, 7, 3, 3, 3, stride=2, padding=(1, 0))
    assert agree(all_four(shape), scipy_four(shape))
    monkeypatch.setattr(reference, "_windows", lambda *arguments: mistake(right(*arguments)))
    assert not agree(all_four(shape), scipy_four(shape))


@pytest.mark.parametrize("suffix", ["", "_loops"])
def test_the_classroom_puzzle_by_hand(suffix: str) -> None:
    x = np.arange(1, 26).reshape(1, 1, 5, 5)  # a..y
    dy = np.array([[7, -8, 9], [10, 11, -12], [13, 14, 15]]).reshape(1, 1, 3, 3)  # G..O
    grad_weight = getattr(reference, "conv2d_grad_weight" + suffix)(x, (1, 1, 3, 3), dy)
    a, b, c, f, g, h, k, m, n = 1, 2, 3, 6, 7, 8, 11, 12, 13  # the first window, letter by letter
    assert grad_weight[0, 0, 0, 0] == 7 * a - 8 * b + 9 * c + 10 * f + 11 * g - 12 * h + 13 * k + 14 * m + 15 * n
    assert grad_weight[0, 0, 0, 1] - grad_weight[0, 0, 0, 0] == dy.sum()  # one step right: every letter + 1
    assert grad_weight[0, 0, 1, 0] - grad_weight[0, 0, 0, 0] == 5 * dy.sum()  # one step down: + 5


def test_one_number_pads_both_axes_alike() -> None:
    x, w, _, dy = data(ConvShape(2, 2, 5, 7, 3, 3, 2, padding=2))
    assert agree([reference.conv2d(x, w, padding=2)], [reference.conv2d(x, w, padding=(2, 2))])
    by_loops = reference.conv2d_grad_weight_loops(x, w.shape, dy, padding=2)
    assert agree([by_loops], [reference.conv2d_grad_weight(x, w.shape, dy, padding=(2, 2))])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_lesson_can_show_the_loops_on_a_projector(name) -> None:
    lines = inspect.getsource(getattr(reference, f"{name}_loops")).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) < 90
    makes_array = [line for line in lines if "np.zeros(" in line or "np.asarray(" in line]
    assert makes_array
    assert all("# (" in line for line in makes_array), "each line that makes an array has a comment with its shape"
