"""Expressions: the meaning of each name, the type of each part, and the values that are known before the run."""

from __future__ import annotations

from dataclasses import replace

from wgsl.diagnostics import Limited, NotWgsl, Span, Unset
from wgsl.syntax import tree
from wgsl.types import calls, folding, names, operators, references, signatures, subgroups
from wgsl.types.conversions import WHOLE, concrete, converted, skipped
from wgsl.types.fragments import DERIVATIVES, derivative
from wgsl.types.kinds import Type
from wgsl.types.names import Known, Routine, Scope, Stage
from wgsl.types.program import Binding, Call, Constant, Expression, Function, Named, Reference, Root, Variable
from wgsl.types.textures import FUNCTIONS, texture_call


def value(node: tree.Expression, scope: Scope) -> Expression:
    """The value of an expression; where it names a place in memory, the value that is stored there."""
    return references.loaded(view(node, scope))


def view(node: tree.Expression, scope: Scope) -> Reference | Expression:
    """The place in memory that an expression names, or its value where it names none."""
    match node:
        case tree.Literal():
            return _literal(node, scope)
        case tree.Name():
            return _named(node, scope)
        case tree.Call():
            result = call(node, scope)
            if result.type is None:
                raise NotWgsl("no value of a call", result)
            return result
        case tree.Index(base=base, index=index):
            return _indexed(node, view(base, scope), value(index, scope), scope)
        case tree.Member(base=base, name=name):
            return references.member(view(base, scope), name, node)
        case tree.Unary(operator="&", operand=operand):
            return references.address(view(operand, scope), node)
        case tree.Unary(operator="*", operand=operand):
            return references.dereferenced(value(operand, scope), node)
        case tree.Unary(operator=operator, operand=operand):
            return operators.unary(operator, value(operand, scope), node)
        case tree.Binary(operator="&&" | "||"):
            return _logical(node, scope)
        case tree.Binary(operator=operator, left=left, right=right):
            return operators.binary(operator, value(left, scope), value(right, scope), node)


def _literal(node: tree.Literal, scope: Scope) -> Constant:
    """The value of a literal, if the text may have one of its type."""
    literal = folding.literal(node)
    names.check_enabled(literal.type, node, node.text, scope)
    return literal


def _indexed(node: tree.Index, base: Reference | Expression, index: Expression, scope: Scope) -> Reference | Expression:
    """``base[index]``; an override as the index makes abstract numbers concrete, as an index of a run does."""
    if isinstance(base, Constant) and isinstance(index, Constant) and names.is_late(node.index, scope):
        base = concrete(base)
    return references.indexed(base, index, node)


def _logical(node: tree.Binary, scope: Scope) -> Expression:
    """``&&`` or ``||``: where the left side is known and decides, the right one is not evaluated."""
    left = value(node.left, scope)
    decides = isinstance(left, Constant) and left.leaves[:1] == (node.operator == "||",)
    with skipped(decides):
        right = value(node.right, scope)
    return operators.logical(node.operator, left, right, node)


def type_of(node: tree.Name, scope: Scope, late: bool = False) -> Type:
    """The type that is written; with `late`, the length of an array may depend on overrides."""
    return names.read_type(node, scope, count, late)


def count(node: tree.Expression, scope: Scope) -> int:
    """The length of an array."""
    length = concrete(value(node, scope))
    if not isinstance(length, Constant) or length.type not in WHOLE:
        raise NotWgsl("array length", length)
    if length.leaves[0] < 1:
        raise (Unset if names.is_late(node, scope) else NotWgsl)("no element", length)
    return int(length.leaves[0])


# --- Names --------------------------------------------------------------------------------------------------------


def _named(node: tree.Name, scope: Scope) -> Reference | Expression:
    meaning = scope.find(node.name)
    if meaning is None and not _is_predeclared(node.name):
        raise names.unknown(node.name)
    match meaning:
        case Variable() | Binding() if scope.stage != Stage.RUN:
            raise too_late(node)
        case Variable():
            return Root(meaning.type, node, meaning)
        case Binding():
            return Named(meaning.type, node, meaning)
        case Known(stage=stage) if stage > scope.stage:
            raise NotWgsl("override in a const", node, name=node.name)
        case Known(value=Constant(leaves=())):
            raise Unset("no value", meaning.name, name=node.name)
        case Known(value=known):
            return replace(known, place=node)
    raise NotWgsl("type", node.name, name=node.name, meaning=meaning)


GRAPHICS = FUNCTIONS | DERIVATIVES
PREDECLARED = frozenset((*calls.POINTER_FUNCTIONS, *calls.BARRIERS, *subgroups.OPERATIONS, *GRAPHICS, "bitcast"))


def _is_predeclared(name: str) -> bool:
    """Return True where WGSL itself has a type or a function of this name."""
    return name in PREDECLARED or names.is_type(name) or signatures.is_builtin(name)


def too_late(place: Span) -> NotWgsl:
    """Something that is known only in a run, where a value must be known before."""
    return NotWgsl("too_late", place)


# --- Calls --------------------------------------------------------------------------------------------------------


def call(node: tree.Call, scope: Scope) -> Expression:
    """A call: of a function of the text, a built-in one, or a type."""
    callee = node.callee
    name = node.callee.name
    meaning = scope.find(name)
    if isinstance(meaning, Variable | Binding | Known):
        raise NotWgsl("called_value", name, name=name, meaning=meaning)
    if meaning is None and name in names.BUFFER_VIEWS:
        raise Limited("buffer_view", name, name=name)
    if meaning is None and not _is_predeclared(name):
        raise names.unknown(name)
    if isinstance(meaning, Routine) and meaning.entry:
        raise NotWgsl("called entry point", name, name=name)
    read = view if meaning is None and name in calls.POINTER_FUNCTIONS else value
    arguments = tuple(read(argument, scope) for argument in node.arguments)
    if isinstance(meaning, Routine):
        return _called(meaning.function, arguments, node, scope)
    if meaning is not None or names.is_type(name):
        if meaning is None and name in names.INFERRED and not callee.arguments:
            return calls.infer(arguments, node)
        return calls.construct(type_of(callee, scope), arguments, node)
    return _built_in(node, arguments, scope)


def _built_in(node: tree.Call, arguments: tuple[Expression, ...], scope: Scope) -> Expression:
    callee = node.callee
    name = node.callee.name
    if name == "bitcast":
        if len(callee.arguments) != 1:
            raise NotWgsl("bitcast", name)
        return calls.bit_cast(type_of(callee.arguments[0], scope), arguments, node)
    if name in (*calls.POINTER_FUNCTIONS, *calls.BARRIERS) and scope.stage != Stage.RUN:
        raise too_late(node)
    if name in calls.POINTER_FUNCTIONS:
        return calls.pointer_call(node, arguments)
    if name in calls.BARRIERS:
        raise NotWgsl("no value of a call", node)
    if name in subgroups.OPERATIONS:
        return _of_subgroup(node, arguments, scope)
    if name in GRAPHICS:
        return _of_graphics(node, arguments, scope)
    return calls.builtin_call(node, arguments)


def _of_subgroup(node: tree.Call, arguments: tuple[Expression, ...], scope: Scope) -> Expression:
    name = node.callee.name
    subgroups.check_enabled(name, scope.enabled)
    if scope.stage != Stage.RUN:
        raise too_late(node)
    if subgroups.OPERATIONS[name].fixed and len(arguments) > 1:  # an override is none that is known in time
        arguments = (arguments[0], value(node.arguments[1], scope.known(Stage.CONST)), *arguments[2:])
        if not isinstance(arguments[1], Constant):
            raise too_late(arguments[1])
    return subgroups.subgroup_call(node, arguments)


def _of_graphics(node: tree.Call, arguments: tuple[Expression, ...], scope: Scope) -> Expression:
    """A function of textures, or a derivative."""
    if scope.stage != Stage.RUN:
        raise too_late(node)
    if node.callee.name in DERIVATIVES:
        return derivative(node, arguments)
    return texture_call(node, arguments, lambda i: value(node.arguments[i], scope.known(Stage.CONST)))


def _called(function: Function, arguments: tuple[Expression, ...], node: tree.Call, scope: Scope) -> Expression:
    if scope.stage != Stage.RUN:
        raise too_late(node)
    calls.check_count(node.callee.name, len(function.parameters), arguments)
    fitting = []
    for argument, parameter in zip(arguments, function.parameters, strict=True):
        fitting.append(converted(argument, parameter.type))
        if fitting[-1] is None:
            raise NotWgsl("called", node, function=function, parameter=parameter, value=argument)
    return Call(function.result, node, function, tuple(fitting))
