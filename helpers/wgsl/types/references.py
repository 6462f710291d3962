"""Parts of variables and values: indices, members, swizzles, pointers."""

from __future__ import annotations

from helpers.wgsl.diagnostics import Refused
from helpers.wgsl.types.conversions import WHOLE, concrete, refused
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
    Part,
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
        raise refused("an atomic is read with `atomicLoad(&...)`", part)
    if not is_constructible(part.type):
        raise refused(f"a value of type `{part.type}` cannot be read as a whole", part)
    return Load(part.type, part.at, part.end, part)


def address(part: Reference | Expression, at: int, end: int) -> AddressOf:
    """``&reference``."""
    if not isinstance(part, Reference):
        raise refused("the operand of the `&` operator must be a reference", part, "expression is not a reference")
    if isinstance(part, Member | Element) and isinstance(part.base.type, Vector):
        raise refused("cannot take the address of a vector component", part, "invalid operand for address-of")
    space, access = origin(part)
    return AddressOf(Pointer(space, part.type, access), at, end, part)


def dereferenced(pointer: Expression, at: int, end: int) -> Reference:
    """``*pointer``."""
    if not isinstance(pointer.type, Pointer):
        raise Refused("the operand of the `*` operator must be a pointer", at, end - at, "expression is not a pointer")
    if isinstance(pointer, AddressOf):
        return pointer.reference
    return Deref(pointer.type.to, at, end, pointer)


def through(part: Reference | Expression) -> Reference | Expression:
    """A pointer before ``.`` or ``[`` stands for what it points at."""
    return dereferenced(part, part.at, part.end) if isinstance(part.type, Pointer) else part


# --- Index ----------------------------------------------------------------------------------------------------


def indexed(base: Reference | Expression, index: Expression, end: int) -> Reference | Expression:
    """``base[index]``."""
    base = through(base)
    place = Part(base.type, base.at, end)
    if not isinstance(base.type, Array | Vector):
        raise refused("Invalid access into expression [0], indexed: true", place)
    index = concrete(index)
    if not isinstance(index.type, Scalar) or index.type not in WHOLE:
        raise refused("Accessing with index [0] can't be done", place)
    count = base.type.size if isinstance(base.type, Vector) else base.type.count
    number = _number(index, count, place)
    if isinstance(base, Reference):
        return _element(base, index, number, count, end)
    if number is not None:
        return _picked_element(base, number, end)
    base = concrete(base)
    return Index(base.type.element, base.at, end, base, index, count)


def _number(index: Expression, count: int | None, place: Part) -> int | None:
    """The value of an index that is known before the run. Raises Refused where it is out of range."""
    if not isinstance(index, Constant):
        return None
    number = int(index.leaves[0])
    if number < 0:
        raise refused("Accessing [0] via a negative index is invalid", place)
    if count is not None and number >= count:
        raise refused(f"Accessing index {number} is out of [0] bounds", place)
    return number


def _element(base: Reference, index: Expression, number: int | None, count: int | None, end: int) -> Reference:
    if isinstance(base.type, Vector):
        if number is not None:
            return Member(base.type.element, base.at, end, base, number)
        return Element(base.type.element, base.at, end, base, index, count, 1)
    return Element(base.type.element, base.at, end, base, index, count, base.type.stride)


def _picked_element(base: Expression, number: int, end: int) -> Expression:
    size = _leaf_count(base.type.element)
    return pick(base, base.type.element, range(number * size, (number + 1) * size), end)


def _leaf_count(type: Type) -> int:
    return sum(1 for _ in leaves(type))


def pick(base: Expression, type: Type, picked: range | tuple[int, ...], end: int) -> Expression:
    """Some leaves of a value."""
    if isinstance(base, Constant):
        return Constant(type, base.at, end, tuple(base.leaves[i] for i in picked))
    return Pick(type, base.at, end, base, tuple(picked))


# --- Members --------------------------------------------------------------------------------------------------


def member(base: Reference | Expression, name: str, name_at: int) -> Reference | Expression:
    """``base.name``: a member of a struct, a component or several of a vector."""
    base, end = through(base), name_at + len(name)
    match base.type:
        case Struct() if name in fields_of(base.type):
            return _field(base, name, end)
        case Vector():
            picked = _components(base.type, name)
            if picked is not None:
                return _swizzled(base, picked, end)
    raise Refused(f"invalid field accessor `{name}`", name_at, len(name), "invalid accessor")


def _field(base: Reference | Expression, name: str, end: int) -> Reference | Expression:
    field = fields_of(base.type)[name]
    if isinstance(base, Reference):
        return Member(field.type, base.at, end, base, field.offset)
    before = sum(_leaf_count(each.type) for each in base.type.fields[: base.type.fields.index(field)])
    return pick(base, field.type, range(before, before + _leaf_count(field.type)), end)


def _components(type: Vector, name: str) -> tuple[int, ...] | None:
    for letters in COMPONENTS:
        if len(name) <= 4 and all(letter in letters[: type.size] for letter in name):
            return tuple(letters.index(letter) for letter in name)
    return None


def _swizzled(base: Reference | Expression, picked: tuple[int, ...], end: int) -> Reference | Expression:
    if len(picked) > 1:
        return pick(loaded(base), Vector(len(picked), base.type.element), picked, end)
    if isinstance(base, Reference):
        return Member(base.type.element, base.at, end, base, picked[0])
    return pick(base, base.type.element, picked, end)


def check_writable(reference: Reference) -> None:
    """Refuse to store to a reference to what can only be read, or what only atomic functions may touch."""
    space, access = origin(reference)
    if access == "read" or space == "uniform":
        reason = "The pointer [0] doesn't relate to a valid destination for a store"
        raise refused(reason, reference, "writing to this location is not permitted")
    if isinstance(reference.type, Atomic):
        raise refused("an atomic is written with `atomicStore(&..., value)`, or another atomic function", reference)
    if not is_constructible(reference.type):
        raise refused(f"The type of [0] doesn't match the type stored in [1] (of type {reference.type})", reference)
