"""Random simple statements of WGSL: declarations, assignments, pointers and calls.

Integer variables may hold anything; float variables stay whole and small, so that each result is exact. An index is
taken modulo the length of its array.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from support.random_expressions import INTEGERS, OPERATORS, Writer

FIELDS = {("u32", 1): ".count", ("i32", 2): ".pair", ("f32", 1): ".weight"}
INPUTS = {"i32": ("i0", "i1"), "u32": ("u0", "u1"), "f32": ("f0",), "bool": ("b0",)}


class Statements:
    """Writes statements, and keeps account of the names that are in scope."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: dict[tuple[str, int], list[str]] = {}
        self.variables: dict[tuple[str, int], list[str]] = {}  # what may be assigned to; readable too
        self.arrays: list[tuple[str, str, int]] = []  # name, element type, length
        self.records: list[str] = []
        self.helpers: list[str] = []
        self.lines: list[str] = []
        self.depth = self.fresh = 0
        self.result = "u32"  # of the function that is being written

    # --- Names ------------------------------------------------------------------------------------------------------

    def new(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}_{self.fresh}"

    def add(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Statements in braces, after which the names that they declare are gone."""
        self.add(head)
        kept = (
            {key: list(names) for key, names in self.names.items()},
            {key: list(names) for key, names in self.variables.items()},
            list(self.arrays), list(self.records),
        )  # fmt: skip
        self.depth += 1
        yield
        self.depth -= 1
        self.names, self.variables, self.arrays, self.records = kept
        self.add("}")

    def declared(self, name: str, type: str, size: int, assignable: bool = True) -> None:
        for table in (self.names, self.variables) if assignable else (self.names,):
            table.setdefault((type, size), []).append(name)

    # --- Values -----------------------------------------------------------------------------------------------------

    def value(self, type: str, size: int = 1, depth: int = 2) -> str:
        """An expression; a float is whole and small."""
        names = {key: list(value) for key, value in self.names.items()}
        for name, element, count in self.arrays:
            names[element, 1] = [*names.get((element, 1), []), f"{name}[{self.index(count)}]"]
        for name in self.records:
            for key, field in FIELDS.items():
                names[key] = [*names.get(key, []), name + field]
        writer = Writer(self.random, names)
        result = writer.concrete(writer.expression(type, size, depth))
        return (writer.tame(result) if type == "f32" else result).text

    def index(self, count: int) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return str(self.random.randrange(count))
        name = self.random.choice(self.names["u32", 1])
        return f"{name} % {count}" if kind < 0.7 or count != 4 else f"{self.random.choice(self.names['i32', 1])} & 3"

    def condition(self) -> str:
        return self.value("bool")

    def own(self) -> list[str]:
        """The i32 variables of this function; there is always one."""
        return [name for name in self.variables["i32", 1] if name.startswith("x_")]

    def call(self) -> str | None:
        """A call of a helper function, if there is one; its pointer goes to an i32 variable."""
        if not self.helpers:
            return None
        arguments = [self.value(type, depth=1) for type, names in INPUTS.items() for _ in names]
        return f"{self.random.choice(self.helpers)}({', '.join(arguments)}, &{self.random.choice(self.own())})"

    # --- Statements -------------------------------------------------------------------------------------------------

    def kind(self) -> tuple[str, int]:
        return self.random.choice((("i32", 1), ("u32", 1), ("f32", 1), ("bool", 1), ("i32", 3), ("u32", 2), ("f32", 2)))

    def let(self) -> None:
        type, size = self.kind()
        value, name = self.value(type, size), self.new("k")
        self.add(f"let {name} = {value};")
        self.declared(name, type, size, assignable=False)

    def var(self) -> None:
        type, size = self.kind()
        value, name = self.value(type, size), self.new("x")
        named = type if size == 1 else f"vec{size}<{type}>"
        forms = (f"var {name} = {value};", f"var {name}: {named} = {value};", f"var {name}: {named};")
        self.add(self.random.choice(forms))
        self.declared(name, type, size)

    def target(self) -> tuple[str, str, int]:
        """Something to assign to, its type and its size: a variable or a component of one."""
        type, size = self.random.choice(list(self.variables))
        name = self.random.choice(self.variables[type, size])
        if size > 1 and self.random.random() < 0.5:
            part = self.random.choice(("." + "xyzw"[self.random.randrange(size)], f"[{self.index(size)}]"))
            return name + part, type, 1
        return name, type, size

    def assign(self) -> None:
        name, type, size = self.target()
        self.add(f"{name} = {self.value(type, size)};")

    def compound(self) -> None:
        name, type, size = self.target()
        if type == "bool":
            self.add(f"{name} = !{name};")
        elif type == "f32":
            limit = "64.0" if size == 1 else f"vec{size}(64f)"
            self.add(f"{name} {self.random.choice('+-*')}= {self.value(type, size)};")
            self.add(f"{name} = clamp({name}, -{limit}, {limit});")
        elif size == 1 and self.random.random() < 0.2:
            self.add(f"{name}{self.random.choice(('++', '--'))};")
        else:
            operator = self.random.choice(OPERATORS[type])
            shift = operator in ("<<", ">>")
            self.add(f"{name} {operator}= {self.runtime('u32' if shift else type, size)};")

    def runtime(self, type: str, size: int) -> str:
        """A value that is not known before the run: no constant 0 to divide by, and no constant shift past 31."""
        value = self.value(type, size)
        name = self.random.choice(INPUTS[type])
        return f"({value}) ^ {name}" if size == 1 else f"({value}) + {name}"

    def array(self) -> None:
        type, count, name = self.random.choice(INTEGERS), self.random.choice((3, 4, 5)), self.new("a")
        values = ", ".join(self.value(type, depth=1) for _ in range(count))
        forms = (f"var {name}: array<{type}, {count}>;", f"var {name} = array<{type}, {count}>({values});")
        self.add(self.random.choice(forms))
        self.arrays.append((name, type, count))

    def element(self) -> None:
        if not self.arrays:
            return self.array()
        name, type, count = self.random.choice(self.arrays)
        operator = self.random.choice(("=", "+=", "^="))
        self.add(f"{name}[{self.index(count)}] {operator} {self.value(type)};")
        return None

    def record(self) -> None:
        name = self.new("r")
        if self.records and self.random.random() < 0.5:
            old = self.random.choice(self.records)
            names = ", ".join(name for names in INPUTS.values() for name in names)
            revised = f"revised({names}, {old}, {self.value('i32', 2)})"
            self.add(f"var {name} = {revised if self.result == 'u32' and self.random.random() < 0.6 else old};")
        else:
            parts = (self.value("u32"), self.value("i32", 2), "array<u32, 3>()", self.value("f32"))
            self.add(f"var {name} = Record({', '.join(parts)});")
        self.records.append(name)

    def record_field(self) -> None:
        if not self.records:
            return self.record()
        name, kind = self.random.choice(self.records), self.random.random()
        if kind < 0.3:
            self.add(f"{name}.list[{self.index(3)}] += {self.value('u32')};")
        elif kind < 0.5:
            self.add(f"{name}.pair.{self.random.choice('xy')} = {self.value('i32')};")
        else:
            (type, size), field = self.random.choice(list(FIELDS.items()))
            self.add(f"{name}{field} = {self.value(type, size)};")
        return None

    def pointer(self) -> None:
        """A pointer to a variable, an element or a member, a store through it and a load."""
        places = [(name, "i32") for name in self.own()]
        places += [(f"{name}[{self.index(count)}]", type) for name, type, count in self.arrays]
        places += [(f"{name}.list[{self.index(3)}]", "u32") for name in self.records]
        (place, type), name = self.random.choice(places), self.new("p")
        self.add(f"let {name} = &{place};")
        self.add(f"*{name} {self.random.choice(('=', '+=', '*=', '|='))} {self.value(type)};")
        self.declared(f"(*{name})", type, 1)

    def call_statement(self) -> None:
        if call := self.call():
            name = self.new("x")
            self.add(self.random.choice((f"var {name} = {call};", f"var {name} = {call} ^ {self.names['u32', 1][0]};")))
            self.declared(name, "u32", 1)
