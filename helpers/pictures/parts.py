"""The parts that pictures are made of, which compute their own layout: grids of numbers, bars, and titles.

A tensor has one ink and one set of names in all pictures, which are in `TENSORS`; a gradient looks like its tensor.
"""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

import numpy as np

from helpers.pictures.canvas import GRAY, GREEN, INK, MARGIN, ORANGE, TINT, Box, Picture, Word, number
from helpers.pictures.marks import text_width
from helpers.pictures.touchable import Adjustable, Cell, Touchable, Window

# CSS pixels
TITLE = 15  # a title's letters
SMALLEST = 13  # letters that are read without effort
HEAD = 46  # a title with its note
NOTE = 18  # the note alone
BETWEEN = 44  # the gap between two grids, for a sign
LARGEST_CELL = 54
ROOMY = 36  # the least height of a cell whose number is in its middle even with a factor below it
TWO_LINES = 30  # the least height of a cell that has two lines of SMALLEST letters
# the height of a number in its cell, with a factor below it or a name above it
LIFTED = 0.31
LOWERED = 0.68


class Look(NamedTuple):
    """The ink of a tensor's numbers, and the letters that name its elements; without letters, w and row and column."""

    ink: str
    weight: str = "normal"
    letters: str = ""

    def names(self, shape: Cell) -> np.ndarray:
        """A name for each element of a matrix."""
        names = list(self.letters)
        if not names:
            names = [f"w{row}{column}" for row, column in np.ndindex(*shape)]
        count = np.prod(shape)
        if count > len(names):
            raise ValueError(f"letters = True: {shape} are more than {len(names)} letters")
        return np.reshape(names[:count], shape)


PIXELS = Look(INK, letters=ascii_lowercase)
WEIGHTS = Look(GREEN)
OUTPUTS = Look(ORANGE, "bold", ascii_uppercase[6:])  # from G, as in gradient
TENSORS = {  # in pictures: of a convolution, of a layer by its matrices a @ b, and short
    PIXELS: "input images grad_input x dX a d_a",
    WEIGHTS: "weight filter grad_weight w dW b d_b bias grad_bias d_bias",
    OUTPUTS: "output grad_output conv2d dy pre grad_pre results",
}
LOOKS: dict[str, Look] = {}
for _look, _names in TENSORS.items():
    LOOKS |= dict.fromkeys(_names.split(), _look)


def look(tensor: str) -> Look:
    """The look of a tensor, by its name, such as "grad_output[0,1]" or "conv1.weight"; what is none has plain ink."""
    return LOOKS.get(re.match(r"(?:\w+\.)*(\w*)", tensor)[1], Look(INK))


class Grid:
    """A matrix of numbers in cells, with a title and a note above.

    `values` is (rows, columns); nan is a place that no memory holds: its cell is dashed and empty. (x, y) is the top
    left corner, and `cell` (width, height) the size of each cell, in CSS pixels. `numbers` says whether to write the
    values, and `at` at what height of their cells. The grid looks like its `tensor`, the first word
    of the title if not given.

    A grid that writes its values is also a table for who asks for it (`Picture.tables`), with `caption` above,
    `empty` in the cells without memory, and rows and columns counted from `first` on.
    """

    names: Sequence[str] = ()  # of the columns, where they are not counted
    first = (0, 0)
    empty = ""

    def __init__(self, picture, values, x, y, cell, title="", note="", at=0.5, numbers=True, tensor="") -> None:
        self.picture = picture
        self.values = np.asarray(values, float)
        self.x = x
        self.y = y
        self.width, self.height = cell
        self.look = look(tensor or title)
        self.caption = ", ".join(filter(None, (title, note)))
        if numbers and not np.isnan(self.values).all():
            picture.numbered.append(self)
        head(picture, x, y, title, note, self.look.ink)
        empty = [box for box, value in zip(self.boxes, self.values.flat, strict=True) if np.isnan(value)]
        filled = [box for box, _ in self._filled()]
        picture.boxes(empty, line=0.8, dashes=(2.5, 3))
        picture.boxes(filled)
        if numbers:
            self._write_numbers(at)

    def _write_numbers(self, at: float) -> None:
        """Write each number at a height of its cell, 0.5 in the middle."""
        texts = [number(value) for _, value in self._filled()]
        wanted = min(max(0.36 * self.height, SMALLEST), 20)
        size = fitting(texts, self.width - 4, wanted, self.look.weight)
        if at == LIFTED and not TWO_LINES <= self.height < ROOMY:
            at = 0.5
        words = []
        for (box, _), text in zip(self._filled(), texts, strict=True):
            middle, _ = box.middle
            words.append(Word(middle, box.y + at * box.height, text, size))
        self.picture.words(words, self.look.ink, self.look.weight)

    def _filled(self) -> list[tuple[Box, float]]:
        """The cells that hold a number, with it."""
        cells = zip(self.boxes, self.values.flat, strict=True)
        return [(box, value) for box, value in cells if not np.isnan(value)]

    def box(self, row: int, column: int, rows: int = 1, columns: int = 1) -> Box:
        """The box of a cell, or of the `rows` x `columns` cells from there on."""
        x = self.x + column * self.width
        y = self.y + row * self.height
        return Box(x, y, columns * self.width, rows * self.height)

    @cached_property
    def boxes(self) -> list[Box]:
        """The boxes of its cells, row by row."""
        return [self.box(*cell) for cell in np.ndindex(self.values.shape)]

    def touch(self, name: str, *values: str, start: int = 0, clicked=False, **fixed: int) -> None:
        """Let a reader point at these cells: `values` are a cell's row and column, or its number; `fixed`, others."""
        values_of = {}
        for i, cell in enumerate(np.ndindex(self.values.shape), start):
            numbers = cell if len(values) > 1 else [i]
            moved = dict(zip(values, numbers, strict=True))
            values_of[cell] = fixed | moved
        self.picture.touchable[name] = Touchable(self, values_of, clicked=clicked)

    def point(self, cells: Mapping[Cell, Mapping[str, int]], name: str = "") -> None:
        """Let a reader look at some cells, each with values of its own; the grid's name is its caption if not given."""
        self.picture.touchable[name or self.caption] = Touchable(self, cells, passing=True)

    def adjust(self, name: str, low: float, high: float) -> None:
        """Let a reader change these numbers: they are the array `name` of the explorer that shows the picture.

        A click, Enter or Space turns a number up by 1, from `high` back to `low`; the keys up and down, and typed
        digits, change it, too, and the keys left and right lead to its neighbors.
        """
        self.picture.touchable[name] = Adjustable(self, low, high)

    @property
    def bottom(self) -> float:
        """The y at which the last row ends."""
        return self.y + len(self.values) * self.height

    def drag(self, cells: Sequence[Cell], values: tuple[str, str], place: Cell, jump: Cell = (1, 1)) -> None:
        """Let a reader drag the window of these cells: its row and column are `values`, each step `jump` cells long."""
        rows, columns = jump
        step = rows * self.height, columns * self.width
        self.picture.window = Window(self._around(cells), values, place, step)

    def _around(self, cells: Sequence[Cell]) -> Box:
        """The box of all cells from the first to the last."""
        top, left = cells[0]
        bottom, right = cells[-1]
        return self.box(top, left, bottom - top + 1, right - left + 1)

    def table(self) -> str:
        """The numbers in HTML."""
        _, columns = self.values.shape
        top, left = self.first
        names = "".join(f'<th scope="col">{number(left + i)}</th>' for i in range(columns))
        rows = "".join(self._table_row(top + i, row) for i, row in enumerate(self.values))
        caption = f"<caption>{html.escape(self.caption)}</caption>"
        head = f"<thead><tr><td></td>{names}</tr></thead>"
        return f"<table>{caption}{head}<tbody>{rows}</tbody></table>"

    def _table_row(self, index: int, row: np.ndarray) -> str:
        """A row of numbers in HTML, with its own number as its header."""
        texts = [self.empty if np.isnan(value) else number(value) for value in row]
        cells = "".join(f"<td>{text}</td>" for text in texts)
        return f'<tr><th scope="row">{number(index)}</th>{cells}</tr>'

    def tinted(self, cells: Iterable[Cell], color="", line=1.0, strength=TINT) -> None:
        """Tint some cells, in their own ink if there is no other."""
        self.picture.tinted((self.box(*cell) for cell in cells), color or self.look.ink, line, strength)

    def mark(self, cells: Sequence[Cell], color="") -> None:
        """Tint some cells, and draw a thick line around them all, in their own ink if there is no other."""
        self.tinted(cells, color, 1.6)
        self.frame(cells, color or self.look.ink)

    def frame(self, cells: Sequence[Cell], color: str) -> None:
        """Draw a thick line around some cells."""
        self.picture.boxes([self._around(cells)], color, line=4)

    def window(self, cells: Sequence[Cell], factors: Mapping[Cell, float], color: str) -> None:
        """Frame the cells of a window, and tint those that hold a number, each with the factor that multiplies it.

        The color is that of the tensor that lies over this one.
        """
        empty = [self.box(*cell) for cell in cells if cell not in factors]
        self.picture.boxes(empty, color)
        self.tinted(factors, color, 1.6)
        self.frame(cells, color)
        self.factors(factors, color)

    def factors(self, factors: Mapping[Cell, float], color: str) -> None:
        """Write "×2" small into the lower right corners of cells, where there is room below their numbers."""
        if self.height < TWO_LINES:
            return
        texts = {cell: f"×{number(factor)}" for cell, factor in factors.items()}
        self.corners(texts, color)

    def corners(self, texts: Mapping[Cell, str], color: str) -> None:
        """Write texts small into the lower right corners of cells."""
        wanted = max(0.25 * self.height, SMALLEST)
        size = fitting(texts.values(), self.width - 4, wanted, "bold")
        words = []
        for (row, column), text in texts.items():
            box = self.box(row + 1, column + 1)  # its corner is the end of the cell
            words.append(Word(box.x - 2.5, box.y - 0.5 * size - 1.5, text, size, "right"))
        self.picture.words(words, color, "bold")

    def name_cells(self, flipped: bool = False) -> None:
        """Name the cells that hold a number, in their upper left corners; `flipped`: from the last one on."""
        boxes = [box for box, _ in self._filled()]
        is_full = len(boxes) == len(self.boxes)
        shape = self.values.shape if is_full else (1, len(boxes))
        names = self.look.names(shape).ravel().tolist()
        if flipped:
            boxes.reverse()
        right, down = 4, 8  # from the corner
        if self.height > ROOMY + 8:
            right, down = 6, 11
        words = []
        for box, name in zip(boxes, names, strict=True):
            words.append(Word(box.x + right, box.y + down, name, SMALLEST, "left"))
        self.picture.words(words, self.look.ink)


class Area(Grid):
    """Cells to point at, or numbers for a table, over something that is drawn otherwise."""

    def __init__(self, picture: Picture, values: np.ndarray, box: Box, caption: str = "") -> None:
        self.picture = picture
        self.values = np.asarray(values, float)
        self.x = box.x
        self.y = box.y
        rows, columns = self.values.shape
        self.width = box.width / columns
        self.height = box.height / rows
        self.caption = caption


class Bars(Area):
    """Numbers as bars that stand on the line of 0 in a box, from `low` at its bottom to `high` at its top.

    `values` is (n,); each bar has its number above it, rounded to `decimals`, and its name, if any, below the box.
    """

    def __init__(self, picture, values, box: Box, low, high, names=(), title="", color=INK, decimals=2) -> None:
        super().__init__(picture, np.reshape(values, (1, -1)), box, title)
        self.names = [*map(str, names)]
        self.low = low
        self.high = high
        picture.numbered.append(self)
        picture.bold(box.x, box.y - 16, title, TITLE, color)
        zero = self._y(0)
        picture.lines([(box.x, zero, box.right, zero)], GRAY, 1)
        bars = [self._bar(i, value) for i, value in enumerate(self.values.flat)]
        picture.tinted(bars, color, 1.6, 0.5)
        texts = [number(round(value, decimals)) for value in self.values.flat]
        size = fitting(texts, self.width - 4, 13)
        above = []
        for bar, text in zip(bars, texts, strict=True):
            middle, _ = bar.middle
            above.append(Word(middle, bar.y - 9, text, size))
        picture.words(above)
        below = []
        for bar, name in zip(bars, self.names, strict=False):
            middle, _ = bar.middle
            below.append(Word(middle, self.bottom + 11, name, 13))
        picture.words(below, GRAY)

    def _bar(self, i: int, value: float) -> Box:
        """A bar from the line of 0 to its value, at least a line high."""
        width = 0.56 * self.width
        middle = self.x + self.width * (i + 0.5)
        zero = self._y(0)
        end = self._y(value)
        top = min(end, zero)
        height = max(abs(zero - end), 1)
        return Box(middle - width / 2, top, width, height)

    def _y(self, value: float) -> float:
        """The height of a value in the picture."""
        return self.y + self.height * (self.high - value) / (self.high - self.low)

    def frame_bar(self, i: int, color: str) -> None:
        """Frame a bar and its name."""
        x, y, width, height = self.box(0, i)
        self.picture.boxes([Box(x, y - 6, width, height + 26)], color, line=2.4)

    def drag_bars(self, name: str) -> None:
        """Let a reader drag each bar: the numbers are the array `name` of the explorer that shows the picture.

        The keys up and down, page up and page down, and typed numbers change a bar, too; a step is 0.1.
        """
        self.picture.touchable[name] = Adjustable(self, self.low, self.high, 0.1, upright=True)


def head(picture: Picture, x: float, y: float, title: str, note: str = "", ink: str = "") -> None:
    """A title and a note above what begins at (x, y), in the tensor's ink if there is no other."""
    bottom = y - NOTE if note else y
    picture.bold(x, bottom - 16, title, TITLE, ink or look(title).ink)
    picture.note(x, y - 14, note)


def fitting(texts: Iterable[str], room: float, size: float, weight: str = "normal") -> float:
    """The size of letters, reduced where the widest text would not fit."""
    widths = [text_width(text, 1, weight) for text in texts if text]
    return min(size, room / max(widths, default=1))


def side_by_side(
    picture: Picture, matrices: Sequence[tuple], signs: str, top: float, bottom: float, widest: float = 1.3
) -> list[Grid]:
    """Grids from left to right between two heights, with signs between, and cells as large as possible.

    `matrices` are (values, title, note, ...): what a Grid takes, without its place. A cell is at most `widest` times as
    wide as it is high.
    """
    rows = [len(values) for values, *_ in matrices]
    has_notes = any(note for _, _, note, *_ in matrices)
    top += HEAD if has_notes else HEAD - NOTE
    highest = min(LARGEST_CELL, (bottom - top) / max(rows))
    width, widths = _widest_cells(picture, matrices, widest * highest)
    height = min(highest, 1.1 * width)
    grids = []
    left = MARGIN
    for (values, *style), matrix_width in zip(matrices, widths, strict=True):
        grids.append(Grid(picture, values, left, top, (width, height), *style))
        left += matrix_width + BETWEEN
    middle = top + height * min(rows) / 2
    words = []
    for grid, sign in zip(grids[1:], signs, strict=True):
        words.append(Word(grid.x - BETWEEN / 2, middle, sign, 30))
    picture.words(words, GRAY)
    return grids


def _widest_cells(picture: Picture, matrices: Sequence[tuple], widest: float) -> tuple[int, list[float]]:
    """The width of the widest cells with which all matrices have room, and the widths of the matrices."""
    gaps = BETWEEN * (len(matrices) - 1)
    for cell in range(LARGEST_CELL, 0, -1):
        widths = []
        for values, title, note, *_ in matrices:
            head_width = max(text_width(title, TITLE, "bold"), text_width(note, 13))
            widths.append(max(values.shape[1] * cell, head_width))
        if cell <= widest and 2 * MARGIN + sum(widths) + gaps <= picture.width:
            return cell, widths
    rows = max(len(values) for values, *_ in matrices)
    raise ValueError(f"{rows} rows and {len(matrices)} matrices do not fit the sheet; take smaller ones")
