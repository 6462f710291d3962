"""The ids of a thread, by the names that other languages and kernels have for them."""

from __future__ import annotations

import re

from wgsl.facts import Edit, Suggestion
from wgsl.suggestions.context import Context
from wgsl.suggestions.foreign_names import BUILTINS
from wgsl.syntax import tree
from wgsl.types.functions import INPUTS

SHORT = {  # what kernels call the ids of a thread: its parameter is missing
    **dict.fromkeys(("global", "global_id", "gid", "id"), "global_invocation_id"),
    **dict.fromkeys(("local", "local_id", "lid"), "local_invocation_id"),
    **dict.fromkeys(("workgroup", "group", "group_id", "wid"), "workgroup_id"),
}
NEW_NAMES = {  # of parameters that hold the ids
    "global_invocation_id": "global",
    "local_invocation_id": "local",
    "local_invocation_index": "thread",
    "workgroup_id": "workgroup",
    "num_workgroups": "workgroups",
}


def builtin(name: str, context: Context) -> Suggestion | None:
    """The id of a thread, by the name that another language has for it."""
    is_part_taken = re.match(r"\s*\.[xyz]\b", context.code[context.at + len(name) :])
    short = SHORT.get(name) if is_part_taken else None
    wanted = BUILTINS.get(name, name if name in INPUTS else short)
    if not wanted:
        return None
    parameter = _parameters(context).get(wanted)
    call = re.match(r"\s*\(\s*([012])\s*\)", context.code[context.at + len(name) :])  # OpenCL's are called
    part = f".{'xyz'[int(call[1])]}" if call else ""
    is_own_name = name == wanted or (short and not parameter)
    new = name if short else NEW_NAMES[wanted]
    cure = f"@builtin({wanted}) {new}: {INPUTS[wanted]}"
    facts = {
        "name": name,
        "builtin": None if is_own_name else wanted,
        "parameter": f"{parameter}{part}" if parameter else None,
        "cure": cure,
    }
    end = context.at + len(name) + (call.end() if call else 0)
    used = Edit(context.at, end, f"{parameter or new}{part}")
    return _added(context, facts, used)


def _added(context: Context, facts: dict[str, object], used: Edit) -> Suggestion:
    """The suggestion for an id, with the parameter that the function around it lacks."""
    around = [node for node in context.nodes if isinstance(node, tree.Function) and node.at <= context.at < node.end]
    if facts["parameter"] or not around:
        return Suggestion("builtin", facts, edits=(used,))
    if not tree.attribute(around[0], "compute"):
        return Suggestion("builtin of a kernel", facts)
    return Suggestion("builtin", facts, edits=(_parameter_added(context, around[0], str(facts["cure"])), used))


def _parameters(context: Context) -> dict[str, str]:
    """The parameters that hold the ids of a thread, by the ids."""
    known = (context.declared(visible) for visible in context.scope.names())
    attributes = ((node, tree.attribute(node, "builtin")) for node in known)
    return {attribute.arguments[0].name: node.name for node, attribute in attributes if attribute}


def _parameter_added(context: Context, function: tree.Function, parameter: str) -> Edit:
    """The edit that adds a parameter to a function."""
    if function.parameters:
        at = function.parameters[-1].end
        return Edit(at, at, f", {parameter}")
    at = context.code.index("(", function.name.end) + 1
    return Edit(at, at, parameter)
