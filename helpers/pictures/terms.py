"""Sums and their terms: products in words, and a table of terms at the foot of a picture."""

from collections.abc import Iterable, Sequence

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, Box, Picture, Word, number
from helpers.pictures.parts import fitting

# CSS pixels of a table
LABELS = 96  # the width of its labels, with the gap beside them
NARROWEST = 58  # of a column
WIDEST = 84


def product_text(*factors: float) -> str:
    """A product in words, with parentheses around a negative factor that is not alone."""
    if len(factors) == 1:
        return number(factors[0])
    return "·".join(number(factor) if factor >= 0 else f"({number(factor)})" for factor in factors)


def running_sum(texts: Iterable[str], products: Sequence[float], before: float = 0.0) -> list[tuple[str, str, str]]:
    """The columns of a table of terms: each term, its product, and the sum so far, which begins with `before`."""
    sums = before + np.cumsum(products)
    return list(zip(texts, map(number, products), map(number, sums), strict=True))


def table(picture: Picture, labels: Sequence[str], columns: Sequence[Sequence[str]], box: Box) -> list[Box]:
    """Columns of words in a box, to the right of their labels, and where each is; "…" replaces those without room."""
    room = box.width - LABELS
    most = int(room // NARROWEST)
    if len(columns) > most:
        columns = [*columns[: most - 2], ("…",) * len(labels), columns[-1]]
    step = min(WIDEST, room / max(len(columns), 1))
    height = box.height / len(labels)
    heights = [box.y + height * (i + 0.5) for i in range(len(labels))]
    picture.words((Word(box.x + 88, y, text, 14, "right") for y, text in zip(heights, labels, strict=True)), GRAY)
    words = [word for column in columns for word in column]
    size = fitting(words, step - 5, 14.5)
    for i, column in enumerate(columns):
        x = box.x + LABELS + step * (i + 0.5)
        picture.words(Word(x, y, word, size) for y, word in zip(heights, column, strict=True))
    return [Box(box.x + LABELS + step * i, box.y, step, box.height) for i in range(len(columns))]


def foot(
    picture: Picture, labels: Sequence[str], columns: Sequence[Sequence[str]], beside: Sequence[str], height: float = 78
) -> list[Box]:
    """A table at the foot of a picture, below a line, and two lines beside it; returns where its columns are."""
    top = picture.height - height - 6
    picture.lines([(MARGIN, top - 4, picture.width - MARGIN, top - 4)], LINE, 1)
    boxes = table(picture, labels, columns, Box(MARGIN, top, 624, height))
    for i, text in enumerate(beside):
        size = fitting([text or "0"], picture.width - 656, 14.5)
        picture.write(652, top + height * (i + 1.5) / 3, text, size, BLUE)
    return boxes
