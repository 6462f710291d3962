"""WGSL's built-in functions of values, on tuples of component arrays.

A scalar is a tuple of one array, a vec3 a tuple of three; the result is such a tuple too. Where WGSL takes a scalar
beside a vector (`mix`, `select`, `extractBits`, `insertBits`), the tuple of one serves every component.

The functions that no processor computes exactly (`exp`, `sin`, `pow`, ...) are computed in float64 and rounded once to
float32: closer than the specification asks, and the same on every machine, which NumPy's float32 versions are not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.simulator.arithmetic import bits, packing

Components = tuple[np.ndarray, ...]
Function = Callable[..., Components]


def _each(function: Callable[..., np.ndarray]) -> Function:
    """A function of arrays, applied to each component; a single component goes with all of the other arguments."""

    def apply(*arguments: Components) -> Components:
        size = max(map(len, arguments))
        return tuple(
            np.asarray(function(*(each[i] if len(each) > 1 else each[0] for each in arguments))) for i in range(size)
        )

    return apply


def _rounded(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A NumPy function, computed in float64 and rounded to float32."""

    def apply(*arguments: np.ndarray) -> np.ndarray:
        return function(*(each.astype(np.float64) for each in arguments)).astype(np.float32)

    return apply


# --- One component at a time --------------------------------------------------------------------------------------


def _clamp(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where low > high, the high end: ``min(max(value, low), high)`` is the definition for integers."""
    return np.minimum(np.maximum(value, low), high)


def _inverse_sqrt(value: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(value))


def _pow(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """A NaN where the base is negative, as of ``exp2(exponent * log2(base))``, whatever the exponent."""
    return np.add(np.power(base, exponent), np.sqrt(np.minimum(base, 0)))  # the root is 0, or a NaN with its flag


def _fma(left: np.ndarray, right: np.ndarray, addend: np.ndarray) -> np.ndarray:
    """``left * right + addend``, rounded once.

    In float64 the product is exact, and the sum is rounded; rounding that to float32 goes wrong only where the float64
    sum is a tie between two float32 and the exact sum is not. There it is moved off the tie first. (A subnormal result
    has its ties elsewhere and may be rounded twice; WGSL would allow it to be flushed to zero.)
    """
    product = np.multiply(left, right, dtype=np.float64)
    total = np.asarray(np.add(product, addend))
    ties = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if np.count_nonzero(ties):
        product, addend = np.broadcast_to(product, total.shape), np.broadcast_to(addend, total.shape)
        total[ties] = _off_the_tie(product[ties], addend[ties].astype(np.float64), total[ties])
    return total.astype(np.float32)


def _off_the_tie(product: np.ndarray, addend: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The rounded total, moved by one float64 toward the exact one where they differ."""
    part = np.subtract(total, product)
    lost = np.add(np.subtract(product, np.subtract(total, part)), np.subtract(addend, part))
    return np.where(lost == 0, total, np.nextafter(total, np.copysign(np.inf, lost)))


def _fract(value: np.ndarray) -> np.ndarray:
    return np.subtract(value, np.floor(value))


def _mix(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    return np.add(np.multiply(first, np.subtract(1, share)), np.multiply(second, share))


def _saturate(value: np.ndarray) -> np.ndarray:
    return np.minimum(np.maximum(value, 0), 1)


def _select(when_false: np.ndarray, when_true: np.ndarray, condition: np.ndarray) -> np.ndarray:
    return np.where(condition, when_true, when_false)


def _smoothstep(low: np.ndarray, high: np.ndarray, value: np.ndarray) -> np.ndarray:
    t = _saturate(np.divide(np.subtract(value, low), np.subtract(high, low)))
    return np.multiply(np.multiply(t, t), np.subtract(3, np.multiply(2, t)))


def _step(edge: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.less_equal(edge, value).astype(np.float32)


# --- All components together ----------------------------------------------------------------------------------------


def _cross(left: Components, right: Components) -> Components:
    def component(i: int, j: int) -> np.ndarray:
        return np.asarray(np.subtract(np.multiply(left[i], right[j]), np.multiply(left[j], right[i])))

    return component(1, 2), component(2, 0), component(0, 1)


def _dot(left: Components, right: Components) -> Components:
    """The products are added from the first component on; for integers modulo 2^32."""
    total = np.multiply(left[0], right[0])
    for a, b in zip(left[1:], right[1:], strict=True):
        total = np.add(total, np.multiply(a, b))
    return (np.asarray(total),)


def _length(vector: Components) -> Components:
    """Of a scalar its absolute value."""
    return (np.asarray(np.abs(vector[0]) if len(vector) == 1 else np.sqrt(_dot(vector, vector)[0])),)


def _distance(left: Components, right: Components) -> Components:
    return _length(tuple(np.subtract(a, b) for a, b in zip(left, right, strict=True)))


def _normalize(vector: Components) -> Components:
    (length,) = _length(vector)
    return tuple(np.asarray(np.divide(each, length)) for each in vector)


def _all(vector: Components) -> Components:
    return (np.asarray(np.logical_and.reduce(np.broadcast_arrays(*vector))),)


def _any(vector: Components) -> Components:
    return (np.asarray(np.logical_or.reduce(np.broadcast_arrays(*vector))),)


# --- The table ----------------------------------------------------------------------------------------------------

_COMPONENTWISE: dict[str, Callable[..., np.ndarray]] = {
    "abs": np.abs,  # of INT_MIN it is INT_MIN
    "acos": _rounded(np.arccos),
    "acosh": _rounded(np.arccosh),
    "asin": _rounded(np.arcsin),
    "asinh": _rounded(np.arcsinh),
    "atan": _rounded(np.arctan),
    "atan2": _rounded(np.arctan2),
    "atanh": _rounded(np.arctanh),
    "ceil": np.ceil,
    "clamp": _clamp,
    "cos": _rounded(np.cos),
    "cosh": _rounded(np.cosh),
    "countLeadingZeros": bits.count_leading_zeros,
    "countOneBits": bits.count_one_bits,
    "countTrailingZeros": bits.count_trailing_zeros,
    "degrees": _rounded(np.degrees),
    "exp": _rounded(np.exp),
    "exp2": _rounded(np.exp2),
    "extractBits": bits.extract_bits,
    "firstLeadingBit": bits.first_leading_bit,
    "firstTrailingBit": bits.first_trailing_bit,
    "floor": np.floor,
    "fma": _fma,
    "fract": _fract,
    "insertBits": bits.insert_bits,
    "inverseSqrt": _rounded(_inverse_sqrt),
    "ldexp": np.ldexp,
    "log": _rounded(np.log),
    "log2": _rounded(np.log2),
    # With a NaN the specification leaves min and max open: here it stays visible.
    "max": np.maximum,
    "min": np.minimum,
    "mix": _mix,
    "pow": _rounded(_pow),
    "quantizeToF16": packing.quantize_to_f16,
    "radians": _rounded(np.radians),
    "reverseBits": bits.reverse_bits,
    "round": np.rint,  # a half goes to the even neighbor
    "saturate": _saturate,
    "select": _select,
    "sign": np.sign,
    "sin": _rounded(np.sin),
    "sinh": _rounded(np.sinh),
    "smoothstep": _smoothstep,
    "sqrt": np.sqrt,
    "step": _step,
    "tan": _rounded(np.tan),
    "tanh": _rounded(np.tanh),
    "trunc": np.trunc,
}

BUILTINS: dict[str, Function] = {
    **{name: _each(function) for name, function in _COMPONENTWISE.items()},
    "all": _all,
    "any": _any,
    "cross": _cross,
    "distance": _distance,
    "dot": _dot,
    "length": _length,
    "normalize": _normalize,
    **packing.FUNCTIONS,
}
