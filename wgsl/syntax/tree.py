"""The syntax tree of a WGSL module. `at` and `end` are offsets in the text: a node is ``text[at:end]``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wgsl.diagnostics import Limited
from wgsl.syntax.tokens import Word

# Nothing changes a node. With frozen=True, Python would see to that, and a check would take 5 % longer.
frozen = dataclass(slots=True, unsafe_hash=True)  # what every node is


@frozen
class Node:
    """Anything that stands in the text."""

    at: int
    end: int


# --- Expressions. A type is written as a name, too: `array<f32, 4>` is a Name with two arguments. -----------------


@frozen
class Literal(Node):
    """A number, or `true` or `false`, as it is written."""

    text: str


@frozen
class Name(Node):
    """A name, with the template list in < > that may follow it."""

    name: Word
    arguments: tuple[Expression, ...] = ()


@frozen
class Call(Node):
    """A function or a type, applied to values."""

    callee: Name
    arguments: tuple[Expression, ...]


@frozen
class Index(Node):
    """``base[index]``."""

    base: Expression
    index: Expression


@frozen
class Member(Node):
    """``base.name``."""

    base: Expression
    name: Word


@frozen
class Unary(Node):
    """One of ``- ! ~ & *`` before an operand."""

    operator: str
    operand: Expression


@frozen
class Binary(Node):
    """An operator between two operands."""

    operator: str
    left: Expression
    right: Expression


Expression = Literal | Name | Call | Index | Member | Unary | Binary

# --- Statements ---------------------------------------------------------------------------------------------------


@frozen
class Declaration(Node):
    """`let`, `var`, `const` or `override`; in a function, or at the level of the module.

    `templates` are the names in ``var<storage, read>``.
    """

    kind: str
    templates: tuple[Expression, ...]
    name: Word
    type: Name | None
    value: Expression | None
    attributes: tuple[Attribute, ...] = ()


@frozen
class Assignment(Node):
    """``target = value``, ``target += value``, ...; the target of ``_ = value`` is None."""

    target: Expression | None
    operator: str
    value: Expression


@frozen
class Increment(Node):
    """``target++`` or ``target--``."""

    target: Expression
    operator: str


@frozen
class CallStatement(Node):
    """A call whose value, if it has one, is not used."""

    call: Call


@frozen
class Block(Node):
    """Statements in braces."""

    body: tuple[Statement, ...]


@frozen
class If(Node):
    """`otherwise` is a Block, another If (``else if``), or None."""

    condition: Expression
    then: Block
    otherwise: Block | If | None


@frozen
class Case(Node):
    """A clause of a switch: the selectors, None among them for `default`."""

    selectors: tuple[Expression | None, ...]
    body: Block


@frozen
class Switch(Node):
    """A switch with its clauses."""

    selector: Expression
    cases: tuple[Case, ...]


@frozen
class For(Node):
    """``for (first; condition; update)``; each of the three may be missing."""

    first: Statement | None
    condition: Expression | None
    update: Statement | None
    body: Block


@frozen
class While(Node):
    """``while condition``."""

    condition: Expression
    body: Block


@frozen
class Loop(Node):
    """``loop { ... continuing { ... break if condition; } }``."""

    body: Block
    continuing: Block | None
    break_if: Expression | None


@frozen
class Break(Node):
    """``break``."""


@frozen
class Continue(Node):
    """``continue``."""


@frozen
class Discard(Node):
    """``discard``."""


@frozen
class Return(Node):
    """``return``, with a value or without."""

    value: Expression | None


@frozen
class ConstAssert(Node):
    """``const_assert condition``, in a function or at the level of the module."""

    condition: Expression


Statement = (
    Declaration | Assignment | Increment | CallStatement | Block | If | Switch | For | While | Loop
    | Break | Continue | Discard | Return | ConstAssert
)  # fmt: skip

# --- The module ---------------------------------------------------------------------------------------------------


@frozen
class Attribute(Node):
    """``@name(arguments)``."""

    name: Word
    arguments: tuple[Expression, ...] = ()


@frozen
class Parameter(Node):
    """A parameter of a function, or a member of a struct."""

    name: Word
    type: Name
    attributes: tuple[Attribute, ...] = ()


@frozen
class Result(Node):
    """The result of a function: its type, and the attributes before it."""

    type: Name
    attributes: tuple[Attribute, ...] = ()


@frozen
class Function(Node):
    """A function; `name.at` is where its name stands."""

    name: Word
    parameters: tuple[Parameter, ...]
    result: Result | None
    body: Block
    attributes: tuple[Attribute, ...] = ()


@frozen
class Struct(Node):
    """A struct with its members."""

    name: Word
    members: tuple[Parameter, ...]


@frozen
class Alias(Node):
    """``alias name = type``."""

    name: Word
    type: Name


@frozen
class Module:
    """A whole text, in its order.

    `enabled` are the extensions of WGSL that it uses; `passed` are the places at which it goes past what every compiler
    takes.
    """

    declarations: tuple[Declaration | Function | Struct | Alias | ConstAssert, ...]
    enabled: tuple[Word, ...] = ()
    passed: tuple[Limited, ...] = ()


def attribute(node: object, name: str) -> Attribute | None:
    """A node's attribute of this name."""
    attributes = getattr(node, "attributes", ())
    return next((attribute for attribute in attributes if attribute.name == name), None)


def children(node: object, kind: type | tuple[type, ...] = Node) -> list:
    """Return the parts of a node that are of a kind (by default nodes), in the order of its fields."""
    parts = []
    for name in node.__slots__:
        field = getattr(node, name)
        if isinstance(field, tuple):
            parts += [part for part in field if isinstance(part, kind)]
        elif isinstance(field, kind):
            parts.append(field)
    return parts


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]  # a list: a tree may be deeper than Python's stack
    while waiting:
        item = waiting.pop()
        yield item
        waiting += reversed(children(item))
