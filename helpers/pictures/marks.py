"""The marks of a picture, in CSS pixels with y pointing down, and how each becomes pixels or SVG."""

import base64
import html
import io
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D
from PIL import Image

Array = np.ndarray

CODE_FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"  # all letters are equally wide
SHARPNESS = 1.25  # stored pixels per CSS pixel: more look sharper on dense screens, and make larger files


class Word(NamedTuple):
    """A few words, centered on the height y; x is their middle, or their "left" or "right" end. `code`: monospaced."""

    x: float
    y: float
    text: str
    size: float = 14
    align: str = "middle"
    code: bool = False

    @property
    def baseline(self) -> float:
        """The y on which its letters stand, half a digit below its middle."""
        return self.y + 0.36 * self.size


class Box(NamedTuple):
    """A rectangle with its top left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """The point in its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height


class Mark(NamedTuple):
    """One thing on a picture: a path, words or, in a box, an image."""

    path: Path | None
    edge: str
    face: tuple[float, ...] | None = None
    line: float = 0  # CSS pixels
    dashes: tuple[float, float] | None = None
    words: tuple[Word, ...] = ()
    weight: str = "normal"
    image: tuple[Box, Array] | None = None


# --- Letters ------------------------------------------------------------------------------------------------


@cache
def _glyphs(text: str, weight: str, code: bool = False) -> tuple[Array, Array, float]:
    """Vertices and codes of a text of size 1, and its width."""
    family = "DejaVu Sans Mono" if code else "DejaVu Sans"
    path = TextPath((0, 0), text, size=1, prop=FontProperties(family=family, weight=weight))
    return path.vertices, path.codes, path.vertices[:, 0].max()


def outline(word: Word, weight: str) -> tuple[Array, Array]:
    """Vertices and codes of a word where it is written."""
    vertices, codes, width = _glyphs(word.text, weight, word.code)
    parts_on_left = {"left": 0, "middle": 0.5, "right": 1}
    left = word.x - width * word.size * parts_on_left[word.align]
    return vertices * (word.size, -word.size) + (left, word.baseline), codes


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """CSS pixels from the left end of a text to its right end."""
    if not text.strip():
        return 0.0
    _, _, width = _glyphs(text, weight)
    return width * size


# --- Pixels -------------------------------------------------------------------------------------------------


def rgba(marks: Iterable[Mark], width: float, height: float) -> Array:
    """The marks on white paper of this size, (rows, columns, 4) bytes."""
    renderer = RendererAgg(round(width * SHARPNESS), round(height * SHARPNESS), 72)
    sheet = np.asarray(renderer.buffer_rgba())
    sheet[:] = 255
    for mark in marks:
        if mark.image:
            box, colors = mark.image
            _lay_image(renderer, box, colors)
        else:
            _paint(renderer, mark)
    return sheet


def _lay_image(renderer: RendererAgg, box: Box, colors: Array) -> None:
    """Lay an image over a box, each of its pixels as a rectangle with sharp edges."""
    x, y, width, height = (round(value * SHARPNESS) for value in box)
    large = np.asarray(Image.fromarray(colors).resize((width, height), Image.Resampling.NEAREST))
    renderer.draw_image(renderer.new_gc(), x, renderer.height - y - height, large[::-1].copy())


def _paint(renderer: RendererAgg, mark: Mark) -> None:
    """Paint a path, or words as paths."""
    style = renderer.new_gc()
    style.set_foreground(mark.edge)
    style.set_linewidth(mark.line * SHARPNESS)
    style.set_joinstyle("miter")
    style.set_snap(mark.path is not None and mark.path.codes[-1] == Path.CLOSEPOLY)  # boxes keep to whole pixels
    if mark.dashes:
        style.set_dashes(0, np.multiply(mark.dashes, SHARPNESS))
    path = mark.path
    if mark.words:
        outlines = [outline(word, mark.weight) for word in mark.words]
        vertices, codes = zip(*outlines, strict=True)
        path = Path(np.concatenate(vertices), np.concatenate(codes))
    flip = Affine2D().scale(SHARPNESS, -SHARPNESS).translate(0, renderer.height)
    renderer.draw_path(style, path, flip, mark.face)


def png(pixels: Array) -> bytes:
    """An image (rows, columns, 4) of bytes as a PNG file of at most 256 colors."""
    file = io.BytesIO()
    colors = Image.fromarray(pixels).convert("RGB").quantize(dither=Image.Dither.NONE)
    colors.save(file, "png", optimize=True)
    return file.getvalue()


def base64_png(pixels: Array) -> str:
    """The PNG file of an image in base64, as HTML and notebooks hold it."""
    return base64.b64encode(png(pixels)).decode()


# --- SVG ----------------------------------------------------------------------------------------------------


def svg(mark: Mark) -> str:
    """A mark as elements of an SVG image; words stay text, which every browser draws sharp."""
    if mark.words:
        style = f'fill="{to_hex(mark.face)}" font-weight="{mark.weight}"'
        return "".join(_svg_text(word, style) for word in mark.words)
    if mark.image:
        box, colors = mark.image
        return _svg_image(box, colors)
    fill = 'fill="none"'
    if mark.face:
        *_, opacity = mark.face
        fill = f'fill="{to_hex(mark.face)}" fill-opacity="{opacity:.4g}"'
    stroke = f'stroke="{mark.edge}" stroke-width="{mark.line}"'
    if mark.dashes:
        on, off = mark.dashes
        stroke += f' stroke-dasharray="{on} {off}"'
    return f'<path d="{_svg_path(mark.path)}" {fill} {stroke}/>'


def _svg_text(word: Word, style: str) -> str:
    """A word as an element of an SVG image."""
    anchors = {"left": "start", "middle": "middle", "right": "end"}
    anchor = anchors[word.align]
    place = f'x="{word.x:.4g}" y="{word.baseline:.4g}" font-size="{word.size:.4g}" text-anchor="{anchor}"'
    if word.code:
        style += f' font-family="{CODE_FONT}"'
    return f"<text {place} {style}>{html.escape(word.text)}</text>"


def _svg_image(box: Box, colors: Array) -> str:
    """An image over a box as an element of an SVG image."""
    file = f"data:image/png;base64,{base64_png(colors)}"
    place = f'x="{box.x:.5g}" y="{box.y:.5g}" width="{box.width:.5g}" height="{box.height:.5g}"'
    return f'<image {place} preserveAspectRatio="none" style="image-rendering: pixelated" href="{file}"/>'


def _svg_path(path: Path) -> str:
    """A path of straight lines as SVG writes it."""
    letters = {Path.MOVETO: "M", Path.LINETO: "L"}
    parts = []
    for (x, y), code in zip(path.vertices.tolist(), path.codes.tolist(), strict=True):
        parts.append(f"{letters[code]}{x:.5g} {y:.5g}" if code in letters else "Z")
    return "".join(parts)
