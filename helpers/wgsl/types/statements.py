"""Statements: scopes, declarations, stores, loops and what may stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from helpers.wgsl.diagnostics import Refused
from helpers.wgsl.syntax import tree
from helpers.wgsl.types import expressions, program
from helpers.wgsl.types.calls import BARRIERS
from helpers.wgsl.types.conversions import concrete, converted, refused, scalar_of
from helpers.wgsl.types.expressions import type_of, value, view
from helpers.wgsl.types.kinds import BOOL, I32, U32, Pointer, Scalar, Type, is_constructible
from helpers.wgsl.types.names import Known, Routine, Scope, Stage
from helpers.wgsl.types.operators import assigned_operator
from helpers.wgsl.types.program import Binding, Constant, Expression, Part, Reference, Statement, Variable
from helpers.wgsl.types.references import check_writable
from helpers.wgsl.types.usage import AGAIN, ends, nodes

# --- Statements ---


@dataclass(frozen=True, slots=True)
class Place:
    """What the statements around one allow: the function's result type, `break`, `continue`, and `return`."""

    result: Type | None
    breaks: bool = False
    continues: bool = False
    returns: bool = True


def block(body: Sequence[tree.Statement], scope: Scope, place: Place) -> tuple[Statement, ...]:
    """The statements of a block, in a scope of their own."""
    return statements(body, scope.inner(), place)


def statements(body: Sequence[tree.Statement], scope: Scope, place: Place) -> tuple[Statement, ...]:
    """Statements that share a scope; those that only give a name to a constant leave nothing."""
    made = (statement(each, scope, place) for each in body)
    return tuple(each for each in made if each is not None)


def statement(node: tree.Statement, scope: Scope, place: Place) -> Statement | None:
    """One statement."""
    match node:
        case tree.Declaration():
            return declare(node, scope)
        case tree.ConstAssert():
            return check_assertion(node, scope)
        case tree.Assignment():
            return _assign(node, scope)
        case tree.Increment():
            return _increment(node, scope)
        case tree.CallStatement():
            return _call(node, scope)
        case tree.Block(body=body):
            return program.Block(node.at, node.end, block(body, scope, place))
        case tree.If():
            return _if(node, scope, place)
        case tree.Switch():
            return _switch(node, scope, place)
        case tree.For() | tree.While() | tree.Loop():
            return _LOOPS[type(node)](node, scope, place)
    return _jump(node, scope, place)


# --- Stores and calls -----------------------------------------------------------------------------------------


def _assign(node: tree.Assignment, scope: Scope) -> Statement:
    if node.target is None:
        return program.Evaluate(node.at, node.end, concrete(value(node.value, scope)))
    target = _target(node.target, scope)
    given = value(node.value, scope)
    check_writable(target)
    operator = node.operator.removesuffix("=")
    if operator:
        fitting = assigned_operator(operator, target.type, given, Part(None, target.at, target.end))
        return program.Update(node.at, node.end, target, operator, fitting)
    fitting = converted(given, target.type)
    if fitting is None:
        raise _misfit(given, target)
    return program.Store(node.at, node.end, target, fitting)


def _misfit(given: Expression, target: Reference) -> Refused:
    if scalar_of(target.type) and scalar_of(given.type) and target.type != given.type:
        reason = f"automatic conversions cannot convert elements of `{given.type}` to `{target.type}`"
        return refused(reason, target, f"a value with elements of type {target.type} is required here")
    return refused("The type of [0] doesn't match the type stored in [1]", target)


def _target(node: tree.Expression, scope: Scope) -> Reference:
    target = view(node, scope)
    if isinstance(target, Reference):
        return target
    raise refused("invalid left-hand side of assignment", target, "cannot assign to this expression")


def _increment(node: tree.Increment, scope: Scope) -> Statement:
    target = view(node.target, scope)
    if not isinstance(target, Reference) or target.type not in (I32, U32):
        reason = "increment/decrement operation requires reference type to be one of i32 or u32"
        raise refused(reason, target, "must be a reference type of i32 or u32")
    check_writable(target)
    one = Constant(target.type, node.at, node.end, (1,))
    return program.Update(node.at, node.end, target, node.operator[0], one)


def _call(node: tree.CallStatement, scope: Scope) -> Statement:
    callee = node.call.callee
    found = scope.find(callee.name)
    if found is None and callee.name in BARRIERS:
        if node.call.arguments:
            raise Refused(f"too many arguments passed to `{callee.name}`", callee.at, len(callee.name))
        return program.Barrier(node.at, node.end, callee.name)
    made = expressions.call(node.call, scope)
    unused = isinstance(made, program.AtomicCall) or (isinstance(made, program.Call) and not _must_use(found))
    if not unused:
        reason = "unused return value from function annotated with @must_use"
        raise Refused(reason, callee.at, len(callee.name))
    return program.Evaluate(node.at, node.end, made)


def _must_use(found: object) -> bool:
    return isinstance(found, Routine) and found.must_use


# --- Branches -------------------------------------------------------------------------------------------------


def condition(node: tree.Expression, scope: Scope) -> Expression:
    """What `if` and the loops ask."""
    asked = value(node, scope)
    if asked.type != BOOL:
        raise refused("The `if` condition [0] is not a boolean scalar", asked)
    return asked


def _if(node: tree.If, scope: Scope, place: Place) -> Statement:
    asked, then = condition(node.condition, scope), block(node.then.body, scope, place)
    match node.otherwise:
        case tree.If():
            otherwise = (_if(node.otherwise, scope, place),)
        case tree.Block(body=body):
            otherwise = block(body, scope, place)
        case _:
            otherwise = ()
    return program.If(node.at, node.end, asked, then, otherwise)


def _switch(node: tree.Switch, scope: Scope, place: Place) -> Statement:
    selector = value(node.selector, scope)
    chosen = [[each and constant(each, scope) for each in case.selectors] for case in node.cases]
    selector, chosen = _selectors(selector, chosen)
    inner = replace(place, breaks=True)
    cases = [
        program.Case(
            tuple(each.leaves[0] for each in values if each), None in values, block(case.body.body, scope, inner)
        )
        for values, case in zip(chosen, node.cases, strict=True)
    ]
    _check_cases(node, chosen)
    return program.Switch(node.at, node.end, selector, tuple(cases))


Selectors = list[list[Constant | None]]


def _selectors(selector: Expression, chosen: Selectors) -> tuple[Expression, Selectors]:
    """The selector and the values of the clauses, all as i32 or all as u32."""
    listed = [selector, *(each for values in chosen for each in values if each)]
    wanted = next((each.type for each in listed if each.type in (I32, U32)), I32)
    for each in listed:
        if converted(each, wanted) is None:
            whole = isinstance(each.type, Scalar) and each.type in (I32, U32)
            words = "the values of the cases must be of the selector's type" if whole else "a switch needs a u32 or i32"
            raise refused(words, each, f"this has type {each.type}")
    values = [[each and converted(each, wanted) for each in values] for values in chosen]
    return converted(selector, wanted), values


def _check_cases(node: tree.Switch, chosen: Selectors) -> None:
    """One default, and no value twice."""
    seen = set()
    for values, case in zip(chosen, node.cases, strict=True):
        for each in values:
            number = each.leaves[0] if each else None
            if number in seen:
                what = "default" if number is None else f"case {number}"
                place = each or case
                raise Refused(f"the switch has `{what}` twice", place.at, max(1, min(place.end - place.at, 20)))
            seen.add(number)
    if None not in seen:
        raise Refused("The `switch` is missing a `default` case", node.at, len("switch"))


# --- Loops ----------------------------------------------------------------------------------------------------


def _for(node: tree.For, scope: Scope, place: Place) -> Statement:
    scope = scope.inner()
    first = statement(node.first, scope, place) if node.first else None
    asked = condition(node.condition, scope) if node.condition else None
    update = statement(node.update, scope, place) if node.update else None
    body = block(node.body.body, scope, replace(place, breaks=True, continues=True))
    loop = _left(program.Loop(node.at, node.end, asked, body, (update,) if update else (), None), "for")
    return program.Block(node.at, node.end, (first, loop)) if first else loop


def _while(node: tree.While, scope: Scope, place: Place) -> Statement:
    asked = condition(node.condition, scope)
    body = block(node.body.body, scope, replace(place, breaks=True, continues=True))
    return program.Loop(node.at, node.end, asked, body, (), None)


def _loop(node: tree.Loop, scope: Scope, place: Place) -> Statement:
    scope = scope.inner()
    body = statements(node.body.body, scope, replace(place, breaks=True, continues=True))
    scope, inside = scope.inner(), replace(place, breaks=False, continues=False, returns=False)
    continuing = statements(node.continuing.body, scope, inside) if node.continuing else ()
    break_if = condition(node.break_if, scope) if node.break_if else None
    _check_skipped(body, (*continuing, break_if))
    return _left(program.Loop(node.at, node.end, None, body, continuing, break_if), "loop")


def _left(loop: program.Loop, word: str) -> program.Loop:
    """The loop. Refuse one that nothing can leave, which WGSL's behavior analysis finds and browsers report."""
    if not ends((loop,)):
        reason = f"this `{word}` has no exit: it needs a condition, a `break`, a `break if` or a `return`"
        raise Refused(reason, loop.at, len(word), "can never be left")
    return loop


def _check_skipped(body: tuple[Statement, ...], after: tuple) -> None:
    """Refuse a name in `continuing` whose declaration a `continue` above it leaps over."""
    skipped, leaps = set(), False
    for each in body:
        if leaps and isinstance(each, program.Bind | program.Declare):
            skipped.add(each.binding if isinstance(each, program.Bind) else each.variable)
        leaps = leaps or AGAIN in ends((each,))
    for node in nodes(after):
        used = getattr(node, "variable", None) or getattr(node, "binding", None)
        if used in skipped and isinstance(node, Part):
            raise refused(f"a `continue` can leap over the declaration of `{used.name}`", node)


_LOOPS = {tree.For: _for, tree.While: _while, tree.Loop: _loop}


def _jump(node: tree.Break | tree.Continue | tree.Return, scope: Scope, place: Place) -> Statement:
    match node:
        case tree.Break() if place.breaks:
            return program.Break(node.at, node.end)
        case tree.Break():
            words = "The `break` is used outside of a `loop` or `switch` context"
            raise Refused(words, node.at, node.end - node.at, "invalid break")
        case tree.Continue() if place.continues:
            return program.Continue(node.at, node.end)
        case tree.Continue():
            words = "The `continue` is used outside of a `loop` context"
            raise Refused(words, node.at, node.end - node.at, "invalid continue")
    return _return(node, scope, place)


def _return(node: tree.Return, scope: Scope, place: Place) -> Statement:
    if not place.returns:
        raise Refused("`return` cannot stand in a `continuing` block", node.at, node.end - node.at)
    given = value(node.value, scope) if node.value else None
    fitting = converted(given, place.result) if given and place.result else None
    if (given is None) != (place.result is None) or (given and fitting is None):
        at = given or node
        wanted, found = ("None" if each is None else f"Some({each})" for each in (place.result, given and given.type))
        reason = f"The `return` expression {found} does not match the declared return type {wanted}"
        raise Refused(reason, at.at, at.end - at.at)
    return program.Return(node.at, node.end, fitting)


# --- let, var and const ---


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
