"""Arrays that are larger than a binding are computed in chunks, and nothing is lost between them."""

from dataclasses import replace

import numpy as np
import pytest

import helpers
from helpers.operations.convolution import chunks
from helpers.operations.convolution.operations import OPERATIONS
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import drawn

LAYER = ConvShape(5, 4, 6, 7, 6, 3, 2, (2, 1), (3, 4), (1, 2), 2)  # images 672 bytes, outputs 1,560, weights 288
LIMITS = {"images": 3200, "one image": 1600, "groups of channels": 1100, "channels of a group": 600}


@pytest.fixture
def limit(request, monkeypatch) -> int:
    """As if a binding held this many bytes."""
    monkeypatch.setattr(chunks, "MAX_BINDING", request.param)
    return request.param


every_limit = pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS, indirect=True)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@every_limit
def test_the_pieces_make_the_whole(operation, limit):
    tensors = drawn(operation, LAYER)
    assert np.array_equal(chunks.compute(operation, LAYER, None, **tensors), *operation.right(LAYER, tensors))


@every_limit
def test_every_image_and_channel_is_in_one_piece_and_each_piece_fits(limit):
    covered = np.zeros(LAYER.output[:2], int)
    parts = list(chunks.chunks(LAYER))
    assert len(parts) > 1
    for chunk in parts:
        covered[chunk.images, chunk.out_channels] += 1
        assert all(4 * np.prod(chunk.shape.of(name)) <= limit for name in ("input", "weight", "output"))
    assert (covered == 1).all()


@pytest.mark.parametrize("limit", [LIMITS["one image"]], indirect=True)
def test_the_public_functions_compute_in_chunks(limit):
    operation = OPERATIONS["conv2d"]
    shape = replace(LAYER, activation="relu")
    tensors = drawn(operation, shape)
    output = helpers.conv2d(**tensors, **shape.steps, activation="relu")
    assert np.array_equal(output, *operation.right(shape, tensors))
