"""WGSL's types, and where their parts lie in memory.

All sizes and offsets are in words of four bytes. Of numbers of 16 bits they may be halves: a vec3h has 1.5 words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from wgsl.syntax.tree import frozen
from wgsl.words.refusals import reason


@frozen
class Scalar:
    """f32, f16, i32, u32 or bool; or an abstract number, which has no type of its own yet."""

    name: str

    def __str__(self) -> str:
        return self.name.removeprefix("abstract ")


F32, I32, U32, BOOL = Scalar("f32"), Scalar("i32"), Scalar("u32"), Scalar("bool")
F16 = Scalar("f16")
ABSTRACT_INT, ABSTRACT_FLOAT = Scalar("abstract i32"), Scalar("abstract f32")  # what each becomes by default
LETTERS = {F32: "f", F16: "h", I32: "i", U32: "u", ABSTRACT_INT: "i", ABSTRACT_FLOAT: "f"}  # vec2f, vec2h, ...
Size = int | float  # in words; it is an int wherever it is whole


@frozen
class Vector:
    """vec2, vec3 or vec4."""

    size: int
    element: Scalar

    def __str__(self) -> str:
        return f"vec{self.size}{LETTERS.get(self.element, '<bool>')}"


@frozen
class Atomic:
    """An i32 or u32 that only the atomic functions touch."""

    element: Scalar

    def __str__(self) -> str:
        return f"atomic<{self.element}>"


@frozen
class Array:
    """An array of `count` elements; the count of a runtime-sized one is None.

    Where the count depends on overrides, `late` stands for the expression: only the same one makes the same type.
    """

    element: Type
    count: int | None
    late: str | int | None = None

    @property
    def stride(self) -> Size:
        """Words from one element to the next."""
        return rounded(words(self.element), alignment(self.element))

    def __str__(self) -> str:
        return f"array<{self.element}>" if self.count is None else f"array<{self.element}, {self.count}>"


@frozen
class Matrix(Array):
    """matCxR: as many columns as its `count`, which are vectors and lie as the elements of an array do."""

    def __str__(self) -> str:
        return f"mat{self.count}x{self.element.size}{str(self.element)[-1]}"


@frozen
class Field:
    """A member of a struct, with its offset in words."""

    name: str
    type: Type
    offset: Size


@frozen
class Struct:
    """A struct, laid out: `words` of memory, aligned to `alignment` words; `depth` counts the types in each other."""

    name: str
    fields: tuple[Field, ...]
    words: Size
    alignment: Size
    depth: int = 1

    def __str__(self) -> str:
        return self.name


@frozen
class Pointer:
    """The type of ``&variable``, or of ``&`` before a part of one: where that lies, of which type, and its access."""

    space: str
    to: Type
    access: str

    def __str__(self) -> str:
        return f"ptr<{self.space}, {self.to}>"


@frozen
class Handle:
    """A texture or a sampler, which lies in no memory; `types.textures` has both."""


Type = Scalar | Vector | Atomic | Array | Struct | Pointer | Handle


def words(type: Type) -> Size:
    """Return the words of memory that a value of a type takes; of a runtime-sized array, those of one element."""
    match type:
        case Vector(size, element):
            return whole(size * words(element))
        case Array(count=count):
            return whole(type.stride * (1 if count is None else count))
        case Struct():
            return type.words
        case _:
            return HALF if type is F16 else 1


WORD = 4  # bytes
HALF = 0.5  # of a word: an f16


def whole(size: Size) -> Size:
    """A size, as an int where it is one."""
    return int(size) if size == int(size) else size


def byte_count(type: Type) -> int:
    """Return the bytes of memory that a value of a type takes."""
    return int(words(type) * WORD)


def depth(type: Type) -> int:
    """Return how many arrays and structs stand in each other in a type, itself included."""
    levels = 0
    while isinstance(type, Array) and not isinstance(type, Matrix):
        type = type.element
        levels += 1
    return levels + (type.depth if isinstance(type, Struct) else 0)


def innermost(type: Type) -> Type:
    """Return the type of an array's elements, or of the inner arrays' elements; any other type is returned itself."""
    while isinstance(type, Array) and not isinstance(type, Matrix):
        type = type.element
    return type


def alignment(type: Type) -> Size:
    """Return the number of words of which the offset of a value of this type is a multiple."""
    match type:
        case Vector(size, element):
            return whole((2 if size == 2 else 4) * words(element))
        case Array(element):
            return alignment(element)
        case Struct():
            return type.alignment
        case _:
            return words(type)


def rounded(size: Size, to: Size) -> Size:
    """Return the smallest multiple of `to` that is not below `size`."""
    return whole(-(-size // to) * to)


def leaves(type: Type, offset: Size = 0) -> Iterator[tuple[Size, Scalar]]:
    """The numbers that a value of this type consists of, each with its offset; padding is left out.

    Of a runtime-sized array, those of one element. A pointer has none.
    """
    match type:
        case Scalar():
            yield offset, type
        case Atomic(element):
            yield offset, element
        case Vector(size, element):
            step = words(element)
            yield from ((offset + i * step, element) for i in range(size))
        case Array(element, count):
            for i in range(1 if count is None else count):
                yield from leaves(element, offset + i * type.stride)
        case Struct(fields=fields):
            for field in fields:
                yield from leaves(field.type, offset + field.offset)


def leaf_count(type: Type) -> int:
    """Return how many leaves a type has."""
    match type:
        case Vector(size):
            return size
        case Array(element, count):
            return (1 if count is None else count) * leaf_count(element)
        case Struct(fields=fields):
            return sum(leaf_count(field.type) for field in fields)
    return 0 if isinstance(type, Pointer) else 1


def leaves_before(type: Type, offset: Size) -> int:
    """Return how many leaves an array, vector or struct has before the element or member at an offset."""
    match type:
        case Array(element):
            return int(offset // type.stride) * leaf_count(element)
        case Vector(_, element):
            return int(offset / words(element))
        case Struct(fields=fields):
            return sum(leaf_count(field.type) for field in fields if field.offset < offset)
    return 0


def steps_to(type: Type, offset: Size) -> list[int]:
    """Return the indices by which arrays of arrays lead to the word at an offset."""
    steps = []
    while isinstance(type, Array):
        steps.append(int(offset // type.stride))
        offset %= type.stride
        type = type.element
    return steps


# --- What a type may be used for ----------------------------------------------------------------------------------


def parts(type: Type) -> Iterator[Type]:
    """A type and those of the elements and members in it, to any depth, each once; a vector is one part."""
    waiting = [type]
    known = set()
    while waiting:
        part = waiting.pop()
        if id(part) in known:
            continue
        known.add(id(part))
        yield part
        match part:
            case Array(element):
                waiting.append(element)
            case Struct(fields=fields):
                waiting += [field.type for field in reversed(fields)]


def is_runtime_sized(type: Type) -> bool:
    """Return True for a type whose length only the buffer says."""
    return any(isinstance(part, Array) and part.count is None for part in parts(type))


MOST = 65_536  # elements that an array outside of buffers does not reach


def is_constructible(type: Type) -> bool:
    """Return True for a type whose values can be made, copied and given a name."""
    if isinstance(type, Scalar | Vector):  # as nearly all are
        return True
    return not has_long_array(type) and not any(
        isinstance(part, Atomic | Pointer | Handle)
        or (isinstance(part, Array) and (part.late is not None or not part.count))
        for part in parts(type)
    )


def has_long_array(type: Type) -> bool:
    """Return True for a type with an array of more elements than arrays outside of buffers have."""
    return any(isinstance(part, Array) and (part.count or 0) >= MOST for part in parts(type))


class Fault(NamedTuple):
    """The reason of a refusal: its kind, and the facts."""

    kind: str
    facts: dict[str, Any]


HOST = ("storage", "uniform", "immediate")  # the kinds of memory that the program outside sees


def unfit(type: Type, space: str, access: str) -> Fault | None:
    """Return why a variable of an address space cannot have a type."""
    held = list(parts(type))
    if is_runtime_sized(type) and space != "storage":
        return Fault("runtime-sized", {"space": space})
    if space in HOST and any(getattr(part, "element", part) == BOOL for part in held):
        return Fault("bool in a buffer", {})
    shared = space == "workgroup" or (space == "storage" and access == "read_write")
    if any(isinstance(part, Atomic) for part in held) and not shared:
        return Fault("memory of atomics", {"space": space})
    if space != "workgroup" and any(isinstance(part, Array) and part.late is not None for part in held):
        return Fault("override in an array", {"space": space})
    if space == "immediate" and any(part.__class__ is Array for part in held):
        return Fault("array of immediate", {})
    if any(isinstance(part, Pointer | Handle) for part in held) or (space == "private" and not is_constructible(type)):
        return Fault("type of a variable", {"type": type})
    return None


def components(type: Type) -> int:
    """Return the number of components of a vector; 1 of a scalar, 0 of other types."""
    return type.size if isinstance(type, Vector) else int(isinstance(type, Scalar))


# --- The limits of a workgroup ------------------------------------------------------------------------------------

MAX_THREADS, MAX_THREADS_Z, MAX_WORKGROUP_BYTES = 256, 64, 16_384  # of a workgroup, on every WebGPU adapter


def on_three_axes(sizes: Sequence[int]) -> tuple[int, int, int]:
    """Return a size in x, y and z from one to three numbers: it is 1 along the axes that are left out."""
    return (*sizes, *[1] * (3 - len(sizes)))


def limit_passed(size: tuple[int, int, int], held: int) -> str | None:
    """Return which limit a workgroup of this size, with this many bytes of memory, exceeds; None if it exceeds none.

    wgpu lets it pass where the size comes from an `override`, and a real GPU then hangs.
    """
    fault = passed_limit(size, held)
    return reason(*fault) if fault else None


def passed_limit(size: tuple[int, int, int], held: int) -> Fault | None:
    """Return the same as facts."""
    if prod(size) > MAX_THREADS:
        return Fault("too many threads", {"threads": prod(size), "limit": MAX_THREADS})
    if size[2] > MAX_THREADS_Z:
        return Fault("too many threads in z", {"threads": size[2], "limit": MAX_THREADS_Z})
    if held > MAX_WORKGROUP_BYTES:
        return Fault("too many bytes", {"held": held, "limit": MAX_WORKGROUP_BYTES})
    return None
