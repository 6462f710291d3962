"""Feature maps as one small image: the numbers of a tensor in color, map beside map."""

from collections.abc import Sequence
from math import ceil, floor, isqrt, prod

import numpy as np

from helpers.pictures.canvas import GRAY, INK, PAPER, Box, Picture
from helpers.pictures.figures import colored
from helpers.pictures.parts import Area
from helpers.pictures.touchable import Cell

Shape = tuple[int, int, int]  # of a tensor in maps: how many, rows, columns
PALE = (225, 225, 225, 255)  # between maps that are too small for outlines
OUTLINED = 16  # CSS pixels: the narrowest map that has an outline


class Layout:
    """The places of maps (P, rows, columns), `across` of them beside each other, from a corner (x, y) on.

    Each number is a square of `pixel` CSS pixels, and maps of more than one number have one such square between them.
    """

    def __init__(self, maps: Shape, corner: tuple[float, float], pixel: float, across: int) -> None:
        count, *self.size = maps
        self.x, self.y = corner
        self.pixel = pixel
        self.across = min(across, count)
        gap = 1 if prod(self.size) > 1 else 0
        self.step = self.size[0] + gap, self.size[1] + gap  # from one map to the next, in numbers
        self.rows = ceil(count / self.across) * self.step[0] - gap
        self.columns = self.across * self.step[1] - gap

    @property
    def box(self) -> Box:
        """All maps together."""
        return Box(self.x, self.y, self.columns * self.pixel, self.rows * self.pixel)

    def place(self, map: int) -> Cell:
        """The row and the column of a map's first number."""
        row, column = divmod(map, self.across)
        return row * self.step[0], column * self.step[1]

    def cells(self, map: int, row: int = 0, column: int = 0, rows: int = 0, columns: int = 0) -> Box:
        """The box of some numbers of a map, or of all."""
        top, left = self.place(map)
        x = self.x + (left + column) * self.pixel
        y = self.y + (top + row) * self.pixel
        width = columns or self.size[1]
        height = rows or self.size[0]
        return Box(x, y, width * self.pixel, height * self.pixel)


class Maps(Layout):
    """Maps (P, rows, columns) where `Layout` puts them, as `ink` on paper or in color."""

    def __init__(self, picture: Picture, values: np.ndarray, *where: object, ink: bool = False) -> None:
        super().__init__(values.shape, *where)
        self.picture = picture
        self.values = values
        if values[0].size > 1 and self.pixel * self.size[1] >= OUTLINED:
            between = 255
            outlines = [self.cells(i) for i in range(len(values))]
        else:
            between = PALE
            outlines = [self.box]
        picture.image(self.box, self._colored_sheet(between, ink))
        picture.boxes(outlines, GRAY, line=0.8)

    def _colored_sheet(self, between: object, ink: bool) -> np.ndarray:
        """The colors of all maps, one pixel a number, with another color between them."""
        sheet = np.full((self.rows, self.columns, 4), between, np.uint8)
        height, width = self.size
        for i, colors in enumerate(colored(self.values, ink=ink)):
            row, column = self.place(i)
            sheet[row : row + height, column : column + width] = colors
        return sheet

    def frame(self, map: int, places: Sequence[Cell], color: str) -> None:
        """Frame the smallest rectangle around these places of a map, with white around it to stand out."""
        top, left = np.min(places, axis=0)
        bottom, right = np.max(places, axis=0)
        rows = bottom - top + 1
        columns = right - left + 1
        framed(self.picture, self.cells(map, top, left, rows, columns), color)

    def touch(self, name: str, *values: str, **how: int) -> None:
        """Let a reader point at whole maps (one value) or at the numbers of the only map (two values)."""
        box = self.box
        down, right = self.size
        if len(values) == 1:
            down = ceil(len(self.values) / self.across)
            right = self.across
            width = right * self.step[1] * self.pixel
            height = down * self.step[0] * self.pixel
            box = Box(self.x, self.y, width, height)
        area = Area(self.picture, np.zeros((down, right)), box, name)
        area.touch(name, *values, **how)


def framed(picture: Picture, box: Box, color: str = INK, line: float = 2) -> None:
    """A frame that stands out from any color below it."""
    picture.boxes([box], PAPER, line=line + 2.5)
    picture.boxes([box], color, line=line)


def fold(count: int) -> Cell:
    """A list of numbers as a rectangle, as square as can be and not higher than wide."""
    rows = isqrt(count)
    while count % rows:
        rows -= 1
    return rows, count // rows


def in_maps(shape: tuple[int, ...]) -> Shape:
    """A tensor's shape as maps: the last two axes; a matrix has a map for each of its rows, a list is one map."""
    if len(shape) > 2:
        *maps, rows, columns = shape
        return prod(maps), rows, columns
    maps = shape[0] if len(shape) == 2 else 1
    rows, columns = fold(shape[-1])
    return maps, rows, columns


def fitting_pixel(shape: Shape, width: float, height: float, most: int = 16) -> tuple[float, int]:
    """The size of a number in CSS pixels, as large as these maps allow in a box, and how many maps lie side by side."""
    count, rows, columns = shape
    gap = 1 if rows * columns > 1 and count > 1 else 0
    choices = []
    for across in range(1, count + 1):
        down = ceil(count / across)
        numbers_across = across * (columns + gap) - gap
        numbers_down = down * (rows + gap) - gap
        pixel = min(width / numbers_across, height / numbers_down, most)
        pixel = floor(pixel) or floor(4 * pixel) / 4  # of very many maps, less than one for each number
        choices.append((pixel, -abs(across - down), across))
    pixel, _, across = max(choices)
    if not pixel:
        raise ValueError(f"{count} maps of {rows} x {columns} do not fit a box of {width:.0f} x {height:.0f} pixels")
    return pixel, across
