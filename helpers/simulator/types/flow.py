"""Where control may go from a statement: needed to find a function that ends without its result."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.types.program import (
    Block,
    Break,
    Continue,
    If,
    Loop,
    Return,
    Statement,
    Switch,
)

NEXT, LEFT, AGAIN, RETURNED = "next", "break", "continue", "return"


def ends(statements: Sequence[Statement]) -> set[str]:
    """How control may leave a list of statements: at its end, or by `break`, `continue` or `return`."""
    found = {NEXT}
    for each in statements:
        found = (found - {NEXT}) | _ends_of(each)
        if NEXT not in found:
            break
    return found


def _ends_of(statement: Statement) -> set[str]:
    match statement:
        case Block(body=body):
            return ends(body)
        case If(then=then, otherwise=otherwise):
            return ends(then) | ends(otherwise)
        case Switch(cases=cases):
            found = set().union(*(ends(case.body) for case in cases))
            return (found - {LEFT}) | ({NEXT} if LEFT in found else set())
        case Loop():
            return _ends_of_loop(statement)
        case Break():
            return {LEFT}
        case Continue():
            return {AGAIN}
        case Return():
            return {RETURNED}
    return {NEXT}


def _ends_of_loop(loop: Loop) -> set[str]:
    found = ends(loop.body) | ends(loop.continuing)
    leaves = LEFT in found or loop.break_if is not None or loop.condition is not None
    return (found - {NEXT, LEFT, AGAIN}) | ({NEXT} if leaves else set())
