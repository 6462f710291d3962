"""Checks of pooling, ReLU backward, cross-entropy and an update. Rounding errors of a right float32 kernel, u = 2**-23:

1. A maximum is one of its numbers, and ReLU backward passes a number on or not: no rounding. What is below 2**-126 may
   be taken for zero.
2. A mean and the gradients of pooling are sums of numbers with `tolerance`; a division costs 2.5 u more. The maxima are
   found by comparisons, which do not round.
3. Cross-entropy: with z = logit - largest <= 0, the kernel's z is off by |z| u, and WGSL allows exp(z) 3 + 2 |z| units:
   exp(z) is off by a factor of 4 + 4 |z| roundings at most. What is below exp(-87) may be taken for zero.
4. So their sum T over C classes is off by the sum of exp(z) gamma(C + 4 + 4 |z|), gamma(n) = n u / (1 - n u), or by a
   part r of T. Its logarithm is off by r / (1 - r), and by the error of WGSL's log: 2**-21, or 3 units of itself. The
   distance D from the right logit to the largest one is rounded once, and so is log(T) + D.
5. The gradient (exp(z) / T - 1 or 0) / N has the factors of steps 3 and 4, two divisions and a subtraction.
6. An update is two products and two sums: four roundings at most on the way of each term.

Whole numbers whose sums are exact have the tolerance 0 in steps 1, 2 (without the division) and 6.
"""

from collections.abc import Callable, Sequence

import numpy as np

from helpers.checks.adjoint import Identity, compare_dots
from helpers.checks.report import Report, compare
from helpers.checks.tolerance import ROUNDING, SMALLEST_NORMAL, compare_sums, tolerance
from helpers.operations.network import reference
from helpers.operations.network.reference import Array
from helpers.operations.network.shapes import PoolShape, StartShape, UpdateShape

Forward = Callable[[Array, PoolShape], Array]


def max_pool2d(got: Array, input: Array, shape: PoolShape) -> Report:
    """Judge the maxima, `got` (N, C, oH, oW): step 1."""
    return compare("output", got, reference.max_pool2d(input, shape), SMALLEST_NORMAL)


def max_pool2d_backward(got: Array, input: Array, grad_output: Array, shape: PoolShape) -> Report:
    """Judge the input gradient of max pooling, `got` (N, C, H, W): step 2."""

    def formula(upstream: Array) -> Array:
        return reference.max_pool2d_backward(input, upstream, shape)

    return compare_sums("grad_input", got, formula, grad_output)


def avg_pool2d(got: Array, input: Array, shape: PoolShape) -> Report:
    """Judge the means, `got` (N, C, oH, oW): step 2."""
    return _compare_means("output", got, reference.avg_pool2d, input, shape)


def avg_pool2d_backward(got: Array, grad_output: Array, shape: PoolShape) -> Report:
    """Judge the input gradient of average pooling, `got` (N, C, H, W): step 2."""
    return _compare_means("grad_input", got, reference.avg_pool2d_backward, grad_output, shape)


def _compare_means(name: str, got: Array, formula: Forward, data: Array, shape: PoolShape) -> Report:
    """Compare with ``formula(data, shape)``, a sum divided by the pixels of a window."""
    data = np.asarray(data, np.float64)
    pixels = np.prod(shape.kernel)
    want = formula(data, shape)
    is_term = (data != 0).astype(float)
    terms = pixels * formula(is_term, shape)
    total = pixels * formula(abs(data), shape)
    of_sum = tolerance(np.rint(terms), total, data) / pixels
    of_division = 3 * ROUNDING * (abs(want) + of_sum)
    flushed = np.where(want == 0, 0.0, SMALLEST_NORMAL)
    return compare(name, got, want, of_sum + of_division + flushed)


def relu_backward(got: Array, output: Array, grad_output: Array) -> Report:
    """Judge the gradient that a fused ReLU passes back, `got` of the same shape: step 1."""
    taken_for_zero = (output > 0) & (output < SMALLEST_NORMAL)
    allowed = np.where(taken_for_zero, abs(grad_output), SMALLEST_NORMAL)
    return compare("grad_pre", got, reference.relu_backward(output, grad_output), allowed)


def sgd(got: Sequence[Array], parameter: Array, grad: Array, velocity: Array, shape: UpdateShape) -> Sequence[Report]:
    """Judge the new parameters and velocities, `got` = two arrays (n,): step 6."""
    rate = np.asarray(shape.learning_rate, np.float64)
    momentum = np.asarray(shape.momentum, np.float64)
    parameter, grad, velocity = (np.asarray(array, np.float64) for array in (parameter, grad, velocity))
    new_parameter, new_velocity = reference.sgd(parameter, grad, velocity, shape.learning_rate, shape.momentum)
    total_of_velocity = shape.momentum * abs(velocity) + abs(grad)
    total_of_parameter = abs(parameter) + shape.learning_rate * total_of_velocity
    of_parameter = tolerance(4, total_of_parameter, rate, momentum, parameter, grad, velocity)
    of_velocity = tolerance(2, total_of_velocity, momentum, parameter, grad, velocity)
    return [
        compare("parameter", got[0], new_parameter, of_parameter),
        compare("velocity", got[1], new_velocity, of_velocity),
    ]


def initialize(got: Array, shape: StartShape) -> Report:
    """Judge random parameters, `got` (n,): one product, rounded once."""
    want = reference.initialize(shape)
    return compare("parameter", got, want, abs(want) * ROUNDING / 2 + SMALLEST_NORMAL)


def cross_entropy(got: Sequence[Array], logits: Array, labels: Array) -> Sequence[Report]:
    """Judge losses and gradients, `got` = (losses (N,), grad_logits (N, C)): steps 3 to 5."""
    want = reference.cross_entropy(logits, labels)
    allowed = loss_errors(logits, labels, want)
    return [
        compare("losses", got[0], want[0], allowed[0]),
        compare("grad_logits", got[1], want[1], allowed[1]),
    ]


def loss_errors(logits: Array, labels: Array, want: tuple[Array, Array]) -> tuple[Array, Array]:
    """The most by which right float32 losses and gradients may be off."""
    logits = np.asarray(logits, np.float64)
    rows, classes = logits.shape
    z = logits - logits.max(1, keepdims=True)
    e = np.exp(z)
    units = 4 + 4 * np.minimum(-z, 88)
    flushed = 2 * SMALLEST_NORMAL
    total = e.sum(1, keepdims=True)
    error_of_total = (e * gamma(classes + units)).sum(1, keepdims=True)
    r = error_of_total / total + classes * flushed
    log = np.log(total[:, 0])
    distance = -z[np.arange(rows), labels]
    of_log = (r / (1 - r))[:, 0] + 2.0**-21
    losses = of_log + ROUNDING * (5 * log + 2 * distance)
    of_factors = e / total * (gamma(units + 4) + r * (1 + gamma(units))) / (1 - r) / rows
    _, want_grads = want
    grads = of_factors + 5 * ROUNDING * abs(want_grads) + 2 * flushed
    return losses, grads


def gamma(roundings: Array) -> Array:
    """The part of itself by which a number may be off after this many roundings."""
    return ROUNDING * roundings / (1 - ROUNDING * roundings)


# --- Without a reference gradient ---------------------------------------------------------------------------


def adjoint(got: Array, input: Array, grad_output: Array, shape: PoolShape, forward: Forward) -> Report:
    """Judge an input gradient, `got` (N, C, H, W), by dot products: <forward(x), dy> = <x, grad_input>.

    `forward` is the reference's max_pool2d or avg_pool2d. A mean is linear in x, and a maximum is one of its pixels: as
    long as it stays the same one, it is linear, too. Take random data: it has no ties.
    """
    x = np.asarray(input, np.float64)
    dy = np.asarray(grad_output, np.float64)
    loss = np.vdot(forward(x, shape), dy)
    total = np.vdot(forward(abs(x), shape), abs(dy))
    pixels = np.prod(shape.kernel)
    identity = Identity(x, loss, total, pixels + 3, (x, dy, 1 / pixels))  # 3: a division
    return compare_dots({"grad_input": identity}, {"grad_input": got})
