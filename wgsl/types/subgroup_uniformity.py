"""Functions of subgroups that not every thread of a subgroup can be proven to reach, or that get unlike arguments.

Browsers refuse both, unless the text turns it off with `diagnostic(off, subgroup_uniformity)`. It is the walk of
`uniformity`, in which a value is uniform where all threads of one subgroup have the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from wgsl.facts import Differs
from wgsl.syntax.tokens import without_comments
from wgsl.types import program as ir
from wgsl.types.flow import Flow
from wgsl.types.influence import Node, Place
from wgsl.types.subgroups import OPERATIONS, SharedArgument, SubgroupCall
from wgsl.types.uniformity import UNIFORM_INPUTS, NotPortable, Uniformity

RULE = "subgroup_uniformity"
FILTER = r"(@?)\s*\bdiagnostic\s*\(\s*(\w+)\s*,\s*%s\s*,?\s*\)"
BRACKETS = re.compile(r"[{}]")
BLOCK = re.compile(r"\s*(@[^{]*)?\{")  # after an attribute, with others between
ELSE = re.compile(r"\s*else\b")
REFUSED = "error"  # the only severity with which a text is refused, and the one without a filter


class Portability:
    """The places of a text that browsers refuse before a run, of the programs and functions that are added."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._of_workgroups = Uniformity()
        self._of_subgroups = _SubgroupUniformity()

    def add(self, program: ir.Program) -> None:
        """Add a program."""
        self._of_workgroups.add(program)
        if self._of_workgroups.has_subgroups:
            self._of_subgroups.add(program)

    def walk(self, functions: Sequence[ir.Function]) -> None:
        """Add functions, of which none comes before those that it calls."""
        self._of_workgroups.walk(functions)
        if self._of_workgroups.has_subgroups:
            self._of_subgroups.walk(functions)

    def refused(self) -> list[NotPortable]:
        """Return the places."""
        known = self._of_subgroups.refused
        of_subgroups = [place for at, place in known.items() if not self._is_known(at, place)]
        kept = [place for place in of_subgroups if severity(self._source, place.part.at) == REFUSED]
        return [*self._of_workgroups.refused.values(), *kept]

    def _is_known(self, at: int, place: NotPortable) -> bool:
        """Return True for what is refused anyway: a pointer, and an argument of a call that not all threads reach."""
        if isinstance(place.part, SharedArgument):
            return place.part.call.at in self._of_subgroups.refused
        return at in self._of_workgroups.refused


def not_portable(program: ir.Program, source: str) -> list[NotPortable]:
    """Return the places of a program that browsers refuse before a run."""
    portability = Portability(source)
    portability.add(program)
    return portability.refused()


class _SubgroupFlow(Flow):
    """The walk for the threads of a subgroup; barriers are not its concern."""

    def _ask(self, place: Place, node: Node) -> None:
        if isinstance(place, SubgroupCall | SharedArgument):
            super()._ask(place, node)

    def _of_subgroup(self, node: SubgroupCall, flow: Node) -> Node | None:
        self._ask(node, flow)
        operation = OPERATIONS[node.name]
        values = [self._value(argument, flow) for argument in node.arguments]
        if operation.shared and values[1]:
            argument = node.arguments[1]
            self._ask(SharedArgument(argument.type, argument.place, node), values[1])
        if operation.alike:
            return self._node(None, *values) if any(values) else None
        return self._graph.node(node, [], Differs("thread", node.name))


class _SubgroupUniformity(Uniformity):
    flow = _SubgroupFlow
    uniform_inputs = (*UNIFORM_INPUTS, "subgroup_id")


# --- Filters ------------------------------------------------------------------------------------------------------


def severity(source: str, at: int, rule: str = RULE) -> str:
    """Return the severity of a rule at an offset: that of the innermost filter around it."""
    around = [filter for filter in _filters(source, rule) if filter[0] <= at < filter[1]]
    return max(around)[2] if around else REFUSED


@lru_cache(maxsize=8)
def _filters(source: str, rule: str) -> tuple[tuple[int, int, str], ...]:
    """Return each filter of the rule in a text: from where to where it holds, and its severity."""
    code = without_comments(source)
    found = []
    for match in re.finditer(FILTER % rule, code):
        start, end = (match.start(), _end(code, match.end())) if match[1] else (-1, len(code))
        found.append((start, end, match[2]))
    return tuple(found)


def _end(code: str, after: int) -> int:
    """Return where the function or statement ends that follows an attribute: a block, with its `else` blocks."""
    depth = 0
    is_block = bool(BLOCK.match(code, after))
    for bracket in BRACKETS.finditer(code, after):
        depth += 1 if bracket[0] == "{" else -1
        if depth == 0 and (is_block or not ELSE.match(code, bracket.end())):
            return bracket.end()
    return len(code)
