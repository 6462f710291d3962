"""Cures where a place takes another type than that of its value: an index, a condition, an argument, a return."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wgsl.facts import Edit, Mark, NoCondition, Origin, Suggestion
from wgsl.suggestions.context import Context
from wgsl.suggestions.values import NUMBERS, ZERO, converted, described, instead, typed, unwrapped
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.types.conversions import WHOLE
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    BOOL,
    F32,
    I32,
    U32,
    Array,
    Scalar,
    Type,
    Vector,
    is_runtime_sized,
)
from wgsl.types.program import Binding, Function, Part


def index(context: Context, value: Part) -> Suggestion:
    """An index that is not a whole number."""
    facts = {"value": described(context, value)}
    if isinstance(value.type, Vector):
        return Suggestion("index with parts", facts, edits=instead(value.place, f"{context.text(value)}.x"))
    if inner := unwrapped(context, value.place, "f32", WHOLE):
        cure = context.text(inner)
        return Suggestion("index converted", {**facts, "cure": cure}, edits=instead(value.place, cure))
    cure = f"u32({context.text(value)})" if value.type == F32 else None
    return Suggestion("index", {**facts, "cure": cure}, edits=instead(value.place, cure))


def indexed(context: Context, base: Part) -> Suggestion:
    """One index too many, or one after a struct."""
    mark = Mark(context.code.index("[", base.end))
    node = base.place
    taken = 0
    while isinstance(node, tree.Index):
        node = node.base
        taken += 1
    name = context.text(node)
    if hasattr(base.type, "fields"):
        return Suggestion("index of a struct", {"name": name, "field": base.type.fields[0].name}, mark)
    if taken == 0:
        return Suggestion("index of a number", {"name": name}, mark)
    if taken == 1:
        return Suggestion("second index", {"name": name}, mark)
    return Suggestion("too many indices", {"name": name, "taken": taken}, mark)


def condition(context: Context, value: Part) -> Suggestion:
    """An `if`, a `while` or a `for` whose condition is not true or false."""
    return Suggestion("condition", {"value": no_condition(context, value)})


def joined(context: Context, sign: str, value: Part) -> Suggestion:
    """A number beside ``&&`` or ``||``."""
    if isinstance(value.place, tree.Literal):
        return Suggestion("joined number", {"sign": sign, "value": described(context, value)})
    return Suggestion("joined", {"sign": sign, "value": no_condition(context, value)})


def no_condition(context: Context, value: Part) -> NoCondition:
    """A value that is not true or false, and the zero to compare it with."""
    return NoCondition(described(context, value), ZERO.get(value.type))


def argument(context: Context, name: str, i: int, arguments: Sequence[Part], scalars: Sequence[Scalar]) -> Suggestion:
    """An argument of a built-in function of the wrong type."""
    text = context.text(arguments[0])
    if name == "length" and re.fullmatch(r"&\w+", text) and isinstance(context.type_named(text[1:]), Array):
        return Suggestion("length of a buffer", {"pointer": text})
    if not scalars:
        return _arguments_of_one_type(context, name, arguments[0], arguments[i])
    value = arguments[i]
    if value.type not in (U32, I32) or F32 not in scalars:
        return Suggestion("argument", {"name": name, "value": typed(context, value)})
    texts = [context.text(part) for part in arguments]
    texts[i] = f"f32({texts[i]})"
    facts = {"name": name, "value": described(context, value), "cure": f"{name}({', '.join(texts)})"}
    return Suggestion("argument of type f32", facts, edits=instead(value.place, texts[i]))


def _arguments_of_one_type(context: Context, name: str, first: Part, value: Part) -> Suggestion:
    """An argument of another type than the first one."""
    cure = None
    place = value.place
    if first.type == F32 or isinstance(value.place, tree.Literal):
        cure = converted(context.text(value), first.type)
    if value.type in (ABSTRACT_FLOAT, F32) and first.type in (U32, I32):
        cure = f"f32({context.text(first)})"
        place = first.place
    facts = {"name": name, "first": typed(context, first), "other": typed(context, value), "cure": cure}
    return Suggestion("arguments of one type", facts, edits=instead(place, cure))


def select(context: Context, arguments: Sequence[Part], **_: object) -> Suggestion:
    """`select` with its condition first, with values of two types, or with no condition."""
    low, high, test = arguments
    if test.type != BOOL:
        if low.type != BOOL:
            return Suggestion("condition of select", {"value": described(context, test)})
        condition, yes, no = map(context.text, arguments)
        order = zip((low, high, test), (no, yes, condition), strict=True)
        edits = tuple(Edit(part.place.at, part.place.end, text) for part, text in order)
        return Suggestion("condition first", {"condition": condition, "yes": yes, "no": no}, edits=edits)
    return Suggestion("types in select", {"first": typed(context, low), "second": typed(context, high)})


def called(context: Context, function: Function, parameter: Binding, value: Part) -> Suggestion:
    """An argument of the learner's own function of the wrong type."""
    line = context.reader_line(context.line(function))
    cure = _number_converted(context, value, parameter.type)
    facts = {
        "value": described(context, value),
        "function": Origin(function.name, line, context.written(context.node(function))),
        "cure": cure,
    }
    return Suggestion("called", facts, edits=instead(value.place, cure))


def _number_converted(context: Context, value: Part, wanted: Type) -> str | None:
    """A number written so that it is of another type; None for other values, and where no call converts it."""
    return converted(context.text(value), wanted) if value.type in NUMBERS else None


def returned(context: Context, function: Function, value: Part | None) -> Suggestion:
    """A `return` that does not fit its function."""
    facts = {"name": function.name, "type": function.result}
    if value is None:
        return Suggestion("no value returned", facts)
    if function.result is None:
        return _returns_nothing(context, function, value)
    cure = _number_converted(context, value, function.result)
    facts |= {"value": described(context, value), "cure": cure}
    return Suggestion("returned", facts, edits=instead(value.place, cure))


def _returns_nothing(context: Context, function: Function, value: Part) -> Suggestion:
    """A `return` with a value in a kernel, or in a function that promises none."""
    facts = {"name": function.name}
    if not tree.attribute(context.node(function), "compute"):
        return Suggestion("value from a function", facts)
    if len(context.outputs) == 1 and not isinstance(value.place, tree.Literal):
        return Suggestion("result of a kernel", {**facts, "output": context.outputs[0].name})
    return Suggestion("value from a kernel", facts)


def length(context: Context, value: Part) -> Suggestion | None:
    """`arrayLength` of an array instead of a pointer to it."""
    if isinstance(value.type, Array) and is_runtime_sized(value.type):
        name = context.text(value)
        return Suggestion("length without address", {"name": name}, edits=instead(value.place, f"&{name}"))
    return None


def copied(context: Context) -> Iterator[Suggestion]:
    """A copy of a thread's id with all its parts, used as one number; without a cure where more than that is wrong."""
    for name in undotted(context.refused.statement):
        declared = context.declared(name)
        value = getattr(declared, "value", None)
        inner = map(context.declared, undotted(value)) if value else ()
        for copy in (declared, *inner):
            if suggestion := _copied_id(context, name, copy):
                yield suggestion
                yield replace(suggestion, facts={**suggestion.facts, "cure": None}, edits=())
                return


def _copied_id(context: Context, name: Word, copy: tree.Node | None) -> Suggestion | None:
    """A declaration that copies a thread's id with all its parts, where `name` is used as one number."""
    value = getattr(copy, "value", None)
    source = context.declared(value.name) if isinstance(value, tree.Name) else None
    if not isinstance(source, tree.Parameter) or not tree.attribute(source, "builtin"):
        return None
    type = context.type_named(copy.name)
    if not isinstance(type, Vector):
        return None
    facts = {"name": copy.name, "type": type, "cure": f"{context.written(copy)}.x"}
    mark = Mark(name.at, len(name), context.line(copy))
    return Suggestion("whole id", facts, mark, instead(value, f"{context.text(value)}.x"))


def undotted(node: tree.Node) -> list[Word]:
    """The names in a piece of the tree that no `.part` follows."""
    nodes = [*tree.walk(node)]
    parted = [member.base for member in nodes if isinstance(member, tree.Member)]
    return [inner.name for inner in nodes if isinstance(inner, tree.Name) and inner not in parted]
