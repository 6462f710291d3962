"""Numbers as they are written; the grammar has made sure that each fits its type."""

from __future__ import annotations

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.numbers import FRACTION, WHOLE
from helpers.simulator.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32
from helpers.simulator.types.overloads import nearest
from helpers.simulator.types.program import Constant

SUFFIXES = {"i": I32, "u": U32, "": ABSTRACT_INT}


def read(node: tree.Literal) -> Constant:
    """The value of a literal, with the type that its suffix gives it, or an abstract one."""
    text = node.text
    if text in ("true", "false"):
        return Constant(BOOL, node.at, node.end, (text == "true",))
    if whole := WHOLE.fullmatch(text):
        return Constant(SUFFIXES[whole[2]], node.at, node.end, (int(whole[1], 0),))
    digits, suffix = FRACTION.fullmatch(text).groups()
    number = float.fromhex(digits) if digits[:2] in ("0x", "0X") else float(digits)
    if suffix:
        return Constant(F32, node.at, node.end, (nearest(number),))
    return Constant(ABSTRACT_FLOAT, node.at, node.end, (number,))
