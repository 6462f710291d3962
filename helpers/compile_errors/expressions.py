"""Expressions as text: their tokens, brackets, operators and literals."""

import re

from helpers.wgsl import closing

TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*(?:(?<=[eE])[+-]\d+\w*)?|\.\d\w*|&&|\|\||\+\+|--|->|<<|>>|[-+*/%&|^<>=!]=|\S")
SUFFIX = {"f": "f32", "u": "u32", "i": "i32", "h": "f16"}
WHOLE, FRACTION = "a whole number", "a number with a point"  # literals without a suffix: they become what is needed
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), COMPARISONS, ("+", "-"), ("*", "/", "%"), ("<<", ">>")]


def balanced(text: str) -> bool:
    """Whether each bracket in a text has its partner."""
    return closing(f"({text})") == len(text) + 1


def unwrapped(expression: str) -> str:
    """An expression without blanks and parentheses around it."""
    expression = " ".join(expression.split())
    while expression.startswith("(") and expression.endswith(")") and balanced(expression[1:-1]):
        expression = expression[1:-1].strip()
    return expression


def expression_at(code: str, at: int) -> str:
    """The expression that begins at an offset, up to a semicolon, a brace or the bracket around it."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] in "([") - (code[end] in ")]")
        if depth < 0 or code[end] in ";{}":
            return code[at:end].strip()
    return code[at:].strip()


def commas(text: str) -> list[str]:
    """The parts of a list between its commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def split(expression: str, operator: str | None = None) -> tuple[str, str, str] | None:
    """The two sides of an expression's outermost operator, and the operator; None where it has none."""
    signs, depth, previous = [], 0, None
    for token in TOKEN.finditer(expression):
        depth += (token[0] in "([") - (token[0] in ")]")
        if not depth and previous and re.search(r"[\w)\]]$", previous):
            signs.append(token)
        previous = token[0]
    for level in LEVELS:
        for token in reversed(signs):
            if token[0] in level and operator in (None, token[0]):
                return expression[: token.start()].strip(), token[0], expression[token.end() :].strip()
    return None


def signed(name: str, uses: str) -> bool:
    """Whether a variable is used as a number that may be below 0: counted down, compared with 0, or negated."""
    name = re.escape(name)
    below_zero = rf"\b{name}\s*(?:--|-=|(?:>=|<)\s*0\b|[<>=!]=?\s*-|=(?!=)[^;]*(?:-|i32))|[=(,*/%+<>]\s*-\s*\b{name}\b"
    return bool(re.search(below_zero, uses))


def literal_type(expression: str) -> str | None:
    """The type of a number or truth value as it is written."""
    if expression in ("true", "false"):
        return "bool"
    if found := re.fullmatch(r"(\d+|0x[\da-fA-F]+)([ui])?", expression):
        return SUFFIX.get(found[2], WHOLE)
    found = re.fullmatch(r"(?:\d+\.\d*|\.\d+|\d+(?=[eEfh]))(?:[eE][-+]?\d+)?([fh])?", expression)
    return SUFFIX.get(found[1], FRACTION) if found else None
