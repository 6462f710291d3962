"""The parts that pictures are made of: grids of numbers, alone or side by side, a table of terms, a verdict.

A part computes its own layout from the numbers it shows, and draws itself on the picture that it is given.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Picture, Word, number, text_width, tint

Cell = tuple[int, int]  # row and column
MARGIN, TITLE, HEAD = 16, 15, 46  # CSS pixels: beside a row of grids, a title's letters, a title and its note
ROOMY = 34  # the height of a cell from which on a number stays in its middle though a factor is below it
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
    numbers, lifted : bool
        Whether to write the values, and whether they make room for factors below them.
    """

    def __init__(
        self,
        picture: Picture,
        values,
        x,
        y,
        cell,
        title="",
        note="",
        color=INK,
        weight="normal",
        lifted=False,
        numbers=True,
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
            size = self._fit(texts.values(), min(max(0.36 * self.height, 13 - lifted), 20), weight)
            y = 0.31 if lifted and self.height < ROOMY else 0.5
            words = (Word(b.x + b.width / 2, b.y + y * b.height, texts[c], size) for c, b in held.items())
            picture.words(words, color, weight)

    def _fit(self, texts: Iterable[str], size: float, weight: str) -> float:
        """That size, or less where a cell has no room for the widest text."""
        widest = max((text_width(text, 1, weight) for text in texts), default=1)
        return min(size, (self.width - 4) / widest)

    def box(self, row: int, column: int) -> Box:
        """Where a cell lies."""
        return Box(self.x + column * self.width, self.y + row * self.height, self.width, self.height)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.y + len(self.values) * self.height

    def mark(self, cells: Sequence[Cell], color=ORANGE) -> None:
        """Tint some cells, and draw a thick line around them all."""
        boxes = [self.box(*cell) for cell in cells]
        self.picture.boxes(boxes, color, tint(color), 1.6)
        if boxes:
            self.picture.boxes([boxes[0].to(boxes[-1])], color, line=4)

    def factors(self, factors: Mapping[Cell, float]) -> None:
        """Write "×2" small into the lower right corners of cells."""
        texts = {cell: f"×{number(factor)}" for cell, factor in factors.items()}
        size = self._fit(texts.values(), max(0.25 * self.height, 12 if self.height >= ROOMY else 11), "bold")
        corners = [(self.box(*cell), text) for cell, text in texts.items()]
        words = [
            Word(b.x + b.width - 2.5, b.y + b.height - 0.5 * size - 1.5, text, size, "right") for b, text in corners
        ]
        self.picture.words(words, ORANGE, "bold")


class Matrix(NamedTuple):
    """What `side_by_side` makes a grid of."""

    title: str
    values: np.ndarray
    note: str = ""
    color: str = INK
    weight: str = "normal"
    lifted: bool = False


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
    else:
        raise ValueError(f"{rows} rows and {len(matrices)} matrices do not fit the sheet; take smaller ones")
    size = cell, min(height, 1.1 * cell)
    lefts = MARGIN + np.cumsum([0, *(width + room for width in widths)])
    made = [
        Grid(picture, m.values, left, top + HEAD, size, m.title, m.note or " ", m.color, m.weight, m.lifted)
        for m, left in zip(matrices, lefts, strict=False)
    ]
    middle = top + HEAD + size[1] * min(len(matrix.values) for matrix in matrices) / 2
    picture.words((Word(grid.x - room / 2, middle, s, 30) for grid, s in zip(made[1:], signs, strict=True)), GRAY)
    return made


def _width(matrix: Matrix, cell: float) -> float:
    title, note = text_width(matrix.title, TITLE, "bold"), text_width(matrix.note, 13)
    return max(matrix.values.shape[1] * cell, title, note)


def product_text(*factors: float) -> str:
    """A product in words, with parentheses around a negative factor that is not alone."""
    return "·".join(f"({number(f)})" if f < 0 and len(factors) > 1 else number(f) for f in factors)


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
    widest = max((text_width(word, 1) for column in columns for word in column), default=1)
    size = min(14.5, (step - 5) / widest)
    for i, column in enumerate(columns):
        x = box.x + 96 + step * (i + 0.5)
        picture.words(Word(x, y, word, size) for y, word in zip(heights, column, strict=True))


def conclusion(
    picture: Picture, columns: Sequence[Sequence[str]], total: float, returned: float, of: str = "its terms"
) -> str:
    """The table of terms at the foot of a picture, and the verdict beside it; returns the total as it is written."""
    top, written = picture.height - 84, number(total)
    picture.lines([(MARGIN, top - 4, picture.width - MARGIN, top - 4)], LINE, 1)
    table(picture, ("term", "product", "running sum"), columns, Box(MARGIN, top, 624, 78))
    picture.write(652, top + 39, f"sum of {of}: {written}", 14.5, BLUE)
    picture.write(652, top + 65, f"the GPU returned: {number(returned)}", 14.5, BLUE)
    return written
