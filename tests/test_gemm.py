"""The fused layer alone has these: tiles of any size, long sums, one b or one per item, gradients of a real layer."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from support.problems import gemm_shapes, general_versions_of, require_close, require_exact
from support.sample import sample

import helpers
from helpers.operations.gemm import reference
from helpers.operations.gemm.operations import BACKWARD, FORWARD
from helpers.operations.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.operations.harness import drawn, normal


@given(shape=gemm_shapes(most=6))
def test_the_loops_agree_with_the_vectorized_reference(shape):
    *layer, grad = drawn(BACKWARD, replace(shape, per_item=False), normal).values()
    looped = reference.pre_loops(*layer), *reference.backward_loops(*layer, grad, shape.activation)
    vectorized = reference.pre(*layer), *reference.backward(*layer, grad, shape.activation)
    for one, other in zip(looped, vectorized, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", sample(ACTIVATIONS, 2))
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
