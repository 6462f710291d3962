"""What only the fused layer has: tiles of any size, long sums, one b or one per item, and gradients of a real layer."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from support.problems import gemm_shapes, general_versions_of, require_close, require_exact

import helpers
from helpers.gemm import check, reference
from helpers.gemm.operations import BACKWARD, FORWARD
from helpers.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.gradient_checks.harness import drawn, normal

every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


@given(shape=gemm_shapes(most=6))
def test_the_loops_agree_with_the_vectorized_reference(shape):
    *layer, grad = drawn(BACKWARD, replace(shape, per_item=False), normal).values()
    looped = reference.pre_loops(*layer), *reference.backward_loops(*layer, grad, shape.activation)
    vectorized = reference.pre(*layer), *reference.backward(*layer, grad, shape.activation)
    for one, other in zip(looped, vectorized, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@every_activation
def test_a_long_sum_of_random_numbers_is_right(activation):
    shape = GemmShape(3, 4000, 5, 2, activation)
    tensors = drawn(BACKWARD, shape, normal)
    tensors["b"] /= 64  # pre stays near 0, where the derivatives differ
    for kernel in general_versions_of(FORWARD.name) + general_versions_of(BACKWARD.name):
        require_close(kernel, shape, tensors)


@pytest.mark.parametrize("operation", [FORWARD, BACKWARD], ids=lambda operation: operation.name)
@pytest.mark.parametrize("tile", [1, 4, 8])
def test_other_tiles_give_the_same_answer(operation, tile):
    require_exact(operation.kernel("2_tiled").with_constants(TILE=tile), GemmShape(9, 10, 11, 2, "relu"))


def test_items_add_up_only_where_they_share_one_b():
    tensors = drawn(BACKWARD, GemmShape(5, 6, 7, 4))
    right = helpers.gemm_bias_act_backward(**tensors, activation="relu")
    _, apart, _ = helpers.gemm_bias_act_backward(**tensors, activation="relu", per_item=True)
    assert np.array_equal(apart.sum(axis=0), right[1])
    copies = tensors | {"b": np.repeat(tensors["b"][None], 4, axis=0)}
    assert all(map(np.array_equal, right, helpers.gemm_bias_act_backward(**copies, activation="relu")))


# --- The check itself ------------------------------------------------------------------------------------


def test_tensors_that_do_not_fit_are_not_compared():
    one = np.ones((1, 1, 1), np.float32)
    layer = one, np.ones((2, 1), np.float32), np.ones(1, np.float32)
    for report in (check.gemm_bias_act(one, *layer), *check.gemm_bias_act_backward((one, one, one), *layer, one)):
        assert not report
        assert "a (1, 1, 1), b (2, 1), bias (1,), output (1, 1, 1) do not fit together" in repr(report)


@pytest.mark.parametrize(("bias", "forgiven"), [(-0.1, True), (-0.09, False)])
def test_either_derivative_is_right_at_relus_kink_and_only_there(bias, forgiven):
    """0.1 * 1 - 0.1 may round to either side of 0; 0.1 * 1 - 0.09 may not."""
    one = np.ones((1, 1, 1), np.float32)
    layer = np.float32(0.1) * one, one[0], np.float32([bias]), one
    dead = np.zeros_like(one), np.zeros((1, 1), np.float32), np.zeros(1, np.float32)
    alive = one, np.float32([[0.1]]), np.ones(1, np.float32)
    for got, right in ((alive, True), (dead, forgiven)):
        assert [bool(report) for report in check.gemm_bias_act_backward(got, *layer, "relu")] == [right] * 3
