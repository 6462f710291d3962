"""Pictures that say their content in one sentence, drawn in CSS pixels with y pointing down.

A picture is a list of marks: first those that stand still, then those that move. It is stored as a PNG file, and shown
live as two SVG images, so that a step of a slider sends no more than what moves.
"""

import html
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Self

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.path import Path

from helpers.pictures import marks
from helpers.pictures.marks import Box, Mark, Word

Array = np.ndarray

# All colors of pictures, and what each becomes where the page is dark: they stay apart for color-blind eyes, and each
# one also has an outline or a place of its own.
DARK = {
    "#1a1a1a": "#e8e8e8",  # ink
    "#5f5f5f": "#adadad",  # gray
    "#b5b5b5": "#5c5c5c",  # line
    "#ffffff": "#111111",  # paper
    "#005a9c": "#7cc4ff",  # blue: what is pointed at, and what the kernel wrote
    "#a84200": "#ffb38a",  # orange: outputs, and what is marked
    "#00684a": "#5fd0a5",  # green: weights
    "#0072b2": "#5ab4f0",  # sectors of memory: neighbors differ in lightness, too
    "#b8860b": "#e0b84a",
    "#007a5a": "#4fcfa6",
    "#a3337a": "#ec8fc6",
    "#5b6bbf": "#a3b0f5",
    "#8a4b08": "#e0a060",
    "#a9cbe6": "#2b567a",  # faint blue, faint orange, and what lies below a line
    "#ecc3a8": "#7d4a2f",
    "#f3ddd0": "#5a3524",
}
INK, GRAY, LINE, PAPER, BLUE, ORANGE, GREEN, *SECTORS = islice(DARK, 13)
FONT = "DejaVu Sans, Verdana, sans-serif"  # what stored pictures are written in, and fonts as wide
TINT = 3 / 16  # how strong the color of a face is where what lies below it is to be seen
MARGIN = 16  # CSS pixels: on the left of a picture
WIDTH = 840  # what fits into JupyterLab in a window 1280 pixels wide, with its file list open


def tint(color: str, strength: float = TINT) -> tuple[float, float, float, float]:
    """A see-through version of a color, to lay over what is already drawn."""
    return to_rgba(color, strength)


class Picture:
    """A sheet of `width` x `height` CSS pixels, and a `sentence` that says what is on it.

    A subclass with several states has a method `draw`, which takes the values of one and returns its sentence.
    """

    draw: Callable[..., str]

    def __init__(self, height: int = 432, width: int = WIDTH) -> None:
        self.width = width
        self.height = height
        self.sentence = ""
        self.marks: list[Mark] = []
        self.touchable: dict[str, tuple] = {}  # what a reader can point at: a Grid, and the values that are its cells
        self.numbered: list = []  # grids whose numbers can be read as tables
        self.cards: dict[str, Box] = {}  # parts that a word can be laid on, by name
        self.window = None  # a frame that a reader can drag
        self._drawn = None
        self._still = (0, 0)
        self._still_svg = ""

    def show(self, *place: object, **named: object) -> Self:
        """Draw the state of these values, over what stands still."""
        self.starts(*(self._drawn or ()))
        self.sentence = self.draw(*place, **named)
        return self

    def starts(self, *what: object) -> bool:
        """Begin the next drawing: on an empty sheet (True), or over what stands still if that was drawn for `what`."""
        self.window = None
        still_marks, still_grids = self._still
        if what == self._drawn:
            del self.marks[still_marks:]
            del self.numbered[still_grids:]
            return False
        self.marks = []
        self.numbered = []
        self.touchable = {}
        self._drawn = what
        self._still = (0, 0)
        self._still_svg = ""
        return True

    def stands_still(self) -> None:
        """Keep all that is drawn so far until `starts` is called for something else."""
        self._drawn = self._drawn or ()
        self._still = len(self.marks), len(self.numbered)
        self._still_svg = self._svg(self.marks, _ground())  # once: a step asks only for what moves

    def words(self, words: Iterable[Word], color=INK, weight="normal") -> None:
        """Write words that all look alike."""
        written = tuple(word for word in words if word.text.strip())
        if written:
            self.marks.append(Mark(None, PAPER, to_rgba(color), words=written, weight=weight))

    def write(self, x: float, y: float, text: str, size=14, color=INK, weight="normal", align="left") -> None:
        """Write a few words."""
        self.words([Word(x, y, text, size, align)], color, weight)

    def bold(self, x: float, y: float, text: str, size=14, color=INK, align="left") -> None:
        """Write a few words in bold letters."""
        self.write(x, y, text, size, color, "bold", align)

    def note(self, x: float, y: float, text: str, align="left") -> None:
        """Write a few words beside what they explain: small and gray."""
        self.write(x, y, text, 13, GRAY, align=align)

    def title(self, y: float, text: str) -> None:
        """Write what the picture is about, at its left."""
        self.bold(MARGIN, y, text, 17)

    def boxes(self, boxes: Iterable[Box], edge=LINE, face=None, line=1.0, dashes=None) -> None:
        """Draw rectangles that all look alike; `line` is in CSS pixels, `dashes` are (on, off)."""
        corners = []
        for x, y, width, height in boxes:
            right = x + width
            bottom = y + height
            corners.append([(x, y), (right, y), (right, bottom), (x, bottom), (x, y)])
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        if face:
            face = to_rgba(face)
        self._draw(corners, codes, edge=edge, face=face, line=line, dashes=dashes)

    def tinted(self, boxes: Iterable[Box], color=ORANGE, line=1.0, strength=TINT) -> None:
        """Draw rectangles with a see-through face of the color of their edge."""
        self.boxes(boxes, color, tint(color, strength), line)

    def label(self, boxes: Iterable[Box], texts: Iterable[object], size=13, color=INK, weight="normal", down=0) -> None:
        """Write a text into the middle of each rectangle, or further `down`, in CSS pixels."""
        words = []
        for box, text in zip(boxes, texts, strict=True):
            x, y = box.middle
            words.append(Word(x, y + down, str(text), size))
        self.words(words, color, weight)

    def column(
        self, x: float, y: float, step: float, lines: Iterable[str], size=14, color=INK, weight="normal"
    ) -> None:
        """Write lines below each other, `step` apart."""
        words = [Word(x, y + step * i, line, size, "left") for i, line in enumerate(lines)]
        self.words(words, color, weight)

    def lines(self, lines: Iterable[tuple[float, ...]], color=GRAY, line=1.4, dashes=None) -> None:
        """Draw straight lines (x0, y0, x1, y1) that all look alike."""
        ends = list(lines)
        self._draw(ends, [Path.MOVETO, Path.LINETO] * len(ends), edge=color, line=line, dashes=dashes)

    def arrow(self, start: tuple[float, float], end: tuple[float, float], color=GRAY, line=1.6, head=6.0) -> None:
        """Draw an arrow from one point to another."""
        backwards = np.subtract(start, end)
        back = head * backwards / np.hypot(*backwards)
        x, y = back
        aside = 0.75 * np.array([-y, x])
        left = end + back + aside
        right = end + back - aside
        self.lines([(*start, *end), (*left, *end), (*right, *end)], color, line)

    def curve(self, x: Array, y: Array, color=INK, line=3.0, dashes=None) -> None:
        """Draw one line through many points; nan leaves a gap."""
        finite = np.isfinite(y)
        codes = np.where(np.append(False, finite[:-1]), Path.LINETO, Path.MOVETO)
        self._draw(np.stack([x, y], -1)[finite], codes[finite], edge=color, line=line, dashes=dashes)

    def image(self, box: Box, colors: Array) -> None:
        """Lay an image (rows, columns, 4) of bytes over a box."""
        self.marks.append(Mark(None, PAPER, image=(box, colors)))

    def _draw(self, points: object, codes: Sequence[int], **style) -> None:
        points = np.array(points, float).reshape(-1, 2)
        if len(points):
            self.marks.append(Mark(Path(points, codes), **style))

    def rgba(self) -> Array:
        """The picture as it is now, (rows, columns, 4) bytes."""
        return marks.rgba(self.marks, self.width, self.height)

    def png(self) -> bytes:
        """The picture as it is now, as a PNG file."""
        return marks.png(self.rgba())

    def svg(self) -> tuple[str, str]:
        """The still and the moving part, as two SVG images of the same size: a step sends only the second one."""
        still_marks, _ = self._still
        still = self._still_svg or self._svg([], _ground())
        return still, self._svg(self.marks[still_marks:])

    def _svg(self, drawn: Sequence[Mark], ground: str = "") -> str:
        sheet = f'viewBox="0 0 {self.width} {self.height}" width="100%" aria-hidden="true" font-family="{FONT}"'
        elements = "".join(marks.svg(mark) for mark in drawn)
        return f'<svg class="convgrad-svg" {sheet}>{ground}{elements}</svg>'

    def tables(self) -> "Tables":
        """The numbers of each grid as a table, for who would rather read or hear them: end a cell with this.

        Each has the grid's title as its caption, and the numbers of rows and columns as its headers, which count the
        padding as rows and columns before 0. A cell that no memory holds is empty, or says what it is.
        """
        tables = "".join(grid.table() for grid in self.numbered)
        return Tables(f'<div class="convgrad-numbers">{tables}</div>')

    def caption(self, more: str = "") -> "Picture":
        """The sentence as a picture of its own, as wide as this one; and what more is to be said."""
        letters = int(self.width / 7.4)  # in a line
        lines = [*textwrap.wrap(self.sentence, letters), *textwrap.wrap(more, letters)]
        caption = Picture(22 * len(lines) + 6, self.width)
        caption.column(16, 11, 22, lines, 13)
        return caption

    def _repr_mimebundle_(self, more: str = "", **_) -> tuple[dict, dict]:
        """The picture with its sentence below it: JupyterLab shows a picture or a text, but not both."""
        with_caption = np.vstack([self.rgba(), self.caption(more).rgba()])
        data = {"text/plain": self.sentence, "image/png": marks.base64_png(with_caption)}
        metadata = {"image/png": {"width": self.width}, "needs_background": "light"}
        return data, metadata


class Tables(str):
    """Tables in HTML, which a notebook shows as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        """The captions."""
        return "; ".join(html.unescape(caption) for caption in re.findall("<caption>(.*?)</caption>", self))


@cache
def _ground() -> str:
    """The paper, and the colors of all SVG images of a page where it is dark, as of the stored ones there."""
    dark = '[data-jp-theme-light="false"]'
    svg = f"{dark} .convgrad-svg"
    rules = ""
    for part in ("fill", "stroke"):
        for color, darker in DARK.items():
            rules += f'{svg} [{part}="{color}"] {{ {part}: {darker}; }}'
    turned = "filter: invert(0.933) hue-rotate(180deg);"  # white becomes DARK[PAPER], and a hue stays what it is
    rules += f"{svg} image, {dark} img.jp-needs-light-background {{ {turned} }}"
    return f'<style>{rules}</style><rect width="100%" height="100%" fill="{PAPER}"/>'


def number(value: float) -> str:
    """A number as short as it can be written, with a real minus sign, and no minus before zero."""
    return f"{value + 0.0:.4g}".replace("-", "\N{MINUS SIGN}")


def a_digit(label: int) -> str:
    """A digit with its article."""
    return f"an {label}" if label == 8 else f"a {label}"
