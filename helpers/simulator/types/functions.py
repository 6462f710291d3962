"""Functions: parameters, bodies, and what an entry point asks for."""

from __future__ import annotations

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.expressions import type_of
from helpers.simulator.types.flow import RETURNED, ends
from helpers.simulator.types.kinds import U32, Pointer, Struct, Type, Vector
from helpers.simulator.types.program import Binding, Function
from helpers.simulator.types.scopes import Routine, Scope
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


def is_entry_point(node: tree.Function) -> bool:
    """Whether a dispatch can start the function."""
    return any(each.name == "compute" for each in node.attributes)


def _must_use(node: tree.Function) -> bool:
    """Whether the result of a call must be used."""
    given = next((each for each in node.attributes if each.name == "must_use"), None)
    if given and not node.result:
        reason = "function annotated with @must_use but does not return any value"
        raise Refused(reason, given.at, given.end - given.at)
    return given is not None


def read(node: tree.Function, scope: Scope) -> Routine:
    """A function with its body."""
    for each in node.attributes:
        if each.name in ("vertex", "fragment"):
            raise Unsupported("vertex and fragment shaders", each.at)
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
    if result is not None and ends(function.body) != {RETURNED}:
        reason = f"The `return` expression None does not match the declared return type Some({result})"
        raise Refused(reason, node.at, node.end - node.at)
    return Routine(function, _must_use(node), entry)


def _parameter(node: tree.Parameter, scope: Scope, inside: Scope, entry: bool) -> Binding:
    type = type_of(node.type, scope)
    length = node.type.end - node.type.at
    if not isinstance(type, Pointer) and not is_constructible(type):
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
    taken: set[str] = set()
    return tuple(_inputs_of(each, structs, scope, taken) for each in node.parameters)


def _inputs_of(node: tree.Parameter, structs: dict[str, tree.Struct], scope: Scope, taken: set[str]) -> tuple[str, ...]:
    type = type_of(node.type, scope)
    members = structs[type.name].members if isinstance(type, Struct) else (node,)
    return tuple(_input(member, type_of(member.type, scope), member is not node, taken) for member in members)


def _input(node: tree.Parameter, type: Type, inside: bool, taken: set[str]) -> str:
    given = next((each for each in node.attributes if each.name == "builtin"), None)
    if given is None:
        reason = f"the member `{node.name}` is an input of a kernel and needs a `@builtin(...)`"
        reason = reason if inside else "Entry point arguments and return values must all have bindings"
        raise Refused(reason, node.at, node.end - node.at)
    at = given.arguments[0] if given.arguments else given
    name = getattr(at, "name", "")
    if name in OTHER_INPUTS:
        raise Unsupported(f"built-in value `{name}`", given.at)
    if name not in INPUTS:
        raise Refused(f"unknown builtin: `{name}`", at.at, at.end - at.at, "unknown builtin")
    if name in taken:
        raise Refused(f"`{name}` is present more than once", at.at, at.end - at.at)
    taken.add(name)
    if type != INPUTS[name]:
        reason = f"Built-in type for `{name}` is invalid: it is `{INPUTS[name]}`"
        raise Refused(reason, node.type.at, node.type.end - node.type.at)
    return name
