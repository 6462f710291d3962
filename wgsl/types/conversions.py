"""Automatic conversions: which type an abstract number may take, and the type that several operands share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from wgsl.diagnostics import Span, Undefined, Unsupported
from wgsl.syntax.tokens import LARGEST_HALF
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    F16,
    F32,
    I32,
    U32,
    Array,
    Field,
    Scalar,
    Struct,
    Type,
    Vector,
    leaves,
    words,
)
from wgsl.types.noted import note
from wgsl.types.program import Constant, Expression, Part

ABSTRACT = (ABSTRACT_INT, ABSTRACT_FLOAT)
RANGES = {I32: range(-(2**31), 2**31), U32: range(2**32), ABSTRACT_INT: range(-(2**63), 2**63)}
PRECISION = {F32: np.float32, F16: np.float16, ABSTRACT_FLOAT: np.float64}  # of the floats
FLOATS = (*PRECISION,)
LARGEST = {F16: LARGEST_HALF}  # past it a number that is known before the run is refused, whatever it is rounded to
NUMBERS = (F32, F16, I32, U32, *ABSTRACT)
WHOLE = (I32, U32, ABSTRACT_INT)
PAIRS = ("__modf_result", "__frexp_result")
LARGEST_SINGLE = float(np.finfo(np.float32).max)

_skipped = ContextVar("skipped", default=False)


@contextmanager
def skipped(skip: bool = True) -> Iterator[None]:
    """While it is open, expressions are read for their types alone: no run evaluates them."""
    token = _skipped.set(skip or _skipped.get())
    try:
        yield
    finally:
        _skipped.reset(token)


def undefined(kind: str, place: Span, **facts: object) -> None:
    """Refuse a value that WGSL does not define, unless nothing evaluates it; then any number will do."""
    if not _skipped.get():
        raise Undefined(kind, place, **facts)


MOST_NUMBERS = 65_536  # of one value


def check_room(type: Type, place: Span) -> None:
    """Refuse to list the numbers of a value where they are too many."""
    if words(type) > MOST_NUMBERS:
        raise Unsupported("large value", place.at, most=MOST_NUMBERS)


def scalar_of(type: Type | None) -> Scalar | None:
    """The scalar type that a scalar, vector or array consists of; None for other types."""
    match type:
        case Scalar():
            return type
        case Vector(element=element) | Array(element=element):
            return scalar_of(element)
    return None


def shaped(type: Type, scalar: Scalar) -> Type:
    """The same shape with another scalar."""
    match type:
        case Vector(size):
            return Vector(size, scalar)
        case Array(element, count):
            return type.__class__(shaped(element, scalar), count)
    return scalar


def common(types: Iterable[Type]) -> Scalar | None:
    """The scalar that operands share after automatic conversions; None where they share none."""
    scalars = {scalar_of(type) for type in types}
    for wanted in scalars:
        if all(automatic(scalar, wanted) for scalar in scalars):
            return wanted
    return None


def automatic(scalar: Scalar, wanted: Scalar) -> bool:
    """Return True where a number of one scalar type becomes one of the other by itself, as an abstract one does."""
    if scalar == ABSTRACT_INT:
        return wanted in NUMBERS
    return scalar == wanted or (scalar == ABSTRACT_FLOAT and wanted in FLOATS)


def converted(value: Expression, wanted: Type) -> Expression | None:
    """The value as another type, where the conversion is automatic; None where it is not.

    Raises NotWgsl for a number that the other type does not have.
    """
    if value.type == wanted:
        return value
    scalar = scalar_of(wanted)
    if _is_pair(value.type) and _is_pair(wanted):
        fits = value.type.name == wanted.name and all(map(_is_like, value.type.fields, wanted.fields))
        return _retyped(value, wanted) if fits else None
    fits = scalar and shaped(value.type, scalar) == wanted and automatic(scalar_of(value.type), scalar)
    return _retyped(value, wanted) if fits else None


def _is_pair(type: Type) -> bool:
    """Return True for the struct that `modf` or `frexp` gives."""
    return isinstance(type, Struct) and type.name in PAIRS


def _is_like(field: Field, wanted: Field) -> bool:
    """Return True for a member of a pair that becomes another one by itself."""
    scalar = scalar_of(wanted.type)
    return shaped(field.type, scalar) == wanted.type and automatic(scalar_of(field.type), scalar)


def concrete(value: Expression) -> Expression:
    """The value; an abstract number as the i32 or f32 that it is where no other type is needed."""
    type = _concrete(value.type)
    return value if type == value.type else _retyped(value, type)


def _concrete(type: Type) -> Type:
    if _is_pair(type):  # what `modf` or `frexp` gives of an abstract number has members to convert
        return replace(type, fields=tuple(replace(field, type=_concrete(field.type)) for field in type.fields))
    default = {ABSTRACT_INT: I32, ABSTRACT_FLOAT: F32}.get(scalar_of(type))
    return shaped(type, default) if default else type


def _retyped(value: Constant, type: Type) -> Constant:
    """A constant with each of its numbers as a type has it."""
    numbers = (represented(leaf, scalar, value) for leaf, (_, scalar) in zip(value.leaves, leaves(type), strict=True))
    return Constant(type, value.place, tuple(numbers))


def represented(number: float | int, scalar: Scalar, part: Part) -> float | int:
    """An abstract number as a scalar has it: rounded where that is a float, refused where it is out of its range."""
    if scalar in RANGES:
        rounded = number
        held = number in RANGES[scalar]
    else:
        rounded = nearest(number, scalar)
        held = math.isfinite(rounded) and abs(number) <= LARGEST.get(scalar, math.inf)
    if held:
        check_largest(number, scalar, part)
        return rounded
    if scalar == U32 and number < 0:
        undefined("negative", part, number=number)
    else:
        undefined("not held", part, scalar=scalar, number=number)
    return 0 if scalar in RANGES else 0.0


def check_largest(number: float | int, scalar: Scalar, place: Span) -> None:
    """Note a number that an f32 holds only when it is rounded to the largest one."""
    if scalar == F32 and abs(number) > LARGEST_SINGLE:
        note("largest f32", place)


def nearest(number: float | int, scalar: Scalar) -> float:
    """The nearest number of a float type; an infinity where there is none."""
    with np.errstate(over="ignore"):
        return float(PRECISION[scalar](number))
