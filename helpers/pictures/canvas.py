"""Pictures: matplotlib figures that know their content in one sentence and are redrawn in place.

A picture is drawn in CSS pixels with y pointing down. What stands still is drawn once and kept as pixels; what moves
is drawn over it. All words of one color are one path, and all boxes of one style another, so that a step of a slider
costs a few milliseconds however many cells it changes.
"""

import base64
import io
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D
from PIL import Image

# Colors that stay apart for color-blind eyes; each one also has an outline or a place of its own.
INK, GRAY, LINE, PAPER = "#1a1a1a", "#5f5f5f", "#b5b5b5", "#ffffff"
BLUE, ORANGE = "#005a9c", "#b34700"
SIGNED = ListedColormap(colormaps["PuOr_r"](np.linspace(0.15, 0.85, 255)))  # violet below zero, white, orange above
SHARPNESS = 1.25  # image pixels per CSS pixel: more look sharper on dense screens, fewer move faster


class Word(NamedTuple):
    """A few words, centered on the height y; x is their middle, or their "left" or "right" end."""

    x: float
    y: float
    text: str
    size: float = 14
    align: str = "middle"


class Box(NamedTuple):
    """A rectangle with its top left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float


class Line(NamedTuple):
    """A straight line between two points."""

    x0: float
    y0: float
    x1: float
    y1: float


class Picture:
    """A figure of `width` x `height` CSS pixels; subclasses draw on it and set `sentence`."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / 100, height / 100), dpi=100 * SHARPNESS, facecolor=PAPER)
        self.canvas = FigureCanvasAgg(self.figure)
        self.sentence = ""
        self.clear()

    def clear(self) -> None:
        """Start over with an empty sheet."""
        self.figure.clear()
        self.moving: list[PathPatch] = []
        self._still = None

    def words(self, words: Iterable[Word] = (), color=INK, weight="normal", style="normal") -> "Words":
        """Write words that all look alike."""
        return self._add(Words(words, color, weight, style))

    def boxes(self, boxes: Iterable[Box] = (), edge=LINE, face="none", line=1.0, dashes="solid") -> "Boxes":
        """Draw rectangles that all look alike; `line` is in CSS pixels."""
        return self._add(Boxes(boxes, edge, face, line, dashes))

    def lines(self, lines: Iterable[Line] = (), color=GRAY, line=1.4) -> "Lines":
        """Draw straight lines; `line` is in CSS pixels."""
        return self._add(Lines(lines, color, line))

    def _add(self, artist: PathPatch) -> PathPatch:
        artist.set_transform(
            Affine2D().scale(1 / self.width, -1 / self.height).translate(0, 1) + self.figure.transFigure
        )
        return self.figure.add_artist(artist)

    def moves(self, artist: PathPatch) -> PathPatch:
        """Mark words or boxes as changing between two drawings; their `put` changes them."""
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def grid(self, x: float, y: float, cell: float, values: np.ndarray, color=INK, weight="normal") -> None:
        """A grid of numbers, its top left corner at (x, y)."""
        places = [(x + column * cell, y + row * cell, value) for (row, column), value in np.ndenumerate(values)]
        self.boxes(Box(left, top, cell, cell) for left, top, _ in places)
        half, size = cell / 2, cell * 0.36
        self.words((Word(left + half, top + half, number(v), size) for left, top, v in places), color, weight)

    def rgba(self) -> np.ndarray:
        """The picture as it is now, (rows, columns, 4) bytes."""
        if self._still is None:
            self.canvas.draw()
            self._still = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self._still)
        for artist in self.moving:
            self.figure.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())

    def png(self) -> bytes:
        """The picture as it is now, as a PNG file."""
        file = io.BytesIO()
        Image.fromarray(self.rgba()).convert("RGB").save(file, "png", compress_level=1)
        return file.getvalue()

    def _repr_mimebundle_(self, **_) -> tuple[dict, dict]:
        image = base64.b64encode(self.png()).decode()
        return {"text/plain": self.sentence, "image/png": image}, {"image/png": {"width": self.width}}


class Boxes(PathPatch):
    """Rectangles that share one style, drawn as one path."""

    def __init__(self, boxes: Iterable[Box], edge, face, line: float, dashes) -> None:
        style = {"edgecolor": edge, "facecolor": face, "linewidth": line * 0.72, "linestyle": dashes}
        super().__init__(Path(np.empty((0, 2))), joinstyle="miter", **style)
        self.put(boxes)

    def put(self, boxes: Iterable[Box]) -> None:
        """Draw these instead."""
        corners = [((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)) for x, y, w, h in boxes]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        self.set_path(Path(np.array(corners, float).reshape(-1, 2), codes or None))


class Lines(PathPatch):
    """Straight lines that share one style, drawn as one path."""

    def __init__(self, lines: Iterable[Line], color, line: float) -> None:
        super().__init__(Path(np.empty((0, 2))), edgecolor=color, facecolor="none", linewidth=line * 0.72)
        self.put(lines)

    def put(self, lines: Iterable[Line]) -> None:
        """Draw these instead."""
        points = np.array(list(lines), float).reshape(-1, 2)
        self.set_path(Path(points, [Path.MOVETO, Path.LINETO] * (len(points) // 2) or None))


class Words(PathPatch):
    """Words that share one color and face, drawn as one path."""

    def __init__(self, words: Iterable[Word], color, weight: str, style: str) -> None:
        super().__init__(Path(np.empty((0, 2))), facecolor=color, linewidth=0)
        self.face = weight, style
        self.put(words)

    def put(self, words: Iterable[Word]) -> None:
        """Write these instead."""
        pieces = [_outline(word, *self.face) for word in words if word.text.strip()]
        vertices, codes = zip(*pieces, strict=True) if pieces else ([np.empty((0, 2))], None)
        self.set_path(Path(np.concatenate(vertices), np.concatenate(codes) if codes else None))


@cache
def _glyphs(text: str, weight: str, style: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Vertices and codes of a text of size 1, and its width."""
    path = TextPath((0, 0), text, size=1, prop=FontProperties(family="DejaVu Sans", weight=weight, style=style))
    return path.vertices, path.codes, path.vertices[:, 0].max()


def _outline(word: Word, weight: str, style: str) -> tuple[np.ndarray, np.ndarray]:
    vertices, codes, width = _glyphs(word.text, weight, style)
    wide = width * word.size
    left = {"left": word.x, "middle": word.x - wide / 2, "right": word.x - wide}[word.align]
    baseline = word.y + 0.36 * word.size  # half the height of a digit below its middle
    return vertices * (word.size, -word.size) + (left, baseline), codes


def number(value: float) -> str:
    """A number as short as it can be in_words, with a real minus sign."""
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def in_words(name: str, numbers: Iterable[int]) -> str:
    """Some numbers as a person says them: row 2, rows 1 to 3, rows 0, 2 and 4."""
    found = sorted(numbers)
    if not found:
        return f"no {name}"
    if len(found) == 1:
        return f"{name} {found[0]}"
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return f"{name}s {found[0]} to {found[-1]}"
    return f"{name}s {', '.join(map(str, found[:-1]))} and {found[-1]}"


def tint(color: str, strength: float = 0.16) -> tuple[float, float, float, float]:
    """A see-through version of a color, to lay over what is already drawn."""
    return to_rgba(color, strength)


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
        How many panels are not signed. In the others the color says the sign, and white is zero; where the cells are
        large enough, a plus or minus in each says it too.
    height : int
        CSS pixels of each panel.
    """
    gap, widths = 14, [height * panel.shape[1] / panel.shape[0] for panel in panels]
    picture = Picture(int(sum(widths) + gap * (len(panels) + 1)), height + 40)
    largest = max((float(np.abs(panel).max()) for panel in panels[ink:]), default=0) or 1.0
    lefts = np.cumsum([gap, *(width + gap for width in widths)])
    for i, (panel, left, width) in enumerate(zip(panels, lefts, widths, strict=False)):
        place = left / picture.width, 10 / picture.height, width / picture.width, height / picture.height
        axes = picture.figure.add_axes(place)
        scale = {"cmap": "gray_r", "vmin": 0} if i < ink else {"cmap": SIGNED, "vmin": -largest, "vmax": largest}
        axes.imshow(panel, aspect="auto", **scale)
        axes.set_axis_off()
    places = list(zip(lefts, widths, strict=False))
    picture.boxes((Box(left, 30, width, height) for left, width in places), GRAY)
    picture.words(Word(left + width / 2, 14, title, 13) for title, (left, width) in zip(titles, places, strict=True))
    for panel, (left, _) in zip(panels[ink:], places[ink:], strict=True):
        picture.words(_signs(panel, left, 30, height / panel.shape[0]))
    picture.sentence = sentence
    return picture


def _signs(panel: np.ndarray, left: float, top: float, cell: float) -> Iterable[Word]:
    """A plus or minus in the middle of each cell that is not 0, where there is room."""
    for (row, column), value in np.ndenumerate(panel):
        if cell >= 14 and value:
            sign = "+" if value > 0 else "\N{MINUS SIGN}"
            yield Word(left + (column + 0.5) * cell, top + (row + 0.5) * cell, sign, 13)
