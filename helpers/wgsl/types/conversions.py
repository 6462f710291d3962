"""Automatic conversions: which type an abstract number may take, and the type that several operands share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import numpy as np

from helpers.wgsl.diagnostics import Refused, Span, Undefined
from helpers.wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    F32,
    I32,
    U32,
    Array,
    Scalar,
    Struct,
    Type,
    Vector,
    leaves,
)
from helpers.wgsl.types.program import Constant, Expression, Part

ABSTRACT = (ABSTRACT_INT, ABSTRACT_FLOAT)
RANGES = {I32: range(-(2**31), 2**31), U32: range(2**32), ABSTRACT_INT: range(-(2**63), 2**63)}
FLOATS = (F32, ABSTRACT_FLOAT)
NUMBERS = (F32, I32, U32, *ABSTRACT)
WHOLE = (I32, U32, ABSTRACT_INT)


_skipped = ContextVar("skipped", default=False)


@contextmanager
def skipped(skip: bool = True) -> Iterator[None]:
    """While it is open, expressions are read for their types alone: no run evaluates them."""
    token = _skipped.set(skip or _skipped.get())
    try:
        yield
    finally:
        _skipped.reset(token)


def undefined(reason: str, place: Span) -> None:
    """Refuse a value that WGSL does not define, unless nothing evaluates it; then any number will do."""
    if not _skipped.get():
        raise Undefined(reason, place)


def a(type: Type) -> str:
    """A type with its article."""
    return {ABSTRACT_INT: "a whole number", ABSTRACT_FLOAT: "a number with a point", None: "nothing"}.get(
        type, f"{'an' if str(type)[0] in 'aif' else 'a'} {type}"
    )


def scalar_of(type: Type | None) -> Scalar | None:
    """The scalar of which a scalar, vector or array of them is made; None for other types."""
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
            return Array(shaped(element, scalar), count)
    return scalar


def common(types: Iterable[Type]) -> Scalar | None:
    """The scalar that operands share after automatic conversions; None where they share none."""
    scalars = {scalar_of(type) for type in types}
    if None in scalars:
        return None
    wanted = next(iter(scalars - set(ABSTRACT)), ABSTRACT_FLOAT if ABSTRACT_FLOAT in scalars else ABSTRACT_INT)
    return wanted if all(automatic(scalar, wanted) for scalar in scalars) else None


def automatic(given: Scalar, wanted: Scalar) -> bool:
    """Whether a number is converted by itself."""
    return given == wanted or (given == ABSTRACT_INT and wanted in NUMBERS) or (given, wanted) == (ABSTRACT_FLOAT, F32)


def converted(value: Expression, wanted: Type) -> Expression | None:
    """The value as another type, where that happens by itself; None where it does not.

    Raises Refused for a number that the other type does not have.
    """
    given = scalar_of(value.type)
    if value.type == wanted:
        return value
    if given not in ABSTRACT or not isinstance(value, Constant):
        return None
    scalar = scalar_of(wanted)
    if not scalar or shaped(value.type, scalar) != wanted or not automatic(given, scalar):
        return None
    return replace(value, type=wanted, leaves=tuple(represented(leaf, scalar, value) for leaf in value.leaves))


def with_scalar(value: Expression, scalar: Scalar) -> Expression:
    """The value, of the same shape, of a scalar that `common` has chosen."""
    return converted(value, shaped(value.type, scalar)) or value


def concrete(value: Expression) -> Expression:
    """The value; an abstract number as the i32 or f32 that it is where nothing asks for another type."""
    if isinstance(value.type, Struct) and isinstance(value, Constant):
        return _concrete_parts(value)
    default = {ABSTRACT_INT: I32, ABSTRACT_FLOAT: F32}.get(scalar_of(value.type))
    return with_scalar(value, default) if default else value


def _concrete_parts(value: Constant) -> Constant:
    """What `modf` or `frexp` gives of an abstract number, as f32."""
    if all(scalar not in ABSTRACT for _, scalar in leaves(value.type)):
        return value
    fields = tuple(
        replace(field, type=shaped(field.type, F32)) if scalar_of(field.type) in ABSTRACT else field
        for field in value.type.fields
    )
    numbers = (represented(leaf, F32, value) if isinstance(leaf, float) else leaf for leaf in value.leaves)
    return replace(value, type=replace(value.type, fields=fields), leaves=tuple(numbers))


def represented(number: float | int, scalar: Scalar, part: Part) -> float | int:
    """An abstract number as a scalar has it: rounded where that is a float, refused where it is out of its range."""
    if scalar in RANGES:
        rounded, held = number, number in RANGES[scalar]
    else:
        rounded = float(number) if scalar == ABSTRACT_FLOAT else nearest(number)
        held = math.isfinite(rounded)
    if held:
        return rounded
    if scalar == U32 and number < 0:
        raise Refused(f"a u32 is never negative, and `{number}` is", part)
    raise Refused(f"{a(scalar)} cannot hold `{number}`", part)


def nearest(number: float | int) -> float:
    """The nearest float32; an infinity where there is none."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))
