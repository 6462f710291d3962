"""The read sets of a wrong number as a picture: your window over the right one, and both numbers below."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from helpers.grading.drawing import window
from helpers.grading.read_sets import ReadSet, ReadSets, place
from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture, number, text_width, tint
from helpers.pictures.parts import Cell, Grid, look

# CSS pixels: the width; around, and between the grids
SHEET = 404
EDGE = 5
GAP = 20
# of a cell, at the least; beside and above a grid, for its indices
WIDTH = 28
HEIGHT = 26
INDEX = (34, 19)
ROOM = SHEET - 2 * EDGE - INDEX[0] - 1
SIZE = 13  # of numbers
SMALL = 12  # of indices and notes
# above a grid; from one line of the legend to the next
TITLE = 24
NOTE = 16
LINE = 26
MOST = (8, 12)  # rows and columns that are drawn
FEW = 5  # rows of an output
IN_A_ROW = 10, 5  # numbers in a row of a long list, and of one with long numbers
# how far inside of a cell's edge, and how thick
ORANGE_LINE = (-1.5, 3.5)
BLUE_LINE = (3.0, 2.0)
DASHES = (5, 3)


class _Sheet(NamedTuple):
    """A part of an array as rows and columns: its title, which part it is, and its values, in cells of one width.

    The cells that are marked in each color are counted from the part's corner: some may lie outside of it.
    """

    title: str
    note: str  # nothing where the part is the whole
    values: np.ndarray
    cell: float
    rows: range  # the indices of its rows
    columns: range
    right: frozenset[Cell]
    yours: frozenset[Cell]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in CSS pixels, all words included."""
        words = max(text_width(self.title, 14, "bold"), text_width(self.note, SMALL))
        return max(INDEX[0] + self.cell * len(self.columns), words), self.top + HEIGHT * len(self.rows)

    @property
    def top(self) -> float:
        """The height of what is above the cells."""
        return TITLE + NOTE * bool(self.note) + INDEX[1]


def _sheet(
    title: str, array: np.ndarray, right: frozenset, yours: frozenset, most: int = MOST[0], first: Cell = (0, 0)
) -> _Sheet:
    """A plane, or a list of which long ones go on in the next row, cut around what differs.

    `first` are the indices of the first row and column, below 0 in a padding.
    """
    step = 1
    cell = max(WIDTH, *(text_width(number(value), SIZE) + 6 for value in {*array.flat}))
    count = array.size
    room = min(MOST[1], int(ROOM // cell))
    if array.ndim == 1:
        step = count if count <= room else next(n for n in (*IN_A_ROW, 1) if n <= room)
        right, yours = (frozenset(divmod(i, step) for (i,) in cells) for cells in (right, yours))
        array = np.append(array, np.full(-count % step, np.nan)).reshape(-1, step)
    marked = zip(*right | yours, strict=True)
    differs = min(right ^ yours or right)
    down, across = parts = [*map(_part, array.shape, (most, room), marked, differs)]
    counted = [*zip(("rows ", "columns "), parts, array.shape, first, strict=True)]
    if step > 1:  # a list, which has no rows for a reader
        counted = [("", range(down[0] * step, min(down.stop * step, count)), count, 0)]
    note = ", ".join(f"{name}{p[0] + at} to {p[-1] + at} of {n + 2 * at}" for name, p, n, at in counted if len(p) < n)
    rows = range(down[0] * step + first[0], down.stop * step + first[0], step)
    columns = range(across[0] + first[1], across.stop + first[1])
    shown = (frozenset((r - down[0], c - across[0]) for r, c in cells) for cells in (right, yours))
    return _Sheet(title, note, array[np.ix_(down, across)], cell, rows, columns, *shown)


def _part(size: int, room: int, marked: tuple[int, ...], first: int) -> range:
    """The places of an axis that are drawn: all marked places if they fit, or those around the first that differs."""
    all_fit = max(marked) - min(marked) < room
    return range(size)[window((min(marked) + max(marked) + 1) // 2 if all_fit else first, size, room)]


class ReadSetsPicture(Picture):
    """Each input with what your kernel reads over what the official one reads, and the number that comes out."""

    def __init__(self, read_sets: ReadSets) -> None:
        self.read_sets = read_sets
        inputs = [_of_input(read) for read in read_sets.inputs if read.yours or read.right]
        sheets = [*inputs, _of_output(read_sets)]
        sizes = [sheet.size for sheet in sheets]
        places, bottom = _flow(sizes)
        legend = _legend(read_sets)
        beside = places[-1][0] + sizes[-1][0] + GAP
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
        grid = Grid(self, sheet.values, x + INDEX[0], y + sheet.top, (sheet.cell, HEIGHT), tensor=sheet.title)
        for i, row in enumerate(sheet.rows):
            self.write(grid.x - 7, grid.box(i, 0).middle[1], str(row), SMALL, GRAY, align="right")
        for i, column in enumerate(sheet.columns):
            self.write(grid.box(0, i).middle[0], grid.y - 11, str(column), SMALL, GRAY, align="middle")
        grid.tinted(sheet.right & {*np.ndindex(sheet.values.shape)}, ORANGE, 1)
        for cells, color, line, dashes in (
            (sheet.right, ORANGE, ORANGE_LINE, None),
            (sheet.yours, BLUE, BLUE_LINE, DASHES),
        ):
            self.lines(_outline(grid, cells, line[0]), color, line[1], dashes)


def _legend(read_sets: ReadSets) -> list[tuple]:
    """Both signs with the numbers that come out: words, color, face, line and dashes of a box."""
    mine = "nothing is stored" if read_sets.mine is None else number(read_sets.mine)
    return [
        (f"right: {number(read_sets.output[read_sets.at])}", ORANGE, tint(ORANGE), ORANGE_LINE[1], None),
        (f"yours: {mine}", BLUE, None, BLUE_LINE[1], DASHES),
    ]


def _of_input(read: ReadSet) -> _Sheet:
    """A plane of an input, with the padding around it, of which no cell is in memory."""
    plane = read.array[read.plane]
    right = read.cells(read.right)
    yours = read.cells(read.yours)
    if not any(read.padding):
        return _sheet(read.title, plane, right, yours)
    down, across = read.padding
    plane = np.pad(plane.astype(float), ((down, down), (across, across)), constant_values=np.nan)
    right, yours = (frozenset((row + down, column + across) for row, column in cells) for cells in (right, yours))
    return _sheet(f"{read.title} and its padding", plane, right, yours, first=(-down, -across))


def _of_output(read_sets: ReadSets) -> _Sheet:
    """The right output with the place of the wrong number."""
    plane = read_sets.at[:-2]
    cell = frozenset({read_sets.at[-2:]})
    title = place(read_sets.name, plane) if np.prod(read_sets.output.shape[:-2]) > 1 else read_sets.name
    return _sheet(title, read_sets.output[plane], cell, frozenset(), FEW)


def _flow(sizes: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], float]:
    """Places from left to right, and in the next line where there is no room; and where the last line ends."""
    places = []
    x = EDGE
    y = EDGE
    bottom = EDGE
    for width, height in sizes:
        if x > EDGE and x + width > SHEET - EDGE:
            x = EDGE
            y = bottom + GAP
        places.append((x, y))
        x = x + width + GAP
        bottom = max(bottom, y + height)
    return places, bottom


def _outline(grid: Grid, cells: frozenset[Cell], inset: float) -> Iterator[tuple[float, ...]]:
    """The lines around some cells, a little inside of their edges; none where the cells go on past the grid."""
    half = grid.width / 2 - inset, grid.height / 2 - inset
    for row, column in cells & {*np.ndindex(grid.values.shape)}:
        x, y = grid.box(row, column).middle
        for down, right in ((-1, 0), (0, -1), (1, 0), (0, 1)):
            if (row + down, column + right) in cells:
                continue
            line = []
            for way in (-1, 1):  # the line ends before the cell's corner, or where that of the next cell begins
                beside = row + way * abs(right), column + way * abs(down)
                around = (beside[0] + down, beside[1] + right) in cells
                more = inset * (1 + around) if beside in cells else 0
                line += [x + right * half[0] + way * abs(down) * (half[0] + more)]
                line += [y + down * half[1] + way * abs(right) * (half[1] + more)]
            yield tuple(line)
