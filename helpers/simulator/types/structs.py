"""Structs as they lie in memory, and what an address space asks of a layout."""

from __future__ import annotations

from collections.abc import Callable

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types.kinds import BOOL, Array, Atomic, Field, Pointer, Struct, Type, alignment, rounded, words
from helpers.simulator.types.type_names import contains, is_runtime_sized

WORD = 4  # bytes


def laid_out(node: tree.Struct, type_of: Callable[[tree.Name], Type], number: Callable) -> Struct:
    """A struct with the offsets of its members; `number` evaluates the arguments of @size and @align."""
    fields, end, widest = [], 0, 1
    if not node.members:
        raise Refused(f"the struct `{node.name}` has no members", node.name_at, len(node.name))
    for i, member in enumerate(node.members):
        type = type_of(member.type)
        _check_member(node, i, type, {field.name for field in fields})
        size, align = _attributes(member, type, number)
        offset = rounded(end, align)
        fields.append(Field(member.name, type, offset))
        end, widest = offset + size, max(widest, align)
    return Struct(node.name, tuple(fields), rounded(end, widest), widest)


def _check_member(node: tree.Struct, i: int, type: Type, names: set[str]) -> None:
    member = node.members[i]
    if member.name in names:
        words_ = f"redefinition of `{member.name}`"
        raise Refused(words_, member.at, len(member.name), words_)
    if isinstance(type, Pointer):
        raise Refused(f"a member cannot be of type `{type}`", member.type.at, member.type.end - member.type.at)
    if is_runtime_sized(type) and (i + 1 < len(node.members) or isinstance(type, Struct)):
        words_ = "only the last member of a struct may be a runtime-sized array"
        raise Refused(words_, member.type.at, member.type.end - member.type.at)


def _attributes(member: tree.Parameter, type: Type, number: Callable) -> tuple[int, int]:
    """Size and alignment in words."""
    size, align = words(type), alignment(type)
    for attribute in member.attributes:
        if attribute.name not in ("size", "align"):
            continue
        given = number(attribute)
        length = attribute.end - attribute.at
        if attribute.name == "align":
            if given < align * WORD or given & (given - 1):
                raise Refused(f"@align must be a power of two of at least {align * WORD}", attribute.at, length)
            align = given // WORD
        else:
            if given < size * WORD:
                raise Refused(f"@size must be at least {size * WORD}", attribute.at, length)
            size = -(-given // WORD)
    return size, align


# --- Address spaces -------------------------------------------------------------------------------------------


def check_space(type: Type, space: str, access: str, node: tree.Declaration) -> None:
    """Refuse a type that a variable of an address space cannot have."""
    reason = _unfit(type, space, access)
    if reason:
        raise Refused(reason, node.name_at, len(node.name))


def _unfit(type: Type, space: str, access: str) -> str | None:
    shared = space in ("storage", "uniform")
    if is_runtime_sized(type) and space != "storage":
        return f"a variable in {space} memory needs a size: write the length of the array, as in `array<f32, 64>`"
    if contains(type, lambda part: isinstance(part, Pointer)):
        return f"a variable cannot be of type `{type}`"
    if shared and contains(type, lambda part: part == BOOL):
        return "a buffer cannot hold a bool: use a u32"
    if contains(type, lambda part: isinstance(part, Atomic)) and (
        space not in ("storage", "workgroup") or access == "read"
    ):
        return f"atomics need workgroup memory, or storage that is read_write, not {space} memory"
    return uniform_fault(type) if space == "uniform" else None


def uniform_fault(type: Type) -> str | None:
    """Why a type does not fit uniform memory, where arrays and structs lie at multiples of 16 bytes."""
    match type:
        case Array(element):
            if type.stride % 4:
                stride = type.stride * WORD
                return f"The array stride {stride} is not a multiple of the required alignment 16"
            return uniform_fault(element)
        case Struct(fields=fields):
            for field, after in zip(fields, (*fields[1:], None), strict=True):
                if (
                    isinstance(field.type, Struct)
                    and after
                    and after.offset < field.offset + rounded(words(field.type), 4)
                ):
                    return f"The struct member `{after.name}` must be 16 bytes or more behind `{field.name}`"
                if isinstance(field.type, Array | Struct) and field.offset % 4:
                    return (
                        f"The struct member `{field.name}` at offset {field.offset * WORD} must be at a multiple of 16"
                    )
                if fault := uniform_fault(field.type):
                    return fault
    return None
