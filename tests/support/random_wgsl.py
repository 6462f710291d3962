"""Random WGSL: functions that end and return what depends on all they do, with expressions of every type.

No text is open to two readings, so that the adapter and the simulator must agree. Integers wrap around. Floats are
whole numbers, small enough that every order of evaluation gives the same: what is stored is at most 64, a product at
most 64 * 64. An index is taken modulo the length of its array; a loop has a counter that nothing else changes. Each
expression has a variable in it, so that nothing known before the run breaks a rule for constants, such as a division by
0. Expressions have few more parentheses than the grammar asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import NamedTuple, TypeVar

Thing = TypeVar("Thing")
# How tightly an expression binds; a chain of `&`, `|`, `^`, `&&` or `||` is LOOSE.
PRIMARY, UNARY, MULTIPLY, ADD, SHIFT, RELATION, LOOSE = 7, 6, 5, 4, 3, 2, 1
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
LEVELS = {  # the level of the result, of the left and of the right operand
    operator: levels
    for operators, *levels in (
        ("* / %", MULTIPLY, MULTIPLY, UNARY),
        ("+ -", ADD, ADD, MULTIPLY),
        ("<< >>", SHIFT, UNARY, UNARY),
        ("< <= > >= == !=", RELATION, SHIFT, SHIFT),
        ("& | ^", LOOSE, UNARY, UNARY),
        ("&& ||", LOOSE, RELATION, RELATION),
    )
    for operator in operators.split()
}
INTEGERS, SCALARS, SIZES = ("i32", "u32"), ("i32", "u32", "f32", "bool"), (1, 2, 3, 4)


def table(text: str) -> dict[str, list[str]]:
    """The words in each line, by the first one."""
    return {name: words for name, *words in map(str.split, text.strip().splitlines())}


# Of negative numbers, `%` is not the same on every GPU (see test_simulator_arithmetic).
OPERATORS = table("""
i32   + - * / & | ^ << >>
u32   + - * / & | ^ << >> %
f32   + - *
bool  & | == != && ||
""")
UNARIES = {"i32": "-~", "u32": "~", "f32": "-", "bool": "!"}
# `STEP` and `WIDTH` are constants of the text.
LITERALS = table("""
i32  1 2 0x1F 31i 100 0x7FFFFFFF STEP
u32  1 5u 0x10000 31 255u 0x7FFFFFFF STEP WIDTH
f32  1.0 2 3. 5f 8.0f STEP
""")
# Functions and their arguments: an expression, a factor, a u32 variable, a condition of this size or of size 1.
COMMON = "abs:e min:ee max:ee clamp:eee select:eec select:eec"
WHOLE = f"""{COMMON} countOneBits:e countLeadingZeros:e countTrailingZeros:e reverseBits:e firstLeadingBit:e
    firstTrailingBit:e extractBits:euu insertBits:eeuu"""
ROUNDED = f"{COMMON} floor:e ceil:e round:e trunc:e sign:e step:ee fma:ffe"
CALLS = {
    type: [call.split(":") for call in calls.split()]
    for type, calls in {"i32": WHOLE, "u32": WHOLE, "f32": ROUNDED, "bool": "select:eec"}.items()
}
HEAD = """\
struct Record { count: u32, pair: vec2<i32>, list: array<u32, 4>, weight: f32 }
const STEP = 3;
const WIDTH: u32 = 4 * 2 + 1;
var<private> state: u32 = WIDTH;
"""
FIELDS = {".count": ("u32", 1), ".pair": ("i32", 2), ".list[#]": ("u32", 1), ".weight": ("f32", 1)}
INPUTS = {"i0": "i32", "i1": "i32", "u0": "u32", "u1": "u32", "f0": "f32", "b0": "bool"}
PARAMETERS = ", ".join(f"{name}: {type}" for name, type in INPUTS.items())
KINDS = tuple((type, size) for type in SCALARS for size in SIZES)
LENGTH, MOST = 4, 3  # of arrays; blocks inside each other


class Expression(NamedTuple):
    """A text and its outermost operator; "" is a name or a call, "-" any sign."""

    text: str
    operator: str = ""
    level: int = PRIMARY

    def inside(self, level: int, operator: str = "") -> str:
        """The text as an operand: in parentheses where it binds less tightly and does not continue a chain."""
        return self.text if self.level >= level or (operator and self.operator == operator) else f"({self.text})"

    def alone(self) -> str:
        """The text where a `<` or `>` of it could be the end of a template list."""
        return f"({self.text})" if self.level < PRIMARY and set("<>") & set(self.text) else self.text


class Variable(NamedTuple):
    """A name in scope; `#` in it is an index in the range of an array."""

    name: str
    type: str
    size: int = 1
    assignable: bool = True

    @property
    def parts(self) -> list[str]:
        """Each of its scalars, of an array each element's."""
        names = [self.name.replace("#", str(k)) for k in range(LENGTH)] if "#" in self.name else [self.name]
        return [name + part for name in names for part in ([""] if self.size == 1 else letters(self.size))]


def letters(size: int) -> list[str]:
    """The components of a vector."""
    return ["." + letter for letter in "xyzw"[:size]]


def vector(size: int, number: str) -> str:
    """A number, or a vector of it."""
    return number if size == 1 else f"vec{size}({number})"


class Expressions:
    """Writes expressions of the names in scope."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.scope: list[Variable] = []

    def chance(self, share: float) -> bool:
        """True this often."""
        return self.random.random() < share

    def one_of(self, *things: Thing) -> Thing:
        return self.random.choice(things)

    def variable(self, type: str, size: int = 1) -> str:
        """The name of a variable, which may be an element of an array."""
        return self.indexed(self.one_of(*(each.name for each in self.scope if each[1:3] == (type, size))))

    def indexed(self, name: str) -> str:
        return name.replace("#", self.index(LENGTH)) if "#" in name else name

    def index(self, count: int) -> str:
        """An index in the range of an array."""
        forms = [str(self.random.randrange(count)), f"{self.variable('u32')} % {count}"]
        return self.one_of(*forms, *[f"{self.variable('i32')} & {count - 1}"] * (count != 3))

    def expression(self, type: str, size: int = 1, depth: int = 3) -> Expression:
        """An expression of a type; a float may be as large as some products."""
        if type == "Record":
            return Expression(self.record(depth))
        if depth <= 0 or self.chance(0.1):
            return Expression(self.variable(type, size))
        whole = self.reduced if size == 1 else self.constructed
        makers = (self.binary, self.unary, self.built_in, self.conversion, self.part, whole)
        (make,) = self.random.choices(makers, (10, 2, 4, 3, 2, 2))
        return make(type, size, depth - 1)

    def record(self, depth: int) -> str:
        """A struct: a variable, or made of a value for each member, or by a function of the text."""
        made = f"{self.value('u32')}, {self.value('i32', 2)}, array<u32, 4>(), {self.value('f32')}"
        forms = [f"Record({made})", *(self.variable("Record") for each in self.scope if each.type == "Record")]
        if "revised" in self.helpers and depth > 1:
            forms.append(f"revised({self.arguments()}, {self.expression('Record', 1, 1).text}, {self.value('i32', 2)})")
        return self.one_of(*forms)

    def value(self, type: str, size: int = 1, depth: int = 3) -> str:
        """An expression to be stored: a float is small."""
        expression = self.expression(type, size, depth)
        return self.small(expression, size).text if type == "f32" else expression.text

    def small(self, value: Expression, size: int) -> Expression:
        return Expression(f"clamp({value.alone()}, {vector(size, '-64f')}, {vector(size, '64f')})")

    def factor(self, size: int, depth: int) -> Expression:
        """A float that is small."""
        return self.small(self.expression("f32", size, depth), size) if depth > 0 else self.expression("f32", size, 0)

    # --- Operators ----------------------------------------------------------------------------------------------

    def binary(self, type: str, size: int, depth: int) -> Expression:
        """Two operands: of a bool often a comparison; one may be a literal, or a scalar beside a vector."""
        operands, operators = type, OPERATORS[type]
        if type == "bool" and self.chance(0.6):
            operands, operators = self.one_of(*SCALARS[:3]), COMPARISONS
        operator = self.one_of(*(operators[:4] if type == "bool" and size > 1 and operands == type else operators))
        write = self.factor if (operands, operator) == ("f32", "*") else lambda *of: self.expression(operands, *of)
        left, right = write(size, depth), write(size, depth)
        if operator in ("<<", ">>"):
            known = size == 1 and self.chance(0.4)
            amount = Expression(str(self.random.randrange(32))) if known else self.expression("u32", size, depth)
            return self.joined(operator, left, amount)
        if size == 1 and operands != "bool" and self.chance(0.3):
            right = Expression(self.one_of(*LITERALS[operands]))
        elif size > 1 and operator in "+-*/%" and self.chance(0.3):
            right = Expression(self.variable(operands))
        turned = operator not in "/%" and self.chance(0.3)
        return self.joined(operator, *((right, left) if turned else (left, right)))

    def joined(self, operator: str, left: Expression, right: Expression) -> Expression:
        level, left_level, right_level = LEVELS[operator]
        before, after = left.inside(left_level, operator if level == LOOSE else ""), right.inside(right_level)
        if level == RELATION:
            before, after = (part.alone() if part.level >= SHIFT else f"({part.text})" for part in (left, right))
        blank = "" if after[0] not in "-" and self.chance(0.15) else " "
        return Expression(f"{before}{blank}{operator}{blank}{after}", operator, level)

    def unary(self, type: str, size: int, depth: int) -> Expression:
        text = self.expression(type, size, depth).inside(UNARY)
        text = f"({text})" if text.startswith("-") else text
        return Expression(self.one_of(*UNARIES[type]) + text, "-", UNARY)

    # --- Functions, conversions and vectors ---------------------------------------------------------------------

    def call(self, name: str, *arguments: Expression) -> Expression:
        return Expression(f"{name}({', '.join(argument.alone() for argument in arguments)})")

    def built_in(self, type: str, size: int, depth: int) -> Expression:
        """A call of a built-in function."""
        kinds = {
            "e": lambda: self.expression(type, size, depth), "f": lambda: self.factor(size, depth),
            "u": lambda: Expression(self.variable("u32")),
            "c": lambda: self.expression("bool", self.one_of(1, size), depth),
        }  # fmt: skip
        name, arguments = self.one_of(*CALLS[type])
        return self.call(name, *(kinds[kind]() for kind in arguments))

    def reduced(self, type: str, size: int, depth: int) -> Expression:
        """A scalar that a function makes of vectors."""
        size = self.one_of(*SIZES[1:])
        if type == "bool":
            return self.call(self.one_of("all", "any"), self.expression(type, size, depth))
        write = self.factor if type == "f32" else lambda *of: self.expression(type, *of)
        return self.call("dot", write(size, depth), write(size, depth))

    def conversion(self, type: str, size: int, depth: int) -> Expression:
        """A value of another scalar type, by value or by bits."""
        source = self.one_of(*(scalar for scalar in SCALARS if scalar != type))
        value = self.expression(source, size, depth)
        if type == "f32" and source != "bool":
            value = self.joined("&", value, Expression(vector(size, "63" + source[0])))
        by_bits = {type, source} == {*INTEGERS} and self.chance(0.3)
        return self.call(f"bitcast<{self.named(type, size)}>" if by_bits else self.named(type, size), value)

    def named(self, type: str, size: int) -> str:
        """A type's name."""
        if size == 1:
            return type
        return self.one_of(f"vec{size}<{type}>", f"vec{size}{type[0]}" if type != "bool" else f"vec{size}<bool>")

    def constructed(self, type: str, size: int, depth: int) -> Expression:
        """A vector of scalars and shorter vectors, or of one scalar."""
        sizes = []
        while sum(sizes) < size:
            sizes.append(self.random.randint(1, min(size - sum(sizes), size - 1)))
        parts = [self.expression(type, part, depth) for part in ([1] if self.chance(0.2) else sizes)]
        return self.call(self.one_of(f"vec{size}", self.named(type, size)), *parts)

    def part(self, type: str, size: int, depth: int) -> Expression:
        """Some components of a vector, by name; one of them perhaps by index."""
        count = self.one_of(*SIZES[1:])
        whole = self.expression(type, count, depth).inside(PRIMARY)
        names = self.one_of("xyzw", "rgba")[:count]
        by_name = f"{whole}.{''.join(self.random.choices(names, k=size))}"
        return Expression(by_name if size > 1 or self.chance(0.6) else f"{whole}[{self.index(count)}]")


class Programmer(Expressions):
    """Writes functions of the input parameters."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.helpers: list[str] = []  # functions that others call
        self.fresh = 0
        self.result = "u32"  # of the function that is being written
        self.exits: list[str] = []  # statements that leave a loop or switch from here
        self.depth = 0

    def function(self, name: str, count: int) -> str:
        """A function of the input parameters."""
        return self.written(f"fn {name}({PARAMETERS}) -> u32 {{", count)

    def helper(self, name: str) -> str:
        """A function that others call; it has a pointer that it writes through."""
        head = f"fn {name}({PARAMETERS}, place: ptr<function, i32>) -> u32 {{"
        text = self.written(head, 3, Variable("(*place)", "i32"))
        self.helpers.append(name)
        return text

    def reviser(self) -> str:
        """A function from a struct and a vector to a struct."""
        head = f"fn revised({PARAMETERS}, record: Record, by: vec2<i32>) -> Record {{"
        self.result = "Record"
        text = self.written(head, 4, Variable("by", "i32", 2, False), Variable("record", "Record", 1, False))
        self.result = "u32"
        self.helpers.append("revised")
        return text

    def written(self, head: str, count: int, *more: Variable) -> str:
        """A function with variables of every type and some more statements."""
        self.scope = [Variable(name, type, 1, False) for name, type in INPUTS.items()]
        self.scope += [Variable("state", "u32"), *more]
        self.lines = [head]
        for type, size in KINDS:
            values = ", ".join(self.variable(type) for _ in range(size))
            self.declare(type, size, "var {} = " + (values if size == 1 else f"vec{size}({values})"))
        self.statements(count)
        result = self.digest() if self.result == "u32" else self.expression("Record").text
        return "\n".join([*self.lines, f"  return {result};", "}"])

    def digest(self) -> str:
        """A u32 that depends on every variable."""
        total = "0u"
        for each in self.scope:
            for part in each.parts if each.assignable and each.type in SCALARS else ():
                total = f"({total} * 31 + u32({f'i32({part})' if each.type == 'f32' else part}))"
        return total

    # --- Simple statements --------------------------------------------------------------------------------------

    def add(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    def new(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}_{self.fresh}"

    def declare(self, type: str, size: int, form: str, assignable: bool = True) -> None:
        """Add a declaration, of which `form` has everything but the new name, to the text and its name to the scope."""
        name = self.new("x")
        self.add(form.format(name) + ";")
        self.scope.append(Variable(name, type, size, assignable))
        if type == "Record" and assignable:
            self.scope += [Variable(name + field, *kind) for field, kind in FIELDS.items()]

    def statements(self, count: int) -> None:
        """Some statements."""
        simple = (self.let, self.var, self.assign, self.assign, self.compound, self.compound)
        other = (self.array, self.record_variable, self.pointer, self.call_helper, self.leave)
        nested = (self.if_, self.for_, self.while_, self.loop, self.switch, self.switch, self.plain_block)
        for _ in range(count):
            kind = self.random.random()
            self.one_of(*(simple if kind < 0.5 else other if kind < 0.7 or self.depth >= MOST else nested))()

    def let(self) -> None:
        type, size = self.one_of(*KINDS)
        self.declare(type, size, "let {} = " + self.value(type, size), assignable=False)

    def var(self) -> None:
        type, size = self.one_of(*KINDS)
        value, named = self.value(type, size), self.named(type, size)
        self.declare(type, size, "var {}" + self.one_of(f" = {value}", f": {named} = {value}", f": {named}"))

    def record_variable(self) -> None:
        self.declare("Record", 1, "var {} = " + self.record(3))

    def array(self) -> None:
        type, name = self.one_of(*INTEGERS), self.new("a")
        values = ", ".join(self.value(type, 1, 1) for _ in range(LENGTH))
        self.add(f"var {name}" + self.one_of(f": array<{type}, {LENGTH}>;", f" = array<{type}, {LENGTH}>({values});"))
        self.scope.append(Variable(name + "[#]", type))

    def pointer(self) -> None:
        """A pointer to a variable, an element or a member, of which each use is a store or a load."""
        place = self.one_of(*(each for each in self.own() if each.size == 1))
        name = self.new("p")
        self.add(f"let {name} = &{self.indexed(place.name)};")
        self.scope.append(Variable(f"(*{name})", place.type))

    def own(self) -> list[Variable]:
        """The variables that the function has declared; a pointer may stand for one of them."""
        return [each for each in self.scope if each.assignable and each.name[0] in "xa" and each.type in SCALARS]

    def call_helper(self) -> None:
        """A call of a function of the text, if there is one; its pointer goes to an i32 variable."""
        if names := [name for name in self.helpers if name != "revised"]:
            place = self.one_of(*(each.name for each in self.own() if each[1:3] == ("i32", 1) and "#" not in each.name))
            call = f"{self.one_of(*names)}({self.arguments()}, &{place})"
            self.declare("u32", 1, "var {} = " + call + self.one_of("", " ^ u0"))

    def arguments(self) -> str:
        return ", ".join(self.value(type, 1, 1) for type in INPUTS.values())

    def target(self) -> tuple[str, str, int]:
        """Something to assign to, its type and its size: a variable or a component of one."""
        name, type, size, _ = self.one_of(*(each for each in self.scope if each.assignable))
        name = self.indexed(name)
        if size > 1 and self.chance(0.5):
            return name + self.one_of(*letters(size), f"[{self.index(size)}]"), type, 1
        return name, type, size

    def assign(self) -> None:
        name, type, size = self.target()
        self.add(f"{name} = {self.value(type, size)};")

    def compound(self) -> None:
        name, type, size = self.target()
        if type == "Record":
            return self.assign()
        if type in INTEGERS and size == 1 and self.chance(0.2):
            return self.add(f"{name}{self.one_of('++', '--')};")
        operator = self.one_of(*OPERATORS[type]) if type != "bool" else self.one_of("&", "|")
        self.add(f"{name} {operator}= {self.value('u32' if operator in ('<<', '>>') else type, size)};")
        if type == "f32":
            self.add(f"{name} = {self.small(Expression(name), size).text};")
        return None

    # --- Statements with blocks ---------------------------------------------------------------------------------

    @contextmanager
    def block(self, head: str, exits: list[str] | None = None) -> Iterator[None]:
        """Statements in braces, after which the names that they declare are gone; a loop or switch has its exits."""
        self.add(head)
        outside = list(self.scope), self.exits
        self.exits = self.exits if exits is None else exits
        self.depth += 1
        yield
        self.depth -= 1
        self.scope, self.exits = outside
        self.add("}")

    def body(self) -> None:
        """The statements of a block; in a loop, often with an exit."""
        self.statements(self.random.randint(1, 2))
        if self.exits and self.chance(0.5):
            self.leave()
            self.statements(1)

    def leave(self) -> None:
        """`break`, `continue` or `return`, under a condition."""
        with self.block(f"if ({self.value('bool')}) {{"):
            self.statements(self.random.randrange(2) if self.depth < MOST else 0)
            self.add(self.one_of(*self.exits, *self.exits, f"return {self.value(self.result, 1, 1)};"))

    def plain_block(self) -> None:
        with self.block("{"):
            self.body()

    def if_(self) -> None:
        kind, condition = self.random.random(), self.value("bool")
        heads = [f"if {condition} {{" if kind < 0.3 else f"if ({condition}) {{"]
        heads += [f"else if {self.value('bool')} {{"] * (kind < 0.6) + ["else {"] * (kind < 0.8)
        for head in heads:
            with self.block(head):
                self.body()

    def counted(self, form: str, type: str, steps: Callable[[str], None]) -> None:
        """A loop with a counter, whose name belongs into `form`; `steps` writes the body."""
        name = self.new("n")
        *before, head = form.replace("#", name).split("\n")
        for line in before:
            self.add(line)
        with self.block(head, ["break;", "continue;"]):
            self.scope.append(Variable(name, type, 1, False))
            steps(name)

    def for_(self) -> None:
        steps, change = self.one_of("3", "u0 % 5", "(u1 & 3)"), self.one_of("#++", "# += 1", "# = # + 2")
        self.counted(f"for (var # = 0u; # < {steps}; {change}) {{", "u32", lambda name: self.body())

    def while_(self) -> None:
        def steps(name: str) -> None:
            self.add(f"{name}++;")
            self.body()

        self.counted("var # = i0 & 3;\nwhile # < 4 {", "i32", steps)

    def loop(self) -> None:
        early = self.chance(0.5)

        def steps(name: str) -> None:
            if early:
                self.add(f"if {name} >= u1 % 4 {{ break; }}")
            self.body()
            self.add("continuing {")  # what the body declares may not be there when `continue` jumps here
            self.add(f"  state += {self.one_of('u0', 'u1')}; {name}++;")
            if not early or self.chance(0.3):
                self.add(f"  break if {name} >= 3;")
            self.add("}")

        self.counted("var # = 0u;\nloop {", "u32", steps)

    def switch(self) -> None:
        type = self.one_of(*INTEGERS)
        a, b, c, d = (f"{n}{self.one_of('', type[0])}" for n in self.random.sample(range(8), 4))
        clauses = [f"case {a}", f"case {b}, {c}", self.one_of("default", "default", f"case {d}, default")]
        self.random.shuffle(clauses)
        exits = ["break;", *(text for text in self.exits if text == "continue;")]
        with self.block(f"switch (({self.value(type)}) & 7) {{", exits):
            for clause in clauses:
                with self.block(clause + self.one_of(" {", ": {")):
                    self.body()
                    if self.chance(0.4):
                        self.add(self.one_of(*exits))
