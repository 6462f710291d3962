"""Symbolic execution: a program is run once for all sizes and all invocations; values are polynomials, not numbers.

What holds on the way to a statement is a list of facts. A variable that a loop or a branch changes has an unknown value
afterwards; a loop's body runs once, with such values and the loop's condition. So the runs that are looked at include
all real ones, and perhaps some that cannot happen: what is proven holds, and what is not proven may hold, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from helpers.simulator.proof.polynomial import Polynomial, divided
from helpers.simulator.proof.solver import follows
from helpers.simulator.types import kinds
from helpers.simulator.types import program as p
from helpers.simulator.types.kinds import BOOL, U32, Pointer, Struct, Type
from helpers.simulator.types.usage import nodes

MOST = 2**32 - 1


@dataclass(frozen=True)
class Condition:
    """What is known where a condition is true, and where it is false."""

    true: tuple[Polynomial, ...] = ()
    false: tuple[Polynomial, ...] = ()

    def __invert__(self) -> Condition:
        return Condition(self.false, self.true)

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.true + other.true)

    def __or__(self, other: Condition) -> Condition:
        return ~(~self & ~other)


Leaf = Polynomial | Condition | None  # None: a value that is neither u32 nor bool
Value = tuple[Leaf, ...]


@dataclass(frozen=True)
class Access:
    """One index at one place of the text: whether it was shown to lie below `length`."""

    variable: p.Variable
    at: int
    proven: bool


class Symbolic:
    """One run. `accesses` grows by one entry for each index of each array, and function call."""

    def __init__(self, program: p.Program, known: dict[str, Polynomial], facts: Sequence[Polynomial]) -> None:
        self.accesses: list[Access] = []
        self._known, self._facts = known, list(facts)
        self._variables: dict[p.Variable, Value] = {}
        self._names: dict[p.Binding, Value] = {}
        self._fresh, self._made = count(1), {}
        functions = [program.entry, *{n.function for n in _all_nodes(program.entry)if isinstance(n, p.Call)}]
        self._pointed = {_root(n.reference) for f in functions for n in nodes(f.body) if isinstance(n, p.AddressOf)}
        for binding, inputs in zip(program.entry.parameters, program.inputs, strict=True):
            leaves = [scalar for _, scalar in kinds.leaves(binding.type)]
            names = inputs if len(inputs) == len(leaves) else [f"{each}.{c}" for each in inputs for c in "xyz"]
            self._names[binding] = tuple(map(self._named, names)) if len(names) == len(leaves) else self._any(binding.type)
        self._run(program.entry.body)

    # --- Unknowns and facts -----------------------------------------------------------------------------------

    def _named(self, name: str) -> Polynomial:
        return self._known.get(name, Polynomial.unknown(name))

    def _unknown(self, of: object = None) -> Polynomial:
        """A u32 of which nothing is known; the same one for the same computation."""
        key = next(self._fresh) if of is None else of
        return self._made.setdefault(key, Polynomial.unknown(f"#{len(self._made)}"))

    def _any(self, type: Type | None) -> Value:
        if type is None or isinstance(type, Pointer):
            return ()
        kinds_of = [scalar for _, scalar in kinds.leaves(type)]
        return tuple(self._unknown() if each == U32 else Condition() if each == BOOL else None for each in kinds_of)

    def _follows(self, conclusion: Polynomial) -> bool:
        return follows(conclusion, self._facts)

    @contextmanager
    def _assuming(self, facts: Sequence[Polynomial] = ()) -> Iterator[None]:
        before = list(self._facts)
        self._facts += facts
        yield
        self._facts = before

    # --- Statements -------------------------------------------------------------------------------------------

    def _run(self, body: Sequence[p.Statement]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: p.Statement) -> None:
        match statement:
            case p.Bind(binding=binding, value=value):
                self._names[binding] = self._value(value)
            case p.Declare(variable=variable, value=value):
                zeros = tuple(_zero(scalar) for _, scalar in kinds.leaves(variable.type))
                self._variables[variable] = zeros if value is None else self._value(value)
            case p.Store(reference=reference, value=value):
                self._store(reference, self._value(value))
            case p.Update(reference=reference, operator=operator, value=value):
                old, new = self._load(reference), self._value(value)
                self._store(reference, self._binary(operator, reference.type, old, new))
            case p.Evaluate(value=value):
                self._value(value)
            case p.Block(body=body):
                self._run(body)
            case p.If():
                self._if(statement)
            case p.Switch(selector=selector, cases=cases):
                self._value(selector)
                self._apart([case.body for case in cases])
            case p.Loop():
                self._loop(statement)
            case p.Return(value=value) if value is not None:
                self._names[None] = self._value(value)

    def _if(self, statement: p.If) -> None:
        condition = self._condition(statement.condition)
        arms = (statement.then, condition.true), (statement.otherwise, condition.false)
        self._apart([body for body, _ in arms], [facts for _, facts in arms])
        if _leaves(statement.then):
            self._facts += condition.false
        elif statement.otherwise and _leaves(statement.otherwise):
            self._facts += condition.true

    def _apart(self, bodies: Sequence, facts: Sequence = ()) -> None:
        """Bodies of which at most one runs. A body that leaves changes nothing for what follows."""
        before = dict(self._variables)
        for number, body in enumerate(bodies):
            with self._assuming(facts[number] if facts else ()):
                self._variables = dict(before)
                self._run(body)
        self._variables = before
        self._forget([body for body in bodies if not _leaves(body)])

    def _forget(self, body: object) -> None:
        for node in nodes(_tuple(body)):
            if isinstance(node, p.Store | p.Update):
                variable = _root(node.reference)
                if variable in self._variables:
                    self._variables[variable] = self._any(variable.type)

    def _loop(self, loop: p.Loop) -> None:
        inside = (loop.body, loop.continuing)
        self._forget(inside)
        with self._assuming():
            if loop.condition is not None:
                self._facts += self._condition(loop.condition).true
            with self._assuming():
                self._run(loop.body)
            self._forget(inside)
            self._run(loop.continuing)
            if loop.break_if is not None:
                self._value(loop.break_if)
        self._forget(inside)

    # --- Memory -----------------------------------------------------------------------------------------------

    def _load(self, reference: p.Reference) -> Value:
        self._check(reference)
        offset, base = 0, reference
        while isinstance(base, p.Member):
            offset, base = offset + base.offset, base.base
        if not isinstance(base, p.Root):
            return self._any(reference.type)
        variable, places = base.variable, [offset + at for at, _ in kinds.leaves(reference.type)]
        if variable.space == "uniform":
            return tuple(map(self._uniform, [variable] * len(places), places, self._any(reference.type)))
        value = () if variable in self._pointed else self._variables.get(variable, ())
        held = dict(zip((at for at, _ in kinds.leaves(variable.type)), value, strict=False))
        return tuple(held.get(at, other) for at, other in zip(places, self._any(reference.type), strict=True))

    def _uniform(self, variable: p.Variable, offset: int, other: Leaf) -> Leaf:
        fields = variable.type.fields if isinstance(variable.type, Struct) else ()
        name = next((field.name for field in fields if field.offset == offset and field.type == U32), None)
        return self._named(name or f"{variable.name}@{offset}") if isinstance(other, Polynomial) else other

    def _store(self, reference: p.Reference, value: Value) -> None:
        self._check(reference)
        variable = _root(reference)
        if variable in self._variables:
            self._variables[variable] = value if isinstance(reference, p.Root) else self._any(variable.type)

    def _check(self, reference: p.Reference) -> None:
        """Note each index inside a reference, and whether it is in range."""
        if isinstance(reference, p.Member | p.Element):
            self._check(reference.base)
        elif isinstance(reference, p.Deref):
            self._value(reference.pointer)
        if isinstance(reference, p.Element):
            (index,) = self._value(reference.index)
            length = self._length(reference)
            proven = isinstance(index, Polynomial) and length is not None and self._follows(length - 1 - index)
            self.accesses.append(Access(_root(reference), reference.at, proven))

    def _length(self, element: p.Element) -> Polynomial | None:
        if element.count is not None:
            return Polynomial.number(element.count)
        return self._named(f"length of {_root(element).name}")

    # --- Values -----------------------------------------------------------------------------------------------

    def _condition(self, expression: p.Expression) -> Condition:
        (leaf,) = self._value(expression)
        return leaf

    def _value(self, e: p.Expression) -> Value:
        match e:
            case p.Constant(leaves=leaves):
                return tuple(_constant(leaf, scalar) for leaf, (_, scalar) in zip(leaves, kinds.leaves(e.type), strict=True))
            case p.Load(reference=reference):
                return self._load(reference)
            case p.Named(binding=binding):
                return self._names[binding]
            case p.Unary(operator="!", operand=operand):
                return tuple(~each for each in self._value(operand))
            case p.Binary(operator=operator, left=left, right=right):
                return self._binary(operator, left.type, self._value(left), self._value(right), e.type)
            case p.Logical():
                return self._logical(e)
            case p.Builtin(name=name, arguments=arguments):
                return self._builtin(name, e.type, [self._value(each) for each in arguments])
            case p.Splat(operand=operand):
                return self._value(operand) * e.type.size
            case p.Construct(parts=parts):
                return tuple(leaf for part in parts for leaf in self._value(part))
            case p.Pick(operand=operand, picked=picked):
                value = self._value(operand)
                return tuple(value[each] for each in picked)
            case p.Call():
                return self._call(e)
            case p.ArrayLength(reference=reference):
                return (self._named(f"length of {_root(reference).name}"),)
        return self._other(e)

    def _other(self, e: p.Expression) -> Value:
        """A value of which nothing is known; the accesses in its operands are noted."""
        for name in ("operand", "index"):
            if hasattr(e, name):
                self._value(getattr(e, name))
        for each in getattr(e, "arguments", ()):
            self._value(each)
        if hasattr(e, "reference"):
            self._check(e.reference)
        return self._any(e.type)

    def _logical(self, e: p.Logical) -> Value:
        left = self._condition(e.left)
        with self._assuming(left.true if e.operator == "&&" else left.false):
            right = self._condition(e.right)
        return (left & right if e.operator == "&&" else left | right,)

    def _call(self, call: p.Call) -> Value:
        values = [self._value(each) for each in call.arguments]
        self._names |= dict(zip(call.function.parameters, values, strict=True))
        with self._assuming():
            self._run(call.function.body)
        returns = [node for node in nodes(call.function.body) if isinstance(node, p.Return)]
        return self._names[None] if len(returns) == 1 and returns[0].value else self._any(call.type)

    def _builtin(self, name: str, type: Type, values: list[Value]) -> Value:
        if name == "select" and isinstance(values[2][0], Condition) and len(values[2]) == 1:
            no, yes, (condition,) = values
            if any(self._follows(-each - 1) for each in condition.false):
                return yes
            if any(self._follows(-each - 1) for each in condition.true):
                return no
        result = self._any(type)
        if name in ("min", "max") and len(result) == 1 and isinstance(result[0], Polynomial):
            for (value,) in values:
                self._facts.append((value - result[0]) * (1 if name == "min" else -1))
        return result

    # --- Operators --------------------------------------------------------------------------------------------

    def _binary(self, operator: str, operands: Type, left: Value, right: Value, type: Type | None = None) -> Value:
        result = self._any(type or operands)
        wide = len(result)
        pairs = zip(left * (wide // len(left)), right * (wide // len(right)), result, strict=True)
        return tuple(self._operator(operator, *each) for each in pairs)

    def _operator(self, operator: str, a: Leaf, b: Leaf, unknown: Leaf) -> Leaf:
        if isinstance(a, Condition) and isinstance(b, Condition):
            return {"&": a & b, "|": a | b}.get(operator, unknown)
        if not (isinstance(a, Polynomial) and isinstance(b, Polynomial)):
            return unknown
        compute = OPERATORS.get(operator)
        return compute(self, a, b) if compute else unknown

    def _wrapped(self, exact: Polynomial) -> Polynomial:
        """A result modulo 2^32: the exact one, where it is shown to be in range."""
        if self._follows(exact) and self._follows(-exact + MOST):
            return exact
        return self._unknown(("wrapped", exact))

    def _divided(self, a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder."""
        if b.constant == 1 or (a == b and self._follows(b - 1)):
            return (a, b * 0) if b.constant == 1 else (b * 0 + 1, b * 0)
        quotient, rest = self._unknown(("/", a, b)), self._unknown(("%", a, b))
        if self._follows(b - 1):
            exact = a - quotient * b - rest
            self._facts += [each for each in (exact, -exact, b - 1 - rest) if each not in self._facts]
            self._bound(quotient, a, b)
        else:  # by 0, the quotient is a, and the rest 0
            self._facts += [a - quotient, a - rest]
        return quotient, rest

    def _bound(self, quotient: Polynomial, a: Polynomial, b: Polynomial) -> None:
        """Where a < c*b is known, the quotient is below c."""
        if len(b.terms) != 1:
            return
        ((by, factor),) = b.terms
        for fact in list(self._facts):
            limit = fact + a + 1
            parts = [(divided(monomial, by), number) for monomial, number in limit.terms]
            if parts and all(part is not None and number % factor == 0 for part, number in parts):
                below = Polynomial.of({part: number // factor for part, number in parts}) - 1 - quotient
                if below not in self._facts and self._follows(below):
                    self._facts.append(below)


def _less(a: Polynomial, b: Polynomial) -> Condition:
    return Condition((b - a - 1,), (a - b,))


def _equal(a: Polynomial, b: Polynomial) -> Condition:
    return Condition((a - b, b - a), (a - 1,) if b.constant == 0 else ())


OPERATORS: dict[str, Callable[[Symbolic, Polynomial, Polynomial], Leaf]] = {
    "+": lambda run, a, b: run._wrapped(a + b),
    "-": lambda run, a, b: run._wrapped(a - b),
    "*": lambda run, a, b: run._wrapped(a * b),
    "/": lambda run, a, b: run._divided(a, b)[0],
    "%": lambda run, a, b: run._divided(a, b)[1],
    "<": lambda run, a, b: _less(a, b),
    ">": lambda run, a, b: _less(b, a),
    "<=": lambda run, a, b: ~_less(b, a),
    ">=": lambda run, a, b: ~_less(a, b),
    "==": lambda run, a, b: _equal(a, b),
    "!=": lambda run, a, b: ~_equal(a, b),
}


def _constant(value: float | int | bool, scalar: kinds.Scalar) -> Leaf:
    if scalar == U32:
        return Polynomial.number(int(value))
    if scalar == BOOL:
        never = (Polynomial.number(-1),)
        return Condition((), never) if value else Condition(never, ())
    return None


def _zero(scalar: kinds.Scalar) -> Leaf:
    return _constant(0, scalar)


def _root(reference: p.Reference) -> p.Variable | None:
    while isinstance(reference, p.Member | p.Element):
        reference = reference.base
    return reference.variable if isinstance(reference, p.Root) else None


def _leaves(body: Sequence[p.Statement]) -> bool:
    """Whether what follows these statements is never reached from them."""
    match body[-1] if body else None:
        case p.Return() | p.Break() | p.Continue():
            return True
        case p.Block(body=inner):
            return _leaves(inner)
        case p.If(then=then, otherwise=otherwise):
            return _leaves(then) and _leaves(otherwise)
    return False


def _tuple(body: object) -> object:
    return tuple(map(_tuple, body)) if isinstance(body, list | tuple) else body


def _all_nodes(function: p.Function) -> Iterator[object]:
    for node in nodes(function.body):
        yield node
        if isinstance(node, p.Call):
            yield from _all_nodes(node.function)
