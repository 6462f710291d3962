"""Statements: scopes, declarations, stores, loops and what may stand in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import chain

from wgsl.diagnostics import Limited, NotWgsl, Span
from wgsl.syntax import tree
from wgsl.types import expressions, program
from wgsl.types.calls import BARRIERS, check_count
from wgsl.types.conversions import concrete, converted
from wgsl.types.expressions import type_of, value, view
from wgsl.types.fragments import Discard
from wgsl.types.kinds import BOOL, I32, U32, Array, Handle, Matrix, Pointer, Type, Vector, is_constructible
from wgsl.types.names import SPACES, Known, Routine, Scope, Stage, space_of
from wgsl.types.noted import note, surpass
from wgsl.types.operators import assigned_operator, binary, misfit
from wgsl.types.program import Binding, Constant, Expression, Part, Reference, Statement, Variable
from wgsl.types.references import check_writable, loaded, pointee
from wgsl.types.usage import AGAIN, ends, nodes


def _located(read: Callable) -> Callable:
    """A function that reads a node in a scope, and notes both in what it refuses."""

    @wraps(read)
    def located(node: tree.Node, scope: Scope) -> object:
        try:
            return read(node, scope)
        except NotWgsl as refused:
            if refused.scope is None:
                refused.scope = scope
                refused.statement = node
            raise

    return located


def block(node: tree.Block, scope: Scope, *jumps: str) -> tuple[Statement, ...]:
    """The statements of a block, in a scope of their own, where these jumps are possible, too."""
    return statements(node, scope.inner(*jumps))


def statements(node: tree.Block, scope: Scope) -> tuple[Statement, ...]:
    """The statements of a block; those that only give a name to a constant leave nothing."""
    made = []
    for child in node.body:  # a loop: a generator would be one more level of Python's stack for each block
        made.append(scope.read(child, statement))
    return tuple([kept for kept in made if kept is not None])


@_located
def statement(node: tree.Statement, scope: Scope) -> Statement | None:
    """One statement."""
    return READERS[type(node)](node, scope)


# --- Declarations -------------------------------------------------------------------------------------------------


def _declare(node: tree.Declaration, scope: Scope) -> Statement | None:
    """A declaration in a function; a `const` leaves no statement."""
    if node.kind == "const":
        scope.declare(Known(node.name, constant_of(node, scope), Stage.CONST))
        return None
    initial = declared_value(node, scope)
    if node.kind == "let":
        if not isinstance(initial.type, Pointer | Handle) and not is_constructible(initial.type):
            raise NotWgsl("type of a let", node.name, type=initial.type)
        made = program.Bind(node, Binding(node.name, initial.type), initial)
        scope.declare(made.binding)
        return made
    if node.templates and (space := space_of(node.templates, SPACES, scope)[0]) != "function":
        raise NotWgsl("space of a local variable", node.templates[0], space=space)
    type = initial.type if initial else written_type(node, scope)
    if not is_constructible(type):
        raise NotWgsl("type of a local variable", node.name, type=type)
    variable = Variable(node.name, type, "function", "read_write")
    scope.declare(variable)
    return program.Declare(node, variable, initial)


MOST_CHOICES = 16_383  # of a switch that browsers take


def written_type(node: tree.Declaration, scope: Scope, late: bool = False) -> Type:
    """The type that a declaration without a value writes."""
    if node.type is None:
        raise NotWgsl("type or value", node.name, name=node.name)
    return type_of(node.type, scope, late)


def declared_value(node: tree.Declaration, scope: Scope, keep_abstract: bool = False) -> Expression | None:
    """The value of a declaration, converted to the type that is written, if there is one."""
    if node.value is None:
        return None
    initial = value(node.value, scope)
    if node.type is None:
        return initial if keep_abstract else concrete(initial)
    wanted = type_of(node.type, scope)
    fitting = converted(initial, wanted)
    if fitting is None:
        raise NotWgsl("declared", node.name, node=node, value=initial, wanted=wanted)
    return fitting


def constant_of(node: tree.Declaration, scope: Scope) -> Constant:
    """The value of a `const`, which may stay an abstract number."""
    try:
        return known(declared_value(node, scope.known(Stage.CONST), keep_abstract=True))
    except NotWgsl as refused:
        if refused.kind == "too_late" and not refused.facts:
            raise NotWgsl("too_late", node.name, node=node) from None
        raise


def constant(node: tree.Expression, scope: Scope) -> Constant:
    """The value of an expression that must be known with the text."""
    return known(value(node, scope.known(Stage.CONST)))


def known(expression: Expression) -> Constant:
    """A value that is known. Raises NotWgsl for one that is not."""
    if isinstance(expression, Constant):
        return expression
    raise expressions.too_late(expression)


def check_assertion(node: tree.ConstAssert, scope: Scope) -> None:
    """``const_assert``, which leaves no statement."""
    test = constant(node.condition, scope)
    if test.type != BOOL:
        raise NotWgsl("const_assert", test)
    if not test.leaves[0]:
        raise NotWgsl("false const_assert", node)


# --- Stores and calls ---------------------------------------------------------------------------------------------


def _assign(node: tree.Assignment, scope: Scope) -> Statement:
    if node.target is None:
        ignored = value(node.value, scope)
        return None if isinstance(ignored, Constant) else program.Evaluate(node, concrete(ignored))
    if swizzled := _swizzled(node, scope):
        return swizzled
    target = _target(node.target, scope, "=")
    if isinstance(target.type, Array) and target.type.late is not None:
        raise Limited("array of an override", target)
    assigned = value(node.value, scope)
    check_writable(target)
    operator = node.operator.removesuffix("=")
    if operator == "*" and isinstance(assigned.type, Matrix):  # of the product each number depends on several
        assigned = binary(operator, loaded(target), assigned, node.value)
        operator = ""
    if operator:
        return program.Update(node, target, operator, assigned_operator(operator, target, assigned))
    fitting = converted(assigned, target.type)
    if fitting is None:
        raise misfit(assigned, target)
    return program.Store(node, target, fitting)


def _swizzled(node: tree.Assignment, scope: Scope) -> Statement | None:
    """An assignment to several components, as ``v.xy = value``, of which only its place and its value are kept."""
    member = node.target
    base = None
    if not _has_letters(member):  # which nearly all have not
        return None
    while isinstance(member, tree.Member | tree.Index) and not isinstance(base, Reference):
        base = pointee(view(member.base, scope))
        member, name = member.base, getattr(member, "name", "")
    if not isinstance(base, Reference) or not isinstance(base.type, Vector) or len(name) < 2:
        return None
    target = view(node.target, scope)
    if len(set(name)) < len(name):
        raise NotWgsl("component twice", name, name=name)
    check_writable(base)
    assigned = value(node.value, scope)
    operator = node.operator.removesuffix("=")
    fitting = assigned_operator(operator, target, assigned) if operator else converted(assigned, target.type)
    if fitting is None:
        raise misfit(assigned, target)
    surpass("swizzle assignment", node.target)
    return program.Store(node, program.Member(base.type.element, node.target, base, 0), fitting)


def _has_letters(target: tree.Expression) -> bool:
    """Return True for a target with a member whose name is several letters of components."""
    while isinstance(target, tree.Member | tree.Index):
        name = getattr(target, "name", "")
        if len(name) > 1 and set(name) <= set("xyzwrgba"):
            return True
        target = target.base
    return False


def _target(node: tree.Expression, scope: Scope, sign: str) -> Reference:
    target = view(node, scope)
    if isinstance(target, Reference):
        return target
    raise NotWgsl("constant", target, target=target, sign=sign)


def _increment(node: tree.Increment, scope: Scope) -> Statement:
    target = _target(node.target, scope, node.operator)
    if target.type not in (I32, U32):
        raise NotWgsl("counted", target, target=target, sign=node.operator)
    check_writable(target)
    return program.Update(node, target, node.operator[0], Constant(target.type, node, (1,)))


def _call(node: tree.CallStatement, scope: Scope) -> Statement:
    name = node.call.callee.name
    meaning = scope.find(name)
    if meaning is None and name in BARRIERS:
        check_count(name, 0, node.call.arguments)
        return program.Barrier(node, str(name))
    made = expressions.call(node.call, scope)
    must_use = isinstance(meaning, Routine) and meaning.must_use
    used = made.type is not None and not isinstance(made, program.AtomicCall | program.Call)
    if must_use or used:
        raise NotWgsl("unused value", name)
    return program.Evaluate(node, made)


# --- Branches -----------------------------------------------------------------------------------------------------


@_located
def condition(node: tree.Expression, scope: Scope) -> Expression:
    """The condition of an `if` or a loop."""
    test = value(node, scope)
    if test.type != BOOL:
        raise NotWgsl("condition", test, value=test)
    return test


def _if(node: tree.If, scope: Scope) -> Statement:
    test = condition(node.condition, scope)
    then = block(node.then, scope)
    if isinstance(node.otherwise, tree.If):
        return program.If(node, test, then, (_if(node.otherwise, scope),))
    return program.If(node, test, then, block(node.otherwise, scope) if node.otherwise else ())


def _switch(node: tree.Switch, scope: Scope) -> Statement:
    selector = value(node.selector, scope)
    choices = [_choices(case, scope) for case in node.cases]
    constants = [choice for choice in chain.from_iterable(choices) if choice]
    wanted = _checked_type([selector, *constants])
    seen: set[str] = set()
    cases = []
    if sum(map(len, choices)) > MOST_CHOICES:
        note("choices", begin(node, "switch"), count=sum(map(len, choices)), most=MOST_CHOICES)
    for of_case, case in zip(choices, node.cases, strict=True):
        for choice in of_case:
            what = f"case {choice.leaves[0]}" if choice else "default"
            if what in seen:
                raise NotWgsl("case twice", choice or begin(case, what), case=what)
            seen.add(what)
        numbers = tuple(choice.leaves[0] for choice in of_case if choice)
        cases.append(program.Case(numbers, None in of_case, block(case.body, scope, "break")))
    if "default" not in seen:
        raise NotWgsl("no default", begin(node, "switch"))
    return program.Switch(node, converted(selector, wanted), tuple(cases))


def _choices(case: tree.Case, scope: Scope) -> list[Constant | None]:
    """The values of one clause of a switch, None among them for `default`."""
    return [constant(selector, scope) if selector else None for selector in case.selectors]


def _checked_type(expressions: Sequence[Expression]) -> Type:
    """The type, i32 or u32, to which the selector and the cases of a switch are converted; refuse those of another."""
    wanted = next((expression.type for expression in expressions if expression.type in (I32, U32)), I32)
    for expression in expressions:
        if converted(expression, wanted) is None:
            raise NotWgsl("case" if expression.type in (I32, U32) else "selector", expression)
    return wanted


def begin(node: tree.Node, word: str) -> Span:
    """The place of the word that a node begins with."""
    return Span(node.at, node.at + len(word))


# --- Loops --------------------------------------------------------------------------------------------------------


def _for(node: tree.For, scope: Scope) -> Statement:
    scope = scope.inner()
    first = statement(node.first, scope) if node.first else None
    test = condition(node.condition, scope) if node.condition else None
    update = statement(node.update, scope) if node.update else None
    body = block(node.body, scope, "break", "continue")
    loop = _checked_exit(program.Loop(node, test, body, (update,) if update else (), None), "for")
    return program.Block(node, (first, loop)) if first else loop


def _while(node: tree.While, scope: Scope) -> Statement:
    return program.Loop(node, condition(node.condition, scope), block(node.body, scope, "break", "continue"), (), None)


def _loop(node: tree.Loop, scope: Scope) -> Statement:
    scope = scope.inner("break", "continue")
    body = statements(node.body, scope)
    scope = scope.inner()
    scope.jumps.clear()
    continuing = statements(node.continuing, scope) if node.continuing else ()
    break_if = condition(node.break_if, scope) if node.break_if else None
    _check_skipped(body, (*continuing, break_if))
    return _checked_exit(program.Loop(node, None, body, continuing, break_if), "loop")


def _checked_exit(loop: program.Loop, word: str) -> program.Loop:
    """The loop. Refuse one that nothing can leave, which WGSL's behavior analysis finds and browsers report."""
    if not ends((loop,)):
        raise NotWgsl("no exit", begin(loop, word), word=word)
    return loop


def _check_skipped(body: tuple[Statement, ...], after: tuple) -> None:
    """Refuse a name in `continuing` whose declaration a `continue` above it leaps over."""
    skipped = set()
    leaps = False
    for inner in body:
        if leaps and isinstance(inner, program.Bind | program.Declare):
            skipped.add(inner.binding if isinstance(inner, program.Bind) else inner.variable)
        leaps = leaps or AGAIN in ends((inner,))
    for node in nodes(after):
        used = getattr(node, "variable", None) or getattr(node, "binding", None)
        if used in skipped and isinstance(node, Part):
            raise NotWgsl("skipped declaration", node, name=used.name)


def _jump(node: tree.Break | tree.Continue, scope: Scope) -> Statement:
    word = "break" if isinstance(node, tree.Break) else "continue"
    if word not in scope.jumps:
        raise NotWgsl("jump", node, word=word)
    return program.Break(node) if word == "break" else program.Continue(node)


def _return(node: tree.Return, scope: Scope) -> Statement:
    if "return" not in scope.jumps:
        raise NotWgsl("return in continuing", node)
    function = scope.function
    wanted = function.result
    returned = value(node.value, scope) if node.value else None
    fitting = converted(returned, wanted) if returned and wanted else None
    if bool(wanted) != bool(returned) or (returned and fitting is None):
        raise NotWgsl("returned", returned or node, function=function, value=returned)
    return program.Return(node, fitting)


READERS: dict[type[tree.Node], Callable[[tree.Node, Scope], Statement | None]] = {
    tree.Assignment: _assign,
    tree.Block: lambda node, scope: program.Block(node, block(node, scope)),
    tree.Break: _jump,
    tree.CallStatement: _call,
    tree.ConstAssert: check_assertion,
    tree.Continue: _jump,
    tree.Declaration: _declare,
    tree.Discard: lambda node, scope: Discard(node),
    tree.For: _for,
    tree.If: _if,
    tree.Increment: _increment,
    tree.Loop: _loop,
    tree.Return: _return,
    tree.Switch: _switch,
    tree.While: _while,
}
