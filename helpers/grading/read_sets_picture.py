"""The read sets of a wrong number as a picture: your window over the right one, and both numbers below."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from helpers.grading.drawing import window
from helpers.grading.read_sets import ReadSet, ReadSets, place
from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture, number, text_width, tint
from helpers.pictures.parts import Cell, Grid, look

SHEET, EDGE, GAP = 404, 5, 20  # CSS pixels: the width; around, and between the grids
WIDTH, HEIGHT, INDEX = 28, 26, (34, 19)  # of a cell, at the least; beside and above a grid, for its indices
ROOM = SHEET - 2 * EDGE - INDEX[0] - 1
SIZE, SMALL = 13, 12  # of numbers; of indices and notes
TITLE, NOTE, LINE = 24, 16, 26  # above a grid; from one line of the legend to the next
MOST, FEW = (8, 12), 5  # rows and columns that are drawn; rows of an output
IN_A_ROW = 10, 5  # numbers in a row of a long list, and of one with long numbers
ORANGE_LINE, BLUE_LINE = (-1.5, 3.5), (3.0, 2.0)  # how far inside of a cell's edge, and how thick
DASHES = (5, 3)


class _Sheet(NamedTuple):
    """A part of an array as rows and columns: its title and values, and the cells that are marked in each color."""

    title: str
    values: np.ndarray
    rows: slice
    columns: slice
    step: int  # what an index grows by from row to row: more than 1 in a list
    cell: float  # the width of a cell
    right: frozenset[Cell]
    yours: frozenset[Cell]
    first: Cell  # the indices of the first row and column, below 0 in a padding

    @property
    def note(self) -> str:
        """Which part it is, where it is not the whole."""
        (rows, columns), step = self.values.shape, self.step
        if step > 1:
            shown, count = range(self.rows.start * step, self.rows.stop * step), int(np.isfinite(self.values).sum())
            return f"{shown[0]} to {min(shown[-1], count - 1)} of {count}" if len(shown) < count else ""
        parts = zip(("rows", "columns"), (self.rows, self.columns), (rows, columns), self.first, strict=True)
        cut = (part for part in parts if part[1].stop - part[1].start < part[2])
        return ", ".join(f"{name} {p.start + at} to {p.stop - 1 + at} of {n + 2 * at}" for name, p, n, at in cut)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in CSS pixels, all words included."""
        width = INDEX[0] + self.cell * (self.columns.stop - self.columns.start)
        words = max(text_width(self.title, 14, "bold"), text_width(self.note, SMALL))
        return max(width, words), self.top + HEIGHT * (self.rows.stop - self.rows.start)

    @property
    def top(self) -> float:
        """The height of what is above the cells."""
        return TITLE + NOTE * bool(self.note) + INDEX[1]


def _sheet(
    title: str, array: np.ndarray, right: frozenset, yours: frozenset, most: int = MOST[0], first: Cell = (0, 0)
) -> _Sheet:
    """A plane, or a list of which long ones go on in the next row, cut around what differs."""
    step, cell = 1, max(WIDTH, *(text_width(number(value), SIZE) + 6 for value in {*array.flat}))
    columns = min(MOST[1], int(ROOM // cell))
    if array.ndim == 1:
        step = array.size if array.size <= columns else next(n for n in (*IN_A_ROW, 1) if n <= columns)
        right, yours = (frozenset(divmod(i, step) for (i,) in cells) for cells in (right, yours))
        array = np.append(array, np.full(-array.size % step, np.nan)).reshape(-1, step)
    parts = map(_part, array.shape, (most, columns), zip(*right | yours, strict=True), min(right ^ yours or right))
    return _Sheet(title, array, *parts, step, cell, right, yours, first)


def _part(size: int, room: int, marked: tuple[int, ...], first: int) -> slice:
    """What is drawn of an axis: all marked places if they fit, or those around the first that differs."""
    all_fit = max(marked) - min(marked) < room
    return window((min(marked) + max(marked) + 1) // 2 if all_fit else first, size, room)


class ReadSetsPicture(Picture):
    """Each input with what your kernel reads over what the official one reads, and the number that comes out."""

    def __init__(self, read_sets: ReadSets) -> None:
        self.read_sets = read_sets
        inputs = [_of_input(read) for read in read_sets.inputs if read.yours or read.right]
        sheets = [*inputs, _of_output(read_sets)]
        sizes = [sheet.size for sheet in sheets]
        places, bottom = _flow(sizes)
        legend, beside = _legend(read_sets), places[-1][0] + sizes[-1][0] + GAP
        fits = beside + 30 + max(text_width(words, 14, "bold") for words, *_ in legend) < SHEET - EDGE
        corner = (beside, places[-1][1] + sheets[-1].top + 4) if fits else (EDGE + 2, bottom + 14)
        super().__init__(int(max(bottom, corner[1] + 2 * LINE - 8) + EDGE), SHEET)
        for sheet, (x, y) in zip(sheets, places, strict=True):
            self._draw_sheet(sheet, x, y)
        x, y = corner
        for i, (words, color, face, line, dashes) in enumerate(legend):
            self.boxes([Box(x, y + LINE * i, 22, 16)], color, face, line, dashes)
            self.bold(x + 30, y + LINE * i + 8, words, 14, color)
        self.stands_still()
        self.sentence = read_sets.sentence

    def _draw_sheet(self, sheet: _Sheet, x: float, y: float) -> None:
        """A grid with its title and indices, and the outlines of both kernels' read sets."""
        self.bold(x, y + 10, sheet.title, 14, look(sheet.title).ink)
        self.write(x, y + TITLE + 4, sheet.note, SMALL, GRAY)
        rows, columns = sheet.rows, sheet.columns
        values, cell = sheet.values[rows, columns], (sheet.cell, HEIGHT)
        grid = Grid(self, values, x + INDEX[0], y + sheet.top, cell, tensor=sheet.title)
        for i, row in enumerate(range(rows.start, rows.stop)):
            self.write(
                grid.x - 7, grid.box(i, 0).middle[1], str(row * sheet.step + sheet.first[0]), SMALL, GRAY, align="right"
            )
        for i, column in enumerate(range(columns.start, columns.stop)):
            self.write(grid.box(0, i).middle[0], grid.y - 11, str(column + sheet.first[1]), SMALL, GRAY, align="middle")
        shown = {(r - rows.start, c - columns.start) for r, c in sheet.right if _in(r, rows) and _in(c, columns)}
        grid.tinted(shown, ORANGE, 1)
        for cells, color, line, dashes in (
            (sheet.right, ORANGE, ORANGE_LINE, None),
            (sheet.yours, BLUE, BLUE_LINE, DASHES),
        ):
            self.lines(_outline(grid, sheet, cells, line[0]), color, line[1], dashes)


def _legend(read_sets: ReadSets) -> list[tuple]:
    """Both signs with the numbers that come out: words, color, face, line and dashes of a box."""
    mine = "nothing is stored" if read_sets.mine is None else number(read_sets.mine)
    return [
        (f"right: {number(read_sets.output[read_sets.at])}", ORANGE, tint(ORANGE), ORANGE_LINE[1], None),
        (f"yours: {mine}", BLUE, None, BLUE_LINE[1], DASHES),
    ]


def _of_input(read: ReadSet) -> _Sheet:
    """A plane of an input, with the padding around it, of which no cell is in memory."""
    plane, right, yours = read.array[read.plane], read.cells(read.right), read.cells(read.yours)
    if not any(read.padding):
        return _sheet(read.title, plane, right, yours)
    down, across = read.padding
    plane = np.pad(plane.astype(float), ((down, down), (across, across)), constant_values=np.nan)
    right, yours = (frozenset((row + down, column + across) for row, column in cells) for cells in (right, yours))
    return _sheet(f"{read.title} and its padding", plane, right, yours, first=(-down, -across))


def _of_output(read_sets: ReadSets) -> _Sheet:
    """The right output with the place of the wrong number."""
    plane, cell = read_sets.at[:-2], frozenset({read_sets.at[-2:]})
    title = place(read_sets.name, plane) if np.prod(read_sets.output.shape[:-2]) > 1 else read_sets.name
    return _sheet(title, read_sets.output[plane], cell, frozenset(), FEW)


def _flow(sizes: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], float]:
    """Places from left to right, and in the next line where there is no room; and where the last line ends."""
    places, x, y, bottom = [], EDGE, EDGE, EDGE
    for width, height in sizes:
        if x > EDGE and x + width > SHEET - EDGE:
            x, y = EDGE, bottom + GAP
        places.append((x, y))
        x, bottom = x + width + GAP, max(bottom, y + height)
    return places, bottom


def _in(index: int, part: slice) -> bool:
    return part.start <= index < part.stop


def _outline(grid: Grid, sheet: _Sheet, cells: frozenset[Cell], inset: float) -> Iterator[tuple[float, ...]]:
    """The lines around some cells, a little inside of their edges; none where the cells go on past the part."""

    def reach(row: int, column: int, down: int, right: int) -> float:
        """How far a line stops before a cell's corner, where (down, right) leads along it, or goes on past it."""
        return inset if (row + down, column + right) not in cells else 0

    for row, column in cells:
        if not (_in(row, sheet.rows) and _in(column, sheet.columns)):
            continue
        x, y, width, height = grid.box(row - sheet.rows.start, column - sheet.columns.start)
        for side in (-1, 1):
            across = y + inset if side < 0 else y + height - inset
            if (row + side, column) not in cells:
                ends = [reach(row, column, 0, s) or -inset * ((row + side, column + s) in cells) for s in (-1, 1)]
                yield x + ends[0], across, x + width - ends[1], across
            across = x + inset if side < 0 else x + width - inset
            if (row, column + side) not in cells:
                ends = [reach(row, column, s, 0) or -inset * ((row + s, column + side) in cells) for s in (-1, 1)]
                yield across, y + ends[0], across, y + height - ends[1]
