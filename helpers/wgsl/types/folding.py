"""Values that are known before the run: literals, operators, conversions and built-in functions of constants.

Concrete numbers are computed as in a run, by `arithmetic`. Abstract numbers are 64-bit integers and float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from helpers.wgsl.arithmetic.builtins import BUILTINS
from helpers.wgsl.arithmetic.operators import DTYPES, INT_MIN, binary, bitcast, convert, unary
from helpers.wgsl.diagnostics import Span
from helpers.wgsl.syntax import tree
from helpers.wgsl.syntax.tokens import FRACTION_NUMBER, WHOLE_NUMBER, Word
from helpers.wgsl.types.conversions import ABSTRACT, RANGES, WHOLE, nearest, scalar_of, undefined
from helpers.wgsl.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32, Scalar, Type, leaves
from helpers.wgsl.types.program import Constant, Expression, Part

DTYPE = {**DTYPES, ABSTRACT_FLOAT.name: np.dtype(np.float64), ABSTRACT_INT.name: np.dtype(object)}
LOWEST, BITS = RANGES[ABSTRACT_INT].start, 64
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
ABSTRACT_FUNCTIONS = {  # those that `arithmetic` rounds to float32
    **{name: getattr(np, "arc" + name[1:]) for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh")},
    **{name: getattr(np, name) for name in ("cos", "cosh", "degrees", "exp", "exp2", "log", "log2", "radians")},
    **{name: getattr(np, name) for name in ("sin", "sinh", "tan", "tanh")},
    **{"pow": np.power, "inverseSqrt": lambda x: 1 / np.sqrt(x), "fma": lambda x, y, z: x * y + z},
    "step": lambda edge, x: np.less_equal(edge, x).astype(np.float64),
}


KINDS = {"f32": float, ABSTRACT_FLOAT.name: float, "bool": bool}
WHOLE_FUNCTIONS = {
    "abs": lambda x: x if x == LOWEST else abs(x),
    "clamp": lambda x, low, high: min(max(x, low), high),
    "dot": int.__mul__,  # the products, which are then added
    "max": max,
    "min": min,
    "select": lambda when_false, when_true, condition: when_true if condition else when_false,
    "sign": lambda x: (x > 0) - (x < 0),
}


def array_of(value: Constant) -> np.ndarray:
    """The leaves of a scalar or vector."""
    numbers = value.leaves if len(value.leaves) > 1 else value.leaves[0]
    return np.array(numbers, DTYPE[scalar_of(value.type).name])


def constant(type: Type, place: Part, values: Sequence[np.ndarray]) -> Constant:
    """Arrays as a constant at a place of the text. Raises Refused for a float that is no number."""
    numbers = [leaf for array in values for leaf in np.ravel(array)]
    kinds = [KINDS.get(scalar.name, int) for _, scalar in leaves(type)]
    if any(kind is float and not math.isfinite(number) for kind, number in zip(kinds, numbers, strict=True)):
        undefined("the value is infinite or not a number, and is known before the run: WGSL refuses it", place)
        numbers = [0] * len(numbers)
    return Constant(type, place, tuple(kind(each) for kind, each in zip(kinds, numbers, strict=True)))


def fold_unary(operator: str, operand: Constant, place: Span) -> Constant:
    """An operator applied to a constant."""
    if scalar_of(operand.type) == ABSTRACT_INT:
        found = tuple(~leaf if operator == "~" else leaf if leaf == LOWEST else -leaf for leaf in operand.leaves)
        return Constant(operand.type, place, found)
    with np.errstate(all="ignore"):
        return constant(operand.type, place, [unary(operator, array_of(operand))])


def _columns(parts: Sequence[Constant]) -> Iterator[tuple]:
    """The leaves of several values side by side; a single one goes with all of the others."""
    size = max(len(each.leaves) for each in parts)
    return zip(*(each.leaves if len(each.leaves) == size else each.leaves * size for each in parts), strict=True)


def in_range(value: Constant) -> Constant:
    """An abstract integer, which has 64 bits."""
    if not all(leaf in RANGES[ABSTRACT_INT] for leaf in value.leaves):
        undefined("overflow: a whole number that is known before the run has 64 bits", value)
    return value


def fold_binary(operator: str, left: Constant, right: Constant, type: Type, place: Span) -> Constant:
    """An operator between two constants. Raises Refused where the result is not defined."""
    scalar = scalar_of(left.type)
    if operator in ("/", "%") and scalar in WHOLE and 0 in right.leaves:
        undefined("division by zero", place)
        return Constant(type, place, (0,) * sum(1 for _ in leaves(type)))
    if scalar == ABSTRACT_INT:
        return _abstract(operator, left, right, type, place)
    a, b = array_of(left), array_of(right)
    with np.errstate(all="ignore"):
        result = binary(operator, a, b)
    if scalar == I32 and operator in ("/", "%") and np.any((a == INT_MIN) & (b == -1)):
        undefined(f"`{operator}` leaves the range of an i32", place)
    if operator == "<<" and np.any(_lost(a, b)):
        undefined("`<<` drops bits that belong to the value", place)
    return constant(type, place, [result])


def _lost(values: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Where a shift to the left drops bits that are not copies of the sign."""
    wide = np.left_shift(values.astype(np.int64), amounts.astype(np.int64))
    low, high = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
    return (wide < low) | (wide > high)


def _abstract(operator: str, left: Constant, right: Constant, type: Type, place: Span) -> Constant:
    value = Constant(type, place, tuple(_whole(operator, x, y) for x, y in _columns((left, right))))
    return value if operator in COMPARISONS else in_range(value)


def _whole(operator: str, x: int, y: int) -> int | bool:
    """An operator between two Python integers, as WGSL defines it."""
    match operator:
        case "/":
            return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        case "%":
            return int(math.fmod(x, y)) if max(abs(x), abs(y)) < 2**53 else x - y * _whole("/", x, y)
        case "<<":
            return x << min(y, BITS)
        case ">>":
            return x >> y
        case _:
            return PLAIN[operator](x, y)


PLAIN = {
    **{"+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__, "|": int.__or__, "^": int.__xor__},
    **{"==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__},
}


def fold_convert(operand: Constant, wanted: Scalar, type: Type, place: Span) -> Constant:
    """A constant as another scalar type."""
    given = scalar_of(operand.type)
    if given in ABSTRACT and wanted == BOOL:
        return Constant(type, place, tuple(leaf != 0 for leaf in operand.leaves))
    if given == ABSTRACT_FLOAT and wanted in RANGES:
        low, high = RANGES[wanted].start, RANGES[wanted].stop - 1
        found = tuple(min(max(int(leaf), low), high) for leaf in operand.leaves)
        return Constant(type, place, found)
    with np.errstate(all="ignore"):
        return constant(type, place, [convert(array_of(operand), wanted.name)])


def fold_bitcast(operand: Constant, wanted: Scalar, type: Type, place: Span) -> Constant:
    """The bits of a constant as another scalar type."""
    return constant(type, place, [bitcast(array_of(operand), wanted.name)])


def fold_builtin(name: str, arguments: Sequence[Constant], type: Type, place: Span) -> Constant:
    """A built-in function of constants. Raises Refused where it is not defined for them."""
    if scalar_of(arguments[0].type) == ABSTRACT_INT:
        return _whole_function(name, arguments, type, place)
    parts = [tuple(np.array(leaf, DTYPE[scalar_of(each.type).name]) for leaf in each.leaves) for each in arguments]
    function = BUILTINS[name]
    if scalar_of(arguments[0].type) == ABSTRACT_FLOAT and name in ABSTRACT_FUNCTIONS:
        parts, function = [np.array(each, np.float64) for each in parts], ABSTRACT_FUNCTIONS[name]
    with np.errstate(all="ignore"):
        result = function(*parts)
    return constant(type, place, [result] if isinstance(result, np.ndarray | np.generic) else result)


def _whole_function(name: str, arguments: Sequence[Constant], type: Type, place: Span) -> Constant:
    """A built-in function of abstract integers, as Python's integers give it."""
    found = tuple(WHOLE_FUNCTIONS[name](*values) for values in _columns(arguments))
    value = in_range(Constant(type, place, found))
    return in_range(replace(value, leaves=(sum(found),))) if name == "dot" else value


# --- Arguments for which a function is not defined ----------------------------------------------------------------

BIAS = 127  # of the exponent of an f32
RULES: dict[str, tuple[tuple[int, ...], Callable[..., bool], str]] = {
    "clamp": ((1, 2), lambda low, high: low > high, "the lower end of clamp is above the higher one"),
    "smoothstep": ((0, 1), lambda low, high: low == high, "the first two values of smoothstep must differ"),
    "ldexp": ((1,), lambda exponent: exponent > BIAS + 1, f"the exponent of ldexp may be at most {BIAS + 1}"),
    "extractBits": (
        (1, 2),
        lambda offset, count: offset + count > 32,
        "extractBits reads past the 32 bits of a number",
    ),
    "insertBits": ((2, 3), lambda offset, count: offset + count > 32, "insertBits writes past the 32 bits of a number"),
}


def check_known(name: Word, arguments: Sequence[Expression]) -> None:
    """Refuse values that are known and break a rule in any component."""
    if name not in RULES:
        return
    places, breaks, reason = RULES[name]
    asked = [arguments[i] for i in places]
    if not all(isinstance(each, Constant) for each in asked):
        return
    if any(breaks(*values) for values in _columns(asked)):
        undefined(reason, name)


# --- Numbers as they are written ----------------------------------------------------------------------------------

SUFFIXES = {"i": I32, "u": U32, "": ABSTRACT_INT}


def literal(node: tree.Literal) -> Constant:
    """The value of a literal, with the type that its suffix gives it, or an abstract one."""
    text = node.text
    if text in ("true", "false"):
        return Constant(BOOL, node, (text == "true",))
    if whole := WHOLE_NUMBER.fullmatch(text):
        return Constant(SUFFIXES[whole[2]], node, (int(whole[1], 0),))
    digits, suffix = FRACTION_NUMBER.fullmatch(text).groups()
    number = float.fromhex(digits) if digits[:2] in ("0x", "0X") else float(digits)
    if suffix:
        return Constant(F32, node, (nearest(number),))
    return Constant(ABSTRACT_FLOAT, node, (number,))
