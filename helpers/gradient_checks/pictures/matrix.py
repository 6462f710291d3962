"""A picture of the matrix: which oracle catches which wrong kernel."""

import numpy as np

from helpers.gradient_checks.matrix import COLUMNS, POOR, WAYS, Matrix, Row, column_phrase, joined
from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import fitting
from wgsl import without_comments

# CSS pixels: the middle of the first column, from one to the next, more before poor data; the first row, its height
LEFT, STEP, GAP, TOP, ROW = 306, 40, 14, 86, 16
RADIUS, CORNERS = 5, np.arange(18) * np.pi / 8  # of a mark; the line ends over the side where it began
CIRCLE = np.array([*zip(np.cos(CORNERS), np.sin(CORNERS), strict=True), (np.nan, np.nan)])
MARKS = (  # where the mark is explained, what it stands for, and how thick the line of its circle is
    (MARGIN, True, "caught", BLUE, RADIUS),
    (MARGIN + 86, False, "missed", ORANGE, 2.2),
)


class MatrixPicture(Picture):
    """A row for each wrong kernel of one version, and in each column a mark: filled where it is caught."""

    def __init__(self, version: str, matrix: Matrix) -> None:
        self.rows = matrix.rows
        super().__init__(TOP + ROW * len(self.rows) + 44)
        self.bold(MARGIN, 18, version, 15)
        self._draw_columns()
        self.column(MARGIN, self._y(0), ROW, (row.wrong.name for row in self.rows), 13)
        rules = (TOP + ROW * row for row in range(5, len(self.rows), 5))
        self.lines(((MARGIN, y, _x(len(COLUMNS) - 0.6), y) for y in rules), LINE, 1)
        cells = [
            (_x(j), self._y(i), row.caught[name]) for i, row in enumerate(self.rows) for j, name in enumerate(COLUMNS)
        ]
        for x, caught, name, color, line in MARKS:
            self.write(x + 18, 48, name, 13, GRAY)
            self._circles([(x + RADIUS, 48), *((at, y) for at, y, mark in cells if mark == caught)], color, line)
        self.stands_still()

    def _draw_columns(self) -> None:
        """The name of each column, in turns above and below, and what the two groups look at."""
        for i, name in enumerate(COLUMNS):
            lines, bottom = name.split() if len(name) > 9 else [name], 44 if i % 2 else 73
            self.words(Word(_x(i), bottom - 14 * (len(lines) - 1 - j), line, 13) for j, line in enumerate(lines))
        self.lines(((_x(i), 54, _x(i), TOP - 4) for i in range(1, len(COLUMNS), 2)), LINE, 1)
        groups = (0, WAYS, "good data, six ways to look"), (len(WAYS), POOR, "poor data, with the reference")
        for first, names, text in groups:
            self.bold((_x(first) + _x(first + len(names) - 1)) / 2, 10, text, 13, GRAY, "middle")

    def _y(self, row: int) -> float:
        return TOP + ROW * (row + 0.5)

    def _circles(self, middles: list[tuple[float, float]], color: str, line: float) -> None:
        """Draw circles, which a line as thick as the radius fills."""
        points = np.array(middles)[:, None] + (RADIUS - line / 2) * CIRCLE
        self.curve(*points.reshape(-1, 2).T, color, line)

    def draw(self, row: int) -> str:
        """Point at one wrong kernel, and show its mistake."""
        here, width = self.rows[row], _x(len(COLUMNS) - 1) + STEP / 2 - MARGIN / 2
        self.tinted([Box(MARGIN / 2, TOP + ROW * row, width, ROW)], ORANGE, 2, 1 / 16)
        texts = [" ".join(without_comments(code).split()) or "(nothing)" for code in (here.wrong.old, here.wrong.new)]
        size = fitting(texts, self.width - MARGIN - 90, 13)
        looks = ((self.height - 30, "right", BLUE), (self.height - 10, "wrong", ORANGE))
        for (y, name, color), text in zip(looks, texts, strict=True):
            self.bold(MARGIN, y, f"{name}:", 13, color)
            self.words([Word(MARGIN + 60, y, text, size, "left", True)], GRAY)
        return _said(here)


def _x(column: int) -> float:
    """The middle of a column."""
    return LEFT + STEP * column + GAP * (column >= len(WAYS))


def _said(row: Row) -> str:
    """Which columns catch a wrong kernel, and which miss it."""
    ways, poor = ([name for name in names if not row.caught[name]] for names in (WAYS, POOR))
    on_poor = f"misses it with {joined([*map(column_phrase, poor)])}" if poor else "catches it in each case"
    on_poor = "misses it in each case" if len(poor) == len(POOR) else on_poor
    return f"“{row.wrong.name}”: on good data, {_on_good(ways)}. On poor data, the reference {on_poor}."


def _on_good(missed: list[str]) -> str:
    if not missed:
        return "all six ways catch it"
    if len(missed) == len(WAYS) - 1:
        return f"only {joined([column_phrase(name) for name in WAYS if name not in missed])} catches it"
    return f"{joined([*map(column_phrase, missed)])} {'miss' if len(missed) > 1 else 'misses'} it"
