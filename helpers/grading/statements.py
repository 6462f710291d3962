"""The statements of a WGSL function, with their blocks."""

import re
from typing import NamedTuple

from helpers.wgsl import closing

STATEMENT = re.compile(
    r"[\s;]*(?:(?P<word>if|else\s+if|else|for|while|switch|loop|continuing|case|default)\b(?P<head>[^{]*)"
    r"|(?P<line>[^{};]*))[{;]"
)


class Statement(NamedTuple):
    """A word or none, its offset, what stands behind it, and the blocks that follow."""

    word: str
    at: int
    head: str
    body: list["Statement"] | None
    other: list["Statement"]  # behind `else`


def parsed(code: str, at: int, end: int) -> list[Statement]:
    """The statements between two offsets of a text that compiles, without its comments."""
    found, chain = [], []
    while statement := STATEMENT.match(code, at, end):
        word, head = statement["word"] or "", statement["head"] or statement["line"] or ""
        start, at, body = statement.start("word" if word else "line"), statement.end(), None
        if code[at - 1] == "{":
            close = closing(code, at - 1)
            body, at = parsed(code, at, close), close + 1
        new = Statement(word.removeprefix("else").strip(), start, head.strip(), body, [])
        (chain if word.startswith("else") else found).append(new)
        chain = new.other
    return found
