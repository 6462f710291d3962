"""The lines of a kernel that a run comes through, without comments, folded and cut into pages."""

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from helpers.wgsl import Kernel, closing

HANGING = 4  # letters that the rest of a folded line is indented by


class Row(NamedTuple):
    """One row of the listing; a row without a number goes on with the line above it."""

    line: int
    number: str
    indent: int
    text: str


def functions(kernel: Kernel) -> list[range]:
    """The lines of each function, from its first attribute to its last brace."""
    code, found = kernel.code, []
    for name in re.finditer(r"\bfn\s+\w+\s*(?=\()", code):
        end = closing(code, code.index("{", closing(code, name.end())))
        before = max(code.rfind(sign, 0, name.start()) for sign in ";}")
        start = before + 1 + len(re.match(r"\s*", code[before + 1 :])[0])
        found.append(range(_line(code, start), _line(code, end) + 1))
    return found


def _line(code: str, offset: int) -> int:
    return code.count("\n", 0, offset) + 1


def pages(kernel: Kernel, ran: Collection[int], lines: range, width: int, height: int) -> list[list[Row]]:
    """The functions of which a line `ran`, within `lines`, on pages of `height` rows of `width` letters.

    A function that fits on no page is cut.
    """
    sheets: list[list[Row]] = [[]]
    for part in functions(kernel):
        if not any(line in part for line in ran):
            continue
        rows = list(_rows(kernel, (line for line in part if line in lines), width))
        if sheets[-1] and len(sheets[-1]) + 1 + len(rows) > height:
            sheets.append([])
        elif sheets[-1] and rows:
            sheets[-1].append(Row(0, "", 0, ""))
        sheets[-1] += rows
        while len(sheets[-1]) > height:
            sheets[-1:] = [sheets[-1][:height], sheets[-1][height:]]
    return sheets


def _rows(kernel: Kernel, lines: Iterable[int], width: int) -> Iterator[Row]:
    code = [line.rstrip() for line in kernel.code.split("\n")]
    for line in filter(lambda line: code[line - 1], lines):
        text = code[line - 1].lstrip()
        indent = len(code[line - 1]) - len(text)
        pieces = [text]
        if indent + len(text) > width:
            pieces = textwrap.wrap(text, width - indent - HANGING, break_on_hyphens=False)
        for i, piece in enumerate(pieces):
            yield Row(line, str(line) if i == 0 else "", indent + HANGING * (i > 0), piece)
