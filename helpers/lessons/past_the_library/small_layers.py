"""The small layers of this lesson's pictures, which its exercises are tried on, too, and the matrices of F(2,3)."""

import numpy as np

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.convolution.winograd import Matrices

Array = np.ndarray

IMAGE = ConvShape(1, 2, 3, 4, 3, 2, 2)  # of im2col: two channels of 3 x 4 pixels
STRIDED = ConvShape(1, 1, 8, 8, 1, 3, 3, stride=2, padding=1)  # of the residue classes
LARGE = ConvShape(32, 64, 56, 56, 64, 3, 3, padding=1)  # of split-K

PIXELS, WEIGHTS = (4, 1, 5, 2), (2, 1, 3)  # two outputs of three weights

F23 = Matrices(  # two outputs of three weights from four products
    data=np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], float),
    filter=np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    outputs=np.array([[1, 1, 1, 0], [0, 1, -1, -1]], float),
)


def rows_by_winograd(image: Array, weight: Array, matrices: Matrices = F23) -> Array:
    """Return the outputs (Co, oW) of rows (Ci, oW + 2) under filters (Co, Ci, 3), two from four products; oW is even.

    With absolute values of all numbers and matrices, it bounds the error of float32.
    """
    pieces = np.lib.stride_tricks.sliding_window_view(image, 4, 1)[:, ::2]  # (Ci, pieces, 4)
    pixels = pieces @ matrices.data.T
    filters = weight @ matrices.filter.T
    sums = np.einsum("cpj,ocj->opj", pixels, filters)
    return (sums @ matrices.outputs.T).reshape(len(weight), -1)
