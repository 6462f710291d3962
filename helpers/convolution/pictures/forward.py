"""Pictures of a convolution: the window under an output, what depends on a weight or a pixel, and a digit's edges."""

from math import prod
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from matplotlib import colormaps

from helpers.convolution import indices
from helpers.convolution.indices import Tap, input_channels_of
from helpers.convolution.pictures.groups import channel_note, channel_words, draw_group
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import (
    BLUE,
    GRAY,
    INK,
    LINE,
    ORANGE,
    Box,
    Picture,
    Word,
    in_words,
    number,
    tint,
)
from helpers.pictures.figures import draw_signed
from helpers.pictures.parts import MARGIN, Grid, conclusion, product_text, running_sum, side_by_side, table

Array = np.ndarray


class ConvolutionPicture(Picture):
    """The grids of input ★ weight = output for one image and one pair of channels, which subclasses write on.

    `input` (N, Ci, H, W), `weight` (Co, Ci, kH, kW), and the `output` (N, Co, oH, oW) that a kernel returned.
    """

    def __init__(self, shape: ConvShape, input: Array, weight: Array, output: Array) -> None:
        self.shape, self.input, self.weight, self.output = shape, input, weight, output
        super().__init__()

    def draw_grids(self, n: int = 0, co: int = 0, ci: int = 0, changing: bool = False, notes: bool = True) -> None:
        """Draw all that stands still; `changing` outputs make room for what is written into their corners.

        `notes` says whether to name the image and the channels above each grid.
        """
        s, image = self.shape, self.input[n, input_channels_of(self.shape, co)[ci]]
        padded = np.pad(image, ((s.padding_h,) * 2, (s.padding_w,) * 2), constant_values=np.nan)
        matrices = (
            (padded, "input", f"n = {n}, {channel_note(s, co, ci)}" * notes, INK, "normal", not changing),
            (self.weight[co, ci], "weight", f"co = {co}, ci = {ci}" * notes, ORANGE, "bold"),
            (self.output[n, co], "output", f"n = {n}, co = {co}" * notes, BLUE, "normal", changing),
        )
        grids = side_by_side(self, matrices, "★=", 6, self.height - 110)
        self.input_grid, self.weight_grid, self.output_grid = grids
        self.write(MARGIN, self.height - 98, "★ correlation: slide, multiply, add", 13, GRAY)
        draw_group(self, s, co)

    def pixel(self, tap: Tap) -> tuple[int, int]:
        """The cell of the drawn input, with its padding, that a product reads."""
        return tap.ih + self.shape.padding_h, tap.iw + self.shape.padding_w


# --- One output -----------------------------------------------------------------------------------------------


class WindowPicture(ConvolutionPicture):
    """Which pixels and weights make one output: the filter laid over the input, and the sum of the products.

    `bias` is (Co,). `letters` names the input's pixels a, b, c, ... and the weights A, B, C, ... (room for 26 each).
    """

    def __init__(
        self, shape: ConvShape, input: Array, weight: Array, output: Array, bias: Array, letters: bool = False
    ) -> None:
        if letters and (shape.in_h * shape.in_w > 26 or shape.kernel_h * shape.kernel_w > 26):
            raise ValueError(f"letters = True: {shape.input} and {shape.weight} are more than 26 letters")
        self.bias, self.letters = bias, letters
        super().__init__(shape, input, weight, output)

    def show(self, oh: int, ow: int, co: int = 0, ci: int = 0, n: int = 0) -> "WindowPicture":
        """Move to output [n, co, oh, ow], and to the products of input channel ci."""
        if self.starts(co, ci, n):
            self.draw_grids(n, co, ci, notes=not self.letters)
            if self.letters:
                self.input_grid.letters(ascii_lowercase, GRAY)
                self.weight_grid.letters(ascii_uppercase, ORANGE)
            self.stands_still()
        taps = indices.taps_of_output(self.shape, oh, ow)
        (top, left), (down, right) = np.multiply((oh, ow), self.shape.stride), self.shape.dilation
        window = [(top + kh * down, left + kw * right) for kh, kw in np.ndindex(self.shape.weight[2:])]
        self.input_grid.window(window, {self.pixel(tap): self.weight[co, ci, tap.kh, tap.kw] for tap in taps})
        self.output_grid.mark([(oh, ow)], BLUE)
        terms, returned = [self._term(tap, n, co, ci) for tap in taps], self.output[n, co, oh, ow]
        total = self._draw_sum(taps, terms, n, co, ci, returned)
        if self.letters:
            sums = f"output[{oh},{ow}] = {' + '.join(terms)} = {total}"
            self.sentence = f"{sums}. The GPU returned {number(returned)}."
        else:
            what = f"{self._counted(len(taps), co, ci)} output[{n},{co},{oh},{ow}]{self._where(taps)}."
            self.sentence = f"{what} The bias and all its terms add up to {total}; the GPU returned {number(returned)}."
        return self

    def _draw_sum(self, taps: list[Tap], terms: list[str], n: int, co: int, ci: int, returned: float) -> str:
        """The table of the terms of channel ci, between the bias and the other channels; returns the whole sum."""
        products = [[prod(self._factors(tap, n, co, c)) for tap in taps] for c in range(self.shape.weight[1])]
        bias, sums = float(self.bias[co]), [sum(channel) for channel in products]
        before, total = bias + sum(sums[:ci]), bias + sum(sums)
        columns = running_sum(terms, products[ci], before)
        if ci or self.bias.any():
            columns = [(f"ci < {ci}" if ci else "bias", "", number(before)), *columns]
        if ci + 1 < len(sums):
            columns.append((f"ci > {ci}", number(sum(sums[ci + 1 :])), number(total)))
        of = "its terms" if len(sums) == 1 else "its channels" if self.shape.groups > 1 else "all channels"
        return conclusion(self, columns, total, returned, of)

    def _factors(self, tap: Tap, n: int, co: int, ci: int) -> tuple[float, float]:
        channel = input_channels_of(self.shape, co)[ci]
        return float(self.weight[co, ci, tap.kh, tap.kw]), float(self.input[n, channel, tap.ih, tap.iw])

    def _term(self, tap: Tap, n: int, co: int, ci: int) -> str:
        if self.letters:
            weight, pixel = tap.kh * self.shape.kernel_w + tap.kw, tap.ih * self.shape.in_w + tap.iw
            return f"{ascii_uppercase[weight]}·{ascii_lowercase[pixel]}"
        return product_text(*self._factors(tap, n, co, ci))

    def _counted(self, count: int, co: int, ci: int) -> str:
        pixels = "No pixel" if not count else "1 pixel" if count == 1 else f"{count} pixels"
        return f"{pixels} of {channel_words(self.shape, co, ci)} contribute{'s' * (count < 2)} to"

    def _where(self, taps: list[Tap]) -> str:
        if not taps:
            return ", only padding"
        return f": {in_words('row', {tap.ih for tap in taps})}, {in_words('column', {tap.iw for tap in taps})}"


# --- What depends on a weight, and what on a pixel ------------------------------------------------------------


class DependencePicture(ConvolutionPicture):
    """Which outputs one weight or one pixel contributes to, and how each of them changes when it is raised by 1.

    One image and one pair of channels. The changes are the differences of two outputs that the GPU returned.
    """

    def show_weight(self, kh: int, kw: int, raised: Array) -> "DependencePicture":
        """Raise weight (kh, kw): `raised` is the output (1, 1, oH, oW) with it."""
        taps = indices.taps_of_weight(self.shape, kh, kw)
        self._begin()
        self.weight_grid.mark([(kh, kw)])
        self.boxes((self.input_grid.box(*self.pixel(tap)) for tap in taps), ORANGE, tint(ORANGE), 1.6)
        factors = [self.input[0, 0, tap.ih, tap.iw] for tap in taps]
        return self._conclude(f"Weight [{kh},{kw}]", "pixel", taps, factors, raised)

    def show_pixel(self, ih: int, iw: int, raised: Array) -> "DependencePicture":
        """Raise pixel (ih, iw): `raised` is the output (1, 1, oH, oW) with it."""
        taps = indices.taps_of_pixel(self.shape, ih, iw)
        self._begin()
        self.input_grid.mark([(ih + self.shape.padding_h, iw + self.shape.padding_w)])
        self.boxes((self.weight_grid.box(tap.kh, tap.kw) for tap in taps), ORANGE, tint(ORANGE), 1.6)
        factors = [self.weight[0, 0, tap.kh, tap.kw] for tap in taps]
        return self._conclude(f"Pixel [{ih},{iw}]", "weight", taps, factors, raised)

    def _begin(self) -> None:
        if self.starts(True):
            self.draw_grids(changing=True)
            self.stands_still()

    def _conclude(self, what: str, partner: str, taps: list[Tap], factors: list[float], raised: Array):
        """Write the changes on the GPU into the outputs and into a table, and say what they come from."""
        changes, cells = (raised - self.output)[0, 0], [(tap.oh, tap.ow) for tap in taps]
        self.boxes((self.output_grid.box(*cell) for cell in cells), BLUE, tint(BLUE), 1.6)
        self.output_grid.corners({cell: _signed(changes[cell]) for cell in {*cells, *_places(changes)}}, ORANGE)
        rows = zip(cells, factors, strict=True)
        columns = [(f"[{oh},{ow}]", number(factor), _signed(changes[oh, ow])) for (oh, ow), factor in rows]
        count, changed, top = f"{len(taps)} of {changes.size} outputs", number(changes.sum()), self.height - 84
        self.lines([(MARGIN, top - 4, self.width - MARGIN, top - 4)], LINE, 1)
        table(self, ("output", partner, "change"), columns, Box(MARGIN, top, 624, 78))
        self.write(652, top + 39, count, 14.5, BLUE)
        self.write(652, top + 65, f"change of their sum: {changed}", 14.5, BLUE)
        rule = f"When it is raised by 1, each of these changes by the {partner} in its product"
        self.sentence = f"{what} contributes to {count}. {rule}, together by {number(sum(factors))}; "
        self.sentence += f"on the GPU they changed by {changed}."
        if not taps:
            moved = f"changed by {changed}" if changes.any() else "did not change"
            self.sentence = f"{what} contributes to none of the {changes.size} outputs; on the GPU, they {moved}."
        return self


def _places(changes: Array) -> list[tuple[int, int]]:
    return [tuple(map(int, cell)) for cell in np.argwhere(changes)]


def _signed(change: float) -> str:
    return ("+" if change > 0 else "") + number(change)


# --- A digit --------------------------------------------------------------------------------------------------

PIXEL, FILTER_CELL = 9, 40  # CSS pixels


class EdgesPicture(Picture):
    """A digit, a filter of 3 x 3 weights, and what the GPU made of them; one window and its output are framed.

    `digit` (1, 1, 28, 28), `weight` (1, 1, 3, 3) called `name`, `output` (1, 1, oH, oW); padding is at most 2.
    """

    def __init__(self, shape: ConvShape, digit: Array, weight: Array, output: Array, name: str) -> None:
        self.shape, self.digit, self.weight, self.output, self.name = shape, digit, weight, output, name
        super().__init__(446)
        self.starts()
        top, left = 54, MARGIN + PIXEL * 32 + 44
        self._draw_digit(MARGIN, top)
        Grid(self, weight[0, 0], left, top + 60, (FILTER_CELL, FILTER_CELL), "weight", name, ORANGE, "bold")
        self._draw_legend(left, top + 90 + 3 * FILTER_CELL)
        right = left + 3 * FILTER_CELL + 44
        self._draw_output(right, top)
        self.words((Word(x - 22, top + 120, sign, 30) for x, sign in ((left, "★"), (right, "="))), GRAY)
        self.stands_still()

    def _draw_digit(self, x: float, y: float) -> None:
        s = self.shape
        self.sheet = Box(x, y, PIXEL * s.padded("w"), PIXEL * s.padded("h"))
        inner = Box(x + PIXEL * s.padding_w, y + PIXEL * s.padding_h, PIXEL * s.in_w, PIXEL * s.in_h)
        self.image(inner, colormaps["gray_r"](self.digit[0, 0] / 15, bytes=True))
        self.boxes([inner], GRAY)
        if s.padding_h:
            self.boxes([self.sheet], GRAY, dashes=(2.5, 3))
        self._head(x, "input", f"{s.in_h} × {s.in_w}, padding {s.padding_h}", INK)

    def _draw_output(self, x: float, y: float) -> None:
        s = self.shape
        self.result = Box(x, y, PIXEL * s.out_w, PIXEL * s.out_h)
        draw_signed(self, self.output[0, 0] / (abs(self.output).max() or 1), self.result)
        self.boxes([self.result], BLUE)
        self._head(x, "output", f"{s.out_h} × {s.out_w}, stride {s.stride_h}", BLUE)

    def _head(self, x: float, title: str, note: str, color: str) -> None:
        self.write(x, 20, title, 15, color, "bold")
        self.write(x, 38, note, 13, GRAY)

    def _draw_legend(self, x: float, y: float) -> None:
        for i, (value, text) in enumerate(((0.6, "above 0"), (-0.6, "below 0, hatched"))):
            draw_signed(self, np.full((3, 3), value), Box(x, y + 24 * i, 14, 14))
            self.write(x + 20, y + 24 * i + 7, text, 13)

    def show(self, oh: int, ow: int) -> "EdgesPicture":
        """Move to one output."""
        self.starts()
        s, taps = self.shape, indices.taps_of_output(self.shape, oh, ow)
        corner = self.sheet.x + PIXEL * ow * s.stride_w, self.sheet.y + PIXEL * oh * s.stride_h
        self.boxes([Box(*corner, 3 * PIXEL, 3 * PIXEL)], ORANGE, line=3)
        place = self.result.x + PIXEL * ow, self.result.y + PIXEL * oh
        self.boxes([Box(*place, PIXEL, PIXEL)], BLUE, line=3)
        pairs = [(float(self.weight[0, 0, t.kh, t.kw]), float(self.digit[0, 0, t.ih, t.iw])) for t in taps]
        columns = running_sum([product_text(*pair) for pair in pairs], [prod(pair) for pair in pairs])
        returned = self.output[0, 0, oh, ow]
        total = conclusion(self, columns, sum(map(prod, pairs)), returned)
        sizes = f"{s.in_h} × {s.in_w} pixels become {s.out_h} × {s.out_w} outputs"
        steps = f"stride {s.stride_h}, padding {s.padding_h}"
        value = f"output[{oh},{ow}] = {total}; the GPU returned {number(returned)}."
        self.sentence = f"Filter “{self.name}”, {steps}: {sizes}. {value}"
        return self
