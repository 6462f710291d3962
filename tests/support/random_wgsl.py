"""Random WGSL: functions that end and return what depends on all they do, by the grammar in `random_wgsl.toml`."""

import re
from itertools import product
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
        if self.size == "1":
            return names
        return [f"{name}.{part}" for name, part in product(names, "xyzw"[: int(self.size)])]


def variables(text: str) -> list[Variable]:
    """The variables of a text such as "i0 i32, pair i32 2": the name, the type and the size of each."""
    return [Variable(*words.split()) for words in text.split(", ")]


INPUTS = [
    variable._replace(assignable=False) for variable in variables("i0 i32, i1 i32, u0 u32, u1 u32, f0 f32, b0 bool")
]
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

    def fits(self, writer: "Writer", values: dict[str, str]) -> bool:
        """Return True where it may be chosen, for these values of what the rule is given."""
        for name, allowed in self.where.items():
            if values[name] not in allowed:
                return False
        return getattr(writer, self.needs) if self.needs else True


class Rule(NamedTuple):
    """The names of a rule's parameters, and its alternatives, one so many times as it counts."""

    parameters: list[str]
    alternatives: list[Alternative]


def grammar(file: Path) -> dict[str, Rule]:
    """Return the rules of a file by their names.

    Raises ValueError, which names the file, the rule, the key and what it must be, where an alternative is malformed.
    """
    rules = {}
    for name, table in tables.read(file, {"alternatives": list}, {"given": list}).items():
        rule = Rule(table.get("given", []), [])
        for number, row in enumerate(table["alternatives"], 1):
            alternative, times = read(row, rule.parameters, f"{file.name}, [{name}], alternative {number}")
            rule.alternatives.extend([alternative] * times)
        rules[name] = rule
    return rules


def read(row: object, parameters: list[str], place: str) -> tuple[Alternative, int]:
    """Return the alternative of a row, and how many times it counts."""
    if isinstance(row, str):
        return Alternative(row, {}), 1
    tables.check(place, row, {"text": str}, {"times": int, "needs": str} | dict.fromkeys(parameters, (str, list)))
    needs = row.get("needs", "")
    if needs and not isinstance(getattr(Writer, needs, None), property):
        raise ValueError(f"{place}: needs = {needs!r:.60}: it must be a property of Writer")
    where = {}
    for name in parameters:
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
        if kind == "helper":
            self.helpers.append(name)
        self.written.append(name)
        return text

    def write(self, rule: str, *arguments: str) -> str:
        """A text of a rule. The names that it declares are in scope behind it."""
        values = dict(zip(RULES[rule].parameters, arguments, strict=True))
        before = self.coming, self.level
        self.coming = []
        self.level = LEVELS if rule == "statement" else self.level - 1
        fitting = [alternative.text for alternative in RULES[rule].alternatives if alternative.fits(self, values)]
        chosen = self.random.choice(fitting if self.level > 0 else fitting[:1])
        names = []  # those that `@` may stand for

        def part(place: re.Match) -> str:
            word, *more = place[1].split()
            text = values.get(word) or self.ask(word, *(values.get(value, value) for value in more))
            if word in ("new", "counter", "to"):
                names.append(text)
            return text

        text = re.sub(r"\$\(([^()]*)\)", part, chosen)
        self.scope += self.coming
        self.coming, self.level = before
        return text.replace("@", names[-1]) if names else text

    def ask(self, word: str, *arguments: str) -> str:
        """The text of a method of this class, or else of a rule."""
        method = getattr(self, word, None)
        return method(*arguments) if method else self.write(word, *arguments)

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

    def scoped(self, rule: str, *arguments: str) -> str:
        """A rule after which all names that it declares are gone."""
        outside = [*self.scope]
        self.deep += 1
        text = self.write(rule, *arguments)
        self.deep -= 1
        self.scope = outside
        return text

    def var(self, type: str, size: str, fits=lambda _: True) -> str:
        """A variable of the scope."""
        fitting = [variable for variable in self.scope if variable[1:3] == (type, size) and fits(variable)]
        name = self.one(*(variable.name for variable in fitting))
        return name.replace("#", self.write("index", "4")) if "#" in name else name

    def to(self, type: str, size: str) -> str:
        """One that may change."""
        return self.var(type, size, lambda variable: variable.assignable)

    def own(self, type: str) -> str:
        """One that the function has declared, and no element; a pointer may stand for it."""

        def fits(variable: Variable) -> bool:
            return variable.assignable and variable.name[0] == "x" and "#" not in variable.name

        return self.var(type, "1", fits)

    def new(self, type: str, size: str, how: str = "plain") -> str:
        """A new name; in the scope comes what can be read by it."""
        self.fresh += 1
        name = f"x{self.fresh}"
        self.coming.append(Variable(USED[how].format(name), type, size, how != "fixed"))
        if type == "Record":
            self.coming += [member._replace(name=name + member.name) for member in OF_A_RECORD]
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
        for variable in self.scope:
            if variable.assignable and variable.type in TYPES:
                for part in variable.parts:
                    number = f"i32({part})" if variable.type == "f32" else part
                    total = f"({total} * 31 + u32({number}))"
        return total


RULES = grammar(Path(__file__).with_suffix(".toml"))
