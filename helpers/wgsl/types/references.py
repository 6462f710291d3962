"""Parts of variables and values: indices, members, swizzles, pointers."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.wgsl.diagnostics import Refused, Span
from helpers.wgsl.syntax.tokens import Word
from helpers.wgsl.types.conversions import WHOLE, concrete
from helpers.wgsl.types.kinds import (
    Array,
    Atomic,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    fields_of,
    is_constructible,
    leaves,
)
from helpers.wgsl.types.program import (
    AddressOf,
    Constant,
    Deref,
    Element,
    Expression,
    Index,
    Load,
    Member,
    Pick,
    Reference,
    Root,
)

COMPONENTS = ("xyzw", "rgba")


def origin(reference: Reference) -> tuple[str, str]:
    """The address space and the access of the variable to which a reference leads."""
    match reference:
        case Root(variable=variable):
            return variable.space, variable.access
        case Deref(pointer=pointer):
            return pointer.type.space, pointer.type.access
    return origin(reference.base)


def loaded(part: Reference | Expression) -> Expression:
    """The value: of a reference, what lies there."""
    if not isinstance(part, Reference):
        return part
    if isinstance(part.type, Atomic):
        raise Refused("an atomic is read with `atomicLoad(&...)`", part)
    if not is_constructible(part.type):
        raise Refused(f"a value of type `{part.type}` cannot be read as a whole", part, "whole", part)
    return Load(part.type, part.place, part)


def address(part: Reference | Expression, place: Span) -> AddressOf:
    """``&reference``."""
    if not isinstance(part, Reference):
        raise Refused("`&` needs a variable, or a part of one", part)
    if isinstance(part, Member | Element) and isinstance(part.base.type, Vector):
        raise Refused("`&` does not work with a part of a vector", part)
    space, access = origin(part)
    return AddressOf(Pointer(space, part.type, access), place, part)


def dereferenced(pointer: Expression, place: Span) -> Reference:
    """``*pointer``."""
    if not isinstance(pointer.type, Pointer):
        raise Refused("`*` needs a pointer on its right, and this is none", place, "power")
    if isinstance(pointer, AddressOf):
        return pointer.reference
    return Deref(pointer.type.to, place, pointer)


def through(part: Reference | Expression) -> Reference | Expression:
    """A pointer before ``.`` or ``[`` stands for what it points at."""
    return dereferenced(part, part.place) if isinstance(part.type, Pointer) else part


# --- Index ----------------------------------------------------------------------------------------------------


def indexed(base: Reference | Expression, index: Expression, place: Span) -> Reference | Expression:
    """``base[index]``."""
    base = through(base)
    if not isinstance(base.type, Array | Vector):
        raise Refused(f"a value of type `{base.type}` takes no index", place, "indexed", base)
    if not isinstance(index.type, Scalar) or index.type not in WHOLE:
        raise Refused("an index must be a whole number, u32 or i32", index, "index", index)
    index = concrete(index)
    count = base.type.size if isinstance(base.type, Vector) else base.type.count
    number = _number(index, count, place)
    if isinstance(base, Reference):
        return _element(base, index, number, count, place)
    if number is not None:
        size = _leaf_count(base.type.element)
        return pick(base, base.type.element, range(number * size, (number + 1) * size), place)
    base = concrete(base)
    return Index(base.type.element, place, base, index, count)


def _number(index: Expression, count: int | None, place: Span) -> int | None:
    """The value of an index that is known before the run. Raises Refused where it is out of range."""
    if not isinstance(index, Constant):
        return None
    number = int(index.leaves[0])
    if number < 0:
        raise Refused("an index is never negative; the first element is number 0", place)
    if count is not None and number >= count:
        raise Refused("this index is past the end of the array", place)
    return number


def _element(base: Reference, index: Expression, number: int | None, count: int | None, place: Span) -> Reference:
    if isinstance(base.type, Vector):
        if number is not None:
            return Member(base.type.element, place, base, number)
        return Element(base.type.element, place, base, index, count, 1)
    return Element(base.type.element, place, base, index, count, base.type.stride)


def _leaf_count(type: Type) -> int:
    return sum(1 for _ in leaves(type))


def pick(base: Expression, type: Type, picked: Sequence[int], place: Span) -> Expression:
    """Some leaves of a value."""
    if isinstance(base, Constant):
        return Constant(type, place, tuple(base.leaves[i] for i in picked))
    return Pick(type, place, base, tuple(picked))


# --- Members --------------------------------------------------------------------------------------------------


def member(base: Reference | Expression, name: Word, place: Span) -> Reference | Expression:
    """``base.name``: a member of a struct, a component or several of a vector."""
    base = through(base)
    match base.type:
        case Struct() if name in fields_of(base.type):
            return _field(base, name, place)
        case Vector():
            picked = _components(base.type, name)
            if picked is not None:
                return _swizzled(base, picked, place)
    raise Refused(f"a value of type `{base.type}` has no part `{name}`", name, "part", base, name)


def _field(base: Reference | Expression, name: str, place: Span) -> Reference | Expression:
    field = fields_of(base.type)[name]
    if isinstance(base, Reference):
        return Member(field.type, place, base, field.offset)
    before = sum(_leaf_count(each.type) for each in base.type.fields[: base.type.fields.index(field)])
    return pick(base, field.type, range(before, before + _leaf_count(field.type)), place)


def _components(type: Vector, name: str) -> tuple[int, ...] | None:
    for letters in COMPONENTS:
        if len(name) <= 4 and all(letter in letters[: type.size] for letter in name):
            return tuple(letters.index(letter) for letter in name)
    return None


def _swizzled(base: Reference | Expression, picked: tuple[int, ...], place: Span) -> Reference | Expression:
    if len(picked) > 1:
        return pick(loaded(base), Vector(len(picked), base.type.element), picked, place)
    if isinstance(base, Reference):
        return Member(base.type.element, place, base, picked[0])
    return pick(base, base.type.element, picked, place)


def check_writable(reference: Reference) -> None:
    """Refuse to store to a reference to what can only be read, or what only atomic functions may touch."""
    space, access = origin(reference)
    if access == "read" or space == "uniform":
        raise Refused("this cannot be written to", reference, "read_only", reference)
    if isinstance(reference.type, Atomic):
        raise Refused("an atomic is written with `atomicStore(&..., value)`, or another atomic function", reference)
    if not is_constructible(reference.type):
        raise Refused(f"a value of type `{reference.type}` cannot be written as a whole", reference, "whole", reference)
