"""The built-in functions of values: how many arguments each takes, of which types, and what it returns."""

from __future__ import annotations

import re
from collections.abc import Callable

from wgsl.syntax.tree import frozen
from wgsl.types.conversions import FLOATS, NUMBERS, scalar_of, shaped
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F32,
    I32,
    U32,
    Field,
    Scalar,
    Struct,
    Type,
    Vector,
    alignment,
    rounded,
    words,
)

ANY_SHAPE, VECTORS = (1, 2, 3, 4), (2, 3, 4)
SIGNED, INTEGERS = (*FLOATS, I32, ABSTRACT_INT), (I32, U32)


@frozen
class Other:
    """An argument that is not like the first one: a `scalar`, or one for each component, or either.

    Without a scalar it is of the scalar type that the first argument has.
    """

    scalar: Scalar | None
    single: bool = True
    componentwise: bool = False


ALIKE = Other(None, single=False, componentwise=True)


@frozen
class Signature:
    """A function of `count` arguments of one type: of one of the `scalars`, in one of the `shapes` (1 is a scalar).

    The last arguments may be `others`; the result is of the first argument's type unless `result` makes another one
    of it.
    """

    count: int
    scalars: tuple[Scalar, ...]
    shapes: tuple[int, ...] = ANY_SHAPE
    others: tuple[Other, ...] = ()
    result: Callable[[Type], Type] = lambda type: type

    @property
    def arguments(self) -> tuple[Other, ...]:
        """The rule for each argument, the first included."""
        return (ALIKE,) * (self.count - len(self.others)) + self.others


def _packs(scalar: Scalar, size: int) -> Signature:
    return Signature(1, (scalar,), (size,), result=lambda _: U32)


def _unpacks(size: int, scalar: Scalar) -> Signature:
    return Signature(1, (U32,), (1,), result=lambda _: Vector(size, scalar))


def _parts(name: str, whole: str, scalar: Scalar | None = None) -> Callable[[Type], Type]:
    """The struct that `modf` and `frexp` return: a fraction, and a part of the same shape."""

    def struct(type: Type) -> Struct:
        other = shaped(type, scalar or scalar_of(type))
        widest = max(alignment(type), alignment(other))
        offset = rounded(words(type), alignment(other))
        fields = Field("fract", type, 0), Field(whole, other, offset)
        return Struct(f"__{name}_result", fields, rounded(offset + words(other), widest), widest)

    return struct


_TABLE: tuple[tuple[str, Signature], ...] = (
    ("acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh degrees radians", Signature(1, FLOATS)),
    ("exp exp2 log log2 sqrt inverseSqrt", Signature(1, FLOATS)),
    ("ceil floor fract round saturate trunc", Signature(1, FLOATS)),
    ("quantizeToF16", Signature(1, (F32, ABSTRACT_FLOAT))),
    ("atan2 pow step", Signature(2, FLOATS)),
    ("fma smoothstep", Signature(3, FLOATS)),
    ("mix", Signature(3, FLOATS, others=(Other(None, componentwise=True),))),
    ("ldexp", Signature(2, FLOATS, others=(Other(I32, single=False, componentwise=True),))),
    ("abs", Signature(1, NUMBERS)),
    ("sign", Signature(1, SIGNED)),
    ("max min", Signature(2, NUMBERS)),
    ("clamp", Signature(3, NUMBERS)),
    ("length", Signature(1, FLOATS, result=scalar_of)),
    ("distance", Signature(2, FLOATS, result=scalar_of)),
    ("normalize", Signature(1, FLOATS, VECTORS)),
    ("reflect", Signature(2, FLOATS, VECTORS)),
    ("faceForward", Signature(3, FLOATS, VECTORS)),
    ("refract", Signature(3, FLOATS, VECTORS, others=(Other(None),))),
    ("modf", Signature(1, FLOATS, result=_parts("modf", "whole"))),
    ("frexp", Signature(1, FLOATS, result=_parts("frexp", "exp", I32))),
    ("cross", Signature(2, FLOATS, (3,))),
    ("dot", Signature(2, NUMBERS, VECTORS, result=scalar_of)),
    ("countOneBits countLeadingZeros countTrailingZeros", Signature(1, INTEGERS)),
    ("firstLeadingBit firstTrailingBit reverseBits", Signature(1, INTEGERS)),
    ("extractBits", Signature(3, INTEGERS, others=(Other(U32),) * 2)),
    ("insertBits", Signature(4, INTEGERS, others=(Other(U32),) * 2)),
    ("all any", Signature(1, (BOOL,), result=scalar_of)),
    ("select", Signature(3, (BOOL, *NUMBERS), others=(Other(BOOL, componentwise=True),))),
    ("pack4x8snorm pack4x8unorm", _packs(F32, 4)),
    ("pack2x16snorm pack2x16unorm pack2x16float", _packs(F32, 2)),
    ("pack4xI8 pack4xI8Clamp", _packs(I32, 4)),
    ("pack4xU8 pack4xU8Clamp", _packs(U32, 4)),
    ("dot4I8Packed", Signature(2, (U32,), (1,), result=lambda _: I32)),
    ("dot4U8Packed", Signature(2, (U32,), (1,))),
    ("unpack4x8snorm unpack4x8unorm", _unpacks(4, F32)),
    ("unpack2x16snorm unpack2x16unorm unpack2x16float", _unpacks(2, F32)),
    ("unpack4xI8", _unpacks(4, I32)),
    ("unpack4xU8", _unpacks(4, U32)),
)
SIGNATURES: dict[str, Signature] = {}
for _names, _signature in _TABLE:
    SIGNATURES |= dict.fromkeys(_names.split(), _signature)
OF_MATRICES = ("transpose", "determinant")
MISSING = re.compile(  # what WGSL has, and the simulator does not
    r"subgroup(Barrier|Matrix\w+)"
)


def is_builtin(name: str) -> bool:
    """Return True where WGSL has a built-in function of values of this name."""
    return name in SIGNATURES or name in OF_MATRICES or bool(MISSING.fullmatch(name))
