"""Real handwritten digits, shipped with the project: no lesson downloads anything."""

from functools import cache
from pathlib import Path

import numpy as np

Array = np.ndarray

FILE = Path(__file__).with_name("digits.npz")


@cache
def load(count: int = 1000) -> tuple[Array, Array]:
    """The first MNIST digits of 5,000, in the order 0, 1, ..., 9, 0, 1, ...

    Returns
    -------
    images : uint8 array (count, 28, 28), ink from 0 to 255
    labels : uint8 array (count,)
    """
    with np.load(FILE) as data:
        return data["images"][:count], data["labels"][:count]


def seen_and_unseen() -> tuple[Array, Array, Array, Array]:
    """Digits from which a network learns, and others that it never sees: images and labels of 4,000, then of 1,000.

    Images are float32 (N, 1, 28, 28), ink from 0 to 1; labels are uint8 (N,). Each class has a tenth of both.
    """
    images, labels = load(5000)
    ink = images[:, None].astype(np.float32) / 255
    return ink[:4000], labels[:4000], ink[4000:], labels[4000:]


def conv1_input(count: int = 1, first: int = 0) -> Array:
    """Digits as the input of LeNet's first convolution, (count, 1, 28, 28).

    Ink is rounded down to whole numbers from 0 to 15, so that float32 sums of small multiples are exact.
    """
    images, _ = load()
    return (images[first : first + count, None] // 16).astype(np.float32)


def conv2_input() -> Array:
    """Six digits as the six channels of LeNet's second convolution, (1, 6, 12, 12).

    The middle 24 x 24 pixels of each digit, max-pooled 2 x 2 as LeNet pools its first convolution.
    """
    middle = conv1_input(6)[:, 0, 2:26, 2:26]
    return middle.reshape(1, 6, 12, 2, 12, 2).max(axis=(3, 5))
