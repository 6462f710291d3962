"""Two ready-made figures: a row of images, and the parts of one launch on a time axis."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import MaxNLocator

from helpers.pictures.canvas import BLUE, GRAY, INK, PAPER, WIDTH, Box, Picture, Word, number, text_width
from helpers.pictures.charts import Axes

COLORS = colormaps["PuOr_r"](np.linspace(0.15, 0.85, 255), bytes=True)  # violet below zero, white, orange above
SIGNS = 14  # CSS pixels: the smallest cell into which a plus or minus fits
FAINT = 1 / 16  # of the largest value: nearer to zero, a cell looks white and has no sign


def images(panels: Sequence[np.ndarray], titles: Sequence[str], sentence: str, height=112) -> Picture:
    """A row of images (rows, columns), signed and at one common scale.

    White is zero; orange and a plus are above it, violet and a minus below. Cells too small for signs are hatched where
    they are well below zero. `height` is that of each panel in CSS pixels, or less where this many would not fit beside
    each other; `sentence` says what they show, in words made from the same arrays.
    """
    gap, shapes = 12, [panel.shape[1] / panel.shape[0] for panel in panels]
    height = min(height, (WIDTH - gap * (len(panels) + 1)) / sum(shapes))
    lefts = gap + np.cumsum([0, *(height * shape + gap for shape in shapes)])
    names = [_title_lines(title, height * shape - 2) for title, shape in zip(titles, shapes, strict=True)]
    top = 12 + 18 * max(map(len, names))
    picture = Picture(int(top + height + 36), max(int(lefts[-1]), 330))
    largest = max(float(np.abs(panel).max()) for panel in panels) or 1.0
    for panel, left, lines, shape in zip(panels, lefts, names, shapes, strict=False):
        box = Box(left, top, height * shape, height)
        draw_signed(picture, panel / largest, box)
        picture.boxes([box], GRAY)
        picture.words(Word(box.middle[0], top + 4 - 18 * (len(lines) - j), line, 13) for j, line in enumerate(lines))
    small = height / len(panels[-1]) < SIGNS
    pieces, below = (3, "below 0 (far below: hatched)") if small else (1, "below 0")
    explain(picture, gap, picture.height - 16, {"above 0": 0.6, below: -0.6}, 92, pieces)
    picture.sentence = sentence
    return picture


def _title_lines(title: str, room: float) -> list[str]:
    """A title in one line or, where it is too wide and has an index, in two."""
    name, bracket, index = title.partition("[")
    return [name, bracket + index] if bracket and text_width(title, 13) > room else [title]


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


# --- One launch on a time axis ------------------------------------------------------------------------------


def timeline(spans: Sequence[tuple[str, float, float]], sentence: str) -> Picture:
    """One to twelve parts of one launch on a common time axis, a row for each, so that even the shortest can be read.

    Each span is (name, start in ms, duration in ms), and `sentence` says what they show. Raises ValueError for too few
    or too many spans, or for a negative duration.
    """
    if not 1 <= len(spans) <= 12:
        raise ValueError(f"{len(spans)} spans: the picture has room for 1 to 12; leave out or join some")
    if wrong := [f"span {name!r} lasts {lasts} ms" for name, _, lasts in spans if lasts < 0]:
        raise ValueError(f"{wrong[0]}: a duration is 0 or more; subtract the start from the end")
    left = max(150, 30 + max(text_width(name, 14) for name, _, _ in spans))
    right = WIDTH - 14 - max(text_width(_brief(lasts), 14) for _, _, lasts in spans)
    top, row = 52, 30
    begin, end = min(start for _, start, _ in spans), max(start + lasts for _, start, lasts in spans)
    bottom, whole = top + row * len(spans), end - begin
    picture = Picture(bottom + 10)
    axes = Axes(picture, Box(left, top - 10, right - left, bottom - top + 10), (0, whole or 1), (0, 1))
    ticks = MaxNLocator(10, steps=[1, 2, 2.5, 5, 10]).tick_values(0, whole)
    axes.columns({tick: number(tick) for tick in ticks if 0 <= tick <= whole}, 28 - bottom, 0.8)
    picture.write(left - 14, 28, "ms since the start", 13, GRAY, align="right")
    for i, (name, start, lasts) in enumerate(spans):
        x, y = axes.x(start - begin), top + row * (i + 0.5)
        width = max(axes.x(start - begin + lasts) - x, 3)
        picture.tinted([Box(x, y - 10, width, 20)], BLUE, 1.5, 0.5)
        picture.boxes([Box(x + width + 4, y - 8, text_width(_brief(lasts), 14) + 8, 16)], PAPER, PAPER)
        picture.write(left - 14, y, name, align="right")
        picture.write(x + width + 8, y, _brief(lasts), color=BLUE)
    picture.sentence = sentence
    return picture


def _brief(milliseconds: float) -> str:
    """No more digits than a measurement supports, and never an exponent."""
    return f"{milliseconds:.{3 if milliseconds < 1 else 2 if milliseconds < 10 else 1}f} ms"
