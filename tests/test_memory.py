"""Memory: compiled kernels are cached while they are used, and do not add up from layer to layer."""

import gc

import numpy as np
import psutil
import pytest
from support.sample import ALL

from helpers.gpu import compiled
from helpers.operations.convolution.operations import OPERATIONS
from helpers.operations.convolution.shapes import ConvShape

LAYERS = 1000 if ALL else 60
IDLE, MOST_GROWTH = 16, 25e6  # bytes, over the second half of the layers; unbounded, 100 layers take several times this


def test_memory_stays_the_same_from_layer_to_layer(monkeypatch: pytest.MonkeyPatch):
    """Each of these layers has a text of its own."""
    monkeypatch.setattr(compiled, "IDLE", IDLE)
    operation = OPERATIONS["conv2d"]
    process = psutil.Process()
    held = []
    before = len(compiled.PIPELINES)
    for i in range(LAYERS):
        shape = ConvShape(1, 2, 3 + i % 25, 4 + i // 25, 2, 3, 3, 1, 1)
        data = {name: np.ones(shape.of(name), np.float32) for name in ("input", "weight", "bias")}
        operation.compute(shape, "5_direct", **data)
        held.append(process.memory_info().rss)
    gc.collect()
    assert len(compiled.PIPELINES) <= IDLE + before
    assert held[-1] - held[LAYERS // 2] < MOST_GROWTH
