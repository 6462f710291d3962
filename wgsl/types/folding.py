"""Values that are known before the run: literals, operators, conversions and built-in functions of constants.

Concrete numbers are computed as in a run, by `arithmetic`. Abstract numbers are 64-bit integers and float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import eq, gt, rshift

import numpy as np

from wgsl.arithmetic.builtins import BUILTINS
from wgsl.arithmetic.operators import DTYPES, INT_MIN, binary
from wgsl.diagnostics import Span
from wgsl.syntax import tree
from wgsl.syntax.tokens import FRACTION_NUMBER, LARGEST_HALF, WHOLE_NUMBER, Word
from wgsl.types.conversions import (
    FLOATS,
    LARGEST,
    RANGES,
    WHOLE,
    check_largest,
    check_room,
    nearest,
    scalar_of,
    undefined,
)
from wgsl.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F16, F32, I32, U32, Scalar, Type, leaves
from wgsl.types.program import Builtin, Constant, Expression

DTYPE = {**DTYPES, ABSTRACT_FLOAT.name: np.float64, ABSTRACT_INT.name: np.int64}
BITS = 64
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
SUMS = ("+", "-", "*", "/")
EXACT = {  # of Python's integers, which have no range to leave
    "/": lambda x, y: abs(x) // abs(y) * np.sign(x) * np.sign(y),
    "%": lambda x, y: abs(x) % abs(y) * np.sign(x),
    "<<": lambda x, y: x << np.minimum(y, BITS),
    ">>": rshift,
}


def array_of(value: Constant) -> np.ndarray:
    """The leaves of a scalar or vector: an array of shape (components,)."""
    return np.array(value.leaves, DTYPE[scalar_of(value.type).name])


def computed(type: Type, place: Span, function: Callable, *operands: object) -> Constant:
    """Return the result of a function of arrays, as a constant at a place of the text.

    Raises NotWgsl where a float is not a number, or a whole number is past the range of its type.
    """
    numbers = []
    try:
        with np.errstate(all="raise", under="ignore"):  # what is infinite on the way is refused, too
            for array in function(*operands):
                numbers += np.ravel(array).tolist()
    except FloatingPointError:
        numbers = [math.inf for _ in leaves(type)]
    faults = (_fault(number, scalar) for number, (_, scalar) in zip(numbers, leaves(type), strict=True))
    if fault := next(filter(None, faults), None):
        undefined(fault, place)
        return zero(type, place)
    return Constant(type, place, tuple(numbers))


def _fault(number: float | int | bool, scalar: Scalar) -> str | None:
    """Return why a number that was computed cannot be the value of a constant: the kind of the refusal."""
    if isinstance(number, float) and not math.isfinite(number):
        return "infinite"
    if scalar == ABSTRACT_INT and number not in RANGES[scalar]:
        return "overflow"
    return "dropped bits" if number not in RANGES.get(scalar, (number,)) else None


def zero(type: Type, place: Span) -> Constant:
    """The value whose leaves are all zero."""
    check_room(type, place)
    zeros = {BOOL: False, **dict.fromkeys(FLOATS, 0.0)}
    return Constant(type, place, tuple(zeros.get(scalar, 0) for _, scalar in leaves(type)))


def fold_binary(operator: str, left: Constant, right: Constant, type: Type, place: Span) -> Constant:
    """An operator between two constants. Raises NotWgsl where the result is not defined."""
    scalar = scalar_of(left.type)
    x = array_of(left)
    y = array_of(right)
    if operator in ("/", "%") and scalar in WHOLE:
        if 0 in y:
            undefined("division by zero", place)
            return zero(type, place)
        if scalar == I32 and np.any((x == INT_MIN) & (y == -1)):
            undefined("range of an i32", place, sign=operator)
    if scalar == ABSTRACT_INT or operator == "<<":
        x = x.astype(object)
        y = y.astype(object)
        if operator in EXACT:
            return computed(type, place, EXACT[operator], x, y)
    if scalar == F16 and operator in SUMS:
        with np.errstate(all="ignore"):
            check_held(binary(operator, x.astype(np.float32), y.astype(np.float32)), F16, place)
    return computed(type, place, binary, operator, x, y)


def check_held(numbers: np.ndarray, scalar: Scalar, place: Span) -> None:
    """Refuse a number that is past the largest of a type, whatever it is rounded to, and not infinite itself."""
    past = numbers[np.isfinite(numbers) & (np.abs(numbers) > LARGEST.get(scalar, math.inf))]
    if past.size:
        undefined("not held", place, scalar=scalar, number=past.flat[0].item())


def made(name: str, arguments: Sequence[Expression], type: Type, place: Span) -> Expression:
    """A built-in function of values, computed where all are known. Raises NotWgsl where it is not defined for them."""
    if not all(isinstance(argument, Constant) for argument in arguments):
        return Builtin(type, place, name, tuple(arguments))
    exact = name == "dot" and scalar_of(type) == ABSTRACT_INT
    arrays = [array_of(argument).astype(object) if exact else array_of(argument) for argument in arguments]
    return computed(type, place, BUILTINS[name], *(tuple(array[:, None]) for array in arrays))


# --- Arguments for which a function is not defined ----------------------------------------------------------------

RULES: dict[str, tuple[tuple[int, ...], Callable[..., bool], str]] = {  # the kind of the refusal comes last
    "clamp": ((1, 2), gt, "clamp"),
    "smoothstep": ((0, 1), eq, "smoothstep"),
    "ldexp of abstract f32": ((1,), lambda exponent: exponent > 1024, "ldexp of abstract f32"),
    "ldexp of f32": ((1,), lambda exponent: exponent > 128, "ldexp of f32"),
    "ldexp of f16": ((1,), lambda exponent: exponent > 16, "ldexp of f16"),
    "pow": ((0, 1), lambda base, exponent: (base == 0) & (exponent == 0), "pow"),
    **dict.fromkeys(("quantizeToF16", "pack2x16float"), ((0,), lambda value: abs(value) > LARGEST_HALF, "half")),
    "extractBits": ((1, 2), lambda offset, count: offset + count > 32, "extractBits"),
    "insertBits": ((2, 3), lambda offset, count: offset + count > 32, "insertBits"),
}


def check_known(name: Word, arguments: Sequence[Expression]) -> None:
    """Refuse values that are known and break a rule in any component."""
    rule = RULES.get(f"{name} of {scalar_of(arguments[0].type).name}")
    places, breaks, kind = rule or RULES.get(name, ((), None, ""))
    checked = [arguments[i] for i in places]
    known = all(isinstance(argument, Constant) for argument in checked)
    if checked and known and np.any(breaks(*(np.array(argument.leaves, object) for argument in checked))):
        undefined(kind, name)


# --- Numbers as they are written ----------------------------------------------------------------------------------

SUFFIXES = {"i": I32, "u": U32, "": ABSTRACT_INT}
FRACTIONS = {"f": F32, "h": F16, "": ABSTRACT_FLOAT}


def literal(node: tree.Literal) -> Constant:
    """The value of a literal, with the type that its suffix gives it, or an abstract one."""
    text = node.text
    if text in ("true", "false"):
        return Constant(BOOL, node, (text == "true",))
    if whole := WHOLE_NUMBER.fullmatch(text):
        return Constant(SUFFIXES[whole[2]], node, (int(whole[1], 0),))
    digits, suffix = FRACTION_NUMBER.fullmatch(text).groups()
    number = float.fromhex(digits) if digits[:2] in ("0x", "0X") else float(digits)
    scalar = FRACTIONS[suffix]
    check_largest(number, scalar, node)
    return Constant(scalar, node, (nearest(number, scalar),))
