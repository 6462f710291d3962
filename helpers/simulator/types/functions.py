"""Functions: parameters, bodies, and what an entry point asks for."""

from __future__ import annotations

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.expressions import type_of
from helpers.simulator.types.flow import NEXT, ends
from helpers.simulator.types.kinds import U32, Pointer, Type, Vector
from helpers.simulator.types.program import Binding, Function
from helpers.simulator.types.scopes import Scope
from helpers.simulator.types.statements import Place, statements
from helpers.simulator.types.type_names import is_constructible

INPUTS = {
    **dict.fromkeys(("local_invocation_id", "global_invocation_id", "workgroup_id", "num_workgroups"), Vector(3, U32)),
    "local_invocation_index": U32,
}
OTHER_INPUTS = (
    "vertex_index", "instance_index", "position", "front_facing", "frag_depth", "sample_index", "sample_mask",
    "subgroup_invocation_id", "subgroup_size", "subgroup_id", "num_subgroups", "clip_distances", "primitive_index",
    "view_index", "global_invocation_index", "workgroup_index",
)  # fmt: skip
STAGES = ("compute", "vertex", "fragment")


def is_entry_point(node: tree.Function) -> bool:
    """Whether a dispatch can start the function."""
    return any(each.name == "compute" for each in node.attributes)


def read(node: tree.Function, scope: Scope) -> Function:
    """A function with its body."""
    inside = scope.inner()
    entry = is_entry_point(node)
    parameters = tuple(_parameter(each, scope, inside, entry) for each in node.parameters)
    result = type_of(node.result, scope) if node.result else None
    if result is not None and not is_constructible(result):
        raise Refused(f"a function cannot return a value of type `{result}`", node.result.at, 1)
    if entry and node.result:
        words = "an entry point for compute returns nothing"
        raise Refused(words, node.result.at, node.result.end - node.result.at)
    function = Function(node.name, parameters, result, node.name_at)
    function.body = statements(node.body.body, inside, Place(result))
    if result is not None and NEXT in ends(function.body):
        reason = f"The `return` expression None does not match the declared return type Some({result})"
        raise Refused(reason, node.at, node.end - node.at)
    return function


def _parameter(node: tree.Parameter, scope: Scope, inside: Scope, entry: bool) -> Binding:
    type = type_of(node.type, scope)
    length = node.type.end - node.type.at
    if isinstance(type, Pointer):
        if type.space not in ("function", "private"):
            reason = f"Argument '{node.name}' at index 0 is a pointer of space {type.space}"
            raise Refused(reason + ", which can't be passed into functions", node.type.at, length)
    elif not is_constructible(type):
        raise Refused(f"a parameter cannot be of type `{type}`", node.type.at, length)
    if not entry and any(each.name in ("builtin", "location") for each in node.attributes):
        reason = (
            "Functions that are not entry points cannot have `@location` or `@builtin` attributes on their arguments"
        )
        raise Refused(f'{reason}: "{node.name}" has attributes', node.at, node.end - node.at)
    binding = Binding(node.name, type, node.at)
    inside.declare(node.name, binding, node.at)
    return binding


def inputs(node: tree.Function, structs: dict[str, tree.Struct], scope: Scope) -> tuple[tuple[str, ...], ...]:
    """For each parameter of an entry point the built-in values that it holds, in the order of its members."""
    return tuple(_inputs_of(each, structs, scope) for each in node.parameters)


def _inputs_of(node: tree.Parameter, structs: dict[str, tree.Struct], scope: Scope) -> tuple[str, ...]:
    held = structs.get(node.type.name)
    if held and not any(each.name == "builtin" for each in node.attributes):
        return tuple(_input(member, type_of(member.type, scope)) for member in held.members)
    return (_input(node, type_of(node.type, scope)),)


def _input(node: tree.Parameter, type: Type) -> str:
    given = next((each for each in node.attributes if each.name == "builtin"), None)
    if given is None:
        reason = "Entry point arguments and return values must all have bindings"
        raise Refused(reason, node.at, node.end - node.at)
    name = getattr(given.arguments[0], "name", "") if given.arguments else ""
    if name in OTHER_INPUTS:
        raise Unsupported(f"the built-in value `{name}`", given.at)
    if name not in INPUTS:
        at = given.arguments[0] if given.arguments else given
        raise Refused(f"unknown builtin: `{name}`", at.at, at.end - at.at, "unknown builtin")
    if type != INPUTS[name]:
        reason = f"Built-in type for `{name}` is invalid: it is `{INPUTS[name]}`"
        raise Refused(reason, node.type.at, node.type.end - node.type.at)
    return name
