"""Random WGSL: functions that end and return what depends on all they do, by the grammar in `random_wgsl.toml`."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

from helpers.data import tables

TYPES, SIZES, LEVELS = ["i32", "u32", "f32", "bool"], "1234", 11


class Variable(NamedTuple):
    """A name in scope; `#` in it is an index in the range of an array."""

    name: str
    type: str
    size: str = "1"
    assignable: bool = True

    @property
    def parts(self) -> list[str]:
        """Each of its scalars, of an array each element's."""
        names = [self.name.replace("#", str(i)) for i in range(4 if "#" in self.name else 1)]
        return [
            name + part
            for name in names
            for part in ("" if self.size == "1" else f".{x}" for x in "xyzw"[: int(self.size)])
        ]


def variables(text: str) -> list[Variable]:
    return [Variable(*each.split()) for each in text.split(", ")]


INPUTS = [each._replace(assignable=False) for each in variables("i0 i32, i1 i32, u0 u32, u1 u32, f0 f32, b0 bool")]
OF_A_RECORD = variables(".count u32, .pair i32 2, .list[#] u32, .weight f32")  # members of a record
USED = {"plain": "{}", "fixed": "{}", "array": "{}[#]", "pointer": "(*{})"}  # how a value is read by a new name
GIVEN = {
    "function": [],
    "helper": variables("(*place) i32"),
    "reviser": [Variable("by", "i32", "2", False), Variable("record", "Record", "1", False)],
}


class Alternative(NamedTuple):
    """A text that a rule may give; where it may, by what the rule is given, and by a property of the writer."""

    text: str
    where: dict[str, list[str]]
    needs: str = ""

    def fits(self, writer: "Writer", given: dict[str, str]) -> bool:
        """Return True where it may be chosen."""
        for name, allowed in self.where.items():
            if given[name] not in allowed:
                return False
        return getattr(writer, self.needs) if self.needs else True


class Rule(NamedTuple):
    """The names of what a rule is given, and its alternatives, one so many times as it counts."""

    given: list[str]
    alternatives: list[Alternative]


def grammar(file: Path) -> dict[str, Rule]:
    """Return the rules of a file by their names.

    Raises ValueError, which names the file, the rule, the key and what it must be, where an alternative is malformed.
    """
    rules = {}
    for name, table in tables.read(file, {"alternatives": list}, {"given": list}).items():
        rule = Rule(table.get("given", []), [])
        for number, row in enumerate(table["alternatives"], 1):
            alternative, times = read(row, rule.given, f"{file.name}, [{name}], alternative {number}")
            rule.alternatives.extend([alternative] * times)
        rules[name] = rule
    return rules


def read(row: object, given: list[str], place: str) -> tuple[Alternative, int]:
    """Return the alternative of a row, and how many times it counts."""
    if isinstance(row, str):
        return Alternative(row, {}), 1
    tables.check(place, row, {"text": str}, {"times": int, "needs": str} | dict.fromkeys(given, (str, list)))
    needs = row.get("needs", "")
    if needs and not isinstance(getattr(Writer, needs, None), property):
        raise ValueError(f"{place}: needs = {needs!r:.60}: it must be a property of Writer")
    where = {}
    for name in given:
        if name in row:
            where[name] = row[name] if isinstance(row[name], list) else [row[name]]
    return Alternative(row["text"], where, needs), row.get("times", 1)


class Writer:
    """Writes functions of the input parameters."""

    def __init__(self, random: Random) -> None:
        self.random, self.scope, self.coming = random, [], []  # variables; those that the line declares
        self.helpers, self.written, self.returns = [], [], ""  # functions with a pointer, all, and the kind of this one
        self.fresh, self.deep, self.level = 0, 0, 0

    def function(self, name: str, kind: str = "function") -> str:
        """A function of a kind; what is written later may call a helper or a reviser."""
        self.scope, self.returns = [*INPUTS, Variable("state", "u32"), *GIVEN[kind]], kind
        text = self.write(kind, name)
        self.helpers += [name] * (kind == "helper")
        self.written.append(name)
        return text

    def write(self, rule: str, *given: str) -> str:
        """A text of a rule. What it declares is in scope behind it."""
        known = dict(zip(RULES[rule].given, given, strict=True))
        before, made = (self.coming, self.level), []
        self.coming, self.level = [], LEVELS if rule == "statement" else self.level - 1
        fitting = [each.text for each in RULES[rule].alternatives if each.fits(self, known)]

        def part(found: re.Match) -> str:
            word, *more = found[1].split()
            more, method = [known.get(each, each) for each in more], getattr(self, word, None)
            text = known.get(word) or (method(*more) if method else self.write(word, *more))
            made.extend([text] * (word in ("new", "counter", "to")))
            return text

        text = re.sub(r"\$\(([^()]*)\)", part, self.random.choice(fitting if self.level > 0 else fitting[:1]))
        self.scope += self.coming
        self.coming, self.level = before
        return text.replace("@", made[-1]) if made else text

    # --- What an alternative may need -------------------------------------------------------------------------------

    @property
    def may_nest(self) -> bool:
        """True where a block may stand in the one that is being written."""
        return self.deep < 3

    @property
    def has_helper(self) -> bool:
        """True where a helper may be called."""
        return bool(self.helpers)

    @property
    def has_reviser(self) -> bool:
        """True where `revised` may be called."""
        return "revised" in self.written

    @property
    def returns_number(self) -> bool:
        """True in a function or a helper."""
        return self.returns in ("function", "helper")

    @property
    def returns_record(self) -> bool:
        """True in a reviser."""
        return self.returns == "reviser"

    # --- What a rule asks for ---------------------------------------------------------------------------------------

    def one(self, *words: str) -> str:
        return self.random.choice(words)

    def sign(self, sign: str) -> str:
        """Mostly with blanks."""
        return sign if self.random.random() < 0.2 else f" {sign} "

    def of(self, rule: str) -> str:
        """A rule for any type and size."""
        return self.write(rule, self.one(*TYPES), self.one(*SIZES))

    def scoped(self, rule: str, *given: str) -> str:
        """A rule after which all names that it declares are gone."""
        outside, self.deep = [*self.scope], self.deep + 1
        text = self.write(rule, *given)
        self.scope, self.deep = outside, self.deep - 1
        return text

    def var(self, type: str, size: str, fits=lambda _: True) -> str:
        """A variable of the scope."""
        found = self.one(*(each.name for each in self.scope if each[1:3] == (type, size) and fits(each)))
        return found.replace("#", self.write("index", "4")) if "#" in found else found

    def to(self, type: str, size: str) -> str:
        """One that may change."""
        return self.var(type, size, lambda each: each.assignable)

    def own(self, type: str) -> str:
        """One that the function has declared, and no element; a pointer may stand for it."""
        return self.var(type, "1", lambda each: each.assignable and each.name[0] == "x" and "#" not in each.name)

    def new(self, type: str, size: str, how: str = "plain") -> str:
        """A new name; in the scope comes what can be read by it."""
        self.fresh += 1
        name = f"x{self.fresh}"
        self.coming.append(Variable(USED[how].format(name), type, size, how != "fixed"))
        if type == "Record":
            self.coming += [each._replace(name=name + each.name) for each in OF_A_RECORD]
        return name

    def counter(self, type: str) -> str:
        """The name of a counter, which is in scope at once, and nothing else changes."""
        name = self.new(type, "1", "fixed")
        self.scope.append(self.coming.pop())
        return name

    def helper_of(self) -> str:
        return self.one(*self.helpers)

    def digest(self) -> str:
        """A u32 that depends on every variable."""
        total = "0u"
        for each in self.scope:
            for part in each.parts if each.assignable and each.type in TYPES else ():
                total = f"({total} * 31 + u32({f'i32({part})' if each.type == 'f32' else part}))"
        return total


RULES = grammar(Path(__file__).with_suffix(".toml"))
