"""Sums and their terms: products in words, and a table of terms at the foot of a picture."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, Box, Picture, Word, number
from helpers.pictures.parts import fitting

# CSS pixels of a table
LABELS = 96  # the width of its labels, with the gap beside them
NARROWEST = 58  # of a column
NARROWEST_ON_PHONE = 38
WIDEST = 84
BESIDE = 652  # where the lines beside a table begin, if the picture is wider
BELOW = 22  # the height of a line below the table of one that is not


def product_text(*factors: float) -> str:
    """A product in words, with parentheses around a negative factor that is not alone."""
    if len(factors) == 1:
        return number(factors[0])
    texts = []
    for factor in factors:
        text = number(factor)
        texts.append(text if factor >= 0 else f"({text})")
    return "·".join(texts)


def running_sum(texts: Iterable[str], products: Sequence[float], before: float = 0.0) -> list[tuple[str, str, str]]:
    """The columns of a table of terms: each term, its product, and the sum so far, which begins with `before`."""
    sums = before + np.cumsum(products)
    columns = []
    for text, product, sum_so_far in zip(texts, products, sums, strict=True):
        columns.append((text, number(product), number(sum_so_far)))
    return columns


def table(picture: Picture, labels: Sequence[str], columns: Sequence[Sequence[str]], box: Box) -> list[Box]:
    """Columns of words in a box, to the right of their labels, and where each is; "…" replaces those without room."""
    room = box.width - LABELS
    most = int(room // (NARROWEST if picture.width > BESIDE else NARROWEST_ON_PHONE))
    if len(columns) > most:
        dots = ["…"] * len(labels)
        columns = [*columns[: most - 2], dots, columns[-1]]
    row = box.height / len(labels)
    heights = [box.y + row * (i + 0.5) for i in range(len(labels))]
    words = [Word(box.x + 88, y, label, 14, "right") for y, label in zip(heights, labels, strict=True)]
    picture.words(words, GRAY)
    width = min(WIDEST, room / max(len(columns), 1))
    size = fitting(chain.from_iterable(columns), width - 5, 14.5)
    left = box.x + LABELS
    boxes = []
    for i, column in enumerate(columns):
        middle = left + width * (i + 0.5)
        picture.words(Word(middle, y, text, size) for y, text in zip(heights, column, strict=True))
        boxes.append(Box(left + width * i, box.y, width, box.height))
    return boxes


def foot(
    picture: Picture, labels: Sequence[str], columns: Sequence[Sequence[str]], beside: Sequence[str], height: float = 78
) -> list[Box]:
    """A table at the foot of a picture, below a line, and two lines beside it; returns where its columns are.

    On a picture for a phone, which has no room beside it, they are one line below it.
    """
    is_wide = picture.width > BESIDE
    top = picture.height - height - (6 if is_wide else 6 + BELOW)
    line = top - 4
    right = picture.width - MARGIN
    picture.lines([(MARGIN, line, right, line)], LINE, 1)
    boxes = table(picture, labels, columns, Box(MARGIN, top, min(BESIDE - 12, right) - MARGIN, height))
    if not is_wide:
        picture.write(MARGIN + LABELS, top + height + BELOW / 2, ", ".join(beside), 14.5, BLUE)
        return boxes
    for i, text in enumerate(beside):
        y = top + height * (i + 1.5) / 3
        size = fitting([text], picture.width - BESIDE - 4, 14.5)
        picture.write(BESIDE, y, text, size, BLUE)
    return boxes
