"""Random WGSL expressions of a given type, with no more parentheses than the grammar asks for.

No expression is open to two readings: integers wrap around; floats are whole numbers, or halves and quarters, small
enough that every order of evaluation gives the same; and nothing that is known before the run breaks a rule for
constants, such as a division by 0.
"""

from __future__ import annotations

from dataclasses import replace

from support.random_texts import PRIMARY, RANGE, Expression, Texts

INTEGERS, SCALARS = ("i32", "u32"), ("i32", "u32", "f32", "bool")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
UNSIGNED = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
OPERATORS = {  # of negative numbers, `%` is not the same on every GPU (see test_simulator_arithmetic)
    "u32": UNSIGNED,
    "i32": tuple(operator for operator in UNSIGNED if operator != "%"),
}
EXACT = 2.0**22  # how many steps a float may be from 0


class Writer(Texts):
    """Writes expressions of a type."""

    def expression(self, type: str, size: int, depth: int) -> Expression:
        """An expression of a type."""
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(type, size)
        write = self.vector if size > 1 else {"f32": self.float, "bool": self.bool}.get(type, self.integer)
        result = write(type, size, depth - 1)
        if result.level < PRIMARY and self.random.random() < 0.05:
            return replace(result, text=f"({result.text})", level=PRIMARY, chain="")
        return result

    def scalar(self, type: str, depth: int) -> Expression:
        return self.expression(type, 1, depth)

    def component(self, type: str, depth: int) -> Expression:
        """One component of a vector, by name or by index."""
        size = self.random.choice((2, 3, 4))
        vector = self.expression(type, size, depth)
        if self.random.random() < 0.6:
            return self.swizzle(vector, 1)
        index = self.random.choice((str(self.random.randrange(size)), self.index(size, depth)))
        return replace(
            vector, text=f"{vector.inside(PRIMARY)}[{index}]", size=1, level=PRIMARY, chain="", constant=False
        )

    def index(self, count: int, depth: int) -> str:
        """An index in the range of an array."""
        if count in (2, 4) and self.random.random() < 0.5:
            return self.binary("&", self.scalar("i32", depth - 1), self.number(count - 1, "i32")).text
        return self.binary("%", self.concrete(self.scalar("u32", depth - 1)), self.number(count, "u32")).text

    # --- Integers ---------------------------------------------------------------------------------------------------

    def integer(self, type: str, size: int, depth: int) -> Expression:
        kind = self.random.random()
        if kind < 0.5:
            return self.integer_binary(type, 1, depth)
        if kind < 0.6:
            return self.unary(self.random.choice("-~" if type == "i32" else "~"), self.scalar(type, depth))
        if kind < 0.8:
            return self.integer_call(type, 1, depth)
        return self.conversion(type, 1, depth) if kind < 0.9 else self.component(type, depth)

    def integer_binary(self, type: str, size: int, depth: int) -> Expression:
        operator = self.random.choice(OPERATORS[type])
        left = self.expression(type, size, depth)
        if operator in ("<<", ">>"):
            small = Expression(f"{self.random.randrange(32)}", "u32", constant=True, abstract=True)
            return self.binary(
                operator, left, small if size == 1 and self.random.random() < 0.4 else self.amount(size, depth)
            )
        right = self.expression(type, size, depth)
        if right.constant and operator in "/%":
            right = self.literal(type, least=1)
        return self.binary(operator, *self.mixed(operator, left, right, depth))

    def amount(self, size: int, depth: int) -> Expression:
        """How far to shift: past 31 too, but no constant, nor a vector with a constant in it."""
        if size > 1 or self.random.random() < 0.3:
            return self.runtime("u32", size)
        amount = self.scalar("u32", depth)
        return self.runtime("u32") if amount.constant else amount

    def mixed(self, operator: str, left: Expression, right: Expression, depth: int) -> tuple[Expression, Expression]:
        """The operands; of arithmetic on vectors, sometimes one as a scalar."""
        if left.size == 1 or operator not in ("+", "-", "*", "/", "%") or self.random.random() < 0.7:
            return left, right
        scalar = self.variable(left.type)
        return (scalar, right) if self.random.random() < 0.5 else (left, scalar)

    def integer_call(self, type: str, size: int, depth: int) -> Expression:
        def new() -> Expression:
            return self.concrete(self.expression(type, size, depth))

        bits = (
            "countOneBits",
            "countLeadingZeros",
            "countTrailingZeros",
            "reverseBits",
            "firstLeadingBit",
            "firstTrailingBit",
        )
        name = self.random.choice(("min", "max", "clamp", "select", "abs", "dot", "extractBits", "insertBits", "bits"))
        if name == "bits":
            return self.call(self.random.choice(bits), new())
        if name in ("min", "max"):
            return self.call(name, new(), new())
        if name == "clamp":
            return self.call(name, new(), self.runtime(type, size), new())
        if name == "select":
            return self.select(type, size, depth)
        if name == "dot" and size == 1:
            n = self.random.choice((2, 3, 4))
            return self.call("dot", self.expression(type, n, depth), self.expression(type, n, depth), type=type, size=1)
        if name in ("extractBits", "insertBits"):
            values = [new() for _ in range(1 + (name == "insertBits"))]
            return self.call(name, *values, self.variable("u32"), self.runtime("u32"))
        return self.call("abs", new())

    def select(self, type: str, size: int, depth: int) -> Expression:
        shape = self.random.choice((1, size))
        condition = self.expression("bool", shape, depth)
        values = [self.concrete(self.expression(type, size, depth)) for _ in range(2)]
        bound, fraction = max(each.bound for each in values), max(each.fraction for each in values)
        return self.call("select", *values, condition, type=type, size=size, bound=bound, fraction=fraction)

    def conversion(self, type: str, size: int, depth: int) -> Expression:
        """An integer from another scalar type, by value or by bits."""
        source = self.random.choice([each for each in SCALARS if each != type])
        value = self.concrete(self.expression(source, size, depth))
        if source in INTEGERS and self.random.random() < 0.3:
            return self.call(f"bitcast<{self.named(type, size)}>", value, type=type)
        return self.call(self.named(type, size), value, type=type)

    def named(self, type: str, size: int) -> str:
        if size == 1:
            return type
        aliases = [f"vec{size}<{type}>"] + ([f"vec{size}{type[0]}"] if type != "bool" else [])
        return self.random.choice(aliases)

    # --- Floats -----------------------------------------------------------------------------------------------------

    def float(self, type: str, size: int, depth: int) -> Expression:
        kind = self.random.random()
        if kind < 0.4:
            return self.float_binary(size, depth)
        if kind < 0.5:
            return self.unary("-", self.expression("f32", size, depth))
        if kind < 0.75:
            return self.float_call(size, depth)
        return self.from_integer(size, depth) if kind < 0.9 or size > 1 else self.component("f32", depth)

    def tame(self, value: Expression) -> Expression:
        """The float, made whole and small if it is not."""
        if value.bound <= RANGE and not value.fraction:
            return value
        limits = ("-64.0", "64.0") if value.size == 1 else (f"vec{value.size}(-64f)", f"vec{value.size}(64f)")
        return Expression(f"clamp(floor({value.text}), {', '.join(limits)})", "f32", value.size, bound=RANGE)

    def float_binary(self, size: int, depth: int) -> Expression:
        operator = self.random.choice(("+", "-", "*", "/"))
        left = self.expression("f32", size, depth)
        if operator == "/":
            left = left if left.bound * 2 ** (left.fraction + 2) <= EXACT else self.tame(left)
            power = self.random.choice((1, 2))
            result = self.binary("/", left, self.number(2**power, "f32"), "f32", size)
            return replace(result, bound=left.bound, fraction=left.fraction + power)
        right = self.expression("f32", size, depth)
        if self.steps(operator, left, right)[0] * 2.0 ** self.steps(operator, left, right)[1] > EXACT:
            left, right = self.tame(left), self.tame(right)
        left, right = self.mixed(operator, left, right, depth)
        bound, fraction = self.steps(operator, left, right)
        return replace(self.binary(operator, left, right), bound=max(bound, RANGE), fraction=fraction)

    @staticmethod
    def steps(operator: str, left: Expression, right: Expression) -> tuple[float, int]:
        """The bound and the fraction of a result; a literal may give way to a variable."""
        a, b = max(left.bound, RANGE), max(right.bound, RANGE)
        return (
            (a * b, left.fraction + right.fraction) if operator == "*" else (a + b, max(left.fraction, right.fraction))
        )

    def float_call(self, size: int, depth: int) -> Expression:
        def new() -> Expression:
            return self.concrete(self.expression("f32", size, depth))

        name = self.random.choice(("round", "order", "clamp", "select", "fma", "dot", "step", "fract", "abs", "sign"))
        if name == "round":
            value = new()
            function = self.random.choice(("floor", "ceil", "round", "trunc"))
            return self.call(function, value, bound=max(value.bound, RANGE) + 1)
        if name in ("order", "clamp", "step", "fma"):
            count = 3 if name in ("clamp", "fma") else 2
            values = [self.tame(new()) if name == "fma" else new() for _ in range(count)]
            values[1] = self.runtime("f32", size) if name == "clamp" else values[1]
            bound = RANGE * RANGE + RANGE if name == "fma" else max(RANGE, *(each.bound for each in values))
            fraction = max(each.fraction for each in values)
            return self.call(self.random.choice(("min", "max")) if name == "order" else name, *values,
                             bound=bound, fraction=fraction)  # fmt: skip
        if name == "select":
            value = self.select("f32", size, depth)
            return replace(value, bound=max(value.bound, RANGE))
        if name == "dot" and size == 1:
            n = self.random.choice((2, 3, 4))
            pair = [self.tame(self.expression("f32", n, depth)) for _ in range(2)]
            return self.call("dot", *pair, type="f32", size=1, bound=RANGE * RANGE * n)
        value = new()
        return self.call(
            name if name != "dot" else "abs", value, bound=max(value.bound, RANGE), fraction=value.fraction
        )

    def from_integer(self, size: int, depth: int) -> Expression:
        source = self.random.choice(("i32", "u32", "bool"))
        value = self.concrete(self.expression(source, size, depth))
        if source != "bool":
            mask = self.number(63, source)
            mask = mask if size == 1 else replace(mask, text=f"vec{size}({mask.text})", size=size)
            value = self.binary("&", value, mask)
        return self.call(self.named("f32", size), value, type="f32", bound=RANGE)

    # --- Bools ------------------------------------------------------------------------------------------------------

    def bool(self, type: str, size: int, depth: int) -> Expression:
        kind = self.random.random()
        if kind < 0.5:
            return self.comparison(size, depth)
        if kind < 0.75:
            operators = ("&&", "||", "&", "|", "==", "!=") if size == 1 else ("&", "|", "==", "!=")
            operands = [self.expression("bool", size, depth) for _ in range(2)]
            return self.binary(self.random.choice(operators), *operands)
        if kind < 0.85:
            return self.unary("!", self.expression("bool", size, depth))
        if kind < 0.92 and size == 1:
            vector = self.expression("bool", self.random.choice((2, 3, 4)), depth)
            return self.call(self.random.choice(("all", "any")), vector, type="bool", size=1)
        source = self.random.choice(INTEGERS)
        value = self.concrete(self.expression(source, size, depth))
        return self.call(self.named("bool", size), value, type="bool")

    def comparison(self, size: int, depth: int) -> Expression:
        type = self.random.choice(("i32", "u32", "f32"))
        left, right = (self.expression(type, size, depth) for _ in range(2))
        return self.binary(self.random.choice(COMPARISONS), left, right, "bool", size)

    # --- Vectors ----------------------------------------------------------------------------------------------------

    def vector(self, type: str, size: int, depth: int) -> Expression:
        kind = self.random.random()
        if kind < 0.3:
            return self.constructed(type, size, depth)
        if kind < 0.4:
            return self.swizzle(self.expression(type, self.random.choice((2, 3, 4)), depth), size)
        if type == "f32":
            return self.float(type, size, depth)
        if type == "bool":
            return self.bool(type, size, depth)
        write = self.integer_binary if kind < 0.7 else self.integer_call if kind < 0.85 else self.conversion
        return write(type, size, depth)

    def constructed(self, type: str, size: int, depth: int) -> Expression:
        """A vector of scalars and shorter vectors, or of one scalar."""
        sizes, name = [], self.random.choice((f"vec{size}", self.named(type, size)))
        while sum(sizes) < size:
            sizes.append(self.random.randint(1, min(size - sum(sizes), size - 1)))
        sizes = [1] if self.random.random() < 0.2 else sizes
        parts = [self.concrete(self.expression(type, each, depth)) for each in sizes]
        bound, fraction = max(each.bound for each in parts), max(each.fraction for each in parts)
        return self.call(name, *parts, type=type, size=size, bound=max(bound, RANGE), fraction=fraction)
