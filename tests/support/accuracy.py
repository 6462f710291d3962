"""The largest error that a result may have: the table of floating-point accuracy in the WGSL specification.

Each function takes the arguments and the exact result as float64 and gives the largest allowed error. A function that
the table defines by an expression ("inherited from") gets the error that the expression's own steps may add up to. They
are about f32, and `with of(F16)` about f16.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Precision:
    """A float type, and what the table says of it in numbers."""

    dtype: type
    epsilon: float  # from 1 to the next number
    sine: float  # the error of `sin` and `cos`
    logarithm: float  # that of `log` and `log2` near 1
    exponential: float  # that of `exp` and `exp2`, in units in the last place, of the smallest arguments
    moderate: tuple[float, float]  # numbers between these have squares that are far from both ends of its range

    @property
    def largest(self) -> float:
        return float(np.finfo(self.dtype).max)


F32 = Precision(np.float32, 2.0**-23, 2.0**-11, 2.0**-21, 3, (1e-15, 1e15))
F16 = Precision(np.float16, 2.0**-10, 2.0**-7, 2.0**-7, 1, (2.0**-6, 100))
_precision = F32


def now() -> Precision:
    """The type that the functions below are about."""
    return _precision


@contextmanager
def of(precision: Precision):
    """Let the functions be about another type while it is open."""
    global _precision
    _precision = precision
    try:
        yield
    finally:
        _precision = F32


def ulp(x):
    """The distance of two neighboring numbers at x."""
    dtype = now().dtype
    inside = np.minimum(np.abs(x), 0.9 * now().largest)
    return np.spacing(inside.astype(dtype)).astype(np.float64)


def either(error: float, count: float):
    """The worse of an absolute error and this many units in the last place of the result."""
    return lambda *arguments: np.maximum(error, count * ulp(arguments[-1]))


def ulps(count: float):
    """This many units in the last place of the result."""
    return either(0, count)


def absolute(error: float):
    """The same error everywhere."""
    return either(error, 0)


def exponential(x, result):
    """`exp` and `exp2`."""
    return (now().exponential + 2 * np.abs(x)) * ulp(result)


def logarithm(x, result):
    """`log` and `log2`."""
    return np.where((x >= 0.5) & (x <= 2), now().logarithm, 3 * ulp(result))


def tan(x, result):
    """sin(x) / cos(x), each with its error."""
    cosine, error = np.abs(np.cos(x)), now().sine
    return np.where(cosine > 2 * error, error * (1 + np.abs(result)) / (cosine - error) + 3 * ulp(result), np.inf)


def hyperbolic(x, result):
    """`sinh` and `cosh`: (exp(x) -+ exp(-x)) / 2."""
    return 0.5 * (exponential(x, np.exp(x)) + exponential(x, np.exp(-x))) + ulp(np.cosh(x))


def tanh(x, result):
    """The worse of 1e-5 and what sinh(x) / cosh(x) may be off."""
    return np.maximum(1e-5, 2 * hyperbolic(x, result) / np.cosh(x) + 3 * ulp(result))


def _log_of(sum_, error, result):
    """log(sum), where the sum has an error; where that is as large as the sum, anything."""
    return np.where(error < sum_ / 2, logarithm(sum_, result) + 2 * error / sum_, np.inf)


def asinh(x, result):
    """log(x + sqrt(x * x + 1))."""
    root = np.sqrt(x * x + 1)
    return _log_of(x + root, 8 * ulp(root), result)


def acosh(x, result):
    """log(x + sqrt(x * x - 1))."""
    root = np.sqrt(x * x - 1)
    return _log_of(x + root, ulp(x * x) / np.maximum(root, 1e-30) + 8 * ulp(x), result)


def atanh(x, result):
    """log((1 + x) / (1 - x)) / 2."""
    quotient = (1 + x) / (1 - x)
    error = quotient * (ulp(1 + x) / (1 + x) + ulp(1 - x) / (1 - x) + 3 * now().epsilon)
    return 0.5 * _log_of(quotient, error, 2 * result) + ulp(result)


def power(x, y, result):
    """exp2(y * log2(x))."""
    exponent = y * np.log2(x)
    error = np.abs(y) * logarithm(x, np.log2(x)) + ulp(exponent)
    return exponential(exponent, result) + np.abs(result) * np.expm1(np.minimum(error, 50))


def fma(x, y, z, result):
    """x * y + z, rounded once or twice."""
    return ulp(x * y) + ulp(result)


def mix(x, y, z, result):
    """x * (1 - z) + y * z."""
    return 4 * now().epsilon * (np.abs(x) * (1 + np.abs(z)) + np.abs(y * z))


def smoothstep(low, high, x, result):
    """t * t * (3 - 2 * t), where t is a quotient of differences between 0 and 1."""
    return np.full(np.shape(result), 12 * now().epsilon)


def products(*pairs: tuple[int, int]):
    """A sum of products of arguments."""
    return lambda *arguments: 4 * now().epsilon * sum(np.abs(arguments[i] * arguments[j]) for i, j in pairs)


def reflect(a, b, c, d, _):
    """The first component of (a, b) reflected at (c, d): the sum of what is added, each part rounded some times."""
    return 8 * ulp(np.abs(a) + 2 * np.abs(c) * (np.abs(a * c) + np.abs(b * d)))
