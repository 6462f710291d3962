"""The lines of a kernel that a run comes through, without comments, wrapped and cut into pages."""

import textwrap
from collections.abc import Collection, Iterator
from typing import NamedTuple

from wgsl import Kernel
from wgsl.syntax.tree import Function

HANGING = 4  # letters that the rest of a wrapped line is indented by


class Row(NamedTuple):
    """One row of the listing; a row without a number goes on with the line above it, or stands for lines left out."""

    line: int
    number: str
    indent: int
    text: str


def functions(kernel: Kernel) -> list[range]:
    """The lines of each function, from its first attribute to its last brace."""
    ranges = []
    for declaration in kernel.module.declarations:
        if isinstance(declaration, Function):
            first = line_of(kernel, declaration.at)
            last = line_of(kernel, declaration.end)
            ranges.append(range(first, last + 1))
    return ranges


def line_of(kernel: Kernel, offset: int) -> int:
    """The line of an offset in the source."""
    return kernel.source.count("\n", 0, offset) + 1


def outline(kernel: Kernel, lines: Collection[int]) -> set[int]:
    """Some lines, the heads of their functions, and the first and last lines of the blocks around them."""
    code = _code(kernel)
    kept = set(lines)
    for part in functions(kernel):
        inside = [line for line in part[:-1] if line in lines]
        if not inside and part[-1] not in lines:
            continue
        first = next(line for line in part if code[line].endswith("{"))
        kept.update(range(part.start, first + 1))
        kept.add(part[-1])
        for line in inside:
            kept |= _lines_further_out(code, line, range(line, first, -1))
            kept |= _lines_further_out(code, line, range(line, part[-1]))
    return kept


def _lines_further_out(code: list[str], line: int, others: range) -> set[int]:
    """Those of some lines that are indented less than a line and than all before them: heads or ends of blocks."""
    further_out = set()
    depth = _indent(code[line])
    for other in others:
        if code[other] and _indent(code[other]) < depth:
            further_out.add(other)
            depth = _indent(code[other])
    return further_out


def pages(kernel: Kernel, ran: Collection[int], lines: Collection[int], width: int, height: int) -> list[list[Row]]:
    """The functions of which a line `ran`, within `lines`, on pages of `height` rows of `width` letters.

    A function that fits on no page is cut.
    """
    sheets: list[list[Row]] = [[]]
    for part in functions(kernel):
        if not any(line in part for line in ran):
            continue
        rows = list(_rows(kernel, part, lines, width))
        if sheets[-1] and len(sheets[-1]) + 1 + len(rows) > height:
            sheets.append([])
        elif sheets[-1]:
            sheets[-1].append(Row(0, "", 0, ""))
        sheets[-1] += rows
        while len(sheets[-1]) > height:
            sheets[-1:] = [sheets[-1][:height], sheets[-1][height:]]
    return sheets


def _rows(kernel: Kernel, part: range, lines: Collection[int], width: int) -> Iterator[Row]:
    code = _code(kernel)
    gap = False
    for line in part:
        if not code[line]:
            continue
        if line not in lines:
            gap = True
            continue
        text = code[line].lstrip()
        indent = _indent(code[line])
        if gap and line > part.start:
            yield Row(0, "", indent, "…")
        gap = False
        pieces = [text]
        if indent + len(text) > width:
            pieces = textwrap.wrap(text, width - indent - HANGING, break_on_hyphens=False)
        first, *others = pieces
        yield Row(line, str(line), indent, first)
        for piece in others:
            yield Row(line, "", indent + HANGING, piece)


def _code(kernel: Kernel) -> list[str]:
    """The lines without comments; the first one has the number 1."""
    return ["", *(line.rstrip() for line in kernel.code.split("\n"))]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
