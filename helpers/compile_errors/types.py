"""Values of two types that do not go together: which is which, where the type came from, and what to write."""

import re

from helpers.compile_errors.expressions import (
    FRACTION,
    WHOLE,
    commas,
    expression_at,
    literal_type,
    signed,
    split,
    unwrapped,
)
from helpers.compile_errors.message import SIGNS, Complaint, Finding
from helpers.compile_errors.text import VECTOR, Declaration
from helpers.wgsl import closing

NUMBERS = ("f32", "u32", "i32")
COMPARISONS = ("<", "<=", ">", ">=")
OPERAND = r"(?:[^\W\d]\w*)?(?:\.\w+|\[[^\[\]]*\]|\([^()]*\))*"
SIGN = r"(?:[-+*/%<>^]|[<>=!]=)"
CHOICE = re.compile(r"select\(\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(.*)\)", re.DOTALL)


def a(given: str) -> str:
    """A type with its article."""
    return given if given in (WHOLE, FRACTION) else f"{'an' if given[0] in 'aif' else 'a'} {given}"


def literal(value: str, wanted: str) -> str | None:
    """A whole number written so that it has another type; None where it is none."""
    found = re.fullmatch(r"(\d+)(?:\.0*)?[fui]?", value.strip())
    return found[1] + {"f32": ".0", "u32": "u", "i32": ""}[wanted] if found and wanted in NUMBERS else None


def converted(value: str, wanted: str) -> str | None:
    """How to write a value so that it is of another type; None where no call converts it."""
    return (literal(value, wanted) or f"{wanted}({unwrapped(value)})") if wanted in NUMBERS else None


def listed(complaint: Complaint, values: list[str], wanted: str, at: int) -> str:
    """How to write values so that each is of another type, between commas."""
    made = [wanted == "u32" and _made_signed(complaint, each, at) for each in values]
    cures = [f"`{inside or converted(each, wanted)}`" for inside, each in zip(made, values, strict=True)]
    return " and ".join(filter(None, [", ".join(cures[:-1]), cures[-1]]))


def operands(complaint: Complaint, expression: str, given: str, at: int) -> list[str]:
    """The operands of one type in an expression of several types, each as long as it can be."""
    kind, parts = complaint.text.type_of(expression, at), split(unwrapped(expression.lstrip("!")))
    if kind == given:
        return [unwrapped(expression)]
    if kind not in (None, "bool") or not parts:
        return []
    left, sign, right = parts
    sides = {complaint.text.type_of(each, at) for each in (left, right)}
    if sign in (*COMPARISONS, "==", "!=") and sides <= {given, WHOLE}:
        return []
    found = [*operands(complaint, left, given, at), *operands(complaint, right, given, at)]
    return list(dict.fromkeys(found))


def misfits(complaint: Complaint, value: str, given: str, wanted: str, at: int) -> list[str]:
    """What in a value is of the wrong type: its operands where others are of the right type, or all of it."""
    right = operands(complaint, value, wanted, at)
    return (right and operands(complaint, value, given, at)) or [unwrapped(value)]


def around(complaint: Complaint) -> tuple[str, str]:
    """The whole expression in which the compiler marked something, and all that precedes it."""
    text, start, depth = complaint.text, complaint.at, 0
    for token in reversed([each for each in text.tokens if each.at < complaint.at]):
        called = token.text == "(" and re.search(r"\w\s*$", text.code[: token.at])
        if not depth and (called or re.fullmatch(r"[\[{};,]|[-+*/%]?=|return|if|while|switch", token.text)):
            break
        depth += (token.text in ")]") - (token.text in "([" and depth > 0)
        start = token.at
    return commas(expression_at(text.code, start))[0], text.code[:start].rstrip()


def suits_u32(complaint: Complaint, whole: str, before: str) -> bool:
    """Whether a mixture of i32 and u32 is best a u32: an index, or a value that is never used as a negative one."""
    if before.endswith("["):
        return True
    target = re.search(r"(\b(?:let|var)\s+)?\b(\w+)\s*(?::\s*(\w+)\s*)?[-+*/%]?=$", before)
    if not target:
        return False
    text, rest, (new, name, given) = complaint.text, len(before), target.groups()
    if not new and (declared := text.declared(name, complaint.at)):
        given = text.declared_type(declared)
    if given or not new:
        return given == "u32"
    return not (re.search(r"[-/%<>]|\bi32\b", whole) or signed(name, text.code[rest : text.closing(rest)]))


def origins(complaint: Complaint, expression: str, given: str, at: int) -> list[Declaration]:
    """The variables of a type from which an expression has it; none where a conversion gives it."""
    if re.search(r"\b(?:[fui]32|bool|bitcast)\s*[(<]", expression):
        return []
    names = dict.fromkeys(re.findall(r"(?<![.\w])[^\W\d]\w*(?!\s*[\w(])", expression))
    found = [complaint.text.declared(name, at) for name in names]
    return [each for each in found if each and each.kind != "fn" and complaint.text.declared_type(each) == given]


def origin(complaint: Complaint, expression: str, given: str, at: int) -> Declaration | None:
    """The one variable that gives an expression its type, if there is one."""
    typed = origins(complaint, expression, given, at)
    return typed[0] if len(typed) == 1 else None


def described(complaint: Complaint, expression: str, given: str, at: int) -> str:
    """An expression and its type, and where the type came from."""
    plain = unwrapped(expression)
    declared = origin(complaint, plain, given, at)
    if not declared:
        return f"`{plain}` is {a(given)}"
    also = "" if declared.name == plain else f", as is `{declared.name}`"
    line = complaint.text.place(declared.at)[0]
    return f"`{plain}` is {a(given)}{also}, declared in line {line} by `{declared.written}`"


def rewritten(complaint: Complaint, declared: Declaration | None, wanted: str) -> str | None:
    """The declaration of a variable that begins as a whole number, with the type that is wanted: `var sum = 0.0`.

    None where another use of the variable needs the type that it has.
    """
    if not declared or declared.value is None or wanted not in ("u32", "f32"):
        return None
    value, uses = declared.value.strip(), complaint.text.code[declared.scope.start : declared.scope.stop]
    new = literal(value, wanted) if literal_type(value) in (WHOLE, "u32", "i32") else None
    name = re.escape(declared.name)
    if wanted == "u32" and not re.search(rf"\b{name}\b[^;{{}}]*-|-[^;{{}}]*\b{name}\b", uses):
        new = new or _made_signed(complaint, value, declared.at)
    whole = rf"\[[^\];]*\b{name}\b|\b{name}\s*(?:\+\+|--|%)"
    if not new or (signed(declared.name, uses) if wanted == "u32" else re.search(whole, uses)):
        return None
    return f"{re.split(r'[:=]', declared.written)[0].strip()} = {new}"


def _made_signed(complaint: Complaint, value: str, at: int) -> str | None:
    """The u32 inside of ``i32(...)``."""
    inside = value[4:-1] if value.startswith("i32(") and closing(value[3:]) == len(value) - 4 else ""
    return inside if inside and complaint.text.type_of(inside, at) == "u32" else None


def unsigned(complaint: Complaint, expression: str, sign: str, at: int) -> str | None:
    """How to make a u32 of an i32 expression or of its variables; None where one must stay signed."""
    if sign in COMPARISONS and (inside := _made_signed(complaint, unwrapped(expression), at)):
        return f"leave out the `i32(...)`: write `{inside}`"
    found = origins(complaint, unwrapped(expression), "i32", at)
    cures = [(each, rewritten(complaint, each, "u32")) for each in found]
    if not cures or not all(cure for _, cure in cures):
        return None
    left_out = any(each.value.startswith("i32(") for each, _ in cures)
    written = " and ".join(f"`{cure}`" for _, cure in cures)
    return f"leave out the `i32(...)`: write {written}" if left_out else f"write {written}"


# --- One function for each complaint ----------------------------------------------------------------------


def of_operator(found: re.Match, complaint: Complaint) -> str | None:
    """Two operands of different types."""
    sign, at = SIGNS.get(found[1], ""), complaint.at
    parts = split(complaint.marked, sign) if complaint.marked else None
    if not parts:
        return f"the two sides of `{sign}` are {found[2]} and {found[3]}; they must be of one type"
    left, right = (parts[0], found[2]), (parts[2], found[3])
    if reason := _order(sign, *left, *right):
        return reason
    types = {left[1], right[1]}
    if sign == "^" and "f32" in types:
        return _raised(left[0], right[0])
    if sign in ("&", "|", "<<", ">>") and "f32" in types:
        value = left if left[1] == "f32" else right
        return f"`{sign}` is for the bits of whole numbers, and {described(complaint, *value, at)}"
    if not types <= set(NUMBERS):
        vectors = [unwrapped(text) for text, given in (left, right) if VECTOR.fullmatch(given)]
        if len(vectors) == 1 and re.fullmatch(r"\w+", vectors[0]) and types & set(NUMBERS):
            given = left[1] if VECTOR.fullmatch(left[1]) else right[1]
            return f"{described(complaint, vectors[0], given, at)}: write `{vectors[0]}.x` for its first number"
        both = " and ".join(f"`{unwrapped(text)}` is {a(given)}" for text, given in (left, right))
        return f"{both}: the two sides of `{sign}` must be of one type"
    changed, kept = (left, right) if right[1] == ("f32" if "f32" in types else "u32") else (right, left)
    cure = _summed(complaint, *changed, at) if kept[1] == "f32" else None
    if types == {"i32", "u32"}:  # an i32 may be negative: it becomes a u32 only where that does not matter
        cure = unsigned(complaint, changed[0], sign, at)
        if not cure and not literal(changed[0], "u32"):
            whole, before = around(complaint)
            if not suits_u32(complaint, whole, before):
                changed, kept = kept, changed
            values, value = operands(complaint, whole, changed[1], at), unwrapped(changed[0])
            cure = f"write {listed(complaint, values if value in values else [value], kept[1], at)}"
    cure = cure or f"write `{converted(changed[0], kept[1])}`"
    told, other = (kept, changed) if literal_type(unwrapped(changed[0])) else (changed, kept)
    return f"{described(complaint, *told, at)}, and `{unwrapped(other[0])}` is {a(other[1])}: {cure}"


def _summed(complaint: Complaint, value: str, given: str, at: int) -> str | None:
    """How to declare a sum of f32 that begins as a whole number: ``sum = sum + x``."""
    declared = origin(complaint, unwrapped(value), given, at)
    again = declared and re.search(rf"\b{re.escape(declared.name)}\s*=[\s(]*$", complaint.text.code[:at])
    cure = rewritten(complaint, declared, "f32") if again else None
    return f"write `{cure}`" if cure else None


def _raised(left: str, right: str) -> str:
    """``x ^ 2.0``, as a power is written elsewhere."""
    while parts := split(left):
        left = parts[2]
    two = re.fullmatch(r"2(?:\.0*)?[fu]?", right)
    cure = f"`{left} * {left}`" if two else "the product, or `pow(a, b)` for f32"
    return f"WGSL has no sign for a power, and `^` is for the bits of whole numbers: write {cure}"


def _order(sign: str, left: str, left_type: str, right: str, right_type: str) -> str | None:
    """Mistakes of order: `==` comes before `&`, and comparisons form no chain."""
    compared, chain = split(right), split(left)
    if sign in ("&", "|", "^") and right_type == "bool" and compared and compared[1] in ("==", "!="):
        value, equal, other = compared
        return f"`{equal}` comes before `{sign}`: write `({left} {sign} {value}) {equal} {other}`"
    if sign in COMPARISONS and left_type == "bool" and chain and chain[1] in COMPARISONS:
        return f"comparisons form no chain: write `{left} && {chain[2]} {sign} {right}`"
    return None


def of_fraction(found: re.Match, complaint: Complaint) -> str | None:
    """A number with a point beside a whole number, or any number beside a truth value."""
    text, at, whole = complaint.text, complaint.at, complaint.marked
    if not whole:
        return None
    left, _, right = split(whole) or (whole, "", "")
    number, other = (left, right) if text.type_of(left, at) in (WHOLE, FRACTION) else (right, left)
    if text.type_of(whole, at) in (WHOLE, FRACTION):
        beside = _neighbors(complaint)
        given = [each for each in beside if text.type_of(each, at) in ("u32", "i32", "bool")]
        number, other = whole, next(iter([*given, *beside]), None)
    kind, given = (text.type_of(each, at) if each else None for each in (number, other))
    if kind == FRACTION and given and text.code[:at].rstrip().endswith("^"):
        return _raised(other, number)
    if kind in (WHOLE, FRACTION) and given == "bool":
        return f"`{number}` is a number, and `{unwrapped(other)}` is true or false"
    if kind != FRACTION or given not in ("u32", "i32"):
        return None
    exact = literal(number, given)
    cure = f"write `f32({unwrapped(other)})`" + (f", or `{exact}` for whole numbers" if exact else "")
    if exact and around(complaint)[1].endswith("["):
        cure = f"write `{exact}`"
    return f"`{number}` is {a(kind)}, and {described(complaint, other, given, at)}: {cure}"


def _neighbors(complaint: Complaint) -> list[str]:
    """The simple operands beside what the compiler marked, or beside the parentheses around it."""
    span = complaint.spans[0]
    line = complaint.text.code.split("\n")[span.line - 1]
    before, after = line[: span.column - 1].rstrip(), line[span.column - 1 + span.length :].lstrip()
    while before.endswith("(") and after.startswith(")"):
        before, after = before[:-1].rstrip(), after[1:].lstrip()
    left, right = re.search(rf"(?<![\w.])({OPERAND})\s*{SIGN}$", before), re.match(rf"{SIGN}\s*({OPERAND})", after)
    return [each[1] for each in (left, right) if each and each[1]]


def of_assignment(found: re.Match, complaint: Complaint) -> Finding | None:
    """A value of one type, stored where another one belongs."""
    given, wanted, text = found[1], found[2], complaint.text
    target = complaint.span("is required here")
    if not target:
        return None
    at, name = complaint.at_of(target), complaint.text_of(target)
    sign = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)\s*").match(text.code, at + target.length)
    if not sign:
        return None
    value = " ".join(expression_at(text.code, sign.end()).split())
    if cure := rewritten(complaint, text.declared(name, at), given):
        reason = f"{described(complaint, name, wanted, at)}, and `{value}` is {a(given)}: write `{cure}`"
    else:
        reason = f"`{name}` is {a(wanted)}, and {_stored(complaint, value, given, wanted, at)}"
    return Finding(reason, at, target.length)


def _stored(complaint: Complaint, value: str, given: str, wanted: str, at: int) -> str:
    """What a stored value is, and how to write it."""
    if literal_type(unwrapped(value)) == FRACTION:
        exact = literal(value, wanted)
        return f"`{value}` is {a(FRACTION)}" + (f": write `{exact}`" if exact else f", which no {wanted} can hold")
    parts = misfits(complaint, value, given, wanted, at)
    if parts != [unwrapped(value)]:
        return f"{described(complaint, parts[0], given, at)}: write {listed(complaint, parts, wanted, at)}"
    source = origin(complaint, value, given, at)
    whole = source.value if source and source.value and source.name == value else value
    cure = _choice(whole, wanted) or converted(value, wanted) if given in (*NUMBERS, "bool") else None
    return described(complaint, value, given, at) + (f": write `{cure}`" if cure else "")


def _choice(value: str, wanted: str) -> str | None:
    """A choice between two whole numbers, with f32 in their place."""
    found = CHOICE.fullmatch(value.strip()) if wanted == "f32" else None
    return f"select({found[1]}.0, {found[2]}.0, {found[3]})" if found else None


def of_declaration(found: re.Match, complaint: Complaint) -> Finding | None:
    """A variable whose value is not of its declared type."""
    name, wanted, given = found[1], found[2], found[3]
    before = [each for each in complaint.text.declarations if each.name == name and each.at <= complaint.at]
    value = (before[-1].value or "").strip() if before else ""
    if not value or wanted not in NUMBERS or given not in (*NUMBERS, "bool"):
        return None
    declared, number = f"`{name}` is declared as {a(wanted)}", literal_type(unwrapped(value))
    parts = misfits(complaint, value, given, wanted, complaint.at)
    choice = _choice(value, wanted)
    cure = f"`{choice}`" if choice else listed(complaint, parts, wanted, complaint.at)
    if number == FRACTION and not literal(value, wanted):
        cure = f"`{name}: f32`"
    kind = f"`{parts[0]}` is {a(FRACTION if number == FRACTION else given)}"
    return Finding(f"{declared}, and {kind}: write {cure}", complaint.at, len(name))


def power(found: re.Match, complaint: Complaint) -> Finding | str:
    """``a ** b``: the compiler reads the second star as a pointer's."""
    at, code = complaint.at, complaint.text.code
    before = complaint.text.before(at)
    if not before or before.text != "*" or before.end != at:
        return "a value is missing on the left of `*`"
    left = re.search(r"([^\W\d]\w*(?:\.\w+)*|\d[\w.]*)\s*$", code[: before.at])
    cure = "write the product, or `pow(a, b)` for f32"
    if left and re.match(r"\*\s*2u?\b(?!\.)", code[at:]):
        cure = f"write `{left[1]} * {left[1]}`"
    return Finding(f"WGSL has no `**`: {cure}", before.at, 2)
