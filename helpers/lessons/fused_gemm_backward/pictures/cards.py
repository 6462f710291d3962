"""Numbers on cards that fly from one memory to another."""

from collections.abc import Iterable

import numpy as np

from helpers.pictures.canvas import PAPER, Box, Picture

Flight = tuple[Box, Box, float, str]  # from a box to another, the part that a card has behind it, and its text


def fly(picture: Picture, flights: Iterable[Flight], color: str) -> None:
    """Draw cards on their way."""
    for start, end, part, text in flights:
        x, y, width, height = np.multiply(start, 1 - part) + np.multiply(end, part)
        card = Box(x, y, width, height)
        picture.boxes([card], PAPER, PAPER)
        picture.tinted([card], color, 1.4)
        picture.label([card], [text], 13, color, "bold")
