"""WGSL's operators on arrays of one component: one array element per invocation.

Integers are taken modulo 2^32, and no integer operation raises a floating-point flag, so that a flag "invalid" always
means the birth of a NaN. An operand may be a 0-d array, and operands broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

INT_MIN = np.int32(-(2**31))
LARGEST = {np.dtype(np.int32): 2**31 - 1, np.dtype(np.uint32): 2**32 - 1}
BITS = np.uint32(31)  # a shift amount counts modulo 32
LOW, HALF = np.uint32(0xFFFF), np.uint32(16)  # a mask of the first half of a word, and its bits


def binary(operator: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``left operator right``. Both have the same dtype, except that a shift amount is a uint32."""
    return np.asarray(_BINARY[operator](left, right))


def unary(operator: str, operand: np.ndarray) -> np.ndarray:
    """``-``, ``!`` or ``~`` of an array."""
    return np.asarray(_UNARY[operator](operand))


# --- Division -----------------------------------------------------------------------------------------------------


def _divide(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Integers: x / 0 is x, INT_MIN / -1 is INT_MIN, and the quotient is truncated."""
    if left.dtype.kind == "f":
        return left / right
    divisor = _divisor(left, right)
    if left.dtype.kind == "u":
        return left // divisor
    # The nearest float64 of a quotient of 32-bit integers lies between the same two integers as the quotient.
    return (left / divisor).astype(np.int32)


def _remainder(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """x % 0 is 0, INT_MIN % -1 is 0, and the result has the sign of the left operand.

    Of floats it is ``x - y * trunc(x / y)``, rounded at each step: that is how the specification defines it, and what
    a GPU computes, while `fmod` is exact.
    """
    if left.dtype.kind == "f":
        return left - right * np.trunc(left / right)
    return np.fmod(left, _divisor(left, right))


def _divisor(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The right operand with 1 where WGSL defines what C leaves undefined: x / 1 is x, and x % 1 is 0."""
    undefined = right == 0
    if left.dtype.kind == "i":
        minus_one = right == -1
        if np.count_nonzero(minus_one):
            undefined = undefined | (minus_one & (left == INT_MIN))
    return np.where(undefined, right.dtype.type(1), right) if np.count_nonzero(undefined) else right


# --- The tables ---------------------------------------------------------------------------------------------------


def _left_shift(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left << (right & BITS).astype(left.dtype)


def _right_shift(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Arithmetic for an int32, logical for a uint32."""
    return left >> (right & BITS).astype(left.dtype)


_BINARY: dict[str, Callable] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": _divide,
    "%": _remainder,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<<": _left_shift,
    ">>": _right_shift,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_UNARY: dict[str, Callable] = {"-": np.negative, "!": np.logical_not, "~": np.bitwise_not}


# --- Wrap-around --------------------------------------------------------------------------------------------------


def wrapped(operator: str, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> bool:
    """Return True where ``+``, ``-`` or ``*`` of integers left the range of the type in any element.

    Of a unary minus, `left` is a zero of the same dtype.
    """
    if operator == "*" and _product_fits(left, right):
        return False
    return np.count_nonzero(_wrapped(operator, left, right, result)) > 0


def _wrapped(operator: str, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Return a mask of the elements in which ``+``, ``-`` or ``*`` of integers left the range of the type."""
    if operator == "*":
        return np.multiply(left, right, dtype=np.int64) != result
    if left.dtype.kind == "u":
        return result < left if operator == "+" else left < right
    falls = right < 0 if operator == "+" else right > 0
    return (result < left) != falls  # a step past one end of the range comes in at the other


def _product_fits(left: np.ndarray, right: np.ndarray) -> bool:
    """Return True where the product of the largest magnitudes is in range: a cheap answer for nearly every index."""
    if left.size == 0 or right.size == 0:
        return True
    return _largest(left) * _largest(right) <= LARGEST[left.dtype]


def _largest(values: np.ndarray) -> int:
    """The largest magnitude."""
    if values.ndim == 0:
        return abs(int(values))
    largest = int(np.maximum.reduce(values))
    return largest if values.dtype.kind == "u" else max(largest, -int(np.minimum.reduce(values)))


# --- Conversions --------------------------------------------------------------------------------------------------

# WGSL's conversions between scalar types, on arrays of one component.

DTYPES = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "bool": np.dtype(np.bool_),
}
_RANGES = {"i32": (-(2**31), 2**31), "u32": (0, 2**32)}  # the first number, and the first past the last


def convert(values: np.ndarray, scalar_name: str) -> np.ndarray:
    """The values as f32, f16, i32, u32 or bool; the result may share its memory with them.

    A float is truncated, and one outside the range of an integer type becomes the last float inside it. For a NaN the
    specification allows any integer: here it is the lowest. i32 and u32 keep their bits, and a number is true where
    it is not 0. A number that no float of the type equals is rounded to the nearest, to an even significand where two
    are as near; to an infinity past the largest.
    """
    target = DTYPES[scalar_name]
    if values.dtype == target:
        return np.asarray(values)
    if scalar_name == "bool":
        return np.asarray(np.not_equal(values, 0))
    if values.dtype.kind == "f" and scalar_name in _RANGES:
        low, last = _ends(values.dtype, scalar_name)
        values = np.fmin(np.fmax(values, low), last)  # no NaN, of which the cast would raise a flag
    return np.asarray(values.astype(target))


@cache
def _ends(float_type: np.dtype, scalar_name: str) -> tuple[np.floating, np.floating]:
    """The lowest and the highest number of a float type that are in the range of an integer type."""
    low, past = _RANGES[scalar_name]
    number = float_type.type
    largest = float(np.finfo(float_type).max)
    if past > largest:
        return number(max(low, -largest)), number(largest)
    return number(low), np.nextafter(number(past), number(low))


def bitcast(values: np.ndarray, scalar_name: str) -> np.ndarray:
    """The bits of all values, one after another, read as another type; the result shares its memory with them."""
    return np.asarray(values).view(DTYPES[scalar_name])


def bitcast_components(components: Sequence[np.ndarray], scalar_name: str) -> list[np.ndarray]:
    """The same of the components of a value: a word has the bits of two halves, the first one in its low bits."""
    target = DTYPES[scalar_name]
    size = components[0].dtype.itemsize
    if size == target.itemsize:
        return [bitcast(component, scalar_name) for component in components]
    if size > target.itemsize:
        words = (np.asarray(component).view(np.uint32) for component in components)
        return [half.astype(np.uint16).view(target) for word in words for half in (word & LOW, word >> HALF)]
    bits = [np.asarray(component).view(np.uint16).astype(np.uint32) for component in components]
    return [np.asarray(low | high << HALF).view(target) for low, high in zip(bits[::2], bits[1::2], strict=True)]
