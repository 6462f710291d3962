"""The variables of a module, and the numbers in attributes."""

from __future__ import annotations

from collections.abc import Callable

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.definitions import declared_value, known, no_access_mode, untyped
from helpers.simulator.types.expressions import type_of, value
from helpers.simulator.types.kinds import I32, U32
from helpers.simulator.types.overloads import concrete, refused
from helpers.simulator.types.program import Variable
from helpers.simulator.types.scopes import Scope, Stage
from helpers.simulator.types.structs import check_space
from helpers.simulator.types.type_names import is_constructible, unsupported

SPACES = ("storage", "uniform", "workgroup", "private")


def number(attribute: tree.Attribute, scope: Scope, stage: Stage) -> int:
    """The whole number that an attribute takes."""
    return numbers(attribute, scope, stage)[0]


def numbers(attribute: tree.Attribute, scope: Scope, stage: Stage) -> list[int]:
    """The whole numbers that an attribute takes."""
    given = [value(each, scope.known(stage)) for each in attribute.arguments]
    if {I32, U32} <= {each.type for each in given}:
        reason = f"the numbers of @{attribute.name} must be all of type i32, or all u32"
        raise Refused(reason, attribute.at, attribute.end - attribute.at)
    found = [known(concrete(each)) for each in given]
    for each in found:
        if each.type not in (I32, U32):
            raise refused(
                "must be a const-expression that resolves to a concrete integer scalar (`u32` or `i32`)", each
            )
        if each.leaves[0] < 0:
            raise refused("must be non-negative (>= 0)", each)
    if not found:
        raise Refused(f"`@{attribute.name}` needs a number", attribute.at, attribute.end - attribute.at)
    return [each.leaves[0] for each in found]


def declared(node: tree.Declaration, scope: Scope, number: Callable) -> Variable:
    """A `var` of the module."""
    space, access = _space(node)
    places = {each.name: number(each) for each in node.attributes if each.name in ("group", "binding")}
    _check_places(node, space, places)
    given = declared_value(node, scope.known(Stage.OVERRIDE))
    if given and space != "private":
        raise refused(f"a variable in {space} memory cannot have an initial value", given)
    type = given.type if given else _type(node, scope, space)
    check_space(type, space, access, node)
    return Variable(node.name, type, space, access, node.name_at, places.get("binding", -1), given and known(given))


def _type(node: tree.Declaration, scope: Scope, space: str) -> object:
    if node.type is None:
        raise untyped(node)
    if space == "private":
        type = type_of(node.type, scope)
        if not is_constructible(type):
            raise Refused(f"a private variable cannot be of type `{type}`", node.name_at, len(node.name))
        return type
    return type_of(node.type, scope, late=space == "workgroup")


def _space(node: tree.Declaration) -> tuple[str, str]:
    """Address space and access."""
    names = [getattr(each, "name", "") for each in node.templates]
    if not names:
        if node.type and (feature := unsupported(node.type.name)):
            raise Unsupported(feature, node.type.at)
        reason = f"the variable `{node.name}` needs an address space, such as `var<workgroup>` or `var<private>`"
        raise Refused(reason, node.name_at, len(node.name))
    if names[0] not in SPACES:
        at = node.templates[0]
        raise Refused(f"unknown address space: `{names[0]}`", at.at, at.end - at.at, "unknown address space")
    most = 2 if names[0] == "storage" else 1
    if len(names) > most:
        raise no_access_mode(node.templates[most])
    if names[0] == "storage":
        return "storage", _access(node, names)
    return names[0], "read" if names[0] == "uniform" else "read_write"


def _access(node: tree.Declaration, names: list[str]) -> str:
    access = names[1] if len(names) > 1 else "read"
    if access in ("read", "read_write"):
        return access
    at = node.templates[1]
    if access == "write":
        raise Refused("Storage address space doesn't support write-only access", at.at, at.end - at.at)
    raise Refused(f"unknown access: `{access}`", at.at, at.end - at.at, "unknown access")


def _check_places(node: tree.Declaration, space: str, places: dict[str, int]) -> None:
    if space in ("storage", "uniform"):
        if not places:
            raise Refused(f"the variable `{node.name}` needs `@group(0) @binding(...)`", node.name_at, len(node.name))
        for here, missing in (("group", "binding"), ("binding", "group")):
            if missing not in places:
                reason = f"variable `@{here}({places[here]})` needs a '{missing}' attribute"
                raise Refused(reason, node.at, node.name_at - node.at)
        if places["group"]:
            reason = f"`{node.name}` is in group {places['group']}: write @group(0) for every binding"
            raise Refused(reason, node.name_at, len(node.name))
    elif places:
        raise Refused(f"only buffers have a binding, and `{node.name}` is not one", node.name_at, len(node.name))
