"""What a function declares: `let`, `var` and `const`."""

from __future__ import annotations

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types import program
from helpers.simulator.types.expressions import type_of, value
from helpers.simulator.types.kinds import BOOL, Pointer, Type
from helpers.simulator.types.overloads import concrete, converted, refused
from helpers.simulator.types.program import Binding, Constant, Expression, Statement, Variable
from helpers.simulator.types.scopes import Known, Scope, Stage
from helpers.simulator.types.type_names import is_constructible


def declare(node: tree.Declaration, scope: Scope) -> Statement | None:
    """A declaration in a function; a `const` leaves no statement."""
    if node.kind == "const":
        scope.declare(node.name, Known(constant_of(node, scope), Stage.CONST), node.name_at)
        return None
    if node.kind == "let":
        return _let(node, scope)
    space = node.templates[0] if node.templates else None
    if space and getattr(space, "name", "") != "function":
        name = getattr(space, "name", "")
        words = f"invalid address space for local variable: `{name}`"
        raise Refused(words, space.at, space.end - space.at, "local variables can only use 'function' address space")
    if node.templates[1:]:
        raise no_access_mode(node.templates[1])
    given = declared_value(node, scope)
    if given is None and node.type is None:
        raise untyped(node)
    type = given.type if given else type_of(node.type, scope)
    if not is_constructible(type):
        raise Refused(f"a local variable cannot be of type `{type}`", node.name_at, len(node.name))
    variable = Variable(node.name, type, "function", "read_write", node.name_at)
    scope.declare(node.name, variable, node.name_at)
    return program.Declare(node.at, node.end, variable, given)


def no_access_mode(at: tree.Node) -> Refused:
    """An access mode, or more, where none belongs."""
    return Refused("only storage takes an access mode, and no more than one", at.at, at.end - at.at)


def untyped(node: tree.Declaration) -> Refused:
    """A declaration that has neither a type nor a value."""
    words = f"declaration of `{node.name}` needs a type specifier or initializer"
    return Refused(words, node.name_at, len(node.name))


def _let(node: tree.Declaration, scope: Scope) -> Statement:
    given = declared_value(node, scope)
    if not isinstance(given.type, Pointer) and not is_constructible(given.type):
        raise Refused(f"a `let` cannot be of type `{given.type}`", node.name_at, len(node.name))
    binding = Binding(node.name, given.type, node.name_at)
    scope.declare(node.name, binding, node.name_at)
    return program.Bind(node.at, node.end, binding, given)


def declared_value(node: tree.Declaration, scope: Scope, keep_abstract: bool = False) -> Expression | None:
    """The value of a declaration, of the type that is written, or of its own one."""
    if node.value is None:
        return None
    given = value(node.value, scope)
    if given.type is None:
        raise refused("function returns no value", given)
    if node.type is None:
        return given if keep_abstract else concrete(given)
    wanted = type_of(node.type, scope)
    return as_declared(node, given, wanted)


def as_declared(node: tree.Declaration, given: Expression, wanted: Type) -> Expression:
    """A value as the type that the declaration writes."""
    fitting = converted(given, wanted)
    if fitting is None:
        words = f"the type of `{node.name}` is expected to be `{wanted}`, but got `{given.type}`"
        raise Refused(words, node.name_at, len(node.name), f"definition of `{node.name}`")
    return fitting


def constant_of(node: tree.Declaration, scope: Scope) -> Constant:
    """The value of a `const`, which may stay an abstract number."""
    found = declared_value(node, scope.known(Stage.CONST), keep_abstract=True)
    return known(found)


def constant(node: tree.Expression, scope: Scope) -> Constant:
    """The value of an expression that must be known with the text."""
    return known(value(node, scope.known(Stage.CONST)))


def known(found: Expression) -> Constant:
    """A value that is known. Raises Refused for one that is not."""
    if isinstance(found, Constant):
        return found
    raise refused("this operation is not supported in a const context", found, "operation not supported here")


def check_assertion(node: tree.ConstAssert, scope: Scope) -> None:
    """``const_assert``, which leaves no statement."""
    asked = constant(node.condition, scope)
    if asked.type != BOOL:
        raise refused("const_assert needs a condition, true or false", asked)
    if not asked.leaves[0]:
        raise Refused("`const_assert` failure", node.at, node.end - node.at, "evaluates to false")
