"""A wrong output drawn in text beside the right one, small enough to read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from wgsl import WgslError

SIDE, IN_A_ROW = 7, 10  # rows and columns of a matrix that are drawn, and numbers of a list; the rest is cut
LINES, WIDTH = 20, 80  # of a whole drawing
Array = np.ndarray


@dataclass(frozen=True)
class Excerpt:
    """Lines of the learner's text, with a caret below what is wrong; each is shown up to its `widest` letter."""

    text: str
    widest: int | None = None


@dataclass(frozen=True)
class NumbersDrawn:
    """A wrong output beside the right one, in the smallest test with wrong numbers; `test` is "" for a drawn problem.

    `passes` has, where there are several, the name of each and its workgroups; `marks` are those in the lines.
    """

    test: str
    passes: tuple[tuple[str, tuple[int, ...]], ...]
    marks: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ValuesDrawn:
    """Wrong values beside the right ones, in the smallest test that fails; `test` is "" for a drawn problem."""

    test: str
    lines: tuple[str, ...]


Drawn = Excerpt | NumbersDrawn | ValuesDrawn


def excerpt_of(error: WgslError, widest: int | None = None) -> Excerpt | None:
    """Return the lines that an error shows; None where it has no place."""
    return Excerpt(error.excerpt, widest) if error.excerpt else None


def drawing(want: Array, got: Array, marks: Array, axes: Sequence[str], inputs: Mapping[str, Array]) -> list[str]:
    """The lines that show the right and the given output, cut to a part with a wrong number, and the small inputs.

    `want`, `got` and `marks` have one axis for each letter of `axes`, of which the last one may be the names of a
    table's columns; `inputs` are drawn by their names. A mark is "."
    where a number was never written, even if 0 is right there, "*" where it is wrong, and "" elsewhere.
    """
    if want.ndim == 1:
        return _list(want, got, marks, axes[0], inputs)
    lines = _small(inputs)
    wrong = [index for index in np.ndindex(want.shape[:-2]) if _wrong(want[index], got[index], marks[index]).any()]
    for drawn, index in enumerate(wrong):  # a pair of matrices for each place of the first axes, while there is room
        place = ", ".join(f"{axis} = {i}" for axis, i in zip(axes, index, strict=False))
        headed = [f"{place}:"] if np.prod(want.shape[:-2]) > 1 else []
        block = [*headed, *_pair(want[index], got[index], marks[index], axes[-2:])]
        if drawn and len(lines) + len(block) > LINES - 3:
            return [*lines, f"Wrong numbers are also in {len(wrong) - drawn} more of these pairs."]
        lines += block
    return lines


def _wrong(want: Array, got: Array, marks: Array) -> Array:
    """The places of wrong numbers; before a number is written, 0 is there."""
    return (marks == "*") | ((marks == ".") & (want != got))


def number(value: float) -> str:
    """A number as a message shows it."""
    digits = ".8" if float(value).is_integer() else ""  # every whole number of float32, as it is
    return f"{value + 0.0:{digits}g}".replace("e+", "e")  # never -0; a large one as a kernel has it, -3.3e38


def _list(want: Array, got: Array, marks: Array, axis: str, inputs: Mapping[str, Array]) -> list[str]:
    """A line for the index, one for each input of the same length, one for the right and one for the given numbers."""
    alike = {name: array for name, array in inputs.items() if array.shape == want.shape}
    others = {name: array for name, array in inputs.items() if name not in alike}
    first = np.argwhere(_wrong(want, got, marks))[0][0]
    for room in range(IN_A_ROW, 0, -1):
        part = window(first, want.size, room)
        rows = {axis: np.arange(want.size), **alike, "right": want}
        cells = [[name, *map(number, row[part])] for name, row in rows.items()]
        table = _table([*cells, ["yours", *map(_marked, got[part], marks[part])]])
        if max(map(len, table)) <= WIDTH:
            break
    return [*_small(others), *table]


def _pair(want: Array, got: Array, marks: Array, axes: Sequence[str]) -> list[str]:
    """A right and a given matrix beside each other, cut around the first wrong number."""
    first = np.argwhere(_wrong(want, got, marks))[0]
    for columns in range(SIDE, 0, -1):
        part = window(first[0], want.shape[0], SIDE), window(first[1], want.shape[1], columns)
        right = [list(map(number, row)) for row in want[part]]
        yours = [list(map(_marked, *rows)) for rows in zip(got[part], marks[part], strict=True)]
        if "," in axes[-1]:  # a table
            names = [axes[0], *axes[-1].split(",")[part[1]]]
            right = [names, *_numbered(right, part[0].start)]
            yours = [names, *_numbered(yours, part[0].start)]
        pair = _beside(["right", *_table(right)], ["yours", *_table(yours)])
        if max(map(len, pair)) <= WIDTH:
            break
    cut = [
        f"{x} = {p.start} to {p.stop - 1}"
        for x, p, n in zip(axes, part, want.shape, strict=True)
        if n > p.stop - p.start
    ]
    return [f"only {', '.join(cut)}:", *pair] if cut else pair


def _numbered(rows: Sequence[Sequence[str]], first: int) -> list[list[str]]:
    """Rows of a table, each behind its number."""
    return [[str(at), *row] for at, row in enumerate(rows, first)]


def _small(inputs: Mapping[str, Array]) -> list[str]:
    """Inputs beside each other, each below its name, and an empty line; nothing if they are too large."""
    matrices = {name: np.squeeze(array) for name, array in inputs.items()}
    if not matrices or any(m.ndim > 2 or max(m.shape, default=1) > SIDE for m in matrices.values()):
        return []
    blocks = []
    for name, matrix in matrices.items():
        rows = [list(map(number, row)) for row in np.atleast_2d(matrix)]
        blocks.append([name, *_table(rows)])
    lines = _beside(*blocks)
    return [*lines, ""] if max(map(len, lines)) <= WIDTH else []


# --- Lines --------------------------------------------------------------------------------------------------


def window(at: int, size: int, room: int) -> slice:
    """This many places of an axis, the one at `at` among them."""
    start = int(min(max(0, at - room // 2), max(0, size - room)))
    return slice(start, min(size, start + room))


def aligned(rows: Iterable[Sequence[str]], between: str = "  ", justify: Callable = str.ljust) -> list[str]:
    """Rows of cells as lines, in columns."""
    columns = [*zip(*rows, strict=True)]
    cells = []
    for column in columns:
        width = max(map(len, column))
        cells.append([justify(cell, width) for cell in column])
    return [between.join(row).rstrip() for row in zip(*cells, strict=True)]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, aligned at the right, with room for a mark after each."""
    return aligned((map(_with_room, row) for row in rows), " ", str.rjust)


def _with_room(cell: str) -> str:
    return cell if cell.endswith("*") else f"{cell} "


def _beside(*blocks: Sequence[str]) -> list[str]:
    """Blocks of lines beside each other."""
    return aligned(zip_longest(*blocks, fillvalue=""), "     ")


def _marked(value: float, mark: str) -> str:
    return mark if mark == "." else f"{number(value)}{mark}"
