"""Random WGSL functions that end, with their parameters as the only input: what they return depends on all they do.

A loop has a counter that nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from support.random_expressions import INTEGERS, SCALARS
from support.random_statements import INPUTS, Statements

HEAD = """\
struct Record { count: u32, pair: vec2<i32>, list: array<u32, 3>, weight: f32 }
const STEP = 3;
const WIDTH: u32 = 4 * 2 + 1;
var<private> state: u32 = WIDTH;
"""
GLOBALS = {("i32", 1): ["STEP"], ("u32", 1): ["WIDTH", "state"]}
PARAMETERS = ", ".join(f"{name}: {type}" for type, names in INPUTS.items() for name in names)
MOST = 3  # blocks inside each other


class Programmer(Statements):
    """Writes functions of the input parameters."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.ways: list[str] = []  # to leave a loop or switch from where we are

    def statements(self, count: int) -> None:
        """Some statements."""
        simple = (self.let, self.var, self.assign, self.assign, self.compound, self.compound, self.element)
        other = (self.array, self.record, self.record_field, self.pointer, self.call_statement, self.leave)
        nested = (self.if_, self.for_, self.while_, self.loop, self.switch, self.switch, self.plain_block)
        for _ in range(count):
            kind = self.random.random()
            group = simple if kind < 0.5 else other if kind < 0.7 or self.depth >= MOST else nested
            self.random.choice(group)()

    def leave(self) -> None:
        """`break`, `continue` or `return`, under a condition."""
        back = "return result;" if self.result == "Record" else f"return {self.value('u32', depth=1)};"
        with self.block(f"if ({self.condition()}) {{"):
            self.statements(self.random.randrange(2) if self.depth < MOST else 0)
            self.add(self.random.choice([*self.ways, *self.ways, back]))

    def body(self) -> None:
        """The statements of a block; in a loop, often with a way out of it."""
        self.statements(self.random.randint(1, 2))
        if self.ways and self.random.random() < 0.5:
            self.leave()
            self.statements(1)

    # --- Statements with blocks -------------------------------------------------------------------------------------

    def plain_block(self) -> None:
        with self.block("{"):
            self.body()

    def if_(self) -> None:
        kind = self.random.random()
        with self.block(f"if {self.condition()} {{" if kind < 0.3 else f"if ({self.condition()}) {{"):
            self.body()
        if kind < 0.6:
            with self.block(f"else if {self.condition()} {{"):
                self.body()
        if kind < 0.8:
            with self.block("else {"):
                self.body()

    @contextmanager
    def repeated(self, head: str) -> Iterator[None]:
        """The body of a loop."""
        kept, self.ways = self.ways, ["break;", "continue;"]
        with self.block(head):
            yield
        self.ways = kept

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
            with self.block("continuing {"):  # what the body declares may not be there when `continue` jumps here
                self.add(f"seen += {self.random.choice(INPUTS['u32'])};")
                self.add(f"{name}++;")
                if not way or self.random.random() < 0.3:
                    self.add(f"break if {name} >= 3;")

    def switch(self) -> None:
        type = self.random.choice(INTEGERS)
        suffix = type[0] if self.random.random() < 0.5 else ""
        numbers = self.random.sample(range(8), 4)
        clauses = [f"case {numbers[0]}{suffix}", f"case {numbers[1]}{suffix}, {numbers[2]}{suffix}", "default"]
        if self.random.random() < 0.3:
            clauses[2] = f"case {numbers[3]}{suffix}, default"
        self.random.shuffle(clauses)
        kept, self.ways = self.ways, ["break;", *(way for way in self.ways if way == "continue;")]
        with self.block(f"switch (({self.value(type)}) & 7) {{"):
            for clause in clauses:
                with self.block(clause + self.random.choice((" {", ": {"))):
                    self.body()
                    if self.random.random() < 0.4:
                        self.add(self.random.choice(self.ways))
        self.ways = kept

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
        self.helpers.append(name)
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
        """Declare variables of every type."""
        self.names = {(type, 1): [*names, *GLOBALS.get((type, 1), [])] for type, names in INPUTS.items()}
        self.variables, self.arrays, self.records, self.depth = {}, [], [], 0
        self.variables["u32", 1] = ["state"]
        self.declared("seen", "u32", 1)
        for type in SCALARS:
            for size in (1, 2, 3, 4):
                name, parts = self.new("x"), ", ".join([self.random.choice(INPUTS[type]) for _ in range(size)])
                self.add(f"var {name} = {parts};" if size == 1 else f"var {name} = vec{size}({parts});")
                self.declared(name, type, size)

    def digest(self) -> str:
        """A u32 that depends on every variable."""
        words = []
        for (type, size), names in self.variables.items():
            for name in names:
                parts = [name] if size == 1 else [f"{name}.{'xyzw'[k]}" for k in range(size)]
                words += [f"u32(i32({part}))" if type == "f32" else f"u32({part})" for part in parts]
        words += [f"u32({name}[{k}])" for name, _, count in self.arrays for k in range(count)]
        for name in self.records:
            words += [f"{name}.list[0]", f"{name}.list[1]", f"{name}.list[2]", f"{name}.count"]
            words += [f"u32({name}.pair.x)", f"u32({name}.pair.y)", f"u32(i32({name}.weight))"]
        total = "0u"
        for word in words:
            total = f"({total} * 31 + {word})"
        return total
