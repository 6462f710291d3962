"""Images of signed numbers: their colors, and what tells them apart without colors."""

from collections.abc import Mapping

import numpy as np
from matplotlib import colormaps

from helpers.pictures.canvas import GRAY, INK, Box, Picture, Word

PALE_ENDS = np.linspace(0.15, 0.85, 255)
COLORS = colormaps["PuOr_r"](PALE_ENDS, bytes=True)  # violet below zero, white, orange above
SIGNS = 14  # CSS pixels: the smallest cell into which a plus or minus fits
FAINT = 1 / 16  # of the largest value: nearer to zero, a cell looks white and has no sign


def colored(values: np.ndarray, largest: float = 0.0, ink: bool = False) -> np.ndarray:
    """The colors of numbers, as bytes: white is 0, orange above and violet below; or ink on paper, from 0 on."""
    values = _scaled(values, largest)
    if ink:
        return colormaps["gray_r"](values, bytes=True)
    places = np.rint(127 + 127 * np.clip(values, -1, 1))
    return COLORS[places.astype(int)]


def _scaled(values: np.ndarray, largest: float) -> np.ndarray:
    """Values as parts of the largest one, if no other number is given."""
    if not largest:
        largest = float(np.abs(values).max())
    return values / (largest or 1.0)


def explain(picture: Picture, x: float, y: float, meant: Mapping[str, float], apart: float, pieces: int = 1) -> None:
    """Explain some colors, side by side: for each text, the value that has the color."""
    for i, (text, value) in enumerate(meant.items()):
        box = Box(x + apart * i, y - SIGNS / 2, SIGNS, SIGNS)
        values = np.full((pieces, pieces), value)
        draw_signed(picture, values, box, 1)
        picture.write(box.x + 20, y, text, 13)


def draw_ink(picture: Picture, image: np.ndarray, box: Box, largest: float = 0.0) -> None:
    """A framed image in ink on paper."""
    picture.image(box, colored(image, largest, ink=True))
    picture.boxes([box], GRAY)


def draw_signed(picture: Picture, values: np.ndarray, box: Box, largest: float = 0.0) -> None:
    """A framed image in color, with a plus or minus in each cell unless `FAINT`, in small ones a stroke below -1/4."""
    picture.image(box, colored(values, largest))
    scaled = _scaled(values, largest)
    cell = box.height / len(values)
    if cell >= SIGNS:
        _write_signs(picture, scaled, box, cell)
    else:
        _strike_negative(picture, scaled, box, cell)
    picture.boxes([box], GRAY)


def _write_signs(picture: Picture, scaled: np.ndarray, box: Box, cell: float) -> None:
    """A plus or a minus in each cell that does not look white."""
    words = []
    for (row, column), value in np.ndenumerate(scaled):
        if abs(value) > FAINT:
            x = box.x + column * cell + cell / 2
            y = box.y + row * cell + cell / 2
            sign = "+" if value > 0 else "\N{MINUS SIGN}"
            words.append(Word(x, y, sign, 13))
    picture.words(words)


def _strike_negative(picture: Picture, scaled: np.ndarray, box: Box, cell: float) -> None:
    """A stroke through each cell below -1/4."""
    strokes = []
    for (row, column), value in np.ndenumerate(scaled):
        if value < -0.25:
            x = box.x + column * cell
            y = box.y + row * cell
            strokes.append((x, y + cell, x + cell, y))
    picture.lines(strokes, INK, 0.7)
