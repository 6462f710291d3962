"""Symbolic execution: a program is run once for all sizes and all invocations; values are polynomials, not numbers.

What holds on the way to a statement is a list of facts. A variable that a loop or a branch changes has an unknown value
afterwards; a loop's body runs once, with such values and the loop's condition. So the runs that are looked at include
all real ones, and perhaps some that cannot happen: what is proven holds, and what is not proven may hold, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.simulator.proof.knowledge import Condition, Knowledge, Leaf, Value
from helpers.simulator.proof.polynomial import Polynomial
from helpers.simulator.types import kinds
from helpers.simulator.types import program as p
from helpers.simulator.types.kinds import BOOL, U32, Struct, Type
from helpers.simulator.types.usage import Usage, nodes


@dataclass(frozen=True)
class Access:
    """One index at one place of the text: whether it was shown to lie below `length`."""

    variable: p.Variable
    at: int
    proven: bool


class Symbolic(Knowledge):
    """One run. `accesses` grows by one entry for each index of each array, and function call."""

    def __init__(self, program: p.Program, known: dict[str, Polynomial], facts: Sequence[Polynomial]) -> None:
        super().__init__(known, facts)
        self.accesses: list[Access] = []
        self._variables: dict[p.Variable, Value] = {}
        self._names: dict[p.Binding, Value] = {}
        self._returned: Value = ()
        bodies = [node for function in Usage(program.entry).functions for node in nodes(function.body)]
        self._pointed = {_root(node.reference) for node in bodies if isinstance(node, p.AddressOf)}
        for binding, inputs in zip(program.entry.parameters, program.inputs, strict=True):
            leaves = [scalar for _, scalar in kinds.leaves(binding.type)]
            names = inputs if len(inputs) == len(leaves) else [f"{each}.{c}" for each in inputs for c in "xyz"]
            self._names[binding] = (
                tuple(map(self._named, names)) if len(names) == len(leaves) else self._any(binding.type)
            )
        self._run(program.entry.body)

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
                self._forget([case.body for case in cases])  # a `break` leaves only the switch
            case p.Loop():
                self._loop(statement)
            case p.Return(value=value) if value is not None:
                self._returned = self._value(value)

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
        held = dict(zip((at for at, _ in kinds.leaves(variable.type)), map(self._latest, value), strict=False))
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
            if isinstance(reference.index, p.Constant) and index is None:  # an i32
                index = Polynomial.number(int(reference.index.leaves[0]))
            length = self._length(reference)
            proven = isinstance(index, Polynomial) and length is not None and self._below(self._latest(index), length)
            self.accesses.append(Access(_root(reference), reference.at, proven))

    def _length(self, element: p.Element) -> Polynomial | None:
        if element.count is not None:
            return Polynomial.number(element.count)
        variable = _root(element)
        return self._named(f"length of {variable.name}") if variable else None

    def _below(self, index: Polynomial, length: Polynomial) -> bool:
        return self._follows(index) and self._follows(length - 1 - index)

    # --- Values -----------------------------------------------------------------------------------------------

    def _condition(self, expression: p.Expression) -> Condition:
        (leaf,) = self._value(expression)
        return leaf

    def _value(self, e: p.Expression) -> Value:
        match e:
            case p.Constant(leaves=leaves):
                return tuple(
                    _constant(leaf, scalar) for leaf, (_, scalar) in zip(leaves, kinds.leaves(e.type), strict=True)
                )
            case p.Load(reference=reference):
                return self._load(reference)
            case p.Named(binding=binding):
                return tuple(map(self._latest, self._names[binding]))
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
        return self._returned if len(returns) == 1 and returns[0].value else self._any(call.type)

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
