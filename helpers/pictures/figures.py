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
    values = values / (largest or float(np.abs(values).max()) or 1.0)
    if ink:
        return colormaps["gray_r"](values, bytes=True)
    return COLORS[np.rint(127 + 127 * np.clip(values, -1, 1)).astype(int)]


def explain(picture: Picture, x: float, y: float, meant: Mapping[str, float], apart: float, pieces: int = 1) -> None:
    """What some colors stand for, side by side: for each text, the value that has the color."""
    for i, (text, value) in enumerate(meant.items()):
        box = Box(x + apart * i, y - SIGNS / 2, SIGNS, SIGNS)
        draw_signed(picture, np.full((pieces, pieces), value), box)
        picture.boxes([box], GRAY, line=0.8)
        picture.write(box.x + 20, y, text, 13)


def draw_signed(picture: Picture, panel: np.ndarray, box: Box) -> None:
    """Values from -1 to 1 in color, with a plus or minus unless `FAINT`, or in small cells a stroke below -1/4."""
    picture.image(box, colored(panel, 1))
    cell = box.height / len(panel)
    corners = [(box.x + column * cell, box.y + row * cell, value) for (row, column), value in np.ndenumerate(panel)]
    if cell >= SIGNS:
        signs = [(x, y, "+" if value > 0 else "\N{MINUS SIGN}") for x, y, value in corners if abs(value) > FAINT]
        picture.words(Word(x + cell / 2, y + cell / 2, sign, 13) for x, y, sign in signs)
    else:
        picture.lines(((x, y + cell, x + cell, y) for x, y, value in corners if value < -0.25), INK, 0.7)
