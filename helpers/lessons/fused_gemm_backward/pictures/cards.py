"""Numbers on cards that fly from one memory to another."""

from collections.abc import Iterable

import numpy as np

from helpers.pictures.canvas import PAPER, Box, Picture


def fly(picture: Picture, ways: Iterable[tuple[Box, Box, float, str]], color: str) -> None:
    """Cards on their way from one box to another: of each, the part of its way that is behind it, and its text."""
    for start, end, part, text in ways:
        place = np.multiply(start, 1 - part) + np.multiply(end, part)
        card = Box(*place)
        picture.boxes([card], PAPER, PAPER)
        picture.tinted([card], color, 1.4)
        picture.label([card], [text], 13, color, "bold")
