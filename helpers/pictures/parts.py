"""The parts that pictures are made of: grids of numbers, alone or side by side, a table of terms, a verdict.

A part computes its own layout from the numbers it shows, and draws itself on the picture that it is given.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Picture, Word, number, text_width, tint

Cell = tuple[int, int]  # row and column
MARGIN, TITLE, HEAD = 16, 15, 46  # CSS pixels: beside a row of grids, a title's letters, a title and its note
GHOST = (2.5, 3.0)  # the dashes of a cell that no memory holds


class Grid:
    """A matrix of numbers in cells, with a title and a note above.

    Parameters
    ----------
    picture : Picture
    values : array (rows, columns)
        nan is a place that no memory holds: its cell is dashed and empty.
    x, y : float
        The top left corner of the cells.
    cell : (width, height)
    title, note : str
    color, weight : str
        Of the title and the numbers.
    numbers : bool
        Whether to write the values.
    """

    def __init__(
        self, picture: Picture, values, x, y, cell, title="", note="", color=INK, weight="normal", numbers=True
    ) -> None:
        self.picture, self.values, self.x, self.y = picture, np.asarray(values, float), x, y
        self.width, self.height = cell
        picture.write(x, y - 16 - 18 * bool(note), title, TITLE, color, "bold")
        picture.write(x, y - 14, note, 13, GRAY)
        places = {cell: self.box(*cell) for cell in np.ndindex(self.values.shape)}
        held = {cell: box for cell, box in places.items() if not np.isnan(self.values[cell])}
        picture.boxes([box for cell, box in places.items() if cell not in held], line=0.8, dashes=GHOST)
        picture.boxes(held.values())
        if numbers:
            texts = {cell: number(self.values[cell]) for cell in held}
            size, y = self._number_size(texts.values(), weight), 0.5 if self.height >= 34 else 0.31
            words = (Word(b.x + b.width / 2, b.y + y * b.height, texts[c], size) for c, b in held.items())
            picture.words(words, color, weight)

    def _number_size(self, texts: Iterable[str], weight: str) -> float:
        """As large as the cells have room for."""
        widest = max((text_width(text, 1, weight) for text in texts), default=1)
        return min(max(0.36 * self.height, 12), 20, (self.width - 4) / widest)

    def box(self, row: int, column: int) -> Box:
        """Where a cell lies."""
        return Box(self.x + column * self.width, self.y + row * self.height, self.width, self.height)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.y + len(self.values) * self.height

    def highlight(self, cells: Iterable[Cell], color=ORANGE) -> None:
        """Tint some cells."""
        self.picture.boxes([self.box(*cell) for cell in cells], color, tint(color), 1.6)

    def outline(self, first: Cell, last: Cell, color=ORANGE) -> None:
        """Draw a thick line around the cells from one to another."""
        self.picture.boxes([self.box(*first).to(self.box(*last))], color, line=4)

    def factors(self, factors: Mapping[Cell, float]) -> None:
        """Write "×2" small into the lower right corners of cells."""
        size = max(0.25 * self.height, 12 if self.height >= 34 else 11)
        boxes = [(self.box(*cell), f"×{number(factor)}") for cell, factor in factors.items()]
        words = [Word(b.x + b.width - 3, b.y + b.height - 0.5 * size - 1.5, text, size, "right") for b, text in boxes]
        self.picture.words(words, ORANGE, "bold")


class Matrix(NamedTuple):
    """What `side_by_side` makes a grid of."""

    title: str
    values: np.ndarray
    note: str = ""
    color: str = INK
    weight: str = "normal"


def side_by_side(picture: Picture, matrices: Sequence[Matrix], signs: Sequence[str], top: float, bottom: float):
    """Grids from left to right between two heights, a sign between each two; their cells are as large as they can be.

    Returns the list of grids.
    """
    rows = max(len(matrix.values) for matrix in matrices)
    height, room = min(54, (bottom - top - HEAD) / rows), 44
    for cell in range(54, 0, -1):
        widths = [_width(matrix, cell) for matrix in matrices]
        if cell <= 1.3 * height and 2 * MARGIN + sum(widths) + room * len(signs) <= picture.width:
            break
    size = cell, min(height, 1.1 * cell)
    lefts = MARGIN + np.cumsum([0, *(width + room for width in widths)])
    made = [
        Grid(picture, m.values, left, top + HEAD, size, m.title, m.note or " ", m.color, m.weight)
        for m, left in zip(matrices, lefts, strict=False)
    ]
    middle = top + HEAD + size[1] * min(len(matrix.values) for matrix in matrices) / 2
    picture.words((Word(grid.x - room / 2, middle, s, 30) for grid, s in zip(made[1:], signs, strict=True)), GRAY)
    return made


def _width(matrix: Matrix, cell: float) -> float:
    title, note = text_width(matrix.title, TITLE, "bold"), text_width(matrix.note, 13)
    return max(matrix.values.shape[1] * cell, title, note)


def running_sum(texts: Iterable[str], products: Sequence[float], before: float = 0.0) -> list[tuple[str, str, str]]:
    """The columns of a table of terms: each term, its product, and the sum so far, which begins with `before`."""
    sums = before + np.cumsum(products)
    return list(zip(texts, map(number, products), map(number, sums), strict=True))


def table(picture: Picture, labels: Sequence[str], columns: Sequence[Sequence[str]], box: Box) -> None:
    """Columns of words in a box, to the right of their labels; "…" stands for those without room."""
    most = int((box.width - 96) // 58)
    if len(columns) > most:
        columns = [*columns[: most - 2], ("…",) * len(labels), columns[-1]]
    step, lines = min(84, (box.width - 96) / max(len(columns), 1)), box.height / len(labels)
    heights = [box.y + lines * (i + 0.5) for i in range(len(labels))]
    picture.words((Word(box.x + 88, y, text, 14, "right") for y, text in zip(heights, labels, strict=True)), GRAY)
    middles = [box.x + 96 + step * (i + 0.5) for i in range(len(columns))]
    cells = [(x, y, word) for x, column in zip(middles, columns, strict=True) for y, word in zip(heights, column)]  # noqa: B905
    picture.words(Word(x, y, word, 14.5) for x, y, word in cells)


def verdict(picture: Picture, x: float, y: float, total: float, returned: float) -> None:
    """Two lines: what the terms add up to, and what the GPU made of them."""
    lines = f"sum of its terms: {number(total)}", f"the GPU returned: {number(returned)}"
    picture.words((Word(x, y + 26 * i, line, 14.5, "left") for i, line in enumerate(lines)), BLUE)


def conclusion(picture: Picture, columns: Sequence[Sequence[str]], total: float, returned: float) -> None:
    """The table of terms at the foot of a picture, and the verdict beside it."""
    top = picture.height - 84
    picture.lines([(MARGIN, top - 4, picture.width - MARGIN, top - 4)], LINE, 1)
    table(picture, ("term", "product", "running sum"), columns, Box(MARGIN, top, 624, 78))
    verdict(picture, 652, top + 39, total, returned)
