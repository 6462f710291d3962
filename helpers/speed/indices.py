"""Which workgroup sums what, and which numbers a tap or a product needs: the index arithmetic of the ladder's pictures.

The tests prove each of these equal to what the kernels read.
"""

import numpy as np

POINTS = 0.0, 0.625, -0.625, 1.5, -1.5  # of Winograd's kernels, and infinity


def slice_of(split: int, splits: int, steps: int) -> range:
    """The steps along K that one of `splits` workgroups takes; together they take all of them, once."""
    return range(split * steps // splits, (split + 1) * steps // splits)


def taps_of_class(residue: int, kernel: int, stride: int) -> list[int]:
    """The rows (or columns) of a filter that reach a pixel with ``(ih + padding) % stride == residue``.

    All pixels of such a class need the same ones: an output row oh reaches the pixel through kh where
    ``oh * stride + kh == ih + padding``, so that kh has the residue of the pixel.
    """
    return list(range(residue, kernel, stride))


def winograd_matrices(outputs: int = 4, taps: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What makes outputs of products, and the factors of the products of pixels and of weights, along one axis.

    With these, ``to_outputs @ ((of_pixels @ d) * (of_weights @ g))`` is the correlation of outputs + taps - 1 pixels d
    with `taps` weights g. A polynomial of that degree is known from its values at this many points.
    Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).
    """
    others = [[q for q in POINTS if q != p] for p in POINTS]
    scale = [np.prod([p - q for q in rest]) for p, rest in zip(POINTS, others, strict=True)]
    last = np.eye(1, outputs, outputs - 1).T, np.eye(1, taps, taps - 1)
    to_outputs = np.hstack([np.vander(POINTS, outputs, increasing=True).T, last[0]])
    of_weights = np.vstack([np.vander(POINTS, taps, increasing=True) / np.array(scale)[:, None], last[1]])
    of_pixels = np.zeros((len(POINTS) + 1,) * 2)
    for row, roots in enumerate([*others, POINTS]):
        of_pixels[row, : len(roots) + 1] = np.poly(roots)[::-1]
    return to_outputs, of_pixels, of_weights
