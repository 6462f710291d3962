"""Cures where a place takes another type than that of its value: an index, a condition, an argument, a return."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wgsl.diagnostics import Diagnostic
from wgsl.suggestions.context import Context
from wgsl.suggestions.values import NUMBERS, ZERO, converted, described, unwrapped, write
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
    Vector,
    is_runtime_sized,
)
from wgsl.types.program import Binding, Function, Part
from wgsl.words.refusals import a


def index(context: Context, value: Part) -> str:
    """An index that is not a whole number."""
    reason, text = f"{described(context, value)}, and an index", context.text(value)
    if isinstance(value.type, Vector):
        return f"{reason} is one number: take a part of it, such as `{text}.x`"
    if made := unwrapped(context, value.place, "f32", WHOLE):
        return f"{reason} is a whole number: write `{context.text(made)}`"
    return f"{reason} must be a whole number, u32 or i32" + write(f"u32({text})" if value.type == F32 else None)


def indexed(context: Context, base: Part) -> Diagnostic | None:
    """One index too many, or one after a struct."""
    at = context.code.index("[", base.end)
    node, taken = base.place, 0
    while isinstance(node, tree.Index):
        node, taken = node.base, taken + 1
    name = context.text(node)
    if hasattr(base.type, "fields"):
        field = base.type.fields[0].name
        return Diagnostic(f"`{name}` is a struct and takes no index: take a field, such as `{name}.{field}`", at)
    if taken == 1:
        flat = f"`{name}` is a flat array and takes one index: compute it, as in `{name}[row * width + column]`"
        return Diagnostic(flat, at)
    many = f"`{name}` takes {taken} indices, not one more"
    return Diagnostic(many if taken else f"`{name}` is a single number: no index", at)


def condition(context: Context, value: Part) -> str:
    """An `if`, a `while` or a `for` whose condition is not true or false."""
    return f"a condition is true or false, and {compared(context, value)}"


def joined(context: Context, sign: str, value: Part) -> str:
    """A number beside ``&&`` or ``||``."""
    reason = f"`{sign}` joins two conditions, and"
    if isinstance(value.place, tree.Literal):
        cure = f"write a whole comparison on each side, as in `i == {context.text(value)}`"
        return f"{reason} {described(context, value)}: {cure}"
    return f"{reason} {compared(context, value)}"


def compared(context: Context, value: Part) -> str:
    """What a value is that is not true or false, and what to compare it with."""
    cure = f": compare it, as in `{context.text(value)} != {ZERO[value.type]}`" if value.type in ZERO else ""
    return f"{described(context, value)}{cure}"


def argument(context: Context, name: str, i: int, arguments: Sequence[Part], scalars: Sequence[Scalar]) -> str:
    """An argument of a built-in function of the wrong type."""
    texts, value, first = [context.text(part) for part in arguments], arguments[i], arguments[0]
    if name == "length" and re.fullmatch(r"&\w+", texts[0]) and isinstance(context.type_named(texts[0][1:]), Array):
        return f"`length` is that of a vector: write `arrayLength({texts[0]})`"
    if scalars:
        if value.type not in (U32, I32) or F32 not in scalars:
            return f"`{name}` does not take {a(value.type)} like `{texts[i]}`"
        texts[i] = f"f32({texts[i]})"
        return f"`{name}` takes f32, and {described(context, value)}: write `{name}({', '.join(texts)})`"
    cure = converted(texts[i], first.type) if first.type == F32 or isinstance(value.place, tree.Literal) else None
    if value.type in (ABSTRACT_FLOAT, F32) and first.type in (U32, I32):
        cure = f"f32({texts[0]})"
    both = f"`{texts[0]}` is {a(first.type)}, `{texts[i]}` {a(value.type)}"
    return f"`{name}` takes values of one type, and {both}{write(cure)}"


def select(context: Context, arguments: Sequence[Part], **_: object) -> str:
    """`select` with its condition first, with values of two types, or with no condition."""
    low, high, test = arguments
    first, second, third = map(context.text, arguments)
    if low.type == BOOL and test.type != BOOL:
        order = "the condition of `select` comes last, and the value for false first"
        return f"{order}: write `select({third}, {second}, {first})`"
    if test.type != BOOL:
        return f"the last value of `select` is its condition, and {described(context, test)}"
    both = f"`{first}` is {a(low.type)}, `{second}` {a(high.type)}"
    return f"the first two values of `select` must be of one type, and {both}"


def called(context: Context, function: Function, parameter: Binding, value: Part) -> str:
    """An argument of the learner's own function of the wrong type."""
    where = f"declared {context.in_line(context.line(function))} as `{context.written(context.node(function))}`"
    cure = converted(context.text(value), parameter.type) if value.type in NUMBERS else None
    return f"{described(context, value)}, and `{function.name}` is {where}{write(cure)}"


def returned(context: Context, function: Function, value: Part | None) -> str:
    """A `return` that does not fit its function."""
    name, wanted = function.name, function.result
    kernel = tree.attribute(context.node(function), "compute")
    if value is None:
        return f"`{name}` returns a value of type {wanted}: write `return value;`"
    if wanted is None:
        if kernel and len(context.outputs) == 1 and not isinstance(value.place, tree.Literal):
            output = context.outputs[0].name
            return f"`{name}` returns nothing: write the value to its place in `{output}`, `{output}[i]`"
        either = ", or declare the type behind its parentheses, as in `-> f32`"
        return f"`{name}` returns nothing: write `return;`{'' if kernel else either}"
    cure = converted(context.text(value), wanted) if value.type in NUMBERS else None
    return f"`{name}` returns {a(wanted)}, and {described(context, value)}{write(cure)}"


def length(context: Context, value: Part) -> str | None:
    """`arrayLength` of an array instead of a pointer to it."""
    if isinstance(value.type, Array) and is_runtime_sized(value.type):
        return f"`arrayLength` takes its array with `&`: write `arrayLength(&{context.text(value)})`"
    return None


def copied(context: Context) -> Diagnostic | None:
    """A copy of a thread's id with all its parts, used as one number."""
    for name in undotted(context.refused.statement):
        declared = context.declared(name)
        value = getattr(declared, "value", None)
        inner = map(context.declared, undotted(value)) if value else ()
        for copy in (declared, *inner):
            source = context.declared(copy.value.name) if isinstance(getattr(copy, "value", None), tree.Name) else None
            if isinstance(source, tree.Parameter) and tree.attribute(source, "builtin"):
                given = context.type_named(copy.name)
                cure = f"`{copy.name}` is {a(given)}, and not one number: write `{context.written(copy)}.x`"
                if isinstance(given, Vector):
                    return Diagnostic(cure, name.at, len(name), context.line(copy))
    return None


def undotted(node: tree.Node) -> list[Word]:
    """The names in a piece of the tree that no `.part` follows."""
    nodes = [*tree.walk(node)]
    parted = [member.base for member in nodes if isinstance(member, tree.Member)]
    return [inner.name for inner in nodes if isinstance(inner, tree.Name) and inner not in parted]
