"""Values of types that do not go together: which is which, where the type came from, and what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wgsl.diagnostics import Diagnostic
from wgsl.suggestions.context import Context, signed
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.types.conversions import WHOLE
from wgsl.types.folding import COMPARISONS
from wgsl.types.kinds import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
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
from wgsl.words.refusals import a

NUMBERS = (F32, U32, I32)
CHOICE = re.compile(r"select\(\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(.*)\)", re.DOTALL)
ZERO = {F32: "0.0", ABSTRACT_FLOAT: "0.0", U32: "0u", I32: "0", ABSTRACT_INT: "0"}
CONVERSIONS = ("f32", "u32", "i32", "bool", "bitcast")


def literal(text: str, wanted: Type) -> str | None:
    """A whole number written so that it has another type; None where the text is not one."""
    match = re.fullmatch(r"(\d+)(?:\.0*)?[fui]?", text)
    return match[1] + {F32: ".0", U32: "u", I32: ""}[wanted] if match and wanted in NUMBERS else None


def converted(text: str, wanted: Type) -> str | None:
    """How to write a value so that it is of another type; None where no call converts it."""
    return (literal(text, wanted) or f"{wanted}({text})") if wanted in NUMBERS else None


def write(cure: str | None) -> str:
    """The end of a sentence that says what to write, if that is known."""
    return f": write `{cure}`" if cure else ""


def unwrapped(context: Context, node: tree.Node, call: str = "i32", types: Sequence[Type] = (U32,)) -> tree.Node | None:
    """The x of ``i32(x)``, or of another call, where it is of one of these types."""
    match node:
        case tree.Call(callee=tree.Name(name=name), arguments=(argument,)) if name == call:
            return argument if context.type_of(argument) in types else None
    return None


def listed(context: Context, values: Sequence[tree.Node], wanted: Type) -> str:
    """How to write values so that each is of another type, between commas."""
    made = [wanted == U32 and unwrapped(context, node) for node in values]
    cures = [
        f"`{context.text(x) if x else converted(context.text(node), wanted)}`"
        for x, node in zip(made, values, strict=True)
    ]
    *before, last_one = cures
    return f"{', '.join(before)} and {last_one}" if before else last_one


def pieces(context: Context, node: tree.Node, given: Type) -> list[tree.Node]:
    """The operands of one type in an expression of several types, each as long as it can be."""
    while isinstance(node, tree.Unary) and node.operator == "!":
        node = node.operand
    kind = context.type_of(node)
    if kind == given:
        return [node]
    if kind not in (None, BOOL) or not isinstance(node, tree.Binary):
        return []
    sides = node.left, node.right
    if node.operator in COMPARISONS and {*map(context.type_of, sides)} <= {given, ABSTRACT_INT}:
        return []
    by_text = {context.text(piece): piece for side in sides for piece in pieces(context, side, given)}
    return list(by_text.values())


def misfits(context: Context, value: Part, wanted: Type) -> list[tree.Node]:
    """What in a value is of the wrong type: its operands where others are of the right type, or all of it."""
    right = pieces(context, value.place, wanted)
    return (right and pieces(context, value.place, value.type)) or [value.place]


def origin(context: Context, value: Part, node: tree.Node | None = None) -> tree.Node | None:
    """The declaration of the one variable that gives a value, or another node of its type, this type."""
    declarations = origins(context, node or value.place, value.type)
    return declarations[0] if len(declarations) == 1 else None


def origins(context: Context, node: tree.Node, given: Type) -> list[tree.Node]:
    """The declarations of the variables that give an expression its type; none where a conversion gives it."""
    parts = [part for part in tree.walk(node) if isinstance(part, tree.Call | tree.Name)]
    callees = [part.callee for part in parts if isinstance(part, tree.Call)]
    if any(callee.name in CONVERSIONS for callee in callees):
        return []
    names = dict.fromkeys(part.name for part in parts if isinstance(part, tree.Name) and part not in callees)
    declarations = (context.declared(name) for name in names if context.type_named(name) == given)
    return [declaration for declaration in declarations if declaration]


def described(context: Context, value: Part, node: tree.Node | None = None) -> str:
    """A value, or another node of its type, with the type and where it came from."""
    text, declared = context.text(node or value), origin(context, value, node)
    if not declared:
        return f"`{text}` is {a(value.type)}"
    also = "" if declared.name == text else f", as is `{declared.name}`"
    where = f"declared {context.in_line(context.line(declared.name))} by `{context.written(declared)}`"
    return f"`{text}` is {a(value.type)}{also}, {where}"


def rewritten(context: Context, declared: tree.Node | None, wanted: Type) -> str | None:
    """The declaration of a variable that begins as a whole number, with the type that is wanted: `var sum = 0.0`.

    None where another use of the variable needs the type that it has.
    """
    begins = isinstance(declared, tree.Declaration) and (declared.value or wanted == F32)
    if not begins or wanted not in (U32, F32):
        return None
    value, uses, name = declared.value, context.block(declared), re.escape(declared.name)
    text = re.sub(r"^[iu]32\((\d+)\)$", r"\1", context.text(value) if value else "0")
    new = literal(text, wanted) if "." not in text else None
    if wanted == U32 and not re.search(rf"\b{name}\b[^;{{}}]*-|-[^;{{}}]*\b{name}\b", uses):
        made = unwrapped(context, value)
        new = new or (made and context.text(made))
    whole = rf"\[[^\];]*\b{name}\b|\b{name}\s*(?:\+\+|--|%)"
    if not new or (signed(declared.name, uses) if wanted == U32 else re.search(whole, uses)):
        return None
    return f"{declared.kind} {declared.name} = {new}"


def unsigned(context: Context, node: tree.Node, sign: str) -> str | None:
    """How to make a u32 of an i32 expression or of its variables; None where one must stay signed."""
    if sign in COMPARISONS[2:] and (made := unwrapped(context, node)):
        return f"leave out the `i32(...)`: write `{context.text(made)}`"
    declarations = origins(context, node, I32)
    cures = [rewritten(context, declaration, U32) for declaration in declarations]
    if not cures or not all(cures):
        return None
    left_out = any(unwrapped(context, declaration.value) for declaration in declarations)
    written = " and ".join(f"`{cure}`" for cure in cures)
    return f"leave out the `i32(...)`: write {written}" if left_out else f"write {written}"


def expression_around(context: Context, node: tree.Node) -> tuple[tree.Node, tree.Node | None]:
    """The largest expression of operators that contains a node, and the node around that expression."""
    whole, outer = node, None
    for outer in context.ancestors(node):
        if not isinstance(outer, tree.Binary | tree.Unary):
            break
        whole = outer
    return whole, outer


def suits_u32(context: Context, node: tree.Node) -> bool:
    """Whether a mixture of i32 and u32 is best a u32: an index, or a value that is never used as a negative one."""
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


def operands(context: Context, sign: str, left: Part, right: Part) -> str | None:
    """Two operands of different types."""
    types = {left.type, right.type}
    if sign == "^" and types & {F32, ABSTRACT_FLOAT}:
        return raised(context, left.place, right.place)
    if sign in ("&", "|", "<<", ">>") and F32 in types:
        value = left if left.type == F32 else right
        return f"`{sign}` is for the bits of whole numbers, and {described(context, value)}"
    if ABSTRACT_FLOAT in types and types & {U32, I32}:
        return _fraction(context, *((left, right) if left.type == ABSTRACT_FLOAT else (right, left)))
    if not types <= set(NUMBERS):
        one = next((operand for operand in (left, right) if isinstance(operand.type, Vector)), None)
        if one and isinstance(one.place, tree.Name) and types & set(NUMBERS):
            return f"{described(context, one)}: write `{context.text(one)}.x` for its first number"
        both = " and ".join(f"`{context.text(operand)}` is {a(operand.type)}" for operand in (left, right))
        return f"{both}: the two sides of `{sign}` must be of one type"
    if len(types) == 1:
        return None
    changed, kept = (left, right) if right.type == (F32 if F32 in types else U32) else (right, left)
    cure = _summed(context, changed) if kept.type == F32 else None
    if types == {I32, U32}:  # an i32 may be negative: it becomes a u32 only where that does not matter
        cure = unsigned(context, changed.place, sign)
        if not cure and not literal(context.text(changed), U32):
            if not suits_u32(context, changed.place):
                changed, kept = kept, changed
            values = pieces(context, expression_around(context, changed.place)[0], changed.type)
            texts = [context.text(piece) for piece in values]
            cure = f"write {listed(context, values if context.text(changed) in texts else [changed.place], kept.type)}"
    cure = cure or f"write `{converted(context.text(changed), kept.type)}`"
    subject, other = (kept, changed) if isinstance(changed.place, tree.Literal) else (changed, kept)
    return f"{described(context, subject)}, and `{context.text(other)}` is {a(other.type)}: {cure}"


def _summed(context: Context, value: Part) -> str | None:
    """How to declare a sum of f32 that begins as a whole number: ``sum = sum + x``."""
    declared, stored = origin(context, value), getattr(context.refused.statement, "target", None)
    cure = rewritten(context, declared, F32) if declared and stored and context.text(stored) == declared.name else None
    return cure and f"declare `{declared.name}` as f32, as in `{cure};`"


def raised(context: Context, left: tree.Node, right: tree.Node) -> str:
    """``x ^ 2.0``, as a power is written elsewhere."""
    base, two = context.text(last(left)), re.fullmatch(r"2(?:\.0*)?[fu]?", context.text(right))
    cure = f"`{base} * {base}`" if two else "the product, or `pow(a, b)` for f32"
    return f"WGSL has no sign for a power, and `^` is for the bits of whole numbers: write {cure}"


def clash(context: Context, sign: str, left: tree.Node, right: tree.Node, **_: object) -> str | None:
    """Two operators that need parentheses: `==` comes before `&`, and comparisons form no chain."""
    match right:
        case tree.Binary(operator=("==" | "!=") as equal, left=value, right=other) if sign in ("&", "|", "^"):
            joined = f"({context.text(left)} {sign} {context.text(value)}) {equal} {context.text(other)}"
            return f"`{equal}` comes before `{sign}`: write `{joined}`"
    match left:
        case tree.Binary(operator=first, right=middle) if {sign, first} <= {*COMPARISONS[2:]}:
            chain = f"{context.text(left)} && {context.text(middle)} {sign} {context.text(right)}"
            return f"comparisons form no chain: write `{chain}`"
    return raised(context, left, right) if sign == "^" and context.type_of(context.text(last(left))) == F32 else None


def last(node: tree.Node) -> tree.Node:
    """The operand beside an operator on its right."""
    return last(node.right) if isinstance(node, tree.Binary) else node


def _fraction(context: Context, number: Part, other: Part) -> str:
    """A number with a point beside a whole number."""
    exact = literal(context.text(number), other.type)
    whole, outer = expression_around(context, number.place)
    cure = f"write `f32({context.text(other)})`" + (f", or `{exact}` for whole numbers" if exact else "")
    if exact and isinstance(outer, tree.Index) and outer.index == whole:
        cure = f"write `{exact}`"
    return f"`{context.text(number)}` is {a(number.type)}, and {described(context, other)}: {cure}"


def assigned(context: Context, target: Part, value: Part) -> str | None:
    """A value of one type, stored where another one belongs."""
    if cure := rewritten(context, context.declared(context.text(target)), value.type):
        both = f"{described(context, target)}, and `{context.text(value)}` is {a(value.type)}"
        how = f"declare `{context.text(target)}` as f32, as in `{cure};`" if value.type == F32 else f"write `{cure}`"
        return f"{both}: {how}"
    return f"`{context.text(target)}` is {a(target.type)}, and {fit(context, value, target.type)}"


def fit(context: Context, value: Part, wanted: Type) -> str:
    """What a value is that does not fit, and how to write it."""
    text = context.text(value)
    if value.type == ABSTRACT_FLOAT:
        exact = literal(text, wanted)
        return f"`{text}` is {a(value.type)}" + (f": write `{exact}`" if exact else f", which no {wanted} can hold")
    parts = misfits(context, value, wanted)
    if parts != [value.place]:
        return f"{described(context, value, parts[0])}: write {listed(context, parts, wanted)}"
    source = origin(context, value)
    whole = context.text(source.value) if source and source.name == text and getattr(source, "value", None) else text
    number = value.type in (*NUMBERS, BOOL)
    return described(context, value) + write(number and (choice(whole, wanted) or converted(text, wanted)))


def choice(value: str, wanted: Type) -> str | None:
    """A choice between two whole numbers, with f32 in their place."""
    match = CHOICE.fullmatch(value) if wanted == F32 else None
    return f"select({match[1]}.0, {match[2]}.0, {match[3]})" if match else None


def declared(context: Context, node: tree.Declaration, value: Part, wanted: Type) -> str:
    """A variable whose value is not of its declared type."""
    cure = None
    if value.type == ABSTRACT_FLOAT and wanted in NUMBERS and not literal(context.text(value), wanted):
        cure = f"{node.name}: f32"
    return f"`{node.name}` is declared as {a(wanted)}, and {fit(context, value, wanted)}{write(cure)}"


def power(context: Context) -> Diagnostic | str | None:
    """``a ** b``: the second star reads as a pointer's."""
    before = context.before(context.at)
    if before != "*" or before.end != context.at:
        return "a value is missing on the left of `*`" if re.fullmatch(r"[-+*/%<>=&|^]+", before) else None
    left = re.search(r"([^\W\d]\w*(?:\.\w+)*|\d[\w.]*)\s*$", context.code[: before.at])
    cure = "write the product, or `pow(a, b)` for f32"
    if left and re.match(r"\*\s*2u?\b(?!\.)", context.code[context.at :]):
        cure = f"write `{left[1]} * {left[1]}`"
    return Diagnostic(f"WGSL has no `**`: {cure}", before.at, 2)


# --- Values in a place that takes another type --------------------------------------------------------------------


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
