"""Values of types that do not go together: their types, where a type comes from, and what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wgsl.diagnostics import Span
from wgsl.facts import Cure, DeclareF32, Described, Edit, Mark, Misfit, Origin, Suggestion, Write, WriteUnsigned
from wgsl.suggestions.context import Context, signed
from wgsl.syntax import tree
from wgsl.types.folding import COMPARISONS
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    F16,
    F32,
    I32,
    U32,
    Type,
    Vector,
)
from wgsl.types.program import Part

NUMBERS = (F32, F16, U32, I32)  # where two meet, the first of them is the type for both
CHOICE = re.compile(r"select\(\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(.*)\)", re.DOTALL)
ZERO = {F32: "0.0", F16: "0.0", ABSTRACT_FLOAT: "0.0", U32: "0u", I32: "0", ABSTRACT_INT: "0"}
CONVERSIONS = ("f32", "f16", "u32", "i32", "bool", "bitcast")


def literal(text: str, wanted: Type) -> str | None:
    """A whole number written so that it has another type; None where the text is not one."""
    match = re.fullmatch(r"(\d+)(?:\.0*)?[fhui]?", text)
    return match[1] + {F32: ".0", F16: ".0", U32: "u", I32: ""}[wanted] if match and wanted in NUMBERS else None


def converted(text: str, wanted: Type) -> str | None:
    """A value written so that it is of another type; None where no call converts it."""
    return (literal(text, wanted) or f"{wanted}({text})") if wanted in NUMBERS else None


def instead(node: Span, text: str | None) -> tuple[Edit, ...]:
    """The edit that writes a text in the place of a node; none without a text."""
    return (Edit(node.at, node.end, text),) if text else ()


def unwrapped(context: Context, node: tree.Node, call: str = "i32", types: Sequence[Type] = (U32,)) -> tree.Node | None:
    """The x of ``i32(x)``, or of another call, where it is of one of these types."""
    match node:
        case tree.Call(callee=tree.Name(name=name), arguments=(argument,)) if name == call:
            return argument if context.type_of(argument) in types else None
    return None


def edited_alike(
    context: Context, whole: tree.Node, nodes: Sequence[tree.Node], texts: Sequence[str]
) -> tuple[Edit, ...]:
    """The edits that write a text for each of some nodes, and for what is written alike in an expression."""
    cures = dict(zip(map(context.text, nodes), texts, strict=True))
    alike = [node for node in tree.walk(whole) if context.text(node) in cures and not isinstance(node, tree.Literal)]
    outermost = [node for node in alike if not any(inside(node, other) for other in alike)]
    return tuple(Edit(node.at, node.end, cures[context.text(node)]) for node in outermost or nodes)


def inside(node: tree.Node, other: tree.Node) -> bool:
    """Return True where a node is a part of another one."""
    return (
        node is not other
        and other.at <= node.at
        and node.end <= other.end
        and (node.at, node.end) != (other.at, other.end)
    )


def each_converted(context: Context, values: Sequence[tree.Node], wanted: Type) -> tuple[str, ...]:
    """Values written so that each is of another type."""
    return tuple(_converted(context, node, wanted) for node in values)


def _converted(context: Context, node: tree.Node, wanted: Type) -> str:
    """A value written so that it is of another type; a u32 in a call of `i32` is taken out of it."""
    inner = unwrapped(context, node) if wanted == U32 else None
    return context.text(inner) if inner else converted(context.text(node), wanted)


def pieces(context: Context, node: tree.Node, type: Type) -> list[tree.Node]:
    """The operands of one type in an expression of several types, each as long as it can be."""
    while isinstance(node, tree.Unary) and node.operator == "!":
        node = node.operand
    node_type = context.type_of(node)
    if node_type == type:
        return [node]
    if node_type not in (None, BOOL) or not isinstance(node, tree.Binary):
        return []
    sides = [node.left, node.right]
    if node.operator in COMPARISONS and {*map(context.type_of, sides)} <= {type, ABSTRACT_INT}:
        return []
    operands = pieces(context, node.left, type) + pieces(context, node.right, type)
    return list({context.text(operand): operand for operand in operands}.values())


def origin(context: Context, value: Part) -> tree.Node | None:
    """The declaration of the one variable that gives a value its type."""
    declarations = origins(context, value.place, value.type)
    return declarations[0] if len(declarations) == 1 else None


def origins(context: Context, node: tree.Node, type: Type) -> list[tree.Node]:
    """The declarations of the variables that give an expression its type; none where a conversion gives it."""
    parts = [part for part in tree.walk(node) if isinstance(part, tree.Call | tree.Name)]
    callees = [part.callee for part in parts if isinstance(part, tree.Call)]
    if any(callee.name in CONVERSIONS for callee in callees):
        return []
    names = dict.fromkeys(part.name for part in parts if isinstance(part, tree.Name) and part not in callees)
    declarations = (context.declared(name) for name in names if context.type_named(name) == type)
    return [declaration for declaration in declarations if declaration]


def typed(context: Context, value: Part) -> Described:
    """A value with its type alone."""
    return Described(context.text(value), value.type)


def described(context: Context, value: Part) -> Described:
    """A value with its type, and the declaration that the type comes from."""
    text = context.text(value)
    declaration = origin(context, value)
    if declaration is None:
        return Described(text, value.type)
    line = context.reader_line(context.line(declaration.name))
    return Described(text, value.type, Origin(declaration.name, line, context.written(declaration)))


def rewritten(context: Context, declared: tree.Node | None, wanted: Type) -> str | None:
    """The declaration of a variable that begins as a whole number, with the type that is wanted: `var sum = 0.0`.

    None where another use of the variable needs the type that it has.
    """
    begins = isinstance(declared, tree.Declaration) and (declared.value or wanted == F32)
    if not begins or wanted not in (U32, F32):
        return None
    value = _first_value(context, declared, wanted)
    if value is None or _needs_its_type(context, declared, wanted):
        return None
    return f"{declared.kind} {declared.name} = {value}"


def _first_value(context: Context, declared: tree.Declaration, wanted: Type) -> str | None:
    """The first value of a variable, with the type that is wanted; None where it cannot be written so."""
    text = context.text(declared.value) if declared.value else "0"
    text = re.sub(r"^[iu]32\((\d+)\)$", r"\1", text)
    value = literal(text, wanted) if "." not in text else None
    if value or wanted != U32:
        return value
    name = re.escape(declared.name)
    if re.search(rf"\b{name}\b[^;{{}}]*-|-[^;{{}}]*\b{name}\b", context.block(declared)):
        return None
    inner = unwrapped(context, declared.value)
    return context.text(inner) if inner else None


def _needs_its_type(context: Context, declared: tree.Declaration, wanted: Type) -> bool:
    """Return True where a variable may be below 0 and a u32 is wanted, or counts or indexes and an f32 is wanted."""
    uses = context.block(declared)
    if wanted == U32:
        return signed(declared.name, uses)
    name = re.escape(declared.name)
    return bool(re.search(rf"\[[^\];]*\b{name}\b|\b{name}\s*(?:\+\+|--|%)", uses))


def unsigned(context: Context, node: tree.Node, sign: str) -> tuple[WriteUnsigned, tuple[Edit, ...]] | None:
    """The cure that makes a u32 of an i32 expression or of its variables; None where one must stay signed."""
    inner = unwrapped(context, node) if sign in COMPARISONS[2:] else None
    if inner:
        text = context.text(inner)
        return WriteUnsigned((text,), leave_out=True), instead(node, text)
    declarations = origins(context, node, I32)
    cures = [rewritten(context, declaration, U32) for declaration in declarations]
    if not cures or not all(cures):
        return None
    leave_out = any(unwrapped(context, declaration.value) for declaration in declarations)
    edits = (Edit(node.at, node.end, cure) for node, cure in zip(declarations, cures, strict=True))
    return WriteUnsigned(tuple(cures), leave_out), tuple(edits)


def expression_around(context: Context, node: tree.Node) -> tuple[tree.Node, tree.Node | None]:
    """The largest expression of operators that contains a node, and the node around that expression."""
    whole, outer = node, None
    for outer in context.ancestors(node):
        if not isinstance(outer, tree.Binary | tree.Unary):
            break
        whole = outer
    return whole, outer


def suits_u32(context: Context, node: tree.Node) -> bool:
    """Return True where a mixture of i32 and u32 is best a u32: an index, or a value that is never below 0."""
    whole, outer = expression_around(context, node)
    match outer:
        case tree.Index(index=index):
            return index == whole
        case tree.Assignment(target=tree.Name(name=name)):
            return context.type_named(name) == U32
        case tree.Declaration(type=None, name=name):
            return not (re.search(r"[-/%<>]|\bi32\b", context.text(whole)) or signed(name, context.block(outer)))
        case tree.Declaration(type=tree.Name(name=name)):
            return name == "u32"
    return False


# --- One function for each kind of refusal ------------------------------------------------------------------------


def operands(context: Context, sign: str, left: Part, right: Part) -> Suggestion | None:
    """Two operands of different types."""
    types = {left.type, right.type}
    if sign == "^" and types & {F32, ABSTRACT_FLOAT}:
        return raised(context, left.place, right.place)
    if sign in ("&", "|", "<<", ">>") and F32 in types:
        value = left if left.type == F32 else right
        return Suggestion("bits of an f32", {"sign": sign, "value": described(context, value)})
    if ABSTRACT_FLOAT in types and types & {U32, I32}:
        if left.type == ABSTRACT_FLOAT:
            return _fraction(context, left, right)
        return _fraction(context, right, left)
    if not types <= set(NUMBERS):
        return _two_types(context, sign, left, right)
    if len(types) == 1:
        return None
    return _mixed(context, sign, left, right)


def _two_types(context: Context, sign: str, left: Part, right: Part) -> Suggestion:
    """Two operands, one of which at least is no number."""
    vector = next((operand for operand in (left, right) if isinstance(operand.type, Vector)), None)
    if vector and isinstance(vector.place, tree.Name) and {left.type, right.type} & set(NUMBERS):
        edits = instead(vector.place, f"{context.text(vector)}.x")
        return Suggestion("vector beside a number", {"value": described(context, vector)}, edits=edits)
    return Suggestion("two types", {"sign": sign, "left": typed(context, left), "right": typed(context, right)})


def _mixed(context: Context, sign: str, left: Part, right: Part) -> Suggestion:
    """Two numbers of different types: the one that is not of the type that both can have changes."""
    types = {left.type, right.type}
    wanted = next(type for type in NUMBERS if type in types)
    changed, kept = (left, right) if right.type == wanted else (right, left)
    cured = _summed(context, changed) if kept.type == F32 else None
    if types == {I32, U32}:  # an i32 may be negative: it becomes a u32 only where that does not matter
        cured = unsigned(context, changed.place, sign)
        if not cured and not literal(context.text(changed), U32):
            if not suits_u32(context, changed.place):
                changed, kept = kept, changed
            cured = _operands_converted(context, changed, kept.type)
    if not cured:
        text = converted(context.text(changed), kept.type)
        cured = Write((text,)), instead(changed.place, text)
    cure, edits = cured
    value, other = (kept, changed) if isinstance(changed.place, tree.Literal) else (changed, kept)
    return Suggestion("mixed types", _mixed_facts(context, value, other, cure), edits=edits)


def _mixed_facts(context: Context, value: Part, other: Part, cure: Cure) -> dict[str, object]:
    return {"value": described(context, value), "other": typed(context, other), "cure": cure}


def _operands_converted(context: Context, changed: Part, wanted: Type) -> tuple[Write, tuple[Edit, ...]]:
    """A value converted to another type; with it the other values of its type in the expression around it."""
    values = pieces(context, expression_around(context, changed.place)[0], changed.type)
    if context.text(changed) not in [context.text(piece) for piece in values]:
        values = [changed.place]
    texts = each_converted(context, values, wanted)
    return Write(texts), edited_alike(context, expression_around(context, changed.place)[0], values, texts)


def _summed(context: Context, value: Part) -> tuple[DeclareF32, tuple[Edit, ...]] | None:
    """The declaration of a sum of f32 that begins as a whole number: ``sum = sum + x``."""
    declaration = origin(context, value)
    target = getattr(context.refused.statement, "target", None)
    if not declaration or not target or context.text(target) != declaration.name:
        return None
    cure = rewritten(context, declaration, F32)
    return (DeclareF32(declaration.name, cure), instead(declaration, cure)) if cure else None


def raised(context: Context, left: tree.Node, right: tree.Node) -> Suggestion:
    """``x ^ 2.0``, as a power is written elsewhere."""
    base = context.text(last(left))
    is_square = re.fullmatch(r"2(?:\.0*)?[fu]?", context.text(right))
    product = f"{base} * {base}" if is_square else None
    return Suggestion("power", {"product": product}, edits=instead(Span(last(left).at, right.end), product))


def clash(context: Context, sign: str, left: tree.Node, right: tree.Node, **_: object) -> Suggestion | None:
    """Two operators that need parentheses: `==` comes before `&`, and comparisons form no chain."""
    match right:
        case tree.Binary(operator=("==" | "!=") as equal, left=value, right=other) if sign in ("&", "|", "^"):
            cure = f"({context.text(left)} {sign} {context.text(value)}) {equal} {context.text(other)}"
            edits = instead(Span(left.at, right.end), cure)
            return Suggestion("bits before a comparison", {"equal": equal, "sign": sign, "cure": cure}, edits=edits)
    match left:
        case tree.Binary(operator=first, right=middle) if {sign, first} <= {*COMPARISONS[2:]}:
            cure = f"{context.text(left)} && {context.text(middle)} {sign} {context.text(right)}"
            return Suggestion("chain of comparisons", {"cure": cure}, edits=instead(Span(left.at, right.end), cure))
    return raised(context, left, right) if sign == "^" and context.type_of(context.text(last(left))) == F32 else None


def last(node: tree.Node) -> tree.Node:
    """The operand beside an operator on its right."""
    return last(node.right) if isinstance(node, tree.Binary) else node


def _fraction(context: Context, number: Part, other: Part) -> Suggestion:
    """A number with a point beside a whole number."""
    whole_number = literal(context.text(number), other.type)
    expression, outer = expression_around(context, number.place)
    is_index = isinstance(outer, tree.Index) and outer.index == expression
    facts = {
        "number": typed(context, number),
        "other": described(context, other),
        "conversion": None if whole_number and is_index else f"f32({context.text(other)})",
        "whole": whole_number,
    }
    edits = instead(other.place, facts["conversion"]) or instead(number.place, whole_number)
    return Suggestion("fraction beside a whole number", facts, edits=edits)


def assigned(context: Context, target: Part, value: Part) -> Suggestion:
    """A value of one type, stored where another one belongs."""
    name = context.text(target)
    node = context.declared(name)
    declaration = rewritten(context, node, value.type)
    if declaration:
        cure = DeclareF32(name, declaration) if value.type == F32 else Write((declaration,))
        facts = _mixed_facts(context, target, value, cure)
        return Suggestion("mixed types", facts, edits=instead(node, declaration))
    value_misfit = misfit(context, value, target.type)
    facts = {"target": typed(context, target), "value": value_misfit}
    return Suggestion("assigned", facts, edits=instead(value.place, value_misfit.cure))


def fit(context: Context, value: Part, wanted: Type) -> Suggestion:
    """A value in a place of another type."""
    value_misfit = misfit(context, value, wanted)
    return Suggestion("fit", {"value": value_misfit}, edits=instead(value.place, value_misfit.cure))


def misfit(context: Context, value: Part, wanted: Type) -> Misfit:
    """A value that does not fit, and what to write."""
    text = context.text(value)
    if value.type == ABSTRACT_FLOAT:
        whole_number = literal(text, wanted)
        return Misfit(typed(context, value), whole_number, no_type=None if whole_number else wanted)
    cure = None
    if value.type in (*NUMBERS, BOOL):
        cure = choice(_declared_value(context, value), wanted) or converted(text, wanted)
    return Misfit(described(context, value), cure)


def _declared_value(context: Context, value: Part) -> str:
    """The value that a variable is declared with; another value as it is written."""
    text = context.text(value)
    source = origin(context, value)
    first = getattr(source, "value", None)
    if first and source.name == text:
        return context.text(first)
    return text


def choice(value: str, wanted: Type) -> str | None:
    """A choice between two whole numbers, with f32 in their place."""
    match = CHOICE.fullmatch(value) if wanted == F32 else None
    return f"select({match[1]}.0, {match[2]}.0, {match[3]})" if match else None


def declared(context: Context, node: tree.Declaration, value: Part, wanted: Type) -> Suggestion:
    """A variable whose value is not of its declared type."""
    cure = None
    if value.type == ABSTRACT_FLOAT and wanted in NUMBERS and not literal(context.text(value), wanted):
        cure = f"{node.name}: f32"
    value_misfit = misfit(context, value, wanted)
    facts = {"name": node.name, "type": wanted, "value": value_misfit, "cure": cure}
    edits = instead(Span(node.name.at, node.type.end), cure) or instead(value.place, value_misfit.cure)
    return Suggestion("declared", facts, edits=edits)


def power(context: Context) -> Suggestion | None:
    """``a ** b``: the second star reads as a pointer's."""
    before = context.before(context.at)
    if before != "*" or before.end != context.at:
        return Suggestion("no value before") if re.fullmatch(r"[-+*/%<>=&|^]+", before) else None
    left = re.search(r"([^\W\d]\w*(?:\.\w+)*|\d[\w.]*)\s*$", context.code[: before.at])
    is_square = re.match(r"\*\s*2u?\b(?!\.)", context.code[context.at :])
    product = f"{left[1]} * {left[1]}" if left and is_square else None
    return Suggestion("power of Python", {"product": product}, Mark(before.at, 2))
