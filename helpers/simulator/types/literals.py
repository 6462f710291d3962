"""Numbers as they are written."""

from __future__ import annotations

import math
import re

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.kinds import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F32, I32, U32
from helpers.simulator.types.overloads import RANGES, nearest
from helpers.simulator.types.program import Constant

WHOLE = re.compile(r"(0[xX][\da-fA-F]+|\d+)(i|u|)")
SUFFIXES = {"i": I32, "u": U32, "": ABSTRACT_INT}


def read(node: tree.Literal) -> Constant:
    """The value of a literal, with the type that its suffix gives it, or an abstract one."""
    text = node.text
    if text in ("true", "false"):
        return Constant(BOOL, node.at, node.end, (text == "true",))
    if text.endswith("h"):
        raise Unsupported("f16 numbers", node.at)
    if text.endswith(("li", "lu", "lf")):
        raise Unsupported("64-bit numbers", node.at)
    if found := WHOLE.fullmatch(text):
        type, number = SUFFIXES[found[2]], int(found[1], 0 if found[1][:2] in ("0x", "0X") else 10)
        held = number in RANGES[type]
    else:
        type, number = _float(text)
        held = math.isfinite(number)
    if not held:
        raise Refused("numeric literal not representable by target type: `" + text + "`", node.at, len(text))
    return Constant(type, node.at, node.end, (number,))


def _float(text: str) -> tuple:
    is_hex = text[:2] in ("0x", "0X")
    suffixed = text.endswith("f") and (not is_hex or "p" in text.lower())
    digits = text[:-1] if suffixed else text
    try:
        number = float.fromhex(digits) if is_hex else float(digits)
    except OverflowError:
        number = math.inf
    return (F32, nearest(number)) if suffixed else (ABSTRACT_FLOAT, number)
