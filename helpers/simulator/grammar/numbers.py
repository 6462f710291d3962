"""Numbers as WGSL writes them, and what each kind can hold."""

import re
import struct

from helpers.simulator.grammar.errors import Refused, Unsupported

WHOLE = re.compile(r"(0[xX][\da-fA-F]+|0|[1-9]\d*)([iu]?)")
FRACTION = re.compile(
    r"((?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|(?:0|[1-9]\d*)(?=[fh])"
    r"|0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][-+]?\d+|0[xX](?:[\da-fA-F]+\.[\da-fA-F]*|\.[\da-fA-F]+))"
    r"([fh]?)"
)
LARGEST = {"": 2**63 - 1, "i": 2**31 - 1, "u": 2**32 - 1}
MALFORMED, TOO_LARGE = "invalid numeric literal format", "numeric literal not representable by target type"


def check_number(text: str, at: int) -> None:
    """Refuse what is no number, and what its type cannot hold."""
    whole, fraction = WHOLE.fullmatch(text), FRACTION.fullmatch(text)
    if fraction and fraction[2] == "h":
        raise Unsupported(f"f16 (`{text}` is a number of 16 bits)", at)
    if whole:
        fits = int(whole[1], 0) <= LARGEST[whole[2]]
    elif fraction:
        fits = _fits(fraction[1], fraction[2])
    else:
        raise Refused(f"{MALFORMED}: `{text}`", at, len(text), MALFORMED)
    if not fits:
        raise Refused(f"{TOO_LARGE}: `{text}`", at, len(text), TOO_LARGE)


def _fits(digits: str, suffix: str) -> bool:
    """Whether a fraction is in range, and a hexadecimal one is exact besides."""
    hexadecimal = digits[:2] in ("0x", "0X")
    try:
        value = float.fromhex(digits) if hexadecimal else float(digits)
        single = struct.unpack("<f", struct.pack("<f", value))[0] if suffix else value
    except OverflowError:
        return False
    return abs(value) != float("inf") and (single == value or not hexadecimal)
