"""Parts of variables and values: indices, members, swizzles, pointers."""

from __future__ import annotations

from collections.abc import Sequence

from wgsl.diagnostics import NotWgsl, Span
from wgsl.syntax.tokens import Word
from wgsl.types.conversions import WHOLE, check_room, concrete, undefined
from wgsl.types.kinds import (
    Array,
    Atomic,
    Handle,
    Pointer,
    Size,
    Struct,
    Type,
    Vector,
    is_constructible,
    leaf_count,
    leaves_before,
    words,
)
from wgsl.types.program import (
    AddressOf,
    Constant,
    Deref,
    Element,
    Expression,
    Index,
    Load,
    Member,
    Named,
    Part,
    Pick,
    Reference,
    Root,
)

COMPONENTS = ("xyzw", "rgba")


def origin(reference: Reference) -> tuple[str, str]:
    """The address space and the access of the variable that a reference refers to."""
    match reference:
        case Root(variable=variable):
            return variable.space, variable.access
        case Deref(pointer=pointer):
            return pointer.type.space, pointer.type.access
    return origin(reference.base)


def loaded(part: Reference | Expression) -> Expression:
    """A value; for a reference, the value that is stored there."""
    if not isinstance(part, Reference):
        return part
    if isinstance(part.type, Handle):
        return part
    if isinstance(part.type, Atomic):
        raise NotWgsl("atomic read", part)
    if not is_constructible(part.type):
        raise NotWgsl("whole read", part, part=part)
    return Load(part.type, part.place, part)


def address(part: Reference | Expression, place: Span) -> AddressOf:
    """``&reference``."""
    if not isinstance(part, Reference):
        raise NotWgsl("address", part)
    if isinstance(part, Member | Element) and isinstance(part.base.type, Vector):
        raise NotWgsl("address of a component", part)
    if isinstance(part.type, Handle):
        raise NotWgsl("address", part)
    space, access = origin(part)
    return AddressOf(Pointer(space, part.type, access), place, part)


def dereferenced(pointer: Expression, place: Span) -> Reference:
    """``*pointer``."""
    if not isinstance(pointer.type, Pointer):
        raise NotWgsl("power", place)
    if isinstance(pointer, AddressOf):
        return pointer.reference
    return Deref(pointer.type.to, place, pointer)


def pointee(part: Reference | Expression) -> Reference | Expression:
    """Return the place to which a pointer before ``.`` or ``[`` points; any other value as it is."""
    return dereferenced(part, part.place) if isinstance(part.type, Pointer) else part


# --- Index --------------------------------------------------------------------------------------------------------


def indexed(base: Reference | Expression, index: Expression, place: Span) -> Reference | Expression:
    """``base[index]``."""
    base = pointee(base)
    match base.type:
        case Vector(count, element):
            stride = words(element)
        case Array(element, count):
            stride = base.type.stride
        case _:
            raise NotWgsl("indexed", place, base=base)
    if index.type not in WHOLE:
        raise NotWgsl("index", index, value=index)
    index = concrete(index)
    number = _number(index, count, place)
    in_memory = isinstance(base, Reference)
    if number is not None and not (in_memory and isinstance(base.type, Array)):
        return _part(base, element, number * stride, place)
    if in_memory:
        return Element(element, place, base, index, count, stride)
    base = concrete(base)
    return Index(base.type.element, place, base, index, count)


def _number(index: Expression, count: int | None, place: Span) -> int | None:
    """The value of an index that is known before the run. Raises NotWgsl where it is out of range."""
    if not isinstance(index, Constant):
        return None
    number = int(index.leaves[0])
    if number < 0:
        undefined("negative index", place)
    elif count is None or number < count:
        return number
    else:
        undefined("index past the end", place)
    return 0


def _part(base: Reference | Expression, type: Type, offset: Size, place: Span) -> Reference | Expression:
    """Return the part of a variable or a value that lies `offset` words after its start."""
    if isinstance(base, Reference):
        return Member(type, place, base, offset)
    check_room(base.type, place)
    first = leaves_before(base.type, offset)
    return _picked(base, type, range(first, first + leaf_count(type)), place)


def _picked(base: Expression, type: Type, picked: Sequence[int], place: Span) -> Expression:
    """Some leaves of a value."""
    if isinstance(base, Constant):
        return Constant(type, place, tuple(base.leaves[i] for i in picked))
    return Pick(type, place, base, tuple(picked))


# --- Members ------------------------------------------------------------------------------------------------------


def member(base: Reference | Expression, name: Word, place: Span) -> Reference | Expression:
    """``base.name``: a member of a struct, a component or several of a vector."""
    base = pointee(base)
    match base.type:
        case Struct(fields=fields):
            for field in fields:
                if field.name == name:
                    return _part(base, field.type, field.offset, place)
        case Vector(size, element):
            letters = next((alphabet for alphabet in COMPONENTS if set(name) <= set(alphabet[:size])), "")
            picked = [letters.index(letter) for letter in name] if letters else []
            if len(picked) == 1:
                return _part(base, element, picked[0] * words(element), place)
            if 2 <= len(picked) <= 4:
                return _picked(loaded(base), Vector(len(picked), element), picked, place)
    raise NotWgsl("part", name, base=base, name=name)


def check_writable(reference: Reference) -> None:
    """Refuse to store to a reference to what can only be read, or what only atomic functions may touch."""
    space, access = origin(reference)
    if access == "read" or space == "uniform":
        raise NotWgsl("read_only", reference, target=reference)
    if isinstance(reference.type, Atomic):
        raise NotWgsl("atomic write", reference)
    if not is_constructible(reference.type):
        raise NotWgsl("whole write", reference, part=reference)


def name_of(part: Part) -> str | None:
    """Return the name of the variable, or of the value or pointer, that a part leads to; None where it has none."""
    match part:
        case Root(variable=named) | Named(binding=named):
            return str(named.name)
        case Element(base=inner) | Member(base=inner) | Deref(pointer=inner) | Load(reference=inner):
            return name_of(inner)
        case Pick(operand=inner) | Index(operand=inner):
            return name_of(inner)
    return None
