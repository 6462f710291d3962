"""Every rung of every operation, against the float64 reference and against its own contract."""

import numpy as np
import pytest
from hypothesis import given
from problems import (
    EVERY_RUNG,
    answer,
    inputs,
    launched,
    operation,
    require_close,
    require_exact,
    rungs_of,
    shapes,
    whole,
)

import helpers
from helpers import wgsl
from helpers.shapes import ConvShape

every_rung = pytest.mark.parametrize("kernel", EVERY_RUNG, ids=lambda kernel: kernel.name)
every_input_rung = pytest.mark.parametrize("kernel", rungs_of("conv2d_grad_input"), ids=lambda kernel: kernel.rung)


# --- Right for every shape ------------------------------------------------------------------------------


@every_rung
@given(shape=shapes())
def test_whole_numbers_come_out_exactly(kernel, shape):
    require_exact(kernel, shape)


@every_rung
@given(shape=shapes())
def test_random_numbers_come_out_within_the_proven_tolerance(kernel, shape):
    require_close(kernel, shape)


@every_rung
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(ConvShape(1, 1, 1, 1, 1, 1, 1), id="one of everything"),
        pytest.param(ConvShape(2, 3, 35, 18, 2, 3, 4, 2, 1, 2), id="more pixels than one 16x16 tile"),
        pytest.param(ConvShape(3, 2, 20, 19, 2, 2, 3), id="more products than 256 threads"),
        pytest.param(ConvShape(1, 20, 4, 5, 19, 2, 2), id="more weights than 256 threads"),
        pytest.param(ConvShape(2, 2, 11, 12, 2, 9, 8, 1, 3, 4), id="kernel over 7x7"),
        pytest.param(ConvShape(1, 2, 20, 18, 2, 17, 16), id="kernel over 256 weights"),
        pytest.param(ConvShape(1, 1, 66, 66, 2, 65, 64), id="kernel over 4,096 weights"),
        pytest.param(ConvShape(2, 2, 11, 13, 3, 2, 1, 4), id="stride over kernel"),
        pytest.param(ConvShape(2, 2, 3, 2, 2, 2, 3, 2, 5, 7), id="padding over kernel"),
    ],
)
def test_a_named_case_comes_out_exactly(kernel, shape):
    require_exact(kernel, shape)


@every_input_rung
def test_grad_input_serves_more_planes_than_a_dispatch_has_layers(kernel):
    require_exact(kernel, ConvShape(32_769, 2, 1, 2, 1, 1, 2, 1, 0, 1))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("conv2d/1_thread_per_output", ConvShape(4097, 1, 1, 1, 4096, 1, 1)),
        ("conv2d_grad_weight/1_thread_per_weight", ConvShape(1, 4096, 1, 1, 4097, 1, 1)),
        ("conv2d_grad_input/1_gather", ConvShape(4097, 4096, 1, 1, 1, 1, 1)),
    ],
)
def test_more_elements_than_one_row_of_workgroups_has_threads(name, shape):
    """1x1 images make each operation an outer product: 16.8 million elements from a few thousand."""
    kernel = wgsl.load(*name.split("/"))
    left, right, *bias = inputs(kernel, shape)
    got = launched(kernel, shape, [left, right, *bias]).reshape(4097, 4096)
    assert got.size > 65_535 * 256
    assert np.array_equal(got, np.outer(left, right) + sum(bias))


# --- Nothing from where nothing was met -----------------------------------------------------------------

# The stride skips the pixels of rows 2 and 5, the windows at both ends lie in the padding, and so do the weights
# left and right of the only column.
SPARSE = ConvShape(1, 1, 6, 1, 1, 2, 3, 3, 3, 1)
IDLE = {  # how many numbers that an operation reads meet nothing: 2 pixels, 4 weights, 2 outputs
    "conv2d": 2 + 4,
    "conv2d_grad_weight": 2 + 2,
    "conv2d_grad_input": 2 + 4,
    "conv2d_grad_bias": 0,  # the bias meets every output
}


@every_rung
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_a_number_leaks_into_nothing_that_it_did_not_meet(kernel, poison):
    """Poison one number at a time: what it does not meet must stay as it was."""
    clean = inputs(kernel, SPARSE)
    ones = [np.ones_like(tensor) for tensor in clean]
    want = launched(kernel, SPARSE, clean)
    idle = 0
    for which, place in ((i, p) for i, tensor in enumerate(clean) for p in np.ndindex(tensor.shape)):
        got = launched(kernel, SPARSE, _with(clean, which, place, poison))
        without = answer(kernel, SPARSE, *_with(ones, which, place, 0))
        missed = without == answer(kernel, SPARSE, *ones)
        assert np.array_equal(got[missed], want[missed])
        idle += missed.all()
    assert idle == IDLE[operation(kernel)]


def _with(tensors: list[np.ndarray], which: int, place: tuple[int, ...], value: float) -> list[np.ndarray]:
    """Copies of the tensors, with one number replaced."""
    copies = [tensor.copy() for tensor in tensors]
    copies[which][place] = value
    return copies


@every_input_rung
def test_a_pixel_that_no_window_covered_has_gradient_zero(kernel):
    """Even where every number is NaN."""
    shape = ConvShape(2, 2, 9, 10, 3, 2, 1, 4)  # windows cover rows 0, 1, 4, 5 and columns 0, 4, 8
    nothing_but_nan = [np.full_like(tensor, np.nan) for tensor in inputs(kernel, shape)]
    got = launched(kernel, shape, nothing_but_nan)
    got[np.ix_([0, 1], [0, 1], [0, 1, 4, 5], [0, 4, 8])] = 0
    assert (got == 0).all()


# --- Rungs among each other, and gradients against the forward pass ---------------------------------------


def solved(s: ConvShape, x: np.ndarray, w: np.ndarray, dy: np.ndarray) -> dict[str, list[np.ndarray]]:
    """Each gradient from the public functions, once by every rung."""
    padding = s.padding_h, s.padding_w
    calls = {
        "conv2d_grad_weight": lambda rung: helpers.conv2d_grad_weight(x, s.weight, dy, s.stride, padding, kernel=rung),
        "conv2d_grad_input": lambda rung: helpers.conv2d_grad_input(s.input, w, dy, s.stride, padding, kernel=rung),
        "conv2d_grad_bias": lambda rung: helpers.conv2d_grad_bias(dy, kernel=rung),
    }
    return {name: [call(rung) for rung in wgsl.rungs(name)] for name, call in calls.items()}


@given(shape=shapes())
def test_all_rungs_give_the_same_answer(shape):
    gradients = solved(shape, whole(shape.input, 0), whole(shape.weight, 1), whole(shape.output, 2))
    for answers in gradients.values():
        assert len(answers) >= 2
        assert all(np.array_equal(answer, answers[0]) for answer in answers)


@given(shape=shapes())
def test_gradients_are_adjoint_to_the_forward_pass_on_the_gpu(shape):
    """<conv2d(x, w, b), dy> = <x, grad_input> + <b, grad_bias> = <w, grad_weight> + <b, grad_bias>, exactly."""
    x, w, b, dy = (whole(shape.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"]))
    output = helpers.conv2d(x, w, b, shape.stride, (shape.padding_h, shape.padding_w))
    loss = _dot(output, dy)
    gradients = solved(shape, x, w, dy)
    for grad_input, grad_weight, grad_bias in zip(
        *(gradients[f"conv2d_grad_{name}"] for name in ("input", "weight", "bias")), strict=True
    ):
        assert _dot(x, grad_input) + _dot(b, grad_bias) == loss
        assert _dot(w, grad_weight) + _dot(b, grad_bias) == loss


def _dot(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.vdot(left.astype(np.float64), right))
