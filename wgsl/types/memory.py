"""Variables in memory: their numbers and address spaces, and structs as they lie there."""

from __future__ import annotations

from collections.abc import Mapping

from wgsl.diagnostics import NotWgsl, Span, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.types.conversions import concrete
from wgsl.types.expressions import type_of, value
from wgsl.types.kinds import (
    HALF,
    I32,
    U32,
    WORD,
    Array,
    Fault,
    Field,
    Handle,
    Pointer,
    Size,
    Struct,
    Type,
    alignment,
    depth,
    is_runtime_sized,
    parts,
    rounded,
    unfit,
    whole,
    words,
)  # fmt: skip
from wgsl.types.names import Scope, Stage, check_nesting, check_new, space_of, unsupported
from wgsl.types.noted import note, surpass
from wgsl.types.program import Variable
from wgsl.types.statements import declared_value, known, written_type

SPACES = ("storage", "uniform", "workgroup", "private", "immediate")
HANDLE = "handle"  # the space of textures and samplers, which no text writes
MOST_MEMBERS = 16_383  # that browsers take


def number(attribute: tree.Attribute, scope: Scope) -> int:
    """The whole number that an attribute takes."""
    return numbers(attribute, scope, Stage.CONST)[0]


def numbers(attribute: tree.Attribute, scope: Scope, stage: Stage) -> list[int]:
    """The whole numbers that an attribute takes."""
    texts = [getattr(argument, "text", "") for argument in attribute.arguments]
    if texts and all(text.isdecimal() and len(text) < 10 for text in texts):  # as nearly all are: 4 % of a check
        return [int(text) for text in texts]
    values = [value(argument, scope.known(stage)) for argument in attribute.arguments]
    if {I32, U32} <= {number.type for number in values}:
        raise NotWgsl("numbers of one type", attribute, name=attribute.name)
    constants = [known(concrete(number)) for number in values]
    for constant in constants:
        if constant.type not in (I32, U32) or constant.leaves[0] < 0:
            raise NotWgsl("whole number", constant)
    if not constants:
        raise NotWgsl("needs a number", attribute, name=attribute.name)
    return [constant.leaves[0] for constant in constants]


INTERPOLATED = {  # the ways of interpolating, and how each may be sampled
    "perspective": ("center", "centroid", "sample"),
    "linear": ("center", "centroid", "sample"),
    "flat": ("first", "either"),
}


def check_place(attribute: tree.Attribute, node: tree.Parameter, scope: Scope) -> None:
    """Refuse an attribute of what goes into shaders or comes out of them that has no sense where it stands."""
    match attribute.name:
        case "location" | "blend_src":
            number(attribute, scope)
        case "invariant":
            builtin = tree.attribute(node, "builtin")
            if not builtin or getattr(builtin.arguments[0], "name", "") != "position":
                raise NotWgsl("invariant", attribute)
        case "interpolate":
            kind, *sampled = (getattr(argument, "name", "") for argument in attribute.arguments)
            known = kind in INTERPOLATED and all(name in INTERPOLATED[kind] for name in sampled)
            if not known or not tree.attribute(node, "location"):
                raise NotWgsl("interpolate", attribute)


def declared(node: tree.Declaration, scope: Scope) -> Variable:
    """A `var` of the module."""
    space, access, *places = placed(node, scope)
    initial = declared_value(node, scope.known(Stage.OVERRIDE))
    if initial and space != "private":
        raise NotWgsl("initial value", initial, space=space)
    type = initial.type if initial else written_type(node, scope, late=space == "workgroup")
    if space == HANDLE:
        return Variable(node.name, type, space, access, *places)
    if fault := unfit(type, space, access):
        raise NotWgsl(fault.kind, node.name, **fault.facts)
    if space == "uniform" and (fault := uniform_fault(type)):
        surpass(fault.kind, node.name, **fault.facts)
    if space == "immediate":
        surpass("immediate", node.templates[0])
    return Variable(node.name, type, space, access, *places, initial and known(initial))


def placed(node: tree.Declaration, scope: Scope) -> tuple[str, str, int, int]:
    """Address space, access, group and binding of a `var` of the module; the binding is -1 where it has none."""
    space, access = _space(node, scope)
    attributes = [attribute for attribute in node.attributes if attribute.name in ("group", "binding")]
    places = {attribute.name: number(attribute, scope) for attribute in attributes}
    _check_places(node, space, places)
    return space, access, places.get("group", 0), places.get("binding", -1)


def _space(node: tree.Declaration, scope: Scope) -> tuple[str, str]:
    """Address space and access."""
    if not node.templates:
        if node.type and (kind := unsupported(node.type.name)):
            raise Unsupported(kind, node.type.at, name=node.type.name)
        if node.type and isinstance(type_of(node.type, scope), Handle):
            return HANDLE, "read"
        raise NotWgsl("no address space", node.name, name=node.name)
    return space_of(node.templates, SPACES, scope)


def _check_places(node: tree.Declaration, space: str, places: dict[str, int]) -> None:
    if space not in ("storage", "uniform", HANDLE):
        if places:
            raise NotWgsl("needless binding", node.name, name=node.name)
        return
    missing = [name for name in ("group", "binding") if name not in places]
    if missing:
        place = Span(node.at, node.name.at)
        if places:
            ((name, number),) = places.items()
            raise NotWgsl("half of a binding", place, given=name, number=number, missing=missing[-1])
        raise NotWgsl("missing binding", place, name=node.name, missing=missing[-1])


def check_bindings(names: Mapping[tuple[int, int], Word], node: Span) -> None:
    """Refuse bindings, by their groups and numbers, that are not the bindings 0, 1, 2, ... of group 0.

    WGSL allows them; what binds the arrays of a list one after another does not.
    """
    if not names:
        raise NotWgsl("no_bindings", node)
    for (group, _), name in names.items():
        if group:
            raise NotWgsl("group", name, name=name, group=group)
    for i, (_, number) in enumerate(sorted(names)):
        if number > i:
            listed = ", ".join(str(other) for _, other in sorted(names))
            raise NotWgsl("gap in the bindings", names[0, number], listed=listed, missing=i)


def uniform_fault(type: Type) -> Fault | None:
    """Return why a type does not fit uniform memory, where arrays and structs lie at multiples of 16 bytes.

    Only some compilers ask for it: a browser reads uniform buffers as it does the others.
    """
    return next(filter(None, map(_uniform_part, parts(type))), None)


def _uniform_part(type: Type) -> Fault | None:
    """The same of one part, without those in it."""
    if type.__class__ is Array and type.stride % 4:
        return Fault("uniform elements", {"stride": int(type.stride * WORD)})
    if not isinstance(type, Struct):
        return None
    for field, after in zip(type.fields, (*type.fields[1:], None), strict=True):
        inner = isinstance(field.type, Struct)
        if inner and after and after.offset < field.offset + rounded(words(field.type), 4):
            return Fault("uniform member behind", {"name": after.name, "before": field.name})
        if (inner or field.type.__class__ is Array) and field.offset % 4:
            return Fault("uniform member", {"name": field.name, "offset": int(field.offset * WORD)})
    return None


# --- Structs ------------------------------------------------------------------------------------------------------


def laid_out(node: tree.Struct, scope: Scope) -> Struct:
    """A struct with the offsets of its members."""
    fields = []
    end = 0
    widest = 1
    if not node.members:
        raise NotWgsl("empty struct", node.name, name=node.name)
    if len(node.members) > MOST_MEMBERS:
        note("members", node.name, name=node.name, count=len(node.members), most=MOST_MEMBERS)
    names: dict[str, None] = {}
    for i, member in enumerate(node.members):
        type = type_of(member.type, scope)
        check_new(member.name, names)
        names[str(member.name)] = None
        _check_member(member.type, type, i + 1 == len(node.members))
        size, align = _attributes(member, type, scope)
        offset = rounded(end, align)
        fields.append(Field(str(member.name), type, offset))
        end = offset + size
        widest = max(widest, align)
    deep = 1 + max(depth(field.type) for field in fields)
    check_nesting(deep, node.name)
    return Struct(str(node.name), tuple(fields), rounded(end, widest), widest, deep)


def _check_member(place: Span, type: Type, last: bool) -> None:
    if isinstance(type, Pointer | Handle) or getattr(type, "late", None) is not None:
        raise NotWgsl("type of a member", place, type=type)
    if is_runtime_sized(type) and (not last or isinstance(type, Struct)):
        raise NotWgsl("last member", place)


def _attributes(member: tree.Parameter, type: Type, scope: Scope) -> tuple[Size, Size]:
    """Size and alignment in words; a size in bytes is rounded up to halves of a word."""
    size = words(type)
    align = alignment(type)
    for attribute in member.attributes:
        check_place(attribute, member, scope)
        if attribute.name not in ("align", "size"):
            continue
        if attribute.name == "size" and is_runtime_sized(type):
            note("size of a runtime-sized array", attribute)
        byte_count = number(attribute, scope)
        if attribute.name == "size":
            if byte_count < size * WORD:
                raise NotWgsl("size", attribute, least=int(size * WORD))
            size = rounded(byte_count / WORD, HALF)
        else:
            if byte_count < align * WORD or byte_count & (byte_count - 1):  # no power of two
                raise NotWgsl("align", attribute, least=int(align * WORD))
            align = whole(byte_count / WORD)
    return size, align
