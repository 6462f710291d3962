"""The values and conditions in some statements that depend on others, whatever the order of the statements is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from wgsl.types.program import (
    Bind,
    Binding,
    Block,
    Declare,
    Deref,
    Expression,
    If,
    Loop,
    Named,
    Reference,
    Root,
    Statement,
    Store,
    Switch,
    Update,
    Variable,
)
from wgsl.types.usage import nodes

Name = Variable | Binding
Conditions = tuple[Expression, ...]


class Dependence:
    """Names that depend on parts that are sources, and through them values and conditions.

    A name depends on a source where one of its values does, or a condition around the statement that gives it; names
    that are `apart` do not.
    """

    def __init__(
        self, body: Sequence[Statement], is_source: Callable[[object], bool], apart: Set[Name] = frozenset()
    ) -> None:
        self._is_source = is_source
        self.names: set[Name] = set()
        given = [(name, (value, conditions)) for name, value, conditions in assignments(body) if name not in apart]
        grown = True
        while grown:
            new = {name for name, parts in given if name not in self.names and self.reaches(parts)}
            self.names |= new
            grown = bool(new)

    def reaches(self, part: object) -> bool:
        """Return True where a part, or what is inside it, depends on a source."""
        return any(self._is_source(node) or meant(node) in self.names for node in nodes(part))


def meant(node: object) -> Name | None:
    """Return the variable or the value that a node names; None for any other node."""
    match node:
        case Root(variable=variable):
            return variable
        case Named(binding=binding):
            return binding
    return None


def target(reference: Reference) -> Name | None:
    """Return the variable of which a reference is a part, or the pointer that leads to it."""
    while not isinstance(reference, Root | Deref):
        reference = reference.base
    return meant(reference if isinstance(reference, Root) else reference.pointer)


def guarded(statements: Sequence[Statement], around: Conditions = ()) -> Iterator[tuple[Statement, Conditions]]:
    """Yield all statements, with those inside others, and the conditions around each."""
    for statement in statements:
        yield statement, around
        match statement:
            case Block(body=body):
                yield from guarded(body, around)
            case If(condition=condition, then=then, otherwise=otherwise):
                yield from guarded(then + otherwise, (*around, condition))
            case Switch(selector=selector, cases=cases):
                for case in cases:
                    yield from guarded(case.body, (*around, selector))
            case Loop(condition=condition, body=body, continuing=continuing):
                yield from guarded(body + continuing, around if condition is None else (*around, condition))


def assignments(statements: Sequence[Statement]) -> Iterator[tuple[Name, Expression | None, Conditions]]:
    """Yield each name that gets a value, the value, and the conditions around it."""
    for statement, around in guarded(statements):
        match statement:
            case Bind(binding=binding, value=value):
                yield binding, value, around
            case Declare(variable=variable, value=value):
                yield variable, value, around
            case Store(reference=reference, value=value) | Update(reference=reference, value=value):
                yield target(reference), value, around
