"""Comparisons that are settled before the run, because a u32 is never below 0."""

from __future__ import annotations

from wgsl.diagnostics import Lines
from wgsl.types import program as ir
from wgsl.types.kinds import U32
from wgsl.types.usage import nodes

HOLDS = {"<": False, ">=": True}, {">": False, "<=": True}  # beside a 0 on the right, and beside one on the left


def settled(condition: object) -> bool | None:
    """Whether a comparison always holds, or never does; None where that depends on the numbers."""
    if not isinstance(condition, ir.Binary) or condition.left.type is not U32:
        return None
    sides = condition.right, condition.left
    zeros = (isinstance(side, ir.Constant) and side.leaves == (0,) for side in sides)
    held = (known.get(condition.operator) for known, zero in zip(HOLDS, zeros, strict=True) if zero)
    return next((holds for holds in held if holds is not None), None)


def remark(program: ir.Program, source: str) -> str:
    """The settled comparisons of an entry point, as a sentence; nothing where there are none."""
    parts = (part for part in nodes(program.entry.body) if settled(part) is not None)
    named = {Lines(source).quoted(part): settled(part) for part in parts}
    first = next(iter(named.values()), None)
    names = [f"`{name}`" for name, holds in named.items() if holds is first]
    verb, those = ("holds", "it") if len(names) == 1 else ("hold", "them")
    said = f"{' and '.join(names)} {'always' if first else 'never'} {verb}, because a u32 wraps around below 0"
    return f"{said}: the kernel does the same without {those}" * bool(names)
