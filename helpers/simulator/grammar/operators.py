"""Operators between operands: which comes first, and which may stand side by side without parentheses."""

from helpers.simulator.grammar.errors import Refused
from helpers.simulator.grammar.tree import Binary

LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"))
LEVELS += (("*", "/", "%"),)
PRECEDENCE = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
SUMS = {"+", "-", "*", "/", "%"}
SHIFTED = SUMS | {"<<", ">>"}
COMPARED = SHIFTED | {"==", "!=", "<", "<=", ">", ">="}
BESIDE = {  # what the left operand of an operator may be without parentheses, and what the right one may be
    **dict.fromkeys(SUMS, (SUMS, SUMS)),
    **dict.fromkeys(["<<", ">>"], ((), ())),
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], (SHIFTED, SHIFTED)),
    **{bits: ({bits}, ()) for bits in "&|^"},
    **{both: (COMPARED | {both}, COMPARED) for both in ("&&", "||")},
}


class Parentheses:
    """An expression in parentheses: what is around it begins and ends with them, the expression itself does not."""

    __slots__ = ("at", "end", "inner")

    def __init__(self, at: int, end: int, inner) -> None:
        self.at, self.end, self.inner = at, end, inner


def bare(found):
    """An expression without the parentheses around it."""
    return found.inner if isinstance(found, Parentheses) else found


def chained(found: list):
    """The tree of ``operand operator operand operator ...``.

    Raises Refused where two operators need parentheses between them.
    """
    operands, waiting = [found[0]], []
    for operator, operand in zip(found[1::2], found[2::2], strict=True):
        while waiting and PRECEDENCE[waiting[-1]] >= PRECEDENCE[operator]:
            _join(operands, waiting.pop())
        waiting.append(operator)
        operands.append(operand)
    while waiting:
        _join(operands, waiting.pop())
    return operands[0]


def _join(operands: list, operator: str) -> None:
    """Put the last two operands together."""
    right, left = operands.pop(), operands.pop()
    for side, beside in zip((left, right), BESIDE[operator], strict=True):
        if isinstance(side, Binary) and side.operator not in beside:
            raise Refused(_clash(side.operator, operator), left.at, right.end - left.at)
    operands.append(Binary(left.at, right.end, str(operator), bare(left), bare(right)))


def _clash(inner: str, outer: str) -> str:
    if PRECEDENCE[inner] == PRECEDENCE[outer] and inner in COMPARED - SHIFTED:
        return f"comparisons form no chain: write `a {inner} b && b {outer} c`"
    if "^" in (inner, outer):
        return f"`{inner}` and `{outer}` need parentheses, and `^` is for the bits of whole numbers, not for a power"
    return f"`{inner}` and `{outer}` stand side by side: put what belongs together in parentheses"
