"""Expressions: what each name means, which type each part has, and what is known before the run."""

from __future__ import annotations

from dataclasses import replace

from helpers.wgsl.diagnostics import Refused
from helpers.wgsl.syntax import tree
from helpers.wgsl.types import calls, folding, names, operators, references, signatures
from helpers.wgsl.types.conversions import WHOLE, concrete, converted, refused, skipped
from helpers.wgsl.types.kinds import Type
from helpers.wgsl.types.names import Known, Routine, Scope, Stage
from helpers.wgsl.types.program import (
    Binding,
    Call,
    Constant,
    Expression,
    Named,
    Part,
    Reference,
    Root,
    Variable,
)


def value(node: tree.Expression, scope: Scope) -> Expression:
    """The value of an expression; where it names a place in memory, what lies there."""
    return references.loaded(view(node, scope))


def view(node: tree.Expression, scope: Scope) -> Reference | Expression:
    """The place in memory that an expression names, or its value where it names none."""
    match node:
        case tree.Literal():
            return folding.literal(node)
        case tree.Name():
            return _named(node, scope)
        case tree.Call():
            found = call(node, scope)
            if found.type is None:
                raise refused("function does not return any value", found, "this call has no value")
            return found
        case tree.Index(base=base, index=index):
            return references.indexed(view(base, scope), value(index, scope), node.end)
        case tree.Member(base=base, name=name, name_at=name_at):
            return references.member(view(base, scope), name, name_at)
        case tree.Unary(operator="&", operand=operand):
            return references.address(view(operand, scope), node.at, node.end)
        case tree.Unary(operator="*", operand=operand):
            return references.dereferenced(value(operand, scope), node.at, node.end)
        case tree.Unary(operator=operator, operand=operand):
            return operators.unary(operator, value(operand, scope), node.at, node.end)
        case tree.Binary(operator="&&" | "||"):
            return _logical(node, scope)
        case tree.Binary(operator=operator, left=left, right=right):
            return operators.binary(operator, value(left, scope), value(right, scope), node.at, node.end)


def _logical(node: tree.Binary, scope: Scope) -> Expression:
    """``&&`` or ``||``: where the left side is known and decides, the right one is not evaluated."""
    left = value(node.left, scope)
    decides = isinstance(left, Constant) and left.leaves[:1] == (node.operator == "||",)
    with skipped(decides):
        right = value(node.right, scope)
    return operators.logical(node.operator, left, right, node.at, node.end)


def type_of(node: tree.Name, scope: Scope, late: bool = False) -> Type:
    """The type that is written; with `late`, the length of an array may depend on overrides."""

    def evaluated(length: tree.Expression, inner: bool) -> int:
        return count(length, scope.known(Stage.OVERRIDE if late and not inner else Stage.CONST))

    return names.read_type(node, scope, evaluated)


def count(node: tree.Expression, scope: Scope) -> int:
    """The length of an array."""
    length = concrete(value(node, scope))
    if not isinstance(length, Constant) or length.type not in WHOLE:
        raise refused("the length of an array must be a whole number, a u32 or i32", length)
    if length.leaves[0] < 1:
        raise refused("array element count must be positive (> 0)", length, "must be positive")
    return int(length.leaves[0])


# --- Names ----------------------------------------------------------------------------------------------------


def _named(node: tree.Name, scope: Scope) -> Reference | Expression:
    found = scope.find(node.name)
    if found is None and not _is_own(node.name):
        raise names.unknown(node.name, node.at)
    if isinstance(found, Variable | Binding) and scope.stage != Stage.RUN:
        raise _too_late(found, node)
    match found:
        case Variable():
            return Root(found.type, node.at, node.end, found)
        case Binding():
            return Named(found.type, node.at, node.end, found)
        case Known(stage=stage) if stage > scope.stage:
            raise _given_late(node)
        case Known(value=known):
            return replace(known, at=node.at, end=node.end)
    raise Refused(f'expected variable access, found "{node.name}"', node.at, len(node.name), "expected variable access")


def _is_own(name: str) -> bool:
    """Whether WGSL itself has a type or a function of this name."""
    own = (*calls.POINTER_FUNCTIONS, *calls.BARRIERS, "bitcast")
    return names.is_type(name) or signatures.is_builtin(name) or name in own


def _given_late(node: tree.Name) -> Refused:
    words = f"`{node.name}` is an `override`, whose value is given at launch, and here a `const` is needed"
    return Refused(words, node.at, node.end - node.at)


def _too_late(found: Variable | Binding, node: tree.Name) -> Refused:
    if isinstance(found, Binding) or found.space == "function":
        words, label = "this operation is not supported in a const context", "operation not supported here"
    else:
        words, label = "Unexpected runtime-expression", "see msg"
    return Refused(words, node.at, node.end - node.at, label)


# --- Calls ----------------------------------------------------------------------------------------------------


def call(node: tree.Call, scope: Scope) -> Expression:
    """A call: of a function of the text, a built-in one, or a type."""
    callee = node.callee
    found, place = scope.find(callee.name), Part(None, node.at, node.end)
    if isinstance(found, Variable | Binding | Known):
        raise _not_callable(found, callee)
    if found is None and not _is_own(callee.name):
        raise names.unknown(callee.name, callee.at)
    read = view if found is None and callee.name in calls.POINTER_FUNCTIONS else value
    if isinstance(found, Routine) and found.entry:
        words = "entry point cannot be called"
        raise Refused(words, callee.at, len(callee.name), words)
    arguments = tuple(read(each, scope) for each in node.arguments)
    if isinstance(found, Routine):
        return _called(found, arguments, place, scope)
    if found is not None or names.is_type(callee.name):
        if found is None and callee.name in ("array", "vec2", "vec3", "vec4") and not callee.arguments:
            return calls.infer(callee, arguments, place)
        return calls.construct(type_of(callee, scope), arguments, place, callee)
    return _built_in(callee, arguments, place, scope)


def _not_callable(found: Variable | Binding | Known, callee: tree.Name) -> Refused:
    length = len(callee.name)
    if isinstance(found, Binding) or (isinstance(found, Variable) and found.space == "function"):
        words = "local declaration cannot be called"
        return Refused(words, callee.at, length, words)
    return Refused(f'expected function name, found "{callee.name}"', callee.at, length, "expected function name")


def _built_in(callee: tree.Name, arguments: tuple[Expression, ...], place: Part, scope: Scope) -> Expression:
    called = Part(None, callee.at, callee.at + len(callee.name))
    if callee.name == "bitcast":
        if len(callee.arguments) != 1 or not isinstance(callee.arguments[0], tree.Name):
            reason = "`bitcast` needs a template argument specified: `T`, a type"
            raise Refused(reason, callee.at, len(callee.name), "is missing a template argument")
        return calls.bit_cast(type_of(callee.arguments[0], scope), arguments, place)
    if callee.name in (*calls.POINTER_FUNCTIONS, *calls.BARRIERS) and scope.stage != Stage.RUN:
        raise Refused("this operation is not supported in a const context", place.at, place.end - place.at)
    if callee.name in calls.POINTER_FUNCTIONS:
        return calls.of_pointer(callee.name, arguments, place, called)
    if callee.name in calls.BARRIERS:
        raise refused("function does not return any value", place, "this call has no value")
    return calls.of_values(callee.name, arguments, place, called)


def _called(routine: Routine, arguments: tuple[Expression, ...], place: Part, scope: Scope) -> Expression:
    function = routine.function
    if scope.stage != Stage.RUN:
        raise Refused("Unexpected runtime-expression", place.at, place.end - place.at, "see msg")
    if len(arguments) != len(function.parameters):
        reason = f"Requires {len(function.parameters)} arguments, but {len(arguments)} are provided"
        raise refused(reason, place, "invalid function call")
    given = []
    for i, (argument, parameter) in enumerate(zip(arguments, function.parameters, strict=True)):
        fitting = converted(argument, parameter.type)
        if fitting is None:
            raise refused(f"Argument {i} value [0] doesn't match the type [1]", place, "invalid function call")
        given.append(fitting)
    return Call(function.result, place.at, place.end, function, tuple(given))
