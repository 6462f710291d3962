"""The read sets of a wrong number as a picture: your window over the right one, and both numbers below."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from helpers.grading.drawing import window
from helpers.grading.read_sets import ReadSet, ReadSets
from helpers.grading.words.read_sets import place, sentence
from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture, number, tint
from helpers.pictures.marks import text_width
from helpers.pictures.parts import Grid, look
from helpers.pictures.touchable import Cell

# CSS pixels
SHEET = 404  # the width
EDGE = 5  # around the grids
GAP = 20  # between the grids
WIDTH = 28  # of a cell, at the least
HEIGHT = 26
INDEX = (34, 19)  # beside and above a grid, for its indices
ROOM = SHEET - 2 * EDGE - INDEX[0] - 1
SIZE = 13  # of numbers
SMALL = 13  # of indices and notes
TITLE = 24  # above a grid
NOTE = 16  # below a title
LINE = 26  # from one line of the legend to the next
MOST_ROWS = 8  # that are drawn
MOST_COLUMNS = 12
MOST_OUTPUT_ROWS = 5
IN_A_ROW = 10, 5  # numbers in a row of a long list, and of one with long numbers
# an outline: how far inside of a cell's edge, and how thick
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
        above = TITLE + NOTE if self.note else TITLE
        return above + INDEX[1]


def _plane(
    title: str,
    array: np.ndarray,
    right: frozenset,
    yours: frozenset,
    most_rows: int = MOST_ROWS,
    first: Cell = (0, 0),
) -> _Sheet:
    """A plane, cut around what differs; `first` are the indices of its first row and column, below 0 in a padding."""
    width = _cell_width(array)
    down, across = _drawn_parts(array.shape, (most_rows, _columns_of(width)), right, yours)
    notes = [_part_note("rows", down, len(array), first[0]), _part_note("columns", across, array.shape[1], first[1])]
    return _Sheet(
        title,
        ", ".join(filter(None, notes)),
        array[np.ix_(down, across)],
        width,
        range(down.start + first[0], down.stop + first[0]),
        range(across.start + first[1], across.stop + first[1]),
        _from_corner(right, down, across),
        _from_corner(yours, down, across),
    )


def _list(title: str, array: np.ndarray, right: frozenset, yours: frozenset, most_rows: int = MOST_ROWS) -> _Sheet:
    """A list, of which long ones go on in the next row, cut around what differs."""
    count = array.size
    width = _cell_width(array)
    columns = _columns_of(width)
    step = count if count <= columns else next(n for n in (*IN_A_ROW, 1) if n <= columns)
    right = _in_rows(right, step)
    yours = _in_rows(yours, step)
    table = np.append(array, np.full(-count % step, np.nan)).reshape(-1, step)
    down, across = _drawn_parts(table.shape, (most_rows, columns), right, yours)
    if step > 1:  # no rows for a reader
        note = _part_note("", range(down.start * step, min(down.stop * step, count)), count)
    else:
        note = _part_note("rows", down, count)
    return _Sheet(
        title,
        note,
        table[np.ix_(down, across)],
        width,
        range(down.start * step, down.stop * step, step),
        across,
        _from_corner(right, down, across),
        _from_corner(yours, down, across),
    )


def _sheet(title: str, array: np.ndarray, right: frozenset, yours: frozenset) -> _Sheet:
    """A plane or a list, as the array is."""
    if array.ndim == 1:
        return _list(title, array, right, yours)
    return _plane(title, array, right, yours)


def _cell_width(array: np.ndarray) -> float:
    """The width with which all numbers have room."""
    widths = [text_width(number(value), SIZE, "bold") + 6 for value in set(array.flat)]
    return max(WIDTH, *widths)


def _columns_of(width: float) -> int:
    """The number of cells that have room beside each other."""
    return min(MOST_COLUMNS, int(ROOM // width))


def _in_rows(cells: frozenset, step: int) -> frozenset[Cell]:
    """Places (i,) of a list, as rows and columns where each row has this many."""
    return frozenset(divmod(i, step) for (i,) in cells)


def _from_corner(cells: frozenset[Cell], down: range, across: range) -> frozenset[Cell]:
    """Cells, counted from the corner of the part that is drawn."""
    return frozenset((row - down.start, column - across.start) for row, column in cells)


def _part_note(name: str, part: range, count: int, first: int = 0) -> str:
    """Say which places of an axis are drawn; nothing where all are."""
    if len(part) == count:
        return ""
    return f"{name} {part[0] + first} to {part[-1] + first} of {count + 2 * first}".lstrip()


def _drawn_parts(shape: Cell, room: Cell, right: frozenset, yours: frozenset) -> list[range]:
    """The rows and the columns that are drawn: with all marked cells if they fit, or around the first that differs."""
    marked = right | yours
    first_difference = min(right ^ yours or right)
    parts = []
    for axis, size in enumerate(shape):
        places = [cell[axis] for cell in marked]
        low = min(places)
        high = max(places)
        all_fit = high - low < room[axis]
        middle = (low + high + 1) // 2 if all_fit else first_difference[axis]
        parts.append(range(size)[window(middle, size, room[axis])])
    return parts


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
        self.sentence = sentence(read_sets)

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
        inset, thickness = ORANGE_LINE
        self.lines(_outline(grid, sheet.right, inset), ORANGE, thickness)
        inset, thickness = BLUE_LINE
        self.lines(_outline(grid, sheet.yours, inset), BLUE, thickness, DASHES)


def _legend(read_sets: ReadSets) -> list[tuple]:
    """Both signs with the numbers that come out: words, color, face, line and dashes of a box."""
    right = number(read_sets.output[read_sets.at])
    yours = "nothing is stored" if read_sets.number is None else number(read_sets.number)
    return [
        (f"right: {right}", ORANGE, tint(ORANGE), ORANGE_LINE[1], None),
        (f"yours: {yours}", BLUE, None, BLUE_LINE[1], DASHES),
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
    right = frozenset((row + down, column + across) for row, column in right)
    yours = frozenset((row + down, column + across) for row, column in yours)
    return _plane(f"{read.title} and its padding", plane, right, yours, first=(-down, -across))


def _of_output(read_sets: ReadSets) -> _Sheet:
    """The right output with the place of the wrong number."""
    plane = read_sets.at[:-2]
    cell = frozenset({read_sets.at[-2:]})
    planes = np.prod(read_sets.output.shape[:-2])
    title = place(read_sets.name, plane) if planes > 1 else read_sets.name
    output = read_sets.output[plane]
    if output.ndim == 1:
        return _list(title, output, cell, frozenset(), MOST_OUTPUT_ROWS)
    return _plane(title, output, cell, frozenset(), MOST_OUTPUT_ROWS)


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
                more = 0
                if beside in cells:
                    turns_outwards = (beside[0] + down, beside[1] + right) in cells
                    more = 2 * inset if turns_outwards else inset
                line.append(x + right * half[0] + way * abs(down) * (half[0] + more))
                line.append(y + down * half[1] + way * abs(right) * (half[1] + more))
            yield tuple(line)
