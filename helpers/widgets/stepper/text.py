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
    nodes = (declaration for declaration in kernel.module.declarations if isinstance(declaration, Function))
    return [range(line_of(kernel, node.at), line_of(kernel, node.end) + 1) for node in nodes]


def line_of(kernel: Kernel, offset: int) -> int:
    """The line of an offset in the source."""
    return kernel.source.count("\n", 0, offset) + 1


def outline(kernel: Kernel, lines: Collection[int]) -> set[int]:
    """Some lines, the heads of their functions, and the first and last lines of the blocks around them."""
    code = _code(kernel)
    kept = set(lines)
    for part in (part for part in functions(kernel) if any(line in part for line in lines)):
        first = next(line for line in part if code[line].endswith("{"))
        kept |= {*range(part.start, first + 1), part[-1]}
        for line in (line for line in part[:-1] if line in lines):
            for way in (range(line, first, -1), range(line, part[-1])):
                depth = _indent(code[line])
                for other in (other for other in way if code[other] and _indent(code[other]) < depth):
                    kept.add(other)
                    depth = _indent(code[other])
    return kept


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
    for line in (line for line in part if code[line]):
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
        for i, piece in enumerate(pieces):
            yield Row(line, str(line) if i == 0 else "", indent + HANGING * (i > 0), piece)


def _code(kernel: Kernel) -> list[str]:
    """The lines without comments; the first one has the number 1."""
    return ["", *(line.rstrip() for line in kernel.code.split("\n"))]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
