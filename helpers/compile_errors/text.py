"""What a WGSL text declares, and of which type a simple expression is: enough to say where a type came from.

No compiler: a text that does not compile is read as far as it can be, and what is uncertain is None.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from helpers.compile_errors.expressions import (
    COMPARISONS,
    FRACTION,
    SUFFIX,
    TOKEN,
    WHOLE,
    balanced,
    commas,
    literal_type,
    split,
    unwrapped,
)
from helpers.wgsl import closing, without_comments

DECLARATION = re.compile(
    r"\b(?P<kind>let|var|const|override)\b\s*(?:<(?P<space>[^<>]*)>)?\s*(?P<name>[^\W\d]\w*)"
    r"\s*(?::\s*(?P<type>[^=;{}]+?))?\s*(?:=(?!=)\s*(?P<value>[^;{}]*?))?\s*;"
)
FUNCTION = re.compile(r"\bfn\s+(?P<name>\w+)\s*\((?P<parameters>[^{};]*)\)\s*(?:->\s*(?P<type>[^{;]+?))?\s*\{")
PARAMETER = re.compile(
    r"(?:@builtin\s*\(\s*(?P<builtin>\w+)\s*\)\s*)?(?P<name>[^\W\d]\w*)\s*:\s*(?P<type>\w+(?:<\w+>)?)"
)
STRUCT = re.compile(r"\bstruct\s+(?P<name>\w+)\s*\{(?P<fields>[^{}]*)\}")
ARRAY = re.compile(r"array\s*<\s*(.+?)\s*(?:,[^<>]*)?>", re.DOTALL)
VECTOR = re.compile(r"vec[234](?:([fuih])|<(\w+)>)")
FLOAT_FUNCTIONS = """
exp exp2 log log2 sqrt inverseSqrt pow tanh sin cos tan floor ceil round trunc fract fma mix
""".split()  # noqa: SIM905 (the rule's list has one name a line)


class Token(NamedTuple):
    """A word, number or sign, with its offset in the text."""

    text: str
    at: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.at + len(self.text)


@dataclass(frozen=True)
class Declaration:
    """A name: what declares it, its type and value as they are written, and from where to where it is known."""

    name: str
    kind: str  # let, var, const, override, parameter or fn
    written: str
    at: int
    scope: range
    type: str | None = None
    value: str | None = None
    space: str = ""  # of a var: what stands in < >
    builtin: str = ""  # of a parameter


class Text:
    """A source, its tokens, and its declarations."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.code = without_comments(source)
        self.lines = source.split("\n")
        self._asked: list[Declaration] = []
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines[:-1])]

    def offset(self, line: int, column: int) -> int:
        """Where a line and column, both from 1, stand in the text."""
        line = min(max(line, 1), len(self.lines))
        return min(self._starts[line - 1] + max(column, 1) - 1, self._starts[line - 1] + len(self.lines[line - 1]))

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens; comments are none."""
        return [Token(found[0], found.start()) for found in TOKEN.finditer(self.code)]

    def before(self, at: int) -> Token | None:
        """The last token that begins before an offset."""
        position = bisect_right(self.tokens, at - 1, key=lambda token: token.at)
        return self.tokens[position - 1] if position else None

    @cached_property
    def structs(self) -> dict[str, dict[str, str]]:
        """The type of each field of each struct."""
        return {
            found["name"]: {f["name"]: f["type"] for f in PARAMETER.finditer(found["fields"])}
            for found in STRUCT.finditer(self.code)
        }

    @cached_property
    def declarations(self) -> list[Declaration]:
        """All names of variables, constants, parameters and functions, in order."""
        return sorted([*self._variables(), *self._functions()], key=lambda each: each.at)

    def _variables(self) -> Iterator[Declaration]:
        for found in DECLARATION.finditer(self.code):
            scope = self._scope(found.start(), found.end())
            given, value, space = found["type"], found["value"], found["space"] or ""
            written = " ".join(found[0].rstrip("; \n").split())
            yield Declaration(found["name"], found["kind"], written, found.start(), scope, given, value, space)

    def _functions(self) -> Iterator[Declaration]:
        for found in FUNCTION.finditer(self.code):
            everywhere = range(len(self.code) + 1)
            header = " ".join(found[0].rstrip("{ \n").split())
            yield Declaration(found["name"], "fn", header, found.start(), everywhere, found["type"])
            body = range(found.end(), self.closing(found.end()))
            for each in PARAMETER.finditer(found["parameters"]):
                at = found.start("parameters") + each.start("name")
                name, given, builtin = each["name"], each["type"], each["builtin"] or ""
                yield Declaration(name, "parameter", f"{name}: {given}", at, body, given, builtin=builtin)

    @cached_property
    def bodies(self) -> list[range]:
        """Where the functions' bodies stand."""
        return [range(found.end(), self.closing(found.end())) for found in FUNCTION.finditer(self.code)]

    def _scope(self, start: int, end: int) -> range:
        """Where a variable is known: everywhere, or from its declaration to the end of its block."""
        if self.depth(start) == 0:
            return range(len(self.code) + 1)
        if re.search(r"\bfor\s*\(\s*$", self.code[:start]):
            body = self.code.find("{", end)
            return range(end, self.closing(body + 1) if body >= 0 else len(self.code))
        return range(end, self.closing(end))

    def depth(self, at: int) -> int:
        """How many blocks are open at an offset."""
        return self.code.count("{", 0, at) - self.code.count("}", 0, at)

    def closing(self, at: int) -> int:
        """The end of the block that is open at an offset."""
        depth = 1
        for found in re.compile(r"[{}]").finditer(self.code, at):
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return found.start()
        return len(self.code) + 1

    def names(self, at: int) -> dict[str, Declaration]:
        """The names that are known at an offset; of two alike, the inner one."""
        return {each.name: each for each in self.declarations if at in each.scope}

    def declared(self, name: str, at: int) -> Declaration | None:
        """What a name stands for at an offset."""
        return self.names(at).get(name)

    @cached_property
    def entry_points(self) -> set[str]:
        """The names of the functions that are kernels."""
        return set(re.findall(r"@compute\b[^{};]*?\bfn\s+(\w+)", self.code))

    # --- Types -------------------------------------------------------------------------------------------

    def type_of(self, expression: str, at: int) -> str | None:
        """The type of an expression at an offset; WHOLE or FRACTION for literals, None where it is uncertain."""
        expression = unwrapped(expression)
        if parts := split(expression):
            left, operator, right = parts
            return self._type_of_pair(operator, self.type_of(left, at), self.type_of(right, at))
        if literal := literal_type(expression):
            return literal
        if expression[:1] in ("-", "!") and len(expression) > 1:
            return self.type_of(expression[1:], at)
        if called := re.fullmatch(r"(\w+)\s*(\(.*\))", expression, re.DOTALL):
            return self._type_of_call(called[1], called[2][1:-1], at) if balanced(called[2][1:-1]) else None
        return self._type_of_access(expression, at)

    def _type_of_pair(self, operator: str, left: str | None, right: str | None) -> str | None:
        if operator in COMPARISONS or operator in ("&&", "||"):
            return "bool"
        if left == right or (left, right) == (WHOLE, FRACTION) or (left and right == WHOLE):
            return FRACTION if FRACTION in (left, right) else left
        if right and left == WHOLE:
            return right
        return {(FRACTION, "f32"): "f32", ("f32", FRACTION): "f32"}.get((left, right))

    def _type_of_call(self, name: str, arguments: str, at: int) -> str | None:
        if name in SUFFIX.values() or name == "bool" or VECTOR.fullmatch(name):
            return name
        if name in FLOAT_FUNCTIONS or name == "arrayLength":
            return "u32" if name == "arrayLength" else "f32"
        if name in ("select", "min", "max", "clamp", "abs"):
            types = [self.type_of(each, at) for each in commas(arguments)][: 2 if name == "select" else None]
            return next((each for each in types if each not in (WHOLE, FRACTION)), max(types, default=None, key=str))
        declared = self.declared(name, at)
        return declared.type if declared and declared.kind == "fn" else None

    def _type_of_access(self, expression: str, at: int) -> str | None:
        """The type of ``name``, ``name[index]`` and ``name.part``."""
        found = re.match(r"\w+", expression)
        declared = self.declared(found[0], at) if found else None
        if not declared:
            return None
        given, rest = self.declared_type(declared), expression[found.end() :].strip()
        while given and rest:
            if rest[0] == "[" and (end := closing(rest)):
                given, rest = self.element(given), rest[end + 1 :].strip()
            elif part := re.match(r"\.\s*(\w+)", rest):
                given, rest = self._part(given, part[1]), rest[part.end() :].strip()
            else:
                return None
        return given

    def declared_type(self, declared: Declaration) -> str | None:
        """The type of a name: as it is written, or that of its value."""
        if declared.type or declared.value is None or declared in self._asked:
            return declared.type and short(declared.type)
        self._asked.append(declared)  # a constant may be declared by itself
        found = self.type_of(declared.value, declared.at)
        self._asked.pop()
        return found if declared.kind == "const" else {WHOLE: "i32", FRACTION: "f32"}.get(found, found)

    @staticmethod
    def element(given: str) -> str | None:
        """The type of the elements of an array or vector."""
        array, vector = ARRAY.fullmatch(given), VECTOR.fullmatch(given)
        return array[1] if array else (SUFFIX.get(vector[1]) or vector[2]) if vector else None

    def _part(self, given: str, part: str) -> str | None:
        if given in self.structs:
            return self.structs[given].get(part)
        return self.element(given) if VECTOR.fullmatch(given) and len(part) == 1 else None


def short(given: str) -> str:
    """A type without blanks, and with ``vec3u`` for ``vec3<u32>``."""
    return re.sub(r"\bvec([234])<([fuih])\d+>", r"vec\1\2", "".join(given.split()).replace(",", ", "))
