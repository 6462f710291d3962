"""Digits in inverted ink are read wrong, and the reader is warned, but not of what the network learned to read."""

import warnings

import numpy as np
import pytest

from helpers.data.digits import seen_and_unseen
from helpers.network.ink import MUCH, share_of_ink
from helpers.network.layers import Linear
from helpers.network.network import Network
from helpers.network.training import Training

SEEN, LABELS, UNSEEN, _ = seen_and_unseen()
FEW = slice(100)
ONE_LAYER = (Linear("classes", 10, activation="none"),)


def warned(learned: np.ndarray | None, images: np.ndarray) -> list[str]:
    """The warnings of a network that learns from some images, if any, and reads others twice, on one line."""
    network = Network(ONE_LAYER, images.shape[1:])
    if learned is not None:
        Training(network, learned, LABELS[: len(learned)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            assert network.predict(images).shape == (len(images),)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def test_inverted_ink_is_said_once_with_the_array_its_ink_and_the_rule():
    assert warned(SEEN[FEW], 1 - UNSEEN[FEW]) == [
        "images: on average, 87 % of an image is ink; in those that this network learned from, it was 13 %. The "
        "network expects white on black (0 is paper, 1 is ink): if your images are black on white, use 1 - images."
    ]


def test_each_digit_alone_is_on_its_side():
    digits = np.concatenate([SEEN, UNSEEN])
    assert max(map(share_of_ink, digits[:, None])) < 1 - MUCH
    assert min(map(share_of_ink, 1 - digits[:, None])) > MUCH


NOISE = np.random.default_rng(0).normal(size=(100, 1, 28, 28)).astype(np.float32)
QUIET = {
    "digits": (SEEN[FEW], UNSEEN[FEW]),
    "a network that learned black on white": (1 - SEEN[FEW], 1 - UNSEEN[FEW]),
    "a network that learned nothing": (None, 1 - UNSEEN[FEW]),
    "numbers that are no ink": (NOISE, NOISE + 2),
    "ink in three channels": (SEEN[FEW].repeat(3, axis=1), 1 - UNSEEN[FEW].repeat(3, axis=1)),
    "features": (SEEN[FEW].reshape(100, -1), 1 - UNSEEN[FEW].reshape(100, -1)),
    "images with as much ink as paper": (SEEN[FEW], np.full_like(UNSEEN[FEW], 0.5)),
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_of(name):
    assert warned(*QUIET[name]) == []
