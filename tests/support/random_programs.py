"""Random WGSL functions that end, made of all kinds of statements, with their parameters as the only input.

Integer variables may hold anything; float variables stay whole and small, so that each result is exact. A loop has a
counter that nothing else changes, so that it ends; an index is taken modulo the length of its array.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from support.random_expressions import INTEGERS, RANGE, SCALARS, Expression, Writer

HEAD = """\
struct Record { count: u32, pair: vec2<i32>, list: array<u32, 3>, weight: f32 }
const STEP = 3;
const WIDTH: u32 = 4 * 2 + 1;
var<private> state: u32 = WIDTH;
"""
GLOBALS = {("i32", 1): ["STEP"], ("u32", 1): ["WIDTH", "state"]}
FIELDS = {("u32", 1): ".count", ("i32", 2): ".pair", ("f32", 1): ".weight"}
COMPOUND = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
INPUTS = {"i32": ("i0", "i1"), "u32": ("u0", "u1"), "f32": ("f0",), "bool": ("b0",)}
PARAMETERS = ", ".join(f"{name}: {type}" for type, names in INPUTS.items() for name in names)


class Programmer:
    """Writes functions of the input parameters that return a u32."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: dict[tuple[str, int], list[str]] = {}
        self.variables: dict[tuple[str, int], list[str]] = {}  # what may be assigned to; readable too
        self.arrays: list[tuple[str, str, int]] = []  # name, element type, length
        self.records: list[str] = []
        self.helpers: list[tuple[str, tuple[str, ...]]] = []  # name, the types of its parameters
        self.lines: list[str] = []
        self.depth = self.loops = self.fresh = 0
        self.in_switch = self.in_continuing = False
        self.result = "u32"

    # --- Names ------------------------------------------------------------------------------------------------------

    def new(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}_{self.fresh}"

    def add(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
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
        self.add(tail)

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

    def call(self) -> str | None:
        """A call of a helper function, if there is one; a pointer goes to an i32 variable."""
        if not self.helpers:
            return None
        name, types = self.random.choice(self.helpers)
        arguments = []
        for type in types:
            if type == "pointer":
                own = [each for each in self.variables.get(("i32", 1), []) if each.startswith("x_")]
                if not own:
                    return None
                arguments.append("&" + self.random.choice(own))
            else:
                arguments.append(self.value(type, depth=1))
        return f"{name}({', '.join(arguments)})"

    # --- Statements -------------------------------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        for _ in range(count):
            simple = (self.let, self.var, self.assign, self.assign, self.compound, self.compound, self.element)
            nested = (self.if_, self.if_, self.for_, self.while_, self.loop, self.switch, self.plain_block)
            other = (self.array, self.record, self.record_field, self.pointer, self.call_statement, self.leave)
            kind = self.random.random()
            group = simple if kind < 0.55 else other if kind < 0.75 or self.depth >= 3 else nested
            self.random.choice(group)()

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
        self.add(
            self.random.choice((f"var {name} = {value};", f"var {name}: {named} = {value};", f"var {name}: {named};"))
        )
        self.declared(name, type, size)

    def target(self) -> tuple[str, str, int] | None:
        """Something to assign to: a variable or a component of one."""
        keys = [key for key, names in self.variables.items() if names]
        if not keys:
            return None
        type, size = self.random.choice(keys)
        name = self.random.choice(self.variables[type, size])
        if size > 1 and self.random.random() < 0.5:
            part = self.random.choice(("." + "xyzw"[self.random.randrange(size)], f"[{self.index(size)}]"))
            return name + part, type, 1
        return name, type, size

    def assign(self) -> None:
        if target := self.target():
            name, type, size = target
            self.add(f"{name} = {self.value(type, size)};")

    def compound(self) -> None:
        target = self.target()
        if not target or target[1] == "bool":
            return
        name, type, size = target
        if type == "f32":
            limit = "64.0" if size == 1 else f"vec{size}(64f)"
            self.add(f"{name} {self.random.choice('+-*')}= {self.value(type, size)};")
            self.add(f"{name} = clamp({name}, -{limit}, {limit});")
        elif size == 1 and self.random.random() < 0.2:
            self.add(f"{name}{self.random.choice(('++', '--'))};")
        else:
            operator = self.random.choice(COMPOUND)
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
        self.add(
            self.random.choice(
                (f"var {name}: array<{type}, {count}>;", f"var {name} = array<{type}, {count}>({values});")
            )
        )
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
        places = [(name, "i32") for name in self.variables.get(("i32", 1), []) if name.startswith("x_")]
        places += [(f"{name}[{self.index(count)}]", type) for name, type, count in self.arrays]
        places += [(f"{name}.list[{self.index(3)}]", "u32") for name in self.records]
        if not places:
            return self.var()
        (place, type), name = self.random.choice(places), self.new("p")
        self.add(f"let {name} = &{place};")
        self.add(f"*{name} {self.random.choice(('=', '+=', '*=', '|='))} {self.value(type)};")
        self.declared(f"(*{name})", type, 1)
        return None

    def call_statement(self) -> None:
        if call := self.call():
            name = self.new("x")
            self.add(self.random.choice((f"var {name} = {call};", f"var {name} = {call} ^ {self.names['u32', 1][0]};")))
            self.declared(name, "u32", 1)

    def leave(self) -> None:
        """`break`, `continue` or `return`, under a condition."""
        ways = (
            []
            if self.in_continuing
            else ["return result;" if self.result == "Record" else f"return {self.value('u32', depth=1)};"]
        )
        if self.loops and not self.in_continuing:
            ways += ["continue;", "break;"]
        if self.in_switch:
            ways += ["break;"]
        if ways:
            with self.block(f"if ({self.condition()}) {{"):
                self.statements(self.random.randrange(2) if self.depth < 3 else 0)
                self.add(self.random.choice(ways))

    # --- Statements with blocks -------------------------------------------------------------------------------------

    def body(self) -> None:
        self.statements(self.random.randint(1, 3))

    def plain_block(self) -> None:
        with self.block("{"):
            self.body()

    def if_(self) -> None:
        kind = self.random.random()
        with self.block(f"if {self.condition()} {{" if kind < 0.3 else f"if ({self.condition()}) {{", tail="}"):
            self.body()
        if kind < 0.6:
            with self.block(f"else if {self.condition()} {{"):
                self.body()
        if kind < 0.8:
            with self.block("else {"):
                self.body()

    @contextmanager
    def repeated(self, head: str) -> Iterator[None]:
        kept, self.loops, self.in_switch = (self.loops, self.in_switch), self.loops + 1, False
        with self.block(head):
            yield
        self.loops, self.in_switch = kept

    def for_(self) -> None:
        name, steps = self.new("n"), self.random.choice(("3", "u0 % 5", "(u1 & 3)"))
        change = self.random.choice((f"{name}++", f"{name} += 1", f"{name} = {name} + 2"))
        with self.repeated(f"for (var {name} = 0u; {name} < {steps}; {change}) {{"):
            self.declared(name, "u32", 1, assignable=False)
            self.body()

    def while_(self) -> None:
        name = self.new("n")
        self.add(f"var {name} = i0 & 3;")
        with self.repeated(f"while {name} < 4 {{"):
            self.add(f"{name}++;")
            self.declared(name, "i32", 1, assignable=False)
            self.body()

    def loop(self) -> None:
        name = self.new("n")
        self.add(f"var {name} = 0u;")
        with self.repeated("loop {"):
            if way := self.random.random() < 0.5:
                self.add(f"if {name} >= u1 % 4 {{ break; }}")
            self.declared(name, "u32", 1, assignable=False)
            self.body()
            kept, self.in_continuing, self.in_switch = (self.in_continuing, self.in_switch), True, False
            with self.block("continuing {"):
                self.assign_old()
                self.add(f"{name}++;")
                if not way or self.random.random() < 0.3:
                    self.add(f"break if {name} >= 3;")
            self.in_continuing, self.in_switch = kept

    def assign_old(self) -> None:
        """A change of a parameter's copy: what the body declares may not be there yet when `continue` jumps here."""
        self.add(f"seen += {self.random.choice(INPUTS['u32'])};")

    def switch(self) -> None:
        type = self.random.choice(INTEGERS)
        suffix = type[0] if self.random.random() < 0.5 else ""
        numbers = self.random.sample(range(8), 4)
        clauses = [f"case {numbers[0]}{suffix}", f"case {numbers[1]}{suffix}, {numbers[2]}{suffix}", "default"]
        if self.random.random() < 0.3:
            clauses[2] = f"case {numbers[3]}{suffix}, default"
        self.random.shuffle(clauses)
        kept, self.in_switch = self.in_switch, True
        with self.block(f"switch (({self.value(type)}) & 7) {{"):
            for clause in clauses:
                with self.block(clause + self.random.choice((" {", ": {"))):
                    self.body()
        self.in_switch = kept

    # --- Functions --------------------------------------------------------------------------------------------------

    def function(self, name: str, count: int) -> str:
        """A function of the input parameters."""
        self.lines = [f"fn {name}({PARAMETERS}) -> u32 {{", "  var seen = u0;"]
        self.start()
        self.statements(count)
        self.add(f"return {self.digest()};")
        return "\n".join([*self.lines, "}"])

    def helper(self, name: str) -> str:
        """A function that others call: it has a parameter of each scalar type, and a pointer that it writes through."""
        self.lines = [f"fn {name}({PARAMETERS}, place: ptr<function, i32>) -> u32 {{", "  var seen = u1;"]
        self.start()
        self.declared("(*place)", "i32", 1)
        self.statements(3)
        self.add(f"return {self.digest()};")
        types = tuple(type for type, names in INPUTS.items() for _ in names)
        self.helpers.append((name, (*types, "pointer")))
        return "\n".join([*self.lines, "}"])

    def reviser(self) -> str:
        """A function from a struct and a vector to a struct."""
        self.lines = [f"fn revised({PARAMETERS}, record: Record, by: vec2<i32>) -> Record {{"]
        self.lines += ["  var seen = record.count;", "  var result = record;"]
        self.result = "Record"
        self.start()
        self.names["i32", 2].append("by")
        self.records.append("result")
        self.statements(4)
        self.result = "u32"
        return "\n".join([*self.lines, "  return result;", "}"])

    def start(self) -> None:
        self.names = {(type, 1): [*names, *GLOBALS.get((type, 1), [])] for type, names in INPUTS.items()}
        self.variables, self.arrays, self.records, self.depth = {}, [], [], 0
        self.variables["u32", 1] = ["state"]
        self.declared("seen", "u32", 1)
        for type in SCALARS:
            name = self.new("x")
            self.add(f"var {name} = {INPUTS[type][0]};")
            self.declared(name, type, 1)
        for size in (2, 3, 4):
            for type in SCALARS:
                name = self.new("x")
                self.add(f"var {name} = vec{size}({', '.join([INPUTS[type][0]] * size)});")
                self.declared(name, type, size)

    def digest(self) -> str:
        """A u32 that depends on every variable."""
        words = []
        for (type, size), names in self.variables.items():
            for name in names:
                parts = [name] if size == 1 else [f"{name}.{'xyzw'[k]}" for k in range(size)]
                words += [f"u32(i32({part}))" if type == "f32" else f"u32({part})" for part in parts]
        words += [f"u32({name}[{k}])" for name, _, count in self.arrays for k in range(count)]
        words += [f"{name}.list[{k}]" for name in self.records for k in range(3)]
        words += [
            part
            for name in self.records
            for part in (f"{name}.count", f"u32({name}.pair.y)", f"u32(i32({name}.weight))")
        ]
        total = "0u"
        for word in words:
            total = f"({total} * 31 + {word})"
        return total


__all__ = ["PARAMETERS", "RANGE", "HEAD", "Expression", "Programmer"]
