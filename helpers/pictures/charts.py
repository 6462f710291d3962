"""The parts that charts are made of: axes with a scale, marks that tell lines apart, and names beside their ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.pictures.canvas import GRAY, INK, LINE, PAPER, Box, Picture, Word

Numbers = float | np.ndarray
Sign = Sequence[tuple[float, float, float, float]]  # straight lines, about 2 wide around (0, 0)

SQUARE: Sign = (
    (-1, -1, 1, -1),
    (1, -1, 1, 1),
    (1, 1, -1, 1),
    (-1, 1, -1, -1),
)
TRIANGLE: Sign = (
    (-1.1, 1, 1.1, 1),
    (1.1, 1, 0, -1.2),
    (0, -1.2, -1.1, 1),
)
DIAMOND: Sign = (
    (-1.3, 0, 0, -1.3),
    (0, -1.3, 1.3, 0),
    (1.3, 0, 0, 1.3),
    (0, 1.3, -1.3, 0),
)


@dataclass(frozen=True)
class Axes:
    """A box on a picture, and the values at its left and right edges and at its lower and upper ones.

    What lies outside is drawn on the edge. Of a logarithmic axis, the values are logarithms.
    """

    picture: Picture
    box: Box
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: Numbers) -> Numbers:
        """The place of a value."""
        return np.interp(value, self.across, (self.box.x, self.box.right))

    def y(self, value: Numbers) -> Numbers:
        """The height of a value."""
        return np.interp(value, self.up, (self.box.bottom, self.box.y))

    def rows(self, texts: Mapping[float, str], gap=8) -> None:
        """A line at each of these values, and its text on the left."""
        left = self.box.x
        right = self.box.right
        lines = []
        words = []
        for value, text in texts.items():
            y = self.y(value)
            lines.append((left, y, right, y))
            words.append(Word(left - gap, y, text, 13, "right"))
        self.picture.lines(lines, LINE, 0.8)
        self.picture.words(words, GRAY)

    def columns(self, texts: Mapping[float, str], gap=16, line=0.0) -> None:
        """A line at each of these values, if lines have a width, and its text below the box."""
        top = self.box.y
        bottom = self.box.bottom
        lines = []
        words = []
        for value, text in texts.items():
            x = self.x(value)
            lines.append((x, top, x, bottom))
            words.append(Word(x, bottom + gap, text, 13))
        if line:
            self.picture.lines(lines, LINE, line)
        self.picture.words(words, GRAY)

    def curve(self, x: np.ndarray, y: np.ndarray, color=INK, line=3.0, dashes=None) -> None:
        """A line through many values; nan leaves a gap."""
        self.picture.curve(self.x(x), self.y(y), color, line, dashes)

    def mark(self, x: float, y: float, color: str) -> None:
        """A hollow square on a curve."""
        left = float(self.x(x)) - 4
        top = float(self.y(y)) - 4
        self.picture.boxes([Box(left, top, 8, 8)], color, PAPER, 2.4)


def draw_sign(picture: Picture, sign: Sign, points: Iterable[tuple[float, float]], size, color, line=2.0) -> None:
    """Mark some points of a line."""
    lines = []
    for x, y in points:
        middle = np.array([x, y, x, y])
        for ends in sign:
            lines.append(middle + size * np.array(ends))
    picture.lines(lines, color, line)


def spread(heights: Sequence[float], apart: float) -> np.ndarray:
    """Heights in the same order, moved down so that each is at least this far below the one above it."""
    moved = np.array(heights, float)
    last = -np.inf
    for i in np.argsort(moved, kind="stable"):
        last = max(moved[i], last + apart)
        moved[i] = last
    return moved


def part(error: float) -> str:
    """An error as 1 part in a number of two digits."""
    parts = float(f"{1 / error:.2g}")
    if parts >= 1e6:
        return f"1 part in {parts / 1e6:g} million"
    return f"1 part in {parts:,.0f}"
