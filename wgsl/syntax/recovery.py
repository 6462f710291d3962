"""A text that breaks off, read on: each declaration that is no WGSL is left out, and the rest is read without it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from wgsl.diagnostics import NotWgsl, Unsupported
from wgsl.syntax.tokens import without_comments
from wgsl.syntax.tree import Module

MOST = 20  # faults of the grammar that are looked for, each with the text read once more
ENDS_THE_READING = ("comment", "enable")  # after which nothing of the text means what it says
WORD = r"(?:fn|struct|var|const|override|alias|const_assert|enable|requires|diagnostic)\b"
BEGIN = rf"(?:@\s*\w+\s*(?:\([^()]*\))?\s*)*{WORD}"
NAMES = re.compile(r"\b(?:fn|struct|const|override|alias)\s+(\w+)|\bvar\s*(?:<[^<>]*>)?\s*(\w+)")


class Readable(NamedTuple):
    """A text as far as it can be read.

    `module` has the declarations that the grammar takes, and `source` is the text with blanks in place of the other
    ones; `lost` are the names that these declare. Each of the `faults` comes with the text in which it was found.
    """

    module: Module
    source: str
    faults: list[tuple[str, NotWgsl | Unsupported]]
    lost: frozenset[str]


def read_on(source: str, parse: Callable[[str], Module]) -> Readable:
    """Return what can be read of a text, and the faults of the rest, of each declaration the first one."""
    faults: list[tuple[str, NotWgsl | Unsupported]] = []
    lost: set[str] = set()
    while len(faults) < MOST:
        try:
            return Readable(parse(source), source, faults, frozenset(lost))
        except (NotWgsl, Unsupported) as fault:
            faults.append((source, fault))
            if fault.kind in ENDS_THE_READING:
                break
            begin, end = _Pieces(source).around(fault.at)
        code = without_comments(source)[begin:end]
        if not code.strip():
            break
        lost.update(*NAMES.findall(code))
        source = source[:begin] + re.sub(r"[^\n]", " ", source[begin:end]) + source[end:]
    return Readable(Module(()), source, faults, frozenset(lost))


class _Pieces:
    """The pieces of a text that are declarations, whatever is wrong inside of them.

    A declaration begins in a line with its word, if the line is indented as the first one of the text, or after the end
    of another one.
    """

    def __init__(self, source: str) -> None:
        self._code = without_comments(source)
        first = re.search(r"^([ \t]*)\S", self._code, re.MULTILINE)
        indent = first[1] if first else ""
        self._words = [match.end(1) for match in re.finditer(rf"^({indent}){BEGIN}", self._code, re.MULTILINE)]
        self._ends: list[int] = []
        for begin, end in zip([0, *self._words], [*self._words, len(self._code)], strict=True):
            self._cut(begin, end)
        self._begins = sorted({0, *self._words, *self._ends})

    def _cut(self, begin: int, end: int) -> None:
        """Note where declarations end between two that begin a line, and where others follow in the same line."""
        depth = 0
        for sign in re.finditer(r"[{};]", self._code[begin:end]):
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
            if depth > 0:
                continue
            depth = 0
            self._ends.append(begin + sign.end())
            if following := re.compile(rf"[ \t]*({BEGIN})").match(self._code, self._ends[-1], end):
                self._words.append(following.start(1))

    def around(self, at: int) -> tuple[int, int]:
        """Return begin and end of what to leave out for a fault at an offset: up to the next declaration."""
        words = sorted(self._words)
        before = bisect_right(self._begins, at) - 1
        begin = self._begins[before]
        if before > 0 and not self._is_complete(self._begins[before - 1], begin):
            return self._begins[before - 1], begin  # this declaration stands inside of an unfinished one
        after = bisect_right(words, at)
        return begin, words[after] if after < len(words) else len(self._code)

    def _is_complete(self, begin: int, end: int) -> bool:
        return not self._code[begin:end].strip() or any(begin < cut <= end for cut in self._ends)
