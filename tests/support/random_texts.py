"""Texts of WGSL expressions, put together with no more parentheses than the grammar asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random

# How tightly an expression binds; a binary operator with a chain of its own kind is LOOSE.
PRIMARY, UNARY, MULTIPLY, ADD, SHIFT, RELATION, LOOSE = 7, 6, 5, 4, 3, 2, 1
LEVELS = {
    **dict.fromkeys(
        "*/%", (MULTIPLY, MULTIPLY, UNARY)
    ),  # the level of the result, of the left and of the right operand
    **dict.fromkeys("+-", (ADD, ADD, MULTIPLY)),
    **dict.fromkeys(("<<", ">>"), (SHIFT, UNARY, UNARY)),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), (RELATION, SHIFT, SHIFT)),
    **dict.fromkeys("&|^", (LOOSE, UNARY, UNARY)),
    **dict.fromkeys(("&&", "||"), (LOOSE, RELATION, RELATION)),
}
CHAINS = (
    "&",
    "|",
    "^",
    "&&",
    "||",
)  # a chain of one of these needs no parentheses, and mixed with others it needs them
SUFFIX = {"i32": "i", "u32": "u", "f32": "f"}
RANGE = 64.0  # what an input float is limited to


@dataclass(frozen=True)
class Expression:
    """A text, its type (a scalar type and a size, 1 for a scalar), and how tightly its outermost operator binds.

    A float is a multiple of 2^-fraction and no larger than the bound. `abstract` is a literal without a suffix.
    """

    text: str
    type: str
    size: int = 1
    level: int = PRIMARY
    chain: str = ""
    constant: bool = False
    abstract: bool = False
    bound: float = 0.0
    fraction: int = 0

    def inside(self, level: int, chain: str = "") -> str:
        """The text as an operand: in parentheses where it binds less tightly."""
        return self.text if self.level >= level or (chain and self.chain == chain) else f"({self.text})"


TEMPLATED = ("vec2", "vec3", "vec4", "bitcast", "array")
TOKEN = re.compile(r"(\w+)(\s*<(?![<=]))?|&&|\|\||[<>!=]=|<<|[\[\]()>;{}:=]")


def misread(text: str) -> bool:
    """Whether a `<` and a later `>` enclose what WGSL takes for a template list, though they are comparisons."""
    depth, open_ = 0, []
    for match in TOKEN.finditer(text):
        token = match[0]
        if match[2]:
            open_.append((depth, match[1]))
        elif token in "([":
            depth += 1
        elif token in (")", "]", "&&", "||"):
            open_ = [each for each in open_ if each[0] < depth]
            depth -= token in ")]"
        elif token in (">", ">=") and open_ and open_[-1][0] == depth and open_.pop()[1] not in TEMPLATED:
            return True
    return False


class Texts:
    """Names, literals, and what is put together of them.

    It has a list of the names in scope for each (type, size). Names in CAPITALS are constants.
    """

    def __init__(self, random: Random, names: dict[tuple[str, int], list[str]]) -> None:
        self.random, self.names = random, names

    # --- Leaves -----------------------------------------------------------------------------------------------------

    def leaf(self, type: str, size: int = 1) -> Expression:
        if size == 1 and type != "bool" and self.random.random() < 0.3:
            return self.literal(type)
        return self.variable(type, size)

    def variable(self, type: str, size: int = 1) -> Expression:
        """A name, or a swizzle of one."""
        names = self.names.get((type, size), [])
        if not names or self.random.random() < 0.15:
            longer = [n for n in (2, 3, 4) if self.names.get((type, n)) and n != size]
            if longer:
                return self.swizzle(self.variable_of(type, self.random.choice(longer)), size)
        return self.variable_of(type, size)

    def variable_of(self, type: str, size: int) -> Expression:
        name = self.random.choice(self.names[type, size])
        return Expression(name, type, size, bound=RANGE, constant=name.isupper())

    def runtime(self, type: str, size: int = 1) -> Expression:
        """A name whose value is not known before the run."""
        names = [name for name in self.names[type, size] if not name.isupper()]
        return Expression(self.random.choice(names), type, size, bound=RANGE)

    def literal(self, type: str, least: int = 0) -> Expression:
        """A literal without a suffix: it becomes what the other operand is."""
        if type == "f32":
            value = self.random.choice((1, 2, 3, 5, 8))
            return Expression(
                self.random.choice((f"{value}.0", f"{value}", f"{value}.")),
                "f32",
                constant=True,
                abstract=True,
                bound=value,
            )
        value = self.random.choice((0, 1, 2, 3, 5, 7, 31, 100, 255, 65536, 0x7FFFFFFF))
        text = self.random.choice((f"{max(value, least)}", f"{max(value, least):#x}"))
        return Expression(text, type, constant=True, abstract=True)

    @staticmethod
    def concrete(value: Expression) -> Expression:
        """The expression; a literal with its suffix."""
        if not value.abstract:
            return value
        text = f"{value.bound:g}" if value.type == "f32" else value.text
        return replace(value, text=text + SUFFIX[value.type], abstract=False)

    # --- Putting together -------------------------------------------------------------------------------------------

    def binary(self, operator: str, left: Expression, right: Expression, type: str = "", size: int = 0) -> Expression:
        level, left_level, right_level = LEVELS[operator]
        if left.constant and right.constant:
            left = self.runtime(left.type, left.size)
        if operator in ("<<", ">>"):
            left = self.concrete(left)
        chain = operator if operator in CHAINS else ""
        before, after = left.inside(left_level, chain), right.inside(right_level)
        blank = "" if after.startswith("-") is False and self.random.random() < 0.15 else " "
        text = f"{before}{blank}{operator}{blank}{after}"
        if misread(text):
            text = f"{before} {operator} ({right.text})"
        return Expression(text, type or left.type, size or max(left.size, right.size), level, chain)

    def unary(self, operator: str, operand: Expression) -> Expression:
        text = self.concrete(operand).inside(UNARY)
        text = f"({text})" if text.startswith("-") else text
        return replace(operand, text=operator + text, level=UNARY, chain="", abstract=False)

    def call(self, name: str, *arguments: Expression, type: str = "", size: int = 0, **more) -> Expression:
        first = arguments[0]
        if all(each.constant for each in arguments):
            first = replace(self.runtime(first.type, first.size), bound=first.bound)
        texts = [first.text, *(each.text for each in arguments[1:])]
        if misread(f"{name}({', '.join(texts)})"):
            texts = [f"({each})" if re.search("[<>]", each) else each for each in texts]
        return Expression(f"{name}({', '.join(texts)})", type or first.type, size or first.size, **more)

    def swizzle(self, vector: Expression, size: int) -> Expression:
        letters = self.random.choice(("xyzw", "rgba"))[: vector.size]
        text = vector.inside(PRIMARY) + "." + "".join(self.random.choices(letters, k=size))
        return replace(vector, text=text, size=size, level=PRIMARY, chain="", constant=False)

    @staticmethod
    def number(value: int, type: str) -> Expression:
        return Expression(f"{value}{SUFFIX[type]}", type, constant=True, bound=value)
