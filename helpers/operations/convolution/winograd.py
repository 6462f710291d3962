"""Winograd's method for 3x3 filters at stride 1: its matrices, the method in float64, and its rounding errors.

Along one axis, `outputs` results of a filter of `taps` numbers take outputs * taps products. Winograd's method takes 6
where outputs + taps = 7: ``A^T [(G g) * (B^T d)]`` for the filter g (taps,) and the data d (6,). It is a product of
two polynomials, transposed: G and A hold powers of the 6 points 0, a, -a, b, -b and infinity, at which both would be
multiplied by their values, and B^T finds coefficients from values. Along two axes it is
``A^T [(G g G^T) * (B^T d B)] A``.
(S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional
Neural Networks, CVPR 2016.)

How far a right float32 kernel may be from the exact result, in five steps, with u and gamma_n as in
`helpers/checks/tolerance.py`:

1. A transform along one axis is a sum for each result. In whatever order it is evaluated, a term of B^T d has at
   most 5 roundings (3 sums, 2 factors), one of G g at most 9 (3 sums, 3 factors, and 3 for the one constant that is
   not exact, a quotient), one of A^T m at most 6 (4 sums, 2 factors).
2. Two axes take twice as many. Of K products for each point, a term has one multiplication and at most K - 1 sums;
   a bias adds one. So no term has more than m = K + 41 roundings.
3. Each computed result is a sum of terms (1 + e), |e| <= gamma_m, so that
   |got - exact| <= gamma_m |A^T| [sum of (|G| |g| |G^T|) * (|B^T| |d| |B|)] |A|:
   the same method with absolute values in place of all numbers and matrices.
   (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, chapter 3; B. Barabasz, A. Anderson,
   K. M. Soodhalter and D. Gregg, Error analysis and improving the accuracy of Winograd convolution for deep neural
   networks, ACM Transactions on Mathematical Software 46(4), 2020.)
4. Numbers below 2**-126 may become zero: at most 12 times in a transform of one axis, each time losing less than that,
   times r >= 1, the largest sum of absolute values in a row of the matrix. Both axes lose at most 25 r**2 * 2**-126.
5. Whole numbers do not stay whole at the points, so there is no exact case.

The bound is far larger than that of direct sums: real errors are, too, but much less so. They depend on a and b. For
numbers from the normal distribution, 5/8 and 3/2 give less than half the error of the usual 1 and 2, and no pair of 40
that were tried, multiples of 1/16 up to 2, gives clearly less. All products of these two are exact in float32.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from helpers.checks.report import Report
from helpers.checks.tolerance import FLOAT32_MAX, ROUNDING, SMALLEST_NORMAL
from helpers.operations.activations import compare_activated
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray

NEAR, FAR = Fraction(5, 8), Fraction(3, 2)
POINTS = (Fraction(0), NEAR, -NEAR, FAR, -FAR)  # and infinity
TILE = 4  # rows and columns of a tile, of the images that come out or of the gradient that goes in
ROUNDINGS = 2 * (5 + 9 + 6) + 1


class Matrices(NamedTuple):
    """B^T (6, 6), G (6, taps) and A^T (outputs, 6)."""

    data: Array
    filter: Array
    outputs: Array

    def absolute(self) -> "Matrices":
        """The absolute values of all elements."""
        return Matrices(np.abs(self.data), np.abs(self.filter), np.abs(self.outputs))

    def gains(self) -> list[float]:
        """The factors by which each can enlarge a number along both axes: r**2 of step 4."""
        return [float(matrix.sum(1).max()) ** 2 for matrix in self.absolute()]


def matrices(outputs: int, taps: int) -> Matrices:
    """The matrices of F(outputs, taps), where outputs + taps = 7, rounded to float64."""
    data = []
    filters = []
    for p in POINTS:
        others = [q for q in POINTS if q != p]
        scale = np.prod([p - q for q in others])
        data.append([*_coefficients(others), 0])
        filters.append([p**j / scale for j in range(taps)])
    data.append(_coefficients(POINTS))
    filters.append([0] * (taps - 1) + [1])  # infinity: the highest power alone
    results = []
    for i in range(outputs):
        infinity = 1 if i == outputs - 1 else 0
        results.append([p**i for p in POINTS] + [infinity])
    return Matrices(np.array(data, np.float64), np.array(filters, np.float64), np.array(results, np.float64))


def _coefficients(zeros: Sequence[Fraction]) -> Array:
    """The coefficients of the polynomial with these zeros, that of the lowest power first."""
    return np.poly(zeros)[::-1]


IMAGES = matrices(4, 3)  # F(4x4, 3x3), where images come out
WEIGHTS = matrices(3, 4)  # F(3x3, 4x4), where weights come out

# --- The method in float64 --------------------------------------------------------------------------------


def conv2d(shape: ConvShape, input: Array, weight: Array, bias: Array, transforms: Matrices = IMAGES) -> Array:
    """The output (N, Co, oH, oW) of input (N, Ci, H, W), weight (Co, Ci, 3, 3) and bias (Co,)."""
    corner = shape.padding_h, shape.padding_w
    return _images(shape.output, input, weight, corner, transforms) + np.reshape(bias, (-1, 1, 1))


def conv2d_grad_input(shape: ConvShape, grad_output: Array, weight: Array, transforms: Matrices = IMAGES) -> Array:
    """The gradient (N, Ci, H, W) from grad_output (N, Co, oH, oW) and weight (Co, Ci, 3, 3)."""
    flipped = weight.swapaxes(0, 1)[..., ::-1, ::-1]
    corner = 2 - shape.padding_h, 2 - shape.padding_w
    return _images(shape.input, grad_output, flipped, corner, transforms)


def conv2d_grad_weight(shape: ConvShape, grad_output: Array, input: Array, transforms: Matrices = WEIGHTS) -> Array:
    """The gradient (Co, Ci, 3, 3) from grad_output (N, Co, oH, oW) and input (N, Ci, H, W)."""
    tiles = ceil(shape.out_h / TILE), ceil(shape.out_w / TILE)
    gradients = _both_axes(transforms.filter, _pieces(grad_output, tiles, TILE, (0, 0)))
    pixels = _both_axes(transforms.data, _pieces(input, tiles, TILE + 2, (shape.padding_h, shape.padding_w)))
    products = np.einsum("nohwpq,nchwpq->ocpq", gradients, pixels, optimize=True)
    return _both_axes(transforms.outputs, products)


def _images(size: tuple[int, ...], data: Array, filters: Array, corner: tuple[int, int], transforms: Matrices) -> Array:
    """Images of this size from data (N, C, ...), its first pixel at `corner`, and filters (results, C, 3, 3)."""
    count, channels, rows, columns = size
    tiles = ceil(rows / TILE), ceil(columns / TILE)
    at_points = _both_axes(transforms.data, _pieces(data, tiles, TILE + 2, corner))
    products = np.einsum("ocpq,nchwpq->nohwpq", _both_axes(transforms.filter, filters), at_points, optimize=True)
    pixels = _both_axes(transforms.outputs, products)  # (N, results, tiles, tiles, 4, 4)
    joined = pixels.swapaxes(3, 4).reshape(count, channels, tiles[0] * TILE, tiles[1] * TILE)
    return joined[..., :rows, :columns]


def _both_axes(matrix: Array, pieces: Array) -> Array:
    """A transform along the last two axes."""
    return matrix @ pieces @ matrix.T


def _pieces(images: Array, tiles: tuple[int, int], size: int, corner: tuple[int, int]) -> Array:
    """Pieces of `size` x `size` that begin every 4 pixels, (N, C, tiles, tiles, size, size), of images among zeros.

    The first pixel of an image lies at `corner` of the first piece; it may lie outside.
    """
    zeros = [(0, 0), (0, 0)]
    parts = []  # of the padded images, along each axis
    for first, length, count in zip(corner, images.shape[2:], tiles, strict=True):
        covered = TILE * count + size - TILE  # by all pieces
        zeros.append((max(first, 0), max(covered - first - length, 0)))
        begin = max(-first, 0)
        parts.append(slice(begin, begin + covered))
    rows, columns = parts
    covered_pixels = np.pad(images, zeros)[..., rows, columns]
    return np.lib.stride_tricks.sliding_window_view(covered_pixels, (size, size), (2, 3))[:, :, ::TILE, ::TILE]


# --- The tolerance ----------------------------------------------------------------------------------------


class Method(NamedTuple):
    """One operation by Winograd's method, and its direct results, before the activation."""

    output: str
    compute: Callable[..., Array]
    direct: Callable[..., Array]  # takes the inputs, and the shape
    terms: Callable[[ConvShape], int]  # products at one point
    transforms: Matrices = IMAGES
    activated: bool = False

    def tolerance(self, shape: ConvShape, *data: Array) -> Array:
        """The most by which right float32 results may differ from the direct ones, for the numbers that are read.

        Raises ValueError where float32 promises nothing: numbers at the points, or sums, that may overflow.
        """
        data = [np.abs(np.asarray(tensor, np.float64)) for tensor in data]
        total = self.compute(shape, *data, transforms=self.transforms.absolute())
        terms = self.terms(shape)
        largest = [tensor.max() for tensor in data[:2]]  # no bias
        spread = ROUNDING * (terms + ROUNDINGS + 1)  # the one more pays for the float64 reference's own rounding
        gamma = spread / (1 - spread) if spread < 1 else np.inf
        pixels, filters, results = self.transforms.gains()
        flushed = 25 * SMALLEST_NORMAL * results * (terms * (pixels * filters * sum(largest) + 1) + 1)  # step 4
        bound = gamma * total + (1 + gamma) * flushed
        at_points = max(pixels, filters) * max(largest)
        if not max(at_points, (total + bound).max()) <= FLOAT32_MAX:
            raise ValueError(
                f"numbers up to {at_points:.3g} at the points, sums up to {total.max():.3g} of {terms} terms: float32 "
                f"promises nothing beyond {FLOAT32_MAX:.3g}; check a smaller case, with finite numbers"
            )
        return bound

    def judge(self, got: Array, *inputs_and_shape: Array | ConvShape) -> Report:
        """Judge the result of a version that uses the method, for its inputs and its shape."""
        *inputs, shape = inputs_and_shape
        activation = shape.activation if self.activated else "none"
        want = self.direct(*inputs, shape)
        return compare_activated(self.output, got, want, self.tolerance(shape, *inputs), activation)


def _tiles(shape: ConvShape) -> int:
    return shape.batch * ceil(shape.out_h / TILE) * ceil(shape.out_w / TILE)


FORWARD = Method("output", conv2d, reference.pre, lambda s: s.in_channels, activated=True)
GRAD_INPUT = Method("grad_input", conv2d_grad_input, reference.grad_input, lambda s: s.out_channels)
GRAD_WEIGHT = Method("grad_weight", conv2d_grad_weight, reference.grad_weight, _tiles, WEIGHTS)
