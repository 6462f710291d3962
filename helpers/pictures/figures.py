"""Two ready figures: a row of images, and the parts of one launch on a time axis."""

from collections.abc import Sequence
from math import floor, log10

import numpy as np
from matplotlib import colormaps

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, PAPER, WIDTH, Box, Picture, Word, number, text_width, tint

COLORS = colormaps["PuOr_r"](np.linspace(0.15, 0.85, 255), bytes=True)  # violet below zero, white, orange above
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
    gap, signed, shapes = 12, len(panels) > ink, [panel.shape[1] / panel.shape[0] for panel in panels]
    height = min(height, (WIDTH - gap * (len(panels) + 1)) / sum(shapes))
    lefts = gap + np.cumsum([0, *(height * shape + gap for shape in shapes)])
    names = [_in_lines(title, height * shape - 2) for title, shape in zip(titles, shapes, strict=True)]
    top = 12 + 18 * max(map(len, names))
    picture = Picture(int(top + height + 10 + 26 * signed), max(int(lefts[-1]), 330))
    largest = max((float(np.abs(panel).max()) for panel in panels[ink:]), default=0) or 1.0
    for i, (panel, left, lines) in enumerate(zip(panels, lefts, names, strict=False)):
        box = Box(left, top, height * shapes[i], height)
        if i < ink:
            picture.image(box, _inked(panel / (panel.max() or 1)))
        else:
            _draw_signed(picture, panel / largest, box)
        picture.boxes([box], GRAY)
        picture.words(Word(box.middle[0], top + 4 - 18 * (len(lines) - j), line, 13) for j, line in enumerate(lines))
    if signed:
        small = height / len(panels[-1]) < SIGNS
        pieces, below = (3, "below 0 (far below: hatched)") if small else (1, "below 0")
        for left, value, text in ((gap, 0.6, "above 0"), (gap + 92, -0.6, below)):
            _draw_signed(picture, np.full((pieces, pieces), value), Box(left, picture.height - 23, SIGNS, SIGNS))
            picture.write(left + 20, picture.height - 16, text, 13)
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


def _draw_signed(picture: Picture, panel: np.ndarray, box: Box) -> None:
    """Values from -1 to 1 in color, with a plus or minus in each cell, or a stroke where small cells are below -1/4."""
    picture.image(box, COLORS[np.rint(127 + 127 * panel).astype(int)])
    cell = box.height / len(panel)
    corners = [(box.x + column * cell, box.y + row * cell, value) for (row, column), value in np.ndenumerate(panel)]
    if cell >= SIGNS:
        signs = [(x, y, "+" if value > 0 else "\N{MINUS SIGN}") for x, y, value in corners if value]
        picture.words(Word(x + cell / 2, y + cell / 2, sign, 13) for x, y, sign in signs)
    else:
        picture.lines(((x, y + cell, x + cell, y) for x, y, value in corners if value < -0.25), INK, 0.7)


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
