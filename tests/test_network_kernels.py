"""Pooling, ReLU backward, cross-entropy and the update: ties and edges, their checks, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from support.edits import edited
from support.problems import pool_shapes

import helpers
from helpers.checks.differences import central_differences
from helpers.lessons.train_lenet.indices import pixels_of_window
from helpers.operations.harness import drawn, huge, normal, whole
from helpers.operations.network import check, reference
from helpers.operations.network.operations import SGD
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, UpdateShape
from helpers.operations.registry import OPERATIONS

X = np.float32([[3, 1, 1, 2], [3, 0, 2, 2], [-1, -5, -2, -7], [-5, -1, -2, -6]]).reshape(1, 1, 4, 4)
OVERLAPPING = PoolShape(2, 3, 6, 7, (3, 2), (2, 1), (1, 0))
POOL = normal(OVERLAPPING.of("input")), normal(OVERLAPPING.of("output"), 1)
LOGITS, LABELS = normal((6, 5)), LossShape(6, 5).labels()

# --- Ties and edges, known by heart -------------------------------------------------------------------------


@given(pool_shapes())
def test_each_window_passes_its_gradient_to_its_first_maximum(shape):
    x, dy = whole(shape.of("input")), whole(shape.of("output"), 1)
    want = np.zeros(x.shape)
    for n, c, oh, ow in np.ndindex(dy.shape):
        pixels = pixels_of_window(shape, oh, ow)
        want[n, c, *max(pixels, key=lambda pixel: x[n, c, *pixel])] += dy[n, c, oh, ow]  # the first of equal ones
    assert np.array_equal(reference.max_pool2d_backward(x, dy, shape), want)


# --- Tensors that are changed in place ----------------------------------------------------------------------


def test_updated_tensors_are_uploaded_and_read_back_and_the_callers_arrays_stay():
    shape = UpdateShape(5, 0.5, 0.5)
    tensors = drawn(SGD, shape)
    kept = {name: tensor.copy() for name, tensor in tensors.items()}
    moved = SGD.compute(shape, None, **tensors)
    assert all(map(np.array_equal, moved, reference.sgd(*tensors.values(), 0.5, 0.5)))
    assert all(np.array_equal(tensors[name], kept[name]) for name in kept)


# --- A check refuses what is wrong --------------------------------------------------------------------------

MISTAKES = (
    ("max_pool2d", "-np.inf", "0"),
    ("max_pool2d_backward", "is_maximum.argmax(-1)", "is_maximum.argmin(-1)"),
    ("avg_pool2d", "mean((4, 5))", "mean((4, 5)) * (1 + 2e-6)"),
    ("avg_pool2d_backward", "/ np.prod(shape.kernel)", "/ np.prod(shape.stride)"),
    ("relu_backward", "<= 0", "<= -1"),
    ("cross_entropy", "grad / len(logits)", "grad / len(logits) * (1 + 2e-5)"),
    ("cross_entropy", "np.log(", "np.log2("),
    ("cross_entropy", "-= 1", "-= 1 + 1e-5"),
    ("sgd", "* velocity, velocity", "* velocity, velocity * (1 + 2e-6)"),
    (
        "sgd",
        "momentum * np.asarray(velocity, np.float64) + grad",
        "momentum * (np.asarray(velocity, np.float64) + grad)",
    ),
)


SHAPES = {"relu_backward": ElementShape(50), "cross_entropy": LossShape(6, 5), "sgd": UpdateShape(50, 0.125, 0.5)}


@pytest.mark.parametrize(("name", "old", "new"), MISTAKES)
def test_a_check_accepts_the_right_result_and_refuses_a_wrong_one(name, old, new, monkeypatch):
    operation = OPERATIONS[name]
    right = getattr(reference, name)
    shape = SHAPES.get(name, OVERLAPPING)
    wrong = edited(right, old, new)
    # Mostly below 0, so that a 0 in the padding would win:
    tensors = drawn(operation, shape, lambda size, *seed: normal(size, *seed) - 1)
    with monkeypatch.context() as patch:
        patch.setattr(reference, name, wrong)
        planted = replace(operation, answer=wrong if operation.answer is right else operation.answer)
        returned = planted.right(shape, tensors)
    for outputs, accepted in (operation.right(shape, tensors), True), (returned, False):
        assert all(operation.reports(shape, tensors, [*map(np.float32, outputs)])) == accepted


# --- Without a reference gradient ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_the_adjoint_identity_of_pooling_accepts_the_kernels_gradient_and_refuses_another(kind):
    x, dy = POOL
    first = x if kind == "max" else x.shape
    steps = OVERLAPPING.kernel, OVERLAPPING.stride, OVERLAPPING.padding
    got = getattr(helpers, f"{kind}_pool2d_backward")(first, dy, *steps)
    forward = getattr(reference, f"{kind}_pool2d")
    assert check.adjoint(got, x, dy, OVERLAPPING, forward)
    assert not check.adjoint(got * np.float32(1.001), x, dy, OVERLAPPING, forward)
    assert not check.adjoint(got[:, :, ::-1].copy(), x, dy, OVERLAPPING, forward)


@pytest.mark.parametrize("scale", [1, 30])
def test_the_gradient_of_the_loss_is_its_slope(scale):
    logits = LOGITS.astype(float) * scale
    slopes = central_differences(lambda z: reference.cross_entropy(z, LABELS)[0].mean(), logits, 1e-4)
    for labels, right in ((LABELS, True), ((LABELS + 1) % 5, False)):
        assert np.allclose(slopes, reference.cross_entropy(logits, labels)[1], rtol=1e-6, atol=1e-8) == right


@pytest.mark.parametrize("draw", [normal, huge])
def test_the_tolerance_of_a_loss_is_small_where_the_loss_is(draw):
    logits = draw((6, 5))
    want = reference.cross_entropy(logits, LABELS)
    losses, grads = check.loss_errors(logits, LABELS, want)
    assert (losses < 1e-5 * (1 + want[0])).all()
    assert (grads < 1e-5).all()


# --- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("integer", [np.uint8, np.int64])
def test_labels_and_sizes_of_every_kind_of_integer_are_accepted(integer):
    right = helpers.cross_entropy(LOGITS, LABELS)
    assert all(map(np.array_equal, helpers.cross_entropy(LOGITS, LABELS.astype(integer)), right))
    assert np.array_equal(helpers.max_pool2d(X, integer(2), [integer(1)] * 2), helpers.max_pool2d(X, 2, 1))
