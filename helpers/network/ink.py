"""The share of ink in images: digits in black on white are read wrong by a network that learned white on black."""

import warnings
from weakref import WeakKeyDictionary

import numpy as np

# Of 5,000 digits, each has 3 to 31 % ink, and in inverted ink 69 to 97 %.
LITTLE = 0.25
MUCH = 0.6
_learned: WeakKeyDictionary = WeakKeyDictionary()  # the ink of what a network learned from


def share_of_ink(images: np.ndarray) -> float | None:
    """The mean of images in one channel (N, 1, H, W) with numbers from 0 to 1, where 0 is paper; None for others."""
    if images.ndim != 4 or images.shape[1] != 1 or not images.size:
        return None
    if images.min() < 0 or images.max() > 1:
        return None
    return float(images.mean())


def keep_ink(network: object, images: np.ndarray) -> None:
    """Keep the share of ink in the images from which a network learns."""
    _learned[network] = share_of_ink(images)


def warn_of_inverted_ink(network: object, images: np.ndarray) -> None:
    """Warn the caller's caller where images are mostly ink, and those from which the network learned mostly paper."""
    learned = _learned.get(network)
    here = share_of_ink(images)
    if learned is None or here is None:
        return
    if learned > LITTLE or here < MUCH:
        return
    warnings.warn(
        f"images: on average, {100 * here:.0f} % of an image is ink; in those that this network learned from, it was "
        f"{100 * learned:.0f} %. The network expects white on black (0 is paper, 1 is ink): if your images are black "
        "on white, use 1 - images.",
        stacklevel=3,
    )
