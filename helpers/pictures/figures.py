"""Two ready figures: a row of images, and the parts of one launch on a time axis."""

from collections.abc import Sequence
from math import floor, log10

import numpy as np
from matplotlib import colormaps

from helpers.pictures.canvas import (
    BLUE,
    GRAY,
    INK,
    LINE,
    PAPER,
    WIDTH,
    Box,
    Picture,
    Word,
    number,
    text_width,
    tint,
)

PALETTE = colormaps["PuOr_r"](np.linspace(0.15, 0.85, 255), bytes=True)  # violet below zero, white, orange above
VIOLET, AMBER = (tuple(PALETTE[i] / 255) for i in (50, 204))
SIGNS = 14  # CSS pixels: the smallest cell with room for a plus or minus


def images(panels: Sequence[np.ndarray], titles: Sequence[str], sentence: str, *, ink: int = 0, height=112) -> Picture:
    """A row of images: the first `ink` of them as ink on paper, the others signed and at one common scale.

    Parameters
    ----------
    panels : arrays (rows, columns)
        Shown from left to right, each as high as the others.
    titles : str for each panel
    sentence : str
        What the pictures show, in words made from the same arrays.
    ink : int
        How many panels are not signed. In the others white is zero; orange and a plus are above it, violet and a minus
        below. Cells too small for signs are hatched where they are well below zero.
    height : int
        CSS pixels of each panel, or less where so many would not fit beside each other.
    """
    gap, shapes = 12, [panel.shape[1] / panel.shape[0] for panel in panels]
    height = min(height, (WIDTH - gap * (len(panels) + 1)) / sum(shapes))
    lefts = gap + np.cumsum([0, *(height * shape + gap for shape in shapes)])
    names = [_in_lines(title, height * shape - 2) for title, shape in zip(titles, shapes, strict=True)]
    top = 12 + 18 * max(map(len, names))
    signed = len(panels) > ink
    picture = Picture(int(top + height + 10 + 26 * signed), max(int(lefts[-1]), 300))
    boxes = [Box(left, top, height * shape, height) for left, shape in zip(lefts, shapes, strict=False)]
    for box, lines in zip(boxes, names, strict=True):
        heads = (Word(box.middle[0], top - 14 - 18 * i, line, 13) for i, line in enumerate(reversed(lines)))
        picture.words(heads)
    largest = max((float(np.abs(panel).max()) for panel in panels[ink:]), default=0) or 1.0
    for i, (panel, box) in enumerate(zip(panels, boxes, strict=True)):
        scaled = panel / (panel.max() or 1) if i < ink else panel / largest
        picture.image(box, _inked(scaled) if i < ink else PALETTE[np.rint(127 + 127 * scaled).astype(int)])
        if i >= ink:
            _mark_signs(picture, scaled, box)
    picture.boxes(boxes, GRAY)
    if signed:
        _legend(picture, top + height + 20, height * shapes[-1] / panels[-1].shape[1])
    picture.sentence = sentence
    return picture


def _in_lines(title: str, room: float) -> list[str]:
    """A title in one line or, where it is too wide and has an index, in two."""
    if text_width(title, 13) <= room or "[" not in title:
        return [title]
    name, index = title.split("[", 1)
    return [name, f"[{index}"]


def _inked(panel: np.ndarray) -> np.ndarray:
    """Colors from white at 0 to black at 1."""
    light = np.rint(255 * (1 - panel.clip(0, 1))).astype(np.uint8)
    return np.stack([light, light, light, np.full_like(light, 255)], -1)


def _mark_signs(picture: Picture, panel: np.ndarray, box: Box) -> None:
    """A plus or minus in each cell that is not 0; where cells are small, a stroke through those below -1/4."""
    cell = box.height / len(panel)
    if cell >= SIGNS:
        places = [(box.x + (column + 0.5) * cell, box.y + (row + 0.5) * cell) for row, column in np.argwhere(panel)]
        signs = ["+" if value > 0 else "\N{MINUS SIGN}" for value in panel[panel != 0]]
        picture.words(Word(*place, sign, 13) for place, sign in zip(places, signs, strict=True))
        return
    corners = [(box.x + column * cell, box.y + row * cell) for row, column in np.argwhere(panel < -0.25)]
    picture.lines(((x, y + cell, x + cell, y) for x, y in corners), INK, 0.7)


def _legend(picture: Picture, y: float, cell: float) -> None:
    """What the colors, signs and strokes say."""
    swatches = Box(12, y - 7, 14, 14), Box(104, y - 7, 14, 14)
    for swatch, color, sign, text in zip(swatches, (AMBER, VIOLET), "+−", ("above 0", "below 0"), strict=True):
        picture.boxes([swatch], GRAY, color)
        picture.write(swatch.x + 20, y, text, 13)
        if cell >= SIGNS:
            picture.write(*swatch.middle, sign, 13, align="middle")
    if cell < SIGNS:
        x, y, size, _ = swatches[1]
        picture.lines([(x, y + size, x + size, y), (x, y + size / 2, x + size / 2, y)], INK, 0.7)
        picture.lines([(x + size / 2, y + size, x + size, y + size / 2)], INK, 0.7)


# --- One launch on a time axis ------------------------------------------------------------------------------

Span = tuple[str, float, float]  # name, start and duration in milliseconds


def timeline(spans: Sequence[Span], sentence: str) -> Picture:
    """The parts of one launch on a common time axis, a row for each, so that even the shortest can be read.

    Parameters
    ----------
    spans : sequence of (name, start in ms, duration in ms)
        One to twelve, in the order of the rows.
    sentence : str
        What the picture shows, in words made from the same spans.

    Raises ValueError for too few or too many spans, or for a negative duration.
    """
    if not 1 <= len(spans) <= 12:
        raise ValueError(f"{len(spans)} spans: the picture has room for 1 to 12; leave out or join some")
    for name, _, lasts in spans:
        if lasts < 0:
            raise ValueError(
                f"span {name!r} lasts {lasts} ms: a duration is 0 or more; subtract the start from the end"
            )
    left = max(150, 30 + max(text_width(name, 14) for name, _, _ in spans))
    right = WIDTH - 14 - max(text_width(f"{_brief(lasts)} ms", 14) for _, _, lasts in spans)
    top, row = 52, 30
    begin, end = min(start for _, start, _ in spans), max(start + lasts for _, start, lasts in spans)
    scale, bottom = (right - left) / ((end - begin) or 1), top + row * len(spans)
    picture = Picture(bottom + 10)
    ticks = [(left + tick * scale, tick) for tick in _ticks(end - begin)]
    picture.lines(((x, top - 10, x, bottom) for x, _ in ticks), LINE, 0.8)
    picture.words((Word(x, 28, number(tick), 13) for x, tick in ticks), GRAY)
    picture.write(left - 14, 28, "ms since the start", 13, GRAY, align="right")
    bars = [
        (name, lasts, Box(left + (start - begin) * scale, top + i * row + 5, max(lasts * scale, 3), 20))
        for i, (name, start, lasts) in enumerate(spans)
    ]
    picture.boxes((bar for _, _, bar in bars), BLUE, tint(BLUE, 0.5), 1.5)
    picture.words(Word(left - 14, bar.middle[1], name, 14, "right") for name, _, bar in bars)
    notes = [Word(bar.x + bar.width + 8, bar.middle[1], f"{_brief(lasts)} ms", 14, "left") for _, lasts, bar in bars]
    picture.boxes((Box(n.x - 4, n.y - 8, text_width(n.text, 14) + 8, 16) for n in notes), PAPER, PAPER)
    picture.words(notes, BLUE)
    picture.sentence = sentence
    return picture


def _brief(milliseconds: float) -> str:
    """As many digits as a measurement deserves, and never an exponent."""
    return f"{milliseconds:.{3 if milliseconds < 1 else 2 if milliseconds < 10 else 1}f}"


def _ticks(length: float) -> np.ndarray:
    """Round times from 0 to `length`: four to ten of them."""
    ten = 10.0 ** floor(log10(length or 1))
    step = next(ten * part for part in (0.1, 0.2, 0.25, 0.5, 1) if length / (ten * part) <= 10)
    return step * np.arange(floor(length / step) + 1)
