"""The reference itself: forward against SciPy, gradients against forward, and the loops against both."""

import numpy as np
import pytest
import scipy  # whose parts are loaded where they are first used
from hypothesis import example, given, settings
from support.problems import conv_shapes
from support.sample import ALL

from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import normal

SKIPPED = ConvShape(2, 2, 7, 6, 3, 2, 1, stride=4)  # no window covers rows 2, 3 and 6 of the input
PADDED = ConvShape(1, 1, 1, 2, 2, 2, 3, stride=3, padding=(5, 4))  # windows in the padding alone


def data(shape: ConvShape, first: int = 0) -> list[np.ndarray]:
    """Input, weight, bias and upstream gradient, float32."""
    return [normal(shape.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"], first)]


def all_four(shape: ConvShape) -> list[np.ndarray]:
    """Output and the three gradients."""
    x, w, b, dy = data(shape)
    return [
        reference.conv2d(x, w, b, **shape.steps),
        reference.conv2d_grad_weight(x, w.shape, dy, **shape.steps),
        reference.conv2d_grad_input(x.shape, w, dy, **shape.steps),
        reference.conv2d_grad_bias(dy),
    ]


def by_scipy(shape: ConvShape) -> np.ndarray:
    """The output by SciPy's correlation, from what the words mean.

    A dilated filter has zeros between its weights, a filter correlates with the channels of its own group, and a
    stride keeps some of the outputs, rows and columns each their own.
    """
    x, w, b, _ = (array.astype(np.float64) for array in data(shape))
    (ph, pw), (sh, sw), (dh, dw) = shape.padding, shape.stride, shape.dilation
    padded = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    filters = np.zeros((*w.shape[:2], shape.span("h"), shape.span("w")))
    filters[:, :, ::dh, ::dw] = w
    output = np.zeros(shape.output)
    for n, co in np.ndindex(*shape.output[:2]):
        group = np.split(padded[n], shape.groups)[co * shape.groups // shape.out_channels]
        output[n, co] = scipy.signal.correlate(group, filters[co], "valid")[0, ::sh, ::sw] + b[co]
    return output


def agree(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """Same shapes, all float64, and equal up to float64 rounding."""
    return all(
        a.shape == b.shape and a.dtype == b.dtype == np.float64 and np.allclose(a, b, rtol=1e-12, atol=1e-12)
        for a, b in zip(left, right, strict=True)
    )


@settings(max_examples=100 if ALL else 25)
@given(conv_shapes(6, 3, 3, general=True))
@example(SKIPPED)
@example(PADDED)
def test_the_output_is_scipys_and_the_loss_changes_along_a_random_step_as_its_gradients_say(shape: ConvShape) -> None:
    """The loss <output, dy> is linear in each of input, weight and bias, so that a step of any size shows a mistake."""
    right = all_four(shape)
    *tensors, dy = data(shape)
    steps = data(shape, 4)
    assert agree([by_scipy(shape)], right[:1])
    for place, gradient in zip((1, 0, 2), right[1:], strict=True):
        moved = [*tensors]
        moved[place] = tensors[place].astype(np.float64) + steps[place]
        change = np.vdot(reference.conv2d(*moved, **shape.steps) - right[0], dy)
        assert gradient.shape == tensors[place].shape
        assert np.vdot(gradient, steps[place]) == pytest.approx(change, rel=1e-9, abs=1e-9)


@given(conv_shapes(image=6, filter=4, padding=5))
@example(SKIPPED)
@example(PADDED)
def test_loops_and_vectorized_versions_agree(shape: ConvShape) -> None:
    assert agree(reference.conv2d_loops(*data(shape), shape.stride_h, shape.padding), all_four(shape))


MISTAKES = {
    "shifted": lambda windows: np.roll(windows, 1, axis=3),
    "transposed": lambda windows: windows.swapaxes(4, 5),
    "one item for all": lambda windows: windows[:1].repeat(len(windows), axis=0),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_scipy_notices_a_mistake_in_the_windows(mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    right, shape = reference._windows, ConvShape(2, 2, 5, 7, 3, 3, 3, stride=2, padding=(1, 0))
    monkeypatch.setattr(reference, "_windows", lambda *arguments: mistake(right(*arguments)))
    assert not agree([by_scipy(shape)], all_four(shape)[:1])
