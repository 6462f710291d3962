"""Comparisons that are settled before the run, because a u32 is never below 0."""

from __future__ import annotations

from wgsl.diagnostics import Lines
from wgsl.facts import SettledComparisons
from wgsl.types import program as ir
from wgsl.types.kinds import U32
from wgsl.types.usage import nodes
from wgsl.words import findings as words

HOLDS = {"<": False, ">=": True}, {">": False, "<=": True}  # beside a 0 on the right, and beside one on the left


def settled(condition: object) -> bool | None:
    """Return True for a comparison that always holds, False for one that never does; None where the numbers decide."""
    if not isinstance(condition, ir.Binary) or condition.left.type is not U32:
        return None
    sides = condition.right, condition.left
    zeros = (isinstance(side, ir.Constant) and side.leaves == (0,) for side in sides)
    held = (known.get(condition.operator) for known, zero in zip(HOLDS, zeros, strict=True) if zero)
    return next((holds for holds in held if holds is not None), None)


def settled_comparisons(program: ir.Program, source: str) -> SettledComparisons | None:
    """Return the comparisons of an entry point that are settled as the first one is; None where there are none."""
    parts = (part for part in nodes(program.entry.body) if settled(part) is not None)
    known = {Lines(source).quoted(part): settled(part) for part in parts}
    if not known:
        return None
    first = next(iter(known.values()))
    return SettledComparisons(tuple(code for code, holds in known.items() if holds is first), first)


def remark(program: ir.Program, source: str) -> str:
    """Return the settled comparisons of an entry point, as a sentence; nothing where there are none."""
    comparisons = settled_comparisons(program, source)
    return words.settled_comparisons(comparisons) if comparisons else ""
