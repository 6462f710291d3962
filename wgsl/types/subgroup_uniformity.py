"""Functions of subgroups that not every thread of a subgroup can be proven to reach, or that get unlike arguments.

Browsers refuse both, unless the text turns it off with `diagnostic(off, subgroup_uniformity)`. It is the walk of
`uniformity`, in which a value is uniform where all threads of one subgroup have the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from wgsl.syntax.tokens import without_comments
from wgsl.types import program as ir
from wgsl.types.subgroups import OPERATIONS, SubgroupCall
from wgsl.types.uniformity import UNIFORM_INPUTS, Differs, Doubt, NotPortable, Uniformity

RULE = re.compile(r"(@?)\s*\bdiagnostic\s*\(\s*(\w+)\s*,\s*subgroup_uniformity\s*,?\s*\)")
BRACKETS = re.compile(r"[{}]")
BLOCK = re.compile(r"\s*(@[^{]*)?\{")  # after an attribute, with others between
ELSE = re.compile(r"\s*else\b")
REFUSED = "error"  # the only severity with which a text is refused, and the one without a filter


def not_portable(program: ir.Program, source: str) -> list[NotPortable]:
    """Return the places that browsers refuse before a run."""
    walked = Uniformity(program)
    places = [*walked.refused.values()]
    if walked.has_subgroups:
        refused = _SubgroupUniformity(program).refused.values()
        places += [place for place in refused if _severity(source, place.part.at) == REFUSED]
    return places


class _SubgroupUniformity(Uniformity):
    """The walk for the threads of a subgroup; barriers are not its concern."""

    uniform_inputs = (*UNIFORM_INPUTS, "subgroup_id")

    def _refuse(self, part: ir.Part | ir.Statement, doubt: Doubt | None) -> None:
        if doubt and isinstance(part, SubgroupCall):
            super()._refuse(part, doubt)

    def _of_subgroup(self, node: SubgroupCall, flow: Doubt | None) -> Doubt | None:
        self._refuse(node, flow)
        operation = OPERATIONS[node.name]
        doubts = [self._value(argument, flow) for argument in node.arguments]
        if operation.shared and doubts[1] and not flow:
            argument = node.arguments[1]
            self.refused.setdefault(argument.at, NotPortable(argument, doubts[1], call=node))
        if operation.alike:
            return next(filter(None, doubts), None)
        return Doubt(node, Differs("thread", node.name))


# --- Filters ------------------------------------------------------------------------------------------------------


def _severity(source: str, at: int) -> str:
    """Return the severity of the rule at an offset: that of the innermost filter around it."""
    around = [filter for filter in _filters(source) if filter[0] <= at < filter[1]]
    return max(around)[2] if around else REFUSED


@lru_cache(maxsize=8)
def _filters(source: str) -> tuple[tuple[int, int, str], ...]:
    """Return each filter of the rule in a text: from where to where it holds, and its severity."""
    code = without_comments(source)
    found = []
    for match in RULE.finditer(code):
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
