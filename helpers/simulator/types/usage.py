"""Which functions and variables an entry point reaches, and which variables it can store to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from helpers.simulator.types.program import (
    AddressOf,
    AtomicCall,
    Bind,
    Binding,
    Call,
    Case,
    Constant,
    Deref,
    Expression,
    Function,
    If,
    Named,
    Part,
    Reference,
    Root,
    Statement,
    Store,
    Update,
    Variable,
)


def nodes(part: object, live: bool = False) -> Iterator[object]:
    """A statement or expression and all that is inside it; where `live`, without branches that no run can take."""
    if isinstance(part, tuple):
        for each in part:
            yield from nodes(each, live)
    elif live and isinstance(part, If) and isinstance(part.condition, Constant):
        yield from nodes(part.then if part.condition.leaves[0] else part.otherwise, live)
    elif isinstance(part, Part | Statement | Case):
        yield part
        for field in fields(part):
            if field.name not in ("type", "at", "end"):
                yield from nodes(getattr(part, field.name), live)


class Usage:
    """What an entry point and the functions that it calls use."""

    def __init__(self, entry: Function) -> None:
        self.functions: list[Function] = []
        self.variables: set[Variable] = set()
        self.written: set[Variable] = set()
        self._bound: dict[Binding, set[Variable]] = {}
        self._reach(entry)
        self._follow()

    def _reach(self, function: Function) -> None:
        if function in self.functions:
            return
        self.functions.append(function)
        for node in nodes(function.body):
            if isinstance(node, Root):
                self.variables.add(node.variable)
            elif isinstance(node, Call):
                self._reach(node.function)

    def _follow(self) -> None:
        """Where the pointers lead that names hold, until nothing new is found; then what is stored through them."""
        all_nodes = [node for function in self.functions for node in nodes(function.body)]
        given = list(_given(all_nodes))
        while any(self._learn(binding, value) for binding, value in given):
            pass
        for node in nodes(tuple(function.body for function in self.functions), live=True):
            match node:
                case Store(reference=reference) | Update(reference=reference):
                    self.written |= self._roots(reference)
                case AtomicCall(name="atomicStore", reference=reference):
                    self.written |= self._roots(reference)

    def _learn(self, binding: Binding, value: Expression) -> bool:
        known = self._bound.setdefault(binding, set())
        new = self._targets(value) - known
        known |= new
        return bool(new)

    def _targets(self, pointer: Expression) -> set[Variable]:
        match pointer:
            case AddressOf(reference=reference):
                return self._roots(reference)
            case Named(binding=binding):
                return self._bound.get(binding, set())
        return set()

    def _roots(self, reference: Reference) -> set[Variable]:
        match reference:
            case Root(variable=variable):
                return {variable}
            case Deref(pointer=pointer):
                return self._targets(pointer)
        return self._roots(reference.base)


def _given(all_nodes: list[object]) -> Iterator[tuple[Binding, Expression]]:
    """The names that hold pointers, each with a value that it gets."""
    for node in all_nodes:
        match node:
            case Bind(binding=binding, value=value):
                yield binding, value
            case Call(function=function, arguments=arguments):
                yield from zip(function.parameters, arguments, strict=True)
