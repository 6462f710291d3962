"""Winograd's method: its matrices, its float64 form, and a tolerance that is neither too small nor too large."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from support.edits import Edit
from support.problems import EVERY_VERSION, parametrized, require_close
from support.sample import sample

from helpers.checks.tolerance import compare_sums
from helpers.operations.activations import ACTIVATIONS, FUNCTIONS, act
from helpers.operations.convolution import winograd
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import drawn, huge, launched, normal, operation_of, tiny, whole
from helpers.operations.registry import OPERATIONS

VERSIONS = [kernel for kernel in EVERY_VERSION if kernel.version.endswith("_winograd")]
every_winograd = parametrized(VERSIONS)
METHODS = {
    "conv2d": winograd.FORWARD,
    "conv2d_grad_input": winograd.GRAD_INPUT,
    "conv2d_grad_weight": winograd.GRAD_WEIGHT,
}

RAGGED = ConvShape(2, 5, 9, 6, 3, 3, 3, 1, (1, 0))  # the last tiles reach past the images
SHAPES = RAGGED, ConvShape(1, 1, 1, 1, 1, 3, 3, 1, 1), ConvShape(2, 3, 3, 2, 2, 3, 3, 1, (5, 7))


def subnormal(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers whose products an adapter may replace by zero."""
    return normal(shape, seed) * np.float32(2.0**-100)


def hidden(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Filters with one weight, and images with large numbers, which that weight meets for few results only."""
    if shape[2:] == (3, 3):
        return np.broadcast_to(np.pad(np.ones((1, 1), np.float32), 1), shape)
    return normal(shape, seed) * np.where(np.indices(shape).sum(0) % 2, 2**12, 1).astype(np.float32)


def extreme(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers of every magnitude from 2**-20 to 2**20."""
    return normal(shape, seed) * np.float32(2) ** np.random.default_rng(seed).integers(-20, 21, shape)


# --- The method -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_in_float64_the_method_gives_the_direct_sums(name, shape):
    tensors = drawn(OPERATIONS[name], shape, normal)
    got = METHODS[name].compute(shape, *(tensor.astype(np.float64) for tensor in tensors.values()))
    np.testing.assert_allclose(got, *OPERATIONS[name].right(shape, tensors), rtol=1e-11, atol=1e-11)


# --- The tolerance ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [normal, whole, huge, tiny, subnormal, hidden, extreme])
@every_winograd
def test_a_kernel_stays_within_the_tolerance(kernel, draw):
    require_close(kernel, RAGGED, drawn(operation_of(kernel), RAGGED, draw))


@every_winograd
def test_the_tolerance_of_direct_sums_would_be_too_small(kernel):
    name = operation_of(kernel).name
    tensors = drawn(operation_of(kernel), RAGGED, hidden)
    got = launched(kernel, RAGGED, tensors)
    assert not compare_sums(name, *got, lambda *data: METHODS[name].direct(*data, RAGGED), *tensors.values())


def test_a_sum_of_so_many_terms_that_float32_promises_nothing_is_refused():
    """By step 3: gamma is 1 where half of its numerator is 1 / u, and there is none where all of it is."""
    data = [*drawn(OPERATIONS["conv2d"], RAGGED, normal).values()][:3]
    sizes = [abs(tensor.astype(np.float64)) for tensor in data]
    total = winograd.conv2d(RAGGED, *sizes, transforms=winograd.IMAGES.absolute())
    for terms, gamma in ((2**22 - 1, 1), (2**23 - 2, 2**23 - 1)):
        method = winograd.FORWARD._replace(terms=lambda shape, terms=terms: terms - winograd.ROUNDINGS)
        np.testing.assert_allclose(method.tolerance(RAGGED, *data), gamma * total)
    method = winograd.FORWARD._replace(terms=lambda shape: 2**23 - 1 - winograd.ROUNDINGS)
    with pytest.raises(ValueError, match="float32 promises nothing"):
        method.tolerance(RAGGED, *data)


def test_a_large_bias_is_not_transformed():
    """The numbers of the images and the filters grow at the points; a bias does not."""
    input, weight, bias, *_ = drawn(OPERATIONS["conv2d"], RAGGED, normal).values()
    large = np.full_like(bias, 3e38)
    assert (winograd.FORWARD.tolerance(RAGGED, input, weight, large) < 1e34).all()
    with pytest.raises(ValueError, match="at the points"):
        winograd.FORWARD.tolerance(RAGGED, np.full_like(input, 3e38), weight, bias)


WRONG = (
    Edit("a constant of the filter", "0.5 / (NEAR_2", "0.49 / (NEAR_2"),
    Edit("a coefficient of the data", "NEAR_2 * FAR_2 * d[0]", "NEAR_2 * d[0]"),
    Edit("a sign of the data", "d[4] - FAR_2 * d[2]", "d[4] + FAR_2 * d[2]"),
    Edit("a result", "m[0] + near_even", "near_even"),
    Edit("the sign of odd terms", "let far_odd = FAR * (m[3] - m[4])", "let far_odd = FAR * (m[4] - m[3])"),
)


@pytest.mark.parametrize(("kernel", "wrong"), sample(product(VERSIONS, WRONG), 2), ids=lambda value: value.name)
def test_a_wrong_matrix_is_seen(kernel, wrong):
    with pytest.raises(AssertionError):
        require_close(kernel.edit(wrong.old, wrong.new), RAGGED)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_activation_passes_on_its_slope_times_the_tolerance(activation):
    shape = replace(RAGGED, activation=activation)
    data = drawn(OPERATIONS["conv2d"], RAGGED, normal).values()
    exact = winograd.FORWARD.direct(*data, RAGGED)
    delta = winograd.FORWARD.tolerance(shape, *data)
    function = FUNCTIONS[activation]
    right = act(exact, activation)
    allowed = function.steepest[0] * delta + function.output_error(exact)
    for got, accepted in (
        (act(exact + 0.9 * delta, activation), True),
        (right + 0.9 * allowed, True),
        (right + 1.1 * allowed, False),
    ):
        report = winograd.FORWARD.judge(np.float32(got), *data, shape)
        assert bool(report) == accepted
