"""Functions, and what goes into entry points."""

from __future__ import annotations

from collections.abc import Container

from wgsl.diagnostics import NotWgsl, Span
from wgsl.syntax import tree
from wgsl.types import subgroups
from wgsl.types.expressions import type_of
from wgsl.types.kinds import U32, Handle, Pointer, Type, Vector, is_constructible
from wgsl.types.memory import check_place
from wgsl.types.names import Routine, Scope
from wgsl.types.noted import note, surpass
from wgsl.types.program import Binding, Function
from wgsl.types.stages import COMPUTE, INTO, stage_of
from wgsl.types.statements import statements
from wgsl.types.usage import RETURNED, ends

MOST_PARAMETERS = 255  # that browsers take
INPUTS = {
    **dict.fromkeys(("local_invocation_id", "global_invocation_id", "workgroup_id", "num_workgroups"), Vector(3, U32)),
    "local_invocation_index": U32,
}
ALL_INPUTS = {**INPUTS, **dict.fromkeys(subgroups.INPUTS, U32)}
INPUTS_OF_BROWSERS = {"global_invocation_index": U32, "workgroup_index": U32}
OTHER_INPUTS = (
    "vertex_index", "instance_index", "position", "front_facing", "frag_depth", "sample_index", "sample_mask",
    "clip_distances", "primitive_index",
)  # fmt: skip


def function_of(node: tree.Function, scope: Scope) -> Routine:
    """A function with its body."""
    inside = scope.inner(RETURNED)
    stage = stage_of(node)
    if len(node.parameters) > MOST_PARAMETERS:
        note("parameters", node.name, name=node.name, count=len(node.parameters), most=MOST_PARAMETERS)
    parameters = tuple(_parameter(parameter, scope, stage) for parameter in node.parameters)
    for parameter in parameters:
        inside.declare(parameter)
    result = _result(node, scope, stage)
    inside.function = function = Function(node.name, parameters, result)
    function.body = statements(node.body, inside)
    ended = ends(function.body)
    if result is not None and ended != {RETURNED}:
        kind = "return on every path" if RETURNED in ended else "no return"
        raise NotWgsl(kind, node.name, name=node.name, type=result)
    workgroup_size = tree.attribute(node, "workgroup_size")
    if workgroup_size and stage != COMPUTE:
        raise NotWgsl("workgroup_size without compute", workgroup_size)
    must_use = tree.attribute(node, "must_use")
    if must_use and not node.result:
        raise NotWgsl("must_use", must_use)
    return Routine(function, bool(must_use), stage is not None)


def _result(node: tree.Function, scope: Scope, stage: str | None) -> Type | None:
    """The type that a function returns; None where it returns nothing, as a kernel must."""
    if node.result is None:
        return None
    result = type_of(node.result.type, scope)
    if stage == COMPUTE or not is_constructible(result):
        raise NotWgsl("result of a kernel" if stage == COMPUTE else "result", node.result.type, type=result)
    if node.result.attributes and stage is None:
        raise NotWgsl("attribute of a result", node.result)
    return result


def _parameter(node: tree.Parameter, scope: Scope, stage: str | None) -> Binding:
    type = type_of(node.type, scope)
    handed = isinstance(type, Pointer | Handle) and stage is None
    if not handed and not is_constructible(type):
        raise NotWgsl("type of a parameter", node.type, type=type)
    for attribute in node.attributes:
        if stage is None:
            kind = "attribute of a kernel" if attribute.name == "builtin" else "attribute of a parameter"
            raise NotWgsl(kind, node, name=attribute.name)
        check_place(attribute, node, scope)
    if stage == COMPUTE:
        if tree.attribute(node, "builtin") and tree.attribute(node, "location"):
            raise NotWgsl("two places", node, name=node.name)
        _check_input(node, type)
    return Binding(node.name, type)


def _check_input(node: tree.Parameter, type: Type) -> None:
    """Refuse a built-in value that is declared with another type than its own."""
    attribute = tree.attribute(node, "builtin")
    name = getattr(attribute.arguments[0], "name", "") if attribute else ""
    wanted = {**ALL_INPUTS, **INPUTS_OF_BROWSERS}.get(name, type)
    if type != wanted:
        place = Span(node.name.at, node.type.end)
        raise NotWgsl("type of a builtin", place, builtin=name, name=node.name, type=wanted)


def input_of(node: tree.Parameter, type: Type, taken: set[str], enabled: Container[str]) -> str:
    """Return the built-in value that a parameter of an entry point holds, or a member of one; none is taken twice."""
    attribute = tree.attribute(node, "builtin")
    if attribute is None:
        raise NotWgsl("parameter of a kernel", node.name, name=node.name)
    at = attribute.arguments[0]
    name = getattr(at, "name", "")
    if name in OTHER_INPUTS:
        raise NotWgsl("builtin of a stage", at, name=name, stage=COMPUTE, way=INTO)
    if name in INPUTS_OF_BROWSERS:
        surpass("builtin of browsers", at, name=name)
    elif name not in ALL_INPUTS:
        raise NotWgsl("no such builtin", at, name=name)
    if name in taken:
        raise NotWgsl("builtin twice", at, name=name)
    taken.add(name)
    if name in subgroups.INPUTS:
        subgroups.check_enabled(at.name, enabled, attribute)
    _check_input(node, type)
    return str(name)
