"""WGSL's built-in functions of values, on tuples of component arrays.

A scalar is a tuple of one array, a vec3 a tuple of three; the result is such a tuple too. Where WGSL takes a scalar
beside a vector (`mix`, `select`, `extractBits`, `insertBits`), the tuple of one serves every component.

The functions that no processor computes exactly (`exp`, `sin`, `pow`, ...) are computed in float64 and rounded once to
float32: closer than the specification asks, and the same on every machine, which NumPy's float32 versions are not.
Numbers of 64 bits, which only constants have, stay float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add

import numpy as np

from wgsl.arithmetic.bits import (
    count_leading_zeros,
    count_one_bits,
    count_trailing_zeros,
    extract_bits,
    first_leading_bit,
    first_trailing_bit,
    insert_bits,
    reverse_bits,
)

# --- Packing ------------------------------------------------------------------------------------------------------

# The built-in functions that pack several small numbers into one u32, and unpack them; and f16 rounding.

Components = tuple[np.ndarray, ...]


def quantize_to_f16(values: np.ndarray) -> np.ndarray:
    """Rounded to the nearest binary16 number; past its range, infinite."""
    return values.astype(np.float16).astype(np.float32)


def _joined(parts: Sequence[np.ndarray]) -> Components:
    """Return one u32 of the low bits of each part, the first part in the lowest bits."""
    width = 32 // len(parts)
    total = np.uint32(0)
    for i, part in enumerate(parts):
        total = total | (part.astype(np.uint32) & np.uint32(2**width - 1)) << np.uint32(i * width)
    return (total,)


def _split(words: Components, parts: int, signed: bool) -> Components:
    """The parts of a u32, each sign-extended to int32 or zero-extended to uint32."""
    width = 32 // parts
    dtype = np.int32 if signed else np.uint32
    tops = ((words[0] << np.uint32(32 - width * (i + 1))).view(dtype) for i in range(parts))
    return tuple(top >> dtype(32 - width) for top in tops)


def _scale(parts: int, signed: bool) -> int:
    """The integer that the number 1 becomes in each of the parts of a u32."""
    return 2 ** (32 // parts - signed) - 1


def _pack_normalized(vector: Components, signed: bool) -> Components:
    """floor(0.5 + scale * value) of each value clamped to [-1 or 0, 1], computed in float64, where it is exact."""
    wide = (np.minimum(np.fmax(value, -signed), 1).astype(np.float64) for value in vector)
    return _joined([np.floor(0.5 + _scale(len(vector), signed) * value).astype(np.int64) for value in wide])


def _unpack_normalized(word: Components, parts: int, signed: bool) -> Components:
    scale = np.float64(_scale(parts, signed))
    values = ((part / scale).astype(np.float32) for part in _split(word, parts, signed))
    return tuple(np.maximum(value, -1) for value in values)


def _pack_halves(vector: Components) -> Components:
    return _joined([value.astype(np.float16).view(np.uint16) for value in vector])


def _unpack_halves(word: Components) -> Components:
    return tuple(part.astype(np.uint16).view(np.float16).astype(np.float32) for part in _split(word, 2, False))


def _pack_clamped(vector: Components, low: int, high: int) -> Components:
    return _joined([np.clip(value, low, high) for value in vector])


_PACKING: dict[str, Callable[..., Components]] = {
    "pack2x16float": _pack_halves,
    "pack2x16snorm": partial(_pack_normalized, signed=True),
    "pack2x16unorm": partial(_pack_normalized, signed=False),
    "pack4x8snorm": partial(_pack_normalized, signed=True),
    "pack4x8unorm": partial(_pack_normalized, signed=False),
    "pack4xI8": _joined,
    "pack4xI8Clamp": partial(_pack_clamped, low=-128, high=127),
    "pack4xU8": _joined,
    "pack4xU8Clamp": partial(_pack_clamped, low=0, high=255),
    "unpack2x16float": _unpack_halves,
    "unpack2x16snorm": partial(_unpack_normalized, parts=2, signed=True),
    "unpack2x16unorm": partial(_unpack_normalized, parts=2, signed=False),
    "unpack4x8snorm": partial(_unpack_normalized, parts=4, signed=True),
    "unpack4x8unorm": partial(_unpack_normalized, parts=4, signed=False),
    "unpack4xI8": partial(_split, parts=4, signed=True),
    "unpack4xU8": partial(_split, parts=4, signed=False),
}


Function = Callable[..., Components]


def _by_component(function: Callable[..., np.ndarray]) -> Function:
    """A function of arrays, applied to each component; a single component goes with all of the other arguments."""

    def apply(*arguments: Components) -> Components:
        size = max(map(len, arguments))
        return tuple(function(*_component(arguments, i)) for i in range(size))

    return apply


def _component(arguments: Sequence[Components], i: int) -> list[np.ndarray]:
    """One component of each argument; of a scalar the only one that it has."""
    return [part[i] if len(part) > 1 else part[0] for part in arguments]


def _arrays(function: Function) -> Function:
    """A function whose results are arrays, also where NumPy makes a number of an array without axes."""

    def apply(*arguments: Components) -> Components:
        return tuple(map(np.asarray, function(*arguments)))

    return apply


def _rounded(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A NumPy function, computed in float64 and rounded to the dtype of its arguments."""

    def apply(*arguments: np.ndarray) -> np.ndarray:
        return function(*(argument.astype(np.float64) for argument in arguments)).astype(arguments[0].dtype)

    return apply


# --- One component at a time --------------------------------------------------------------------------------------


def _clamp(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return ``min(max(value, low), high)``, as WGSL defines it for integers: `high` where low > high."""
    return np.minimum(np.maximum(value, low), high)


def _inverse_sqrt(value: np.ndarray) -> np.ndarray:
    return 1.0 / np.sqrt(value)


def _pow(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """A NaN where the base is negative, as of ``exp2(exponent * log2(base))``, whatever the exponent."""
    return np.power(base, exponent) + np.sqrt(np.minimum(base, 0))  # the root is 0, or a NaN with its flag


def _fma(left: np.ndarray, right: np.ndarray, addend: np.ndarray) -> np.ndarray:
    """``left * right + addend``, rounded once.

    In float64 the product is exact, and the sum is rounded; rounding that to float32 goes wrong only where the float64
    sum is a tie between two float32 and the exact sum is not. There it is moved off the tie first. (A subnormal result
    has its ties elsewhere and may be rounded twice; WGSL would allow it to be flushed to zero.) Of float16, the float64
    sum is exact wherever the result is finite.
    """
    product = np.multiply(left, right, dtype=np.float64)
    total = np.asarray(np.add(product, addend))
    ties = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if left.dtype == np.float32 and np.count_nonzero(ties):
        product = np.broadcast_to(product, total.shape)
        addend = np.broadcast_to(addend, total.shape)
        total[ties] = _off_the_tie(product[ties], addend[ties].astype(np.float64), total[ties])
    return total.astype(left.dtype)


def _off_the_tie(product: np.ndarray, addend: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The rounded total, moved by one float64 toward the exact one where they differ."""
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    return np.where(lost == 0, total, np.nextafter(total, np.copysign(np.inf, lost)))


def _fract(value: np.ndarray) -> np.ndarray:
    return value - np.floor(value)


def _mix(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    return first * (1 - share) + second * share


def _saturate(value: np.ndarray) -> np.ndarray:
    return _clamp(value, 0, 1)


def _select(when_false: np.ndarray, when_true: np.ndarray, condition: np.ndarray) -> np.ndarray:
    return np.where(condition, when_true, when_false)


def _smoothstep(low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
    t = _saturate((value - low) / (high - low))
    return t * t * (3 - 2 * t)


def _step(edge: np.ndarray, value: np.ndarray) -> np.ndarray:
    return (edge <= value).astype(value.dtype)


# --- All components together --------------------------------------------------------------------------------------


def _cross(left: Components, right: Components) -> Components:
    return tuple(left[i] * right[j] - left[j] * right[i] for i, j in ((1, 2), (2, 0), (0, 1)))


def _dot(left: Components, right: Components) -> Components:
    """The products are added from the first component on; for integers modulo 2^32."""
    return (reduce(add, map(np.multiply, left, right)),)


def _length(vector: Components) -> Components:
    """The length of a vector; of a scalar its absolute value."""
    return (np.abs(vector[0]) if len(vector) == 1 else np.sqrt(_dot(vector, vector)[0]),)


def _distance(left: Components, right: Components) -> Components:
    return _length(tuple(map(np.subtract, left, right)))


def _normalize(vector: Components) -> Components:
    (length,) = _length(vector)
    return tuple(value / length for value in vector)


def _reflect(incident: Components, normal: Components) -> Components:
    """``e1 - 2 * dot(e2, e1) * e2``."""
    (cosine,) = _dot(normal, incident)
    return tuple(a - 2 * cosine * b for a, b in zip(incident, normal, strict=True))


def _refract(incident: Components, normal: Components, ratio: Components) -> Components:
    """The direction after refraction, by the ratio of the indices; zeros where all is reflected."""
    (eta,) = ratio
    (cosine,) = _dot(normal, incident)
    k = 1 - eta * eta * (1 - cosine * cosine)
    if np.all(k < 0):
        return tuple(np.zeros_like(a) for a in incident)
    along = eta * cosine + np.sqrt(np.maximum(k, 0))
    return tuple(np.where(k < 0, 0, eta * a - along * b) for a, b in zip(incident, normal, strict=True))


def _face_forward(vector: Components, incident: Components, normal: Components) -> Components:
    behind = np.less(_dot(incident, normal)[0], 0)
    return tuple(np.where(behind, value, np.negative(value)) for value in vector)


def _product(left: Components, right: Components, inner: int) -> Components:
    """Multiply a matrix of `inner` columns with one of `inner` rows, both column by column.

    A vector is a matrix of one row on the left, and of one column on the right.
    """
    rows = len(left) // inner
    product = []
    for start in range(0, len(right), inner):
        column = right[start : start + inner]
        for row in range(rows):
            product += _dot(left[row::rows], column)
    return tuple(product)


def _transpose(matrix: Components, columns: int) -> Components:
    rows = len(matrix) // columns
    transposed = []
    for row in range(rows):
        transposed += matrix[row::rows]
    return tuple(transposed)


def _determinant(matrix: Components, size: int) -> Components:
    """Expand by the first column: each number times the determinant of what is left without its column and its row."""
    if size == 1:
        return matrix
    first_column = matrix[:size]
    other_columns = matrix[size:]
    terms = []
    for row, number in enumerate(first_column):
        rest = tuple(part for i, part in enumerate(other_columns) if i % size != row)
        terms.append(number * _determinant(rest, size - 1)[0])
    return (reduce(add, terms[::2]) - reduce(add, terms[1::2]),)


def _modf(value: Components) -> Components:
    """The fractions, then the whole parts, of the value's sign."""
    wholes = tuple(map(np.trunc, value))
    return (*(np.copysign(part - whole, part) for part, whole in zip(value, wholes, strict=True)), *wholes)


def _frexp(value: Components) -> Components:
    """Fractions from 0.5 to 1, then exponents of two."""
    fractions, exponents = zip(*map(np.frexp, value), strict=True)
    return (*fractions, *(np.asarray(exponent, np.int32) for exponent in exponents))


def _dot_packed(left: Components, right: Components, signed: bool) -> Components:
    return _dot(_split(left, 4, signed), _split(right, 4, signed))


def _all(vector: Components) -> Components:
    return (np.logical_and.reduce(np.broadcast_arrays(*vector)),)


def _any(vector: Components) -> Components:
    return (np.logical_or.reduce(np.broadcast_arrays(*vector)),)


# --- The table ----------------------------------------------------------------------------------------------------

# Their names are NumPy's, but for `arc`.
ROUNDED = ["cos", "cosh", "degrees", "exp", "exp2", "log", "log2", "radians", "sin", "sinh", "tan", "tanh"]
INVERSE = ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"]
_COMPONENTWISE: dict[str, Callable[..., np.ndarray]] = {
    **{name: _rounded(getattr(np, name)) for name in ROUNDED},
    **{name: _rounded(getattr(np, "arc" + name[1:])) for name in INVERSE},
    "abs": np.abs,  # of INT_MIN it is INT_MIN
    "ceil": np.ceil,
    "clamp": _clamp,
    "countLeadingZeros": count_leading_zeros,
    "countOneBits": count_one_bits,
    "countTrailingZeros": count_trailing_zeros,
    "extractBits": extract_bits,
    "firstLeadingBit": first_leading_bit,
    "firstTrailingBit": first_trailing_bit,
    "floor": np.floor,
    "fma": _fma,
    "fract": _fract,
    "insertBits": insert_bits,
    "inverseSqrt": _rounded(_inverse_sqrt),
    "ldexp": np.ldexp,
    # With a NaN the specification leaves min and max open: here it stays visible.
    "max": np.maximum,
    "min": np.minimum,
    "mix": _mix,
    "pow": _rounded(_pow),
    "quantizeToF16": quantize_to_f16,
    "reverseBits": reverse_bits,
    "round": np.rint,  # a half goes to the even neighbor
    "saturate": _saturate,
    "select": _select,
    "sign": np.sign,
    "smoothstep": _smoothstep,
    "sqrt": np.sqrt,
    "step": _step,
    "trunc": np.trunc,
}

_TOGETHER: dict[str, Function] = {
    **_PACKING,
    **{f"product{n}": partial(_product, inner=n) for n in (2, 3, 4)},
    **{f"transpose{n}": partial(_transpose, columns=n) for n in (2, 3, 4)},
    **{f"determinant{n}": partial(_determinant, size=n) for n in (2, 3, 4)},
    "all": _all,
    "any": _any,
    "cross": _cross,
    "distance": _distance,
    "dot": _dot,
    "dot4I8Packed": partial(_dot_packed, signed=True),
    "dot4U8Packed": partial(_dot_packed, signed=False),
    "faceForward": _face_forward,
    "frexp": _frexp,
    "length": _length,
    "modf": _modf,
    "normalize": _normalize,
    "reflect": _reflect,
    "refract": _refract,
}
_ALL = {name: _by_component(function) for name, function in _COMPONENTWISE.items()} | _TOGETHER
BUILTINS: dict[str, Function] = {name: _arrays(function) for name, function in _ALL.items()}
