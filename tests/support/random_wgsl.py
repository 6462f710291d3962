"""Random WGSL: expressions of a given type, and functions that end and return what depends on all they do.

No text is open to two readings, so that the adapter and the simulator must agree. Integers wrap around. Floats are
whole numbers, or halves and quarters, small enough that every order of evaluation gives the same. Nothing that is known
before the run breaks a rule for constants, such as a division by 0; an index is taken modulo the length of its array; a
loop has a counter that nothing else changes. Expressions have no more parentheses than the grammar asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")
# How tightly an expression binds; a chain of `&`, `|`, `^`, `&&` or `||` is LOOSE.
PRIMARY, UNARY, MULTIPLY, ADD, SHIFT, RELATION, LOOSE = 7, 6, 5, 4, 3, 2, 1
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LEVELS = {  # the level of the result, of the left and of the right operand
    **dict.fromkeys("*/%", (MULTIPLY, MULTIPLY, UNARY)),
    **dict.fromkeys("+-", (ADD, ADD, MULTIPLY)),
    **dict.fromkeys(("<<", ">>"), (SHIFT, UNARY, UNARY)),
    **dict.fromkeys(COMPARISONS, (RELATION, SHIFT, SHIFT)),
    **dict.fromkeys("&|^", (LOOSE, UNARY, UNARY)),
    **dict.fromkeys(("&&", "||"), (LOOSE, RELATION, RELATION)),
}
INTEGERS, SCALARS, SUFFIX = ("i32", "u32"), ("i32", "u32", "f32", "bool"), {"i32": "i", "u32": "u", "f32": "f"}
UNSIGNED = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
OPERATORS = {  # of negative numbers, `%` is not the same on every GPU (see test_simulator_arithmetic)
    "u32": UNSIGNED,
    "i32": tuple(operator for operator in UNSIGNED if operator != "%"),
    "bool": ("&&", "||", "&", "|", "==", "!="),
}
UNARIES = {"i32": "-~", "u32": "~", "f32": "-", "bool": "!"}
BITS = "countOneBits countLeadingZeros countTrailingZeros reverseBits firstLeadingBit firstTrailingBit"
# Functions and their arguments: any expression, a variable, a tame float (see there), a scalar u32 variable.
INTEGER_CALLS = dict.fromkeys(("abs", *BITS.split()), "e")
INTEGER_CALLS |= {"min": "ee", "max": "ee", "clamp": "eve", "extractBits": "euu", "insertBits": "eeuu"}
CALLS = {
    "i32": INTEGER_CALLS,
    "u32": INTEGER_CALLS,
    "f32": dict.fromkeys(("floor", "ceil", "round", "trunc", "fract", "abs", "sign"), "e")
    | {"min": "ee", "max": "ee", "step": "ee", "clamp": "eve", "fma": "ttt"},
    "bool": {},
}
RANGE, EXACT = 64.0, 2.0**22  # what an input float is limited to; how many steps any float may be from 0


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
    bound: float = RANGE
    fraction: int = 0

    def inside(self, level: int, chain: str = "") -> str:
        """The text as an operand: in parentheses where it binds less tightly."""
        return self.text if self.level >= level or (chain and self.chain == chain) else f"({self.text})"


def misread(text: str) -> bool:
    """Whether WGSL might take a `<` and a later `>` for the ends of a template list, though they are comparisons."""
    text = re.sub(r"\b(vec\d|bitcast|array)<(\w+|vec\d<\w+>)(, \d)?>", "", text)
    return re.search(r"\w\s*<(?![<=]).*>", text) is not None


class Writer:
    """Writes expressions of the names in scope, listed for each (type, size); names in CAPITALS are constants."""

    def __init__(self, random: Random, names: dict[tuple[str, int], list[str]]) -> None:
        self.random, self.names = random, names

    def chance(self, share: float) -> bool:
        """True this often."""
        return self.random.random() < share

    def expression(self, type: str, size: int = 1, depth: int = 0) -> Expression:
        """An expression of a type."""
        if depth <= 0 or self.chance(0.1):
            return self.leaf(type, size)
        result = self.composed(type, size, depth - 1)
        if result.level < PRIMARY and self.chance(0.05):
            return replace(result, text=f"({result.text})", level=PRIMARY, chain="")
        return result

    def composed(self, type: str, size: int, depth: int) -> Expression:
        """An expression that is no leaf, of expressions up to a depth."""
        if self.chance(0.1):
            return self.part(self.expression(type, self.random.choice((2, 3, 4)), depth), size, depth)
        if size > 1 and self.chance(0.3):
            return self.constructed(type, size, depth)
        kind = self.random.random()
        if kind < 0.5:
            write = {"f32": self.float_binary, "bool": self.logical}.get(type, self.integer_binary)
            return write(type, size, depth)
        if kind < 0.6:
            return self.unary(self.random.choice(UNARIES[type]), self.expression(type, size, depth))
        return (self.function if kind < 0.8 else self.conversion)(type, size, depth)

    def concrete(self, value: Expression) -> Expression:
        """The expression; a literal with its suffix."""
        return replace(value, text=value.text + SUFFIX[value.type], abstract=False) if value.abstract else value

    def new(self, type: str, size: int, depth: int) -> Expression:
        """An expression that has its type wherever it stands."""
        return self.concrete(self.expression(type, size, depth))

    # --- Leaves -----------------------------------------------------------------------------------------------------

    def leaf(self, type: str, size: int) -> Expression:
        if size == 1 and type != "bool" and self.chance(0.3):
            return self.literal(type)
        longer = [n for n in (2, 3, 4) if n != size and self.names.get((type, n))]
        if longer and self.chance(0.15):
            return self.swizzle(self.variable(type, self.random.choice(longer)), size)
        return self.variable(type, size)

    def variable(self, type: str, size: int = 1) -> Expression:
        name = self.random.choice(self.names[type, size])
        return Expression(name, type, size, constant=name.isupper())

    def runtime(self, type: str, size: int = 1) -> Expression:
        """A name whose value is not known before the run."""
        return Expression(self.random.choice([n for n in self.names[type, size] if not n.isupper()]), type, size)

    def literal(self, type: str, least: int = 0) -> Expression:
        """A literal without a suffix: it becomes what the other operand is."""
        if type == "f32":
            value = self.random.choice((1, 2, 3, 5, 8))
            text = self.random.choice((f"{value}.0", f"{value}", f"{value}."))
        else:
            value = max(least, self.random.choice((0, 1, 2, 3, 5, 7, 31, 100, 255, 65536, 0x7FFFFFFF)))
            text = self.random.choice((f"{value}", f"{value:#x}"))
        return Expression(text, type, constant=True, abstract=True)

    # --- Putting together -------------------------------------------------------------------------------------------

    def binary(self, operator: str, left: Expression, right: Expression, type: str = "") -> Expression:
        level, left_level, right_level = LEVELS[operator]
        if left.constant and right.constant:
            left = self.runtime(left.type, left.size)
        if operator in ("<<", ">>"):
            left = self.concrete(left)
        chain = operator if level == LOOSE else ""
        before, after = left.inside(left_level, chain), right.inside(right_level)
        blank = "" if not after.startswith("-") and self.chance(0.15) else " "
        text = f"{before}{blank}{operator}{blank}{after}"
        if misread(text):
            text = f"{before} {operator} ({right.text})"
        return Expression(text, type or left.type, max(left.size, right.size), level, chain)

    def unary(self, operator: str, operand: Expression) -> Expression:
        if operand.constant and not operand.abstract:
            operand = self.runtime(operand.type, operand.size)
        text = self.concrete(operand).inside(UNARY)
        text = f"({text})" if text.startswith("-") else text
        return replace(operand, text=operator + text, level=UNARY, chain="", abstract=False)

    def call(self, name: str, *arguments: Expression, type: str = "", size: int = 0, bound: float = 0) -> Expression:
        first, *others = arguments
        if all(argument.constant for argument in arguments):
            first = self.runtime(first.type, first.size)
        texts = [argument.text for argument in (first, *others)]
        if misread(", ".join(texts)):
            texts = [f"({text})" if re.search("[<>]", text) else text for text in texts]
        bound = bound or max(argument.bound for argument in arguments) + 1
        fraction = max(argument.fraction for argument in arguments)
        text = f"{name}({', '.join(texts)})"
        return Expression(text, type or first.type, size or first.size, bound=bound, fraction=fraction)

    def swizzle(self, vector: Expression, size: int) -> Expression:
        letters = self.random.choice(("xyzw", "rgba"))[: vector.size]
        text = vector.inside(PRIMARY) + "." + "".join(self.random.choices(letters, k=size))
        return replace(vector, text=text, size=size, level=PRIMARY, chain="", constant=False)

    def part(self, vector: Expression, size: int, depth: int) -> Expression:
        """Some components of a vector, by name; one of them perhaps by index."""
        if size > 1 or self.chance(0.6):
            return self.swizzle(vector, size)
        index = self.random.choice((str(self.random.randrange(vector.size)), self.index(vector.size, depth)))
        return replace(self.swizzle(vector, 1), text=f"{vector.inside(PRIMARY)}[{index}]")

    def index(self, count: int, depth: int) -> str:
        """An index in the range of an array."""
        type, operator, limit = ("i32", "&", count - 1) if count != 3 and self.chance(0.5) else ("u32", "%", count)
        number = Expression(f"{limit}{SUFFIX[type]}", type, constant=True)
        return self.binary(operator, self.new(type, 1, depth - 1), number).text

    # --- Operators --------------------------------------------------------------------------------------------------

    def integer_binary(self, type: str, size: int, depth: int) -> Expression:
        operator = self.random.choice(OPERATORS[type])
        left, right = self.expression(type, size, depth), self.expression(type, size, depth)
        if operator in ("<<", ">>"):
            return self.binary(operator, left, self.amount(size, depth))
        if right.constant and operator in "/%":
            right = self.literal(type, least=1)
        return self.binary(operator, *self.mixed(operator, left, right))

    def amount(self, size: int, depth: int) -> Expression:
        """How far to shift: past 31 too, but no larger constant, nor a vector with a constant in it."""
        if size == 1 and self.chance(0.4):
            return Expression(f"{self.random.randrange(32)}", "u32", constant=True, abstract=True)
        amount = self.expression("u32", size, depth)
        return self.runtime("u32", size) if size > 1 or amount.constant else amount

    def mixed(self, operator: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """The operands; of arithmetic on vectors, sometimes one as a scalar."""
        if left.size == 1 or operator not in "+-*/%" or self.chance(0.7):
            return left, right
        scalar = self.variable(left.type)
        return (scalar, right) if self.chance(0.5) else (left, scalar)

    def tame(self, value: Expression) -> Expression:
        """The float, made whole and small if it is not."""
        if value.bound <= RANGE and not value.fraction:
            return value
        limits = ("-64.0", "64.0") if value.size == 1 else (f"vec{value.size}(-64f)", f"vec{value.size}(64f)")
        return Expression(f"clamp(floor({value.text}), {', '.join(limits)})", "f32", value.size)

    def float_binary(self, type: str, size: int, depth: int) -> Expression:
        operator, left = self.random.choice("+-*/"), self.expression("f32", size, depth)
        if operator == "/":
            power = self.random.choice((1, 2))
            right = Expression(f"{2**power}f", "f32", constant=True, bound=1, fraction=power)  # halves, or quarters
        else:
            right = self.expression("f32", size, depth)
        bound, fraction = reached(operator, left, right)
        if bound * 2**fraction > EXACT:
            left, right = self.tame(left), right if operator == "/" else self.tame(right)
        if operator != "/":
            left, right = self.mixed(operator, left, right)
        bound, fraction = reached(operator, left, right)
        return replace(self.binary(operator, left, right), size=size, bound=bound, fraction=fraction)

    def logical(self, type: str, size: int, depth: int) -> Expression:
        """A comparison, or an operator of bools."""
        if self.chance(0.6):
            operands = [self.expression(kind, size, depth) for kind in [self.random.choice(SCALARS[:3])] * 2]
            return self.binary(self.random.choice(COMPARISONS), *operands, "bool")
        operators = OPERATORS["bool"] if size == 1 else OPERATORS["bool"][2:]
        return self.binary(self.random.choice(operators), *(self.expression("bool", size, depth) for _ in "ab"))

    # --- Functions and conversions ----------------------------------------------------------------------------------

    def function(self, type: str, size: int, depth: int) -> Expression:
        """A call of a built-in function."""
        name = self.random.choice([*CALLS[type], "select", "select", "reduce", "reduce"])
        if name == "select":
            condition = self.expression("bool", self.random.choice((1, size)), depth)
            return self.call("select", *(self.new(type, size, depth) for _ in "ab"), condition, type=type, size=size)
        if name == "reduce":
            return self.reduced(type, size, depth)
        kinds = {
            "e": lambda: self.new(type, size, depth), "v": lambda: self.runtime(type, size),
            "t": lambda: self.tame(self.new(type, size, depth)), "u": lambda: self.runtime("u32"),
        }  # fmt: skip
        arguments = [kinds[kind]() for kind in CALLS[type][name]]
        return self.call(name, *arguments, bound=RANGE * RANGE + RANGE if name == "fma" else 0)

    def reduced(self, type: str, size: int, depth: int) -> Expression:
        """A scalar that a function makes of vectors."""
        n = self.random.choice((2, 3, 4))
        if size > 1:
            return self.constructed(type, size, depth)
        if type == "bool":
            return self.call(self.random.choice(("all", "any")), self.expression("bool", n, depth), type="bool", size=1)
        pair = [self.expression(type, n, depth) for _ in "ab"]
        pair = [self.tame(vector) for vector in pair] if type == "f32" else pair
        return self.call("dot", *pair, size=1, bound=RANGE * RANGE * n)

    def conversion(self, type: str, size: int, depth: int) -> Expression:
        """A value of another scalar type, by value or by bits."""
        source = self.random.choice([scalar for scalar in SCALARS if scalar != type])
        value = self.new(source, size, depth)
        if type == "f32" and source != "bool":
            mask = Expression(f"63{SUFFIX[source]}" if size == 1 else f"vec{size}(63{SUFFIX[source]})", source, size)
            value = self.binary("&", value, mask)
        if {type, source} == {*INTEGERS} and self.chance(0.3):
            return self.call(f"bitcast<{self.named(type, size)}>", value, type=type)
        return replace(self.call(self.named(type, size), value, type=type), bound=RANGE, fraction=0)

    def named(self, type: str, size: int) -> str:
        if size == 1:
            return type
        return self.random.choice([f"vec{size}<{type}>"] + ([f"vec{size}{type[0]}"] if type != "bool" else []))

    def constructed(self, type: str, size: int, depth: int) -> Expression:
        """A vector of scalars and shorter vectors, or of one scalar."""
        sizes = []
        while sum(sizes) < size:
            sizes.append(self.random.randint(1, min(size - sum(sizes), size - 1)))
        sizes = [1] if self.chance(0.2) else sizes
        parts = [self.new(type, part, depth) for part in sizes]
        return self.call(self.random.choice((f"vec{size}", self.named(type, size))), *parts, type=type, size=size)


def reached(operator: str, left: Expression, right: Expression) -> tuple[float, int]:
    """The bound and the fraction of a result; a division by a power of two is a product with a fraction."""
    if operator in "*/":
        return left.bound * right.bound, left.fraction + right.fraction
    return left.bound + right.bound, max(left.fraction, right.fraction)


# --- Functions ------------------------------------------------------------------------------------------------------

HEAD = """\
struct Record { count: u32, pair: vec2<i32>, list: array<u32, 3>, weight: f32 }
const STEP = 3;
const WIDTH: u32 = 4 * 2 + 1;
var<private> state: u32 = WIDTH;
"""
FIELDS = {("u32", 1): ".count", ("i32", 2): ".pair", ("f32", 1): ".weight"}
INPUTS = {"i32": ("i0", "i1"), "u32": ("u0", "u1"), "f32": ("f0",), "bool": ("b0",)}
GLOBALS = {("i32", 1): ["STEP"], ("u32", 1): ["WIDTH", "state"]}
PARAMETERS = ", ".join(f"{name}: {type}" for type, names in INPUTS.items() for name in names)
KINDS = (("i32", 1), ("u32", 1), ("f32", 1), ("bool", 1), ("i32", 3), ("u32", 2), ("f32", 2))
MOST = 3  # blocks inside each other


class Programmer:
    """Writes functions of the input parameters, and keeps account of the names in scope.

    Integer variables may hold anything; float variables stay whole and small, so that each result is exact.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.helpers: list[str] = []
        self.fresh = 0
        self.result = "u32"  # of the function that is being written

    def function(self, name: str, count: int) -> str:
        """A function of the input parameters."""
        self.start(f"fn {name}({PARAMETERS}) -> u32 {{", "var seen = u0;")
        return self.finished(count, self.digest)

    def helper(self, name: str) -> str:
        """A function that others call; it has a pointer that it writes through."""
        self.start(f"fn {name}({PARAMETERS}, place: ptr<function, i32>) -> u32 {{", "var seen = u1;")
        self.declared("(*place)", "i32", 1)
        text = self.finished(3, self.digest)
        self.helpers.append(name)
        return text

    def reviser(self) -> str:
        """A function from a struct and a vector to a struct."""
        head = f"fn revised({PARAMETERS}, record: Record, by: vec2<i32>) -> Record {{"
        self.start(head, "var seen = record.count;", "var result = record;")
        self.result = "Record"
        self.names["i32", 2].append("by")
        self.records.append("result")
        text = self.finished(4, lambda: "result")
        self.result = "u32"
        return text

    def start(self, head: str, *lines: str) -> None:
        """Begin a function with variables of every type."""
        self.names = {(type, 1): [*names, *GLOBALS.get((type, 1), [])] for type, names in INPUTS.items()}
        self.variables = {("u32", 1): ["state"]}  # what may be assigned to; readable too
        self.arrays: list[tuple[str, str, int]] = []  # name, element type, length
        self.records: list[str] = []
        self.exits: list[str] = []  # that leave a loop or switch from here
        self.lines, self.depth = [head, *(f"  {line}" for line in lines)], 0
        self.declared("seen", "u32", 1)
        for type in SCALARS:
            for size in (1, 2, 3, 4):
                name, parts = self.new("x"), ", ".join(self.random.choice(INPUTS[type]) for _ in range(size))
                self.add(f"var {name} = {parts};" if size == 1 else f"var {name} = vec{size}({parts});")
                self.declared(name, type, size)

    def finished(self, count: int, result: Callable[[], str]) -> str:
        """The function, after some more statements."""
        self.statements(count)
        return "\n".join([*self.lines, f"  return {result()};", "}"])

    def digest(self) -> str:
        """A u32 that depends on every variable."""
        words = []
        for (type, size), names in self.variables.items():
            parts = [""] if size == 1 else [f".{'xyzw'[k]}" for k in range(size)]
            form = "u32(i32({}))" if type == "f32" else "u32({})"
            words += [form.format(name + part) for name in names for part in parts]
        words += [f"u32({name}[{k}])" for name, _, count in self.arrays for k in range(count)]
        for name in self.records:
            words += [f"u32({name}.{part})" for part in ("list[0]", "list[1]", "list[2]", "count", "pair.x", "pair.y")]
            words.append(f"u32(i32({name}.weight))")
        total = "0u"
        for word in words:
            total = f"({total} * 31 + {word})"
        return total

    # --- Names and values -------------------------------------------------------------------------------------------

    def new(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}_{self.fresh}"

    def add(self, line: str) -> None:
        self.lines.append("  " * (self.depth + 1) + line)

    def one_of(self, *things: Thing) -> Thing:
        return self.random.choice(things)

    def declared(self, name: str, type: str, size: int, assignable: bool = True) -> None:
        for table in (self.names, self.variables) if assignable else (self.names,):
            table.setdefault((type, size), []).append(name)

    def value(self, type: str, size: int = 1, depth: int = 2, constant: bool = True) -> str:
        """An expression, perhaps a constant; a float is whole and small."""
        names = {key: list(value) for key, value in self.names.items()}
        for name, element, count in self.arrays:
            names[element, 1].append(f"{name}[{self.index(count)}]")
        for name in self.records:
            for key, field in FIELDS.items():
                names[key].append(name + field)
        writer = Writer(self.random, names)
        result = writer.new(type, size, depth)
        if result.constant and not constant:
            result = writer.runtime(type, size)
        return (writer.tame(result) if type == "f32" else result).text

    def runtime(self, type: str, size: int) -> str:
        """A value that is not known before the run: no constant 0 to divide by, and no constant shift past 31."""
        return f"({self.value(type, size)}) {'^' if size == 1 else '+'} {self.one_of(*INPUTS[type])}"

    def index(self, count: int) -> str:
        if self.random.random() < 0.3:
            return str(self.random.randrange(count))
        if count == 4 and self.random.random() < 0.5:
            return f"{self.one_of(*self.names['i32', 1])} & 3"
        return f"{self.one_of(*self.names['u32', 1])} % {count}"

    def arguments(self) -> str:
        return ", ".join(self.value(type, depth=1) for type, names in INPUTS.items() for _ in names)

    def own(self) -> list[str]:
        """The i32 variables of this function; there is always one."""
        return [name for name in self.variables["i32", 1] if name.startswith("x_")]

    # --- Simple statements ------------------------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        """Some statements."""
        simple = (self.let, self.var, self.assign, self.assign, self.compound, self.compound, self.element)
        other = (self.array, self.record, self.record_field, self.pointer, self.call, self.leave)
        nested = (self.if_, self.for_, self.while_, self.loop, self.switch, self.switch, self.plain_block)
        for _ in range(count):
            kind = self.random.random()
            self.one_of(*(simple if kind < 0.5 else other if kind < 0.7 or self.depth >= MOST else nested))()

    def let(self) -> None:
        (type, size), name = self.one_of(*KINDS), self.new("k")
        self.add(f"let {name} = {self.value(type, size, constant=False)};")  # compilers see through a `let`
        self.declared(name, type, size, assignable=False)

    def var(self) -> None:
        (type, size), name = self.one_of(*KINDS), self.new("x")
        value, named = self.value(type, size), type if size == 1 else f"vec{size}<{type}>"
        self.add(f"var {name}" + self.one_of(f" = {value};", f": {named} = {value};", f": {named};"))
        self.declared(name, type, size)

    def target(self) -> tuple[str, str, int]:
        """Something to assign to, its type and its size: a variable or a component of one."""
        type, size = self.one_of(*self.variables)
        name = self.one_of(*self.variables[type, size])
        if size > 1 and self.random.random() < 0.5:
            return name + self.one_of(f".{'xyzw'[self.random.randrange(size)]}", f"[{self.index(size)}]"), type, 1
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
            self.add(f"{name} {self.one_of(*'+-*')}= {self.value(type, size)};")
            self.add(f"{name} = clamp({name}, -{limit}, {limit});")
        elif size == 1 and self.random.random() < 0.2:
            self.add(f"{name}{self.one_of('++', '--')};")
        else:
            operator = self.one_of(*OPERATORS[type])
            self.add(f"{name} {operator}= {self.runtime('u32' if operator in ('<<', '>>') else type, size)};")

    def array(self) -> None:
        type, count, name = self.one_of(*INTEGERS), self.one_of(3, 4, 5), self.new("a")
        values = ", ".join(self.value(type, depth=1) for _ in range(count))
        self.add(f"var {name}" + self.one_of(f": array<{type}, {count}>;", f" = array<{type}, {count}>({values});"))
        self.arrays.append((name, type, count))

    def element(self) -> None:
        if not self.arrays:
            return self.array()
        name, type, count = self.one_of(*self.arrays)
        self.add(f"{name}[{self.index(count)}] {self.one_of('=', '+=', '^=')} {self.value(type)};")
        return None

    def record(self) -> None:
        name, kind = self.new("r"), self.random.random()
        if not self.records or kind < 0.5:
            made = f"Record({self.value('u32')}, {self.value('i32', 2)}, array<u32, 3>(), {self.value('f32')})"
        elif self.result == "u32" and kind < 0.8:
            made = f"revised({self.arguments()}, {self.one_of(*self.records)}, {self.value('i32', 2)})"
        else:
            made = self.one_of(*self.records)
        self.add(f"var {name} = {made};")
        self.records.append(name)

    def record_field(self) -> None:
        if not self.records:
            return self.record()
        (type, size), field = self.one_of(*FIELDS.items())
        places = f".list[{self.index(3)}] += {self.value('u32')}", f".pair.{self.one_of(*'xy')} = {self.value('i32')}"
        self.add(f"{self.one_of(*self.records)}{self.one_of(*places, f'{field} = {self.value(type, size)}')};")
        return None

    def pointer(self) -> None:
        """A pointer to a variable, an element or a member, a store through it and a load."""
        places = [(name, "i32") for name in self.own()]
        places += [(f"{name}[{self.index(count)}]", type) for name, type, count in self.arrays]
        places += [(f"{name}.list[{self.index(3)}]", "u32") for name in self.records]
        (place, type), name = self.one_of(*places), self.new("p")
        self.add(f"let {name} = &{place};")
        self.add(f"*{name} {self.one_of('=', '+=', '*=', '|=')} {self.value(type)};")
        self.declared(f"(*{name})", type, 1)

    def call(self) -> None:
        """A call of a helper function, if there is one; its pointer goes to an i32 variable."""
        if self.helpers:
            call = f"{self.one_of(*self.helpers)}({self.arguments()}, &{self.one_of(*self.own())})"
            name = self.new("x")
            self.add(f"var {name} = {call}{self.one_of('', ' ^ u0')};")
            self.declared(name, "u32", 1)

    # --- Statements with blocks -------------------------------------------------------------------------------------

    @contextmanager
    def block(self, head: str, exits: list[str] | None = None) -> Iterator[None]:
        """Statements in braces, after which the names that they declare are gone; a loop or switch has its exits."""
        self.add(head)
        tables = ({key: list(names) for key, names in table.items()} for table in (self.names, self.variables))
        kept = *tables, list(self.arrays), list(self.records)
        outside, self.exits = self.exits, self.exits if exits is None else exits
        self.depth += 1
        yield
        self.depth -= 1
        self.exits = outside
        self.names, self.variables, self.arrays, self.records = kept
        self.add("}")

    def body(self) -> None:
        """The statements of a block; in a loop, often with an exit."""
        self.statements(self.random.randint(1, 2))
        if self.exits and self.random.random() < 0.5:
            self.leave()
            self.statements(1)

    def leave(self) -> None:
        """`break`, `continue` or `return`, under a condition."""
        back = "return result;" if self.result == "Record" else f"return {self.value('u32', depth=1)};"
        with self.block(f"if ({self.value('bool')}) {{"):
            self.statements(self.random.randrange(2) if self.depth < MOST else 0)
            self.add(self.one_of(*self.exits, *self.exits, back))

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

    @contextmanager
    def counted(self, head: str, name: str, type: str) -> Iterator[None]:
        """The body of a loop with a counter."""
        with self.block(head, ["break;", "continue;"]):
            self.declared(name, type, 1, assignable=False)
            yield

    def for_(self) -> None:
        name, steps = self.new("n"), self.one_of("3", "u0 % 5", "(u1 & 3)")
        change = self.one_of(f"{name}++", f"{name} += 1", f"{name} = {name} + 2")
        with self.counted(f"for (var {name} = 0u; {name} < {steps}; {change}) {{", name, "u32"):
            self.body()

    def while_(self) -> None:
        name = self.new("n")
        self.add(f"var {name} = i0 & 3;")
        with self.counted(f"while {name} < 4 {{", name, "i32"):
            self.add(f"{name}++;")
            self.body()

    def loop(self) -> None:
        name, early = self.new("n"), self.random.random() < 0.5
        self.add(f"var {name} = 0u;")
        with self.counted("loop {", name, "u32"):
            if early:
                self.add(f"if {name} >= u1 % 4 {{ break; }}")
            self.body()
            self.add("continuing {")  # what the body declares may not be there when `continue` jumps here
            self.add(f"  seen += {self.one_of(*INPUTS['u32'])}; {name}++;")
            if not early or self.random.random() < 0.3:
                self.add(f"  break if {name} >= 3;")
            self.add("}")

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
                    if self.random.random() < 0.4:
                        self.add(self.one_of(*exits))
