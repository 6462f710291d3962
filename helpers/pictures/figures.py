"""Images of signed numbers: their colors, and what tells them apart without colors."""

from collections.abc import Mapping

import numpy as np
from matplotlib import colormaps

from helpers.pictures.canvas import GRAY, INK, Box, Picture, Word

COLORS = colormaps["PuOr_r"](np.linspace(0.15, 0.85, 255), bytes=True)  # violet below zero, white, orange above
SIGNS = 14  # CSS pixels: the smallest cell into which a plus or minus fits
FAINT = 1 / 16  # of the largest value: nearer to zero, a cell looks white and has no sign


def colored(values: np.ndarray, largest: float = 0.0, ink: bool = False) -> np.ndarray:
    """The colors of numbers, as bytes: white is 0, orange above and violet below; or ink on paper, from 0 on."""
    values = _scaled(values, largest)
    if ink:
        return colormaps["gray_r"](values, bytes=True)
    return COLORS[np.rint(127 + 127 * np.clip(values, -1, 1)).astype(int)]


def _scaled(values: np.ndarray, largest: float) -> np.ndarray:
    """Values as parts of the largest one, if no other number is given."""
    return values / (largest or float(np.abs(values).max()) or 1.0)


def explain(picture: Picture, x: float, y: float, meant: Mapping[str, float], apart: float, pieces: int = 1) -> None:
    """Explain some colors, side by side: for each text, the value that has the color."""
    for i, (text, value) in enumerate(meant.items()):
        box = Box(x + apart * i, y - SIGNS / 2, SIGNS, SIGNS)
        draw_signed(picture, np.full((pieces, pieces), value), box, 1)
        picture.write(box.x + 20, y, text, 13)


def draw_ink(picture: Picture, image: np.ndarray, box: Box, largest: float = 0.0) -> None:
    """A framed image in ink on paper."""
    picture.image(box, colored(image, largest, ink=True))
    picture.boxes([box], GRAY)


def draw_signed(picture: Picture, values: np.ndarray, box: Box, largest: float = 0.0) -> None:
    """A framed image in color, with a plus or minus in each cell unless `FAINT`, in small ones a stroke below -1/4."""
    picture.image(box, colored(values, largest))
    cell = box.height / len(values)
    scaled = _scaled(values, largest)
    corners = [(box.x + column * cell, box.y + row * cell, value) for (row, column), value in np.ndenumerate(scaled)]
    if cell >= SIGNS:
        signs = [(x, y, "+" if value > 0 else "\N{MINUS SIGN}") for x, y, value in corners if abs(value) > FAINT]
        picture.words(Word(x + cell / 2, y + cell / 2, sign, 13) for x, y, sign in signs)
    else:
        picture.lines(((x, y + cell, x + cell, y) for x, y, value in corners if value < -0.25), INK, 0.7)
    picture.boxes([box], GRAY)
