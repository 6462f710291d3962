"""The places of a program that may be changed, and the program with one of them changed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from wgsl.syntax.tree import children
from wgsl.types import program as ir

Node = ir.Part | ir.Statement | ir.Case
NODES = (ir.Part, ir.Statement, ir.Case)
Visible = frozenset[ir.Meaning]  # the names of a function that are known at a place


@dataclass(frozen=True, eq=False)
class Site:
    """A part of a function: what is around it, the outermost first, and the names that are visible there.

    `statement` is the innermost one that it is in, or the part itself.
    """

    part: Node
    around: tuple[Node, ...]
    visible: Visible
    statement: ir.Statement
    function: ir.Function

    @cached_property
    def above(self) -> frozenset[int]:
        """The ids of what is around it."""
        return frozenset(map(id, self.around))


def sites(entry: ir.Function) -> list[Site]:
    """Return the parts of a function's body, in their order, and then of those that it calls.

    A part that stands in two places is left out.
    """
    functions = [entry]
    found: list[Site] = []
    for function in functions:
        walk = _Walk(function)
        walk.body(function.body, frozenset(function.parameters), ())
        found += walk.sites
        called = (site.part.function for site in walk.sites if isinstance(site.part, ir.Call))
        functions += [other for other in dict.fromkeys(called) if other not in functions]
    seen = Counter(id(site.part) for site in found)
    return [site for site in found if seen[id(site.part)] == 1]


class _Walk:
    """Collects the sites of a function."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.sites: list[Site] = []

    def body(self, statements: tuple[ir.Statement, ...], visible: Visible, around: tuple[Node, ...]) -> None:
        """Collect what is in a list of statements, each of which sees what those before it declare."""
        for statement in statements:
            self.visit(statement, visible, around, statement)
            visible |= {declared} if (declared := declares(statement)) else set()

    def visit(self, part: Node, visible: Visible, around: tuple[Node, ...], statement: ir.Statement) -> None:
        """Collect a part and what is in it."""
        self.sites.append(Site(part, around, visible, statement, self.function))
        inside = (*around, part)
        for name in part.__slots__:
            field = getattr(part, name)
            if isinstance(field, tuple) and field and isinstance(field[0], ir.Statement):
                self.body(field, visible, inside)
                continue
            for child in field if isinstance(field, tuple) else (field,):
                if isinstance(child, NODES):
                    self.visit(child, visible, inside, statement)


def declares(statement: ir.Statement) -> ir.Meaning | None:
    """Return the name that a statement declares, if it does."""
    if isinstance(statement, ir.Bind):
        return statement.binding
    return statement.variable if isinstance(statement, ir.Declare) else None


def names_in(part: Node) -> Iterator[ir.Meaning]:
    """Yield the names that are used in a part."""
    if isinstance(part, ir.Named):
        yield part.binding
    elif isinstance(part, ir.Root):
        yield part.variable
    for child in children(part, NODES):
        yield from names_in(child)


def changed(part: object, new: Mapping[int, object], above: frozenset[int]) -> object:
    """Return a part, or some in a tuple, with those in `new`, by their ids, replaced; `above` are all around them.

    A statement may be replaced by several, or by none, in a tuple.
    """
    if isinstance(part, tuple):
        parts = []
        for child in part:
            other = changed(child, new, above)
            parts += other if isinstance(other, tuple) else [other]
        return tuple(parts)
    if id(part) in new:
        return new[id(part)]
    if id(part) not in above:
        return part
    fields = {}
    for name in part.__slots__:
        field = getattr(part, name)
        if isinstance(field, tuple | ir.Part | ir.Statement):
            fields[name] = changed(field, new, above)
    return replace(part, **fields)


def is_scoped(function: ir.Function, body: tuple[ir.Statement, ...]) -> bool:
    """Return whether each name of a body is declared before it is used, as the language wants it."""
    walk = _Walk(function)
    walk.body(body, frozenset(function.parameters), ())
    for site in walk.sites:
        name = getattr(site.part, "binding", None) or getattr(site.part, "variable", None)
        is_local = isinstance(name, ir.Binding) or getattr(name, "space", "") == "function"
        if isinstance(site.part, ir.Named | ir.Root) and is_local and name not in site.visible:
            return False
    return True
