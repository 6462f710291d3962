"""A syntax tree as a program that execution can run: first all that it declares, then one of its entry points."""

from __future__ import annotations

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types import functions
from helpers.simulator.types.declarations import Declarations
from helpers.simulator.types.kinds import words
from helpers.simulator.types.program import Program, Variable
from helpers.simulator.types.scopes import Stage
from helpers.simulator.types.usage import Usage
from helpers.simulator.types.variables import numbers
from helpers.wgsl import limit_passed


def check(declarations: Declarations, entry_point: str) -> Program:
    """The program of one entry point of a module.

    Raises Refused where there is none, or it is not WGSL; Unsupported where the simulator does not run it.
    """
    node = declarations.entry(entry_point)
    structs = {name: each for name, each in declarations.nodes.items() if isinstance(each, tree.Struct)}
    inputs = functions.inputs(node, structs, declarations.scope)
    function = declarations.find(entry_point).function
    usage, variables = Usage(function), declarations.variables
    for each in usage.functions:
        if each.fault:
            raise each.fault
    bindings = _bindings(node, variables, usage)
    return Program(
        function,
        inputs,
        _workgroup_size(node, declarations),
        bindings,
        tuple(each for each in variables if each.space == "workgroup" and each in usage.variables),
        tuple(each for each in variables if each.space == "private" and each in usage.variables),
        frozenset(usage.written),
    )


def _workgroup_size(node: tree.Function, declarations: Declarations) -> tuple[int, int, int]:
    attribute = next((each for each in node.attributes if each.name == "workgroup_size"), None)
    if attribute is None:
        compute = next(each for each in node.attributes if each.name == "compute")
        words_ = "workgroup size is missing on compute shader entry point"
        raise Refused(words_, compute.at + 1, len("compute"), "must be paired with a `@workgroup_size` attribute")
    sizes = numbers(attribute, declarations.scope, Stage.OVERRIDE)
    if len(sizes) > 3 or 0 in sizes:
        reason = "@workgroup_size takes one to three numbers, each at least 1"
        raise Refused(reason, attribute.at, attribute.end - attribute.at)
    size = (*sizes, 1, 1)[:3]
    held = sum(words(each.type) * 4 for each in declarations.variables if each.space == "workgroup")
    if fault := limit_passed(size, held):
        raise Refused(fault, attribute.at, attribute.end - attribute.at)
    return size


def _bindings(node: tree.Function, variables: tuple[Variable, ...], usage: Usage) -> tuple[Variable, ...]:
    """The variables at the bindings 0, 1, 2, ... of group 0; where two share a number, the one that is used."""
    found: dict[int, Variable] = {}
    for each in (each for each in variables if each.binding >= 0):
        other = found.setdefault(each.binding, each)
        if each is not other and {each, other} <= usage.variables:
            raise Refused("Bindings for [0] conflict with other resource", each.at, len(each.name))
        found[each.binding] = each if each in usage.variables else other
    bound = [found[number] for number in sorted(found)]
    if not bound:
        example = "@group(0) @binding(0) var<storage, read_write> output: array<f32>;"
        reason = f"it declares no bindings; write one for each buffer, as in `{example}`"
        raise Refused(reason, node.name_at, len(node.name))
    for number, each in enumerate(bound):
        if each.binding > number:
            listed = ", ".join(str(other.binding) for other in bound)
            reason = f"it has the bindings {listed}, and none with the number {number}"
            raise Refused(reason, each.at, len(each.name))
    return tuple(bound)
