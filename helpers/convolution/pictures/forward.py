"""Pictures of a convolution: the window under an output, what depends on a weight or a pixel, edges, one product."""

from math import prod
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from matplotlib import colormaps

from helpers.convolution import indices
from helpers.convolution.indices import Tap
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
    text_width,
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

    def draw_grids(self, n: int = 0, co: int = 0, ci: int = 0, changing: bool = False) -> None:
        """Draw all that stands still; `changing` outputs make room for what is written into their corners."""
        s = self.shape
        padded = np.pad(self.input[n, ci], ((s.padding_h,) * 2, (s.padding_w,) * 2), constant_values=np.nan)
        matrices = (
            (padded, "input", f"n = {n}, ci = {ci}", INK, "normal", not changing),
            (self.weight[co, ci], "weight", f"co = {co}, ci = {ci}", ORANGE, "bold"),
            (self.output[n, co], "output", f"n = {n}, co = {co}", BLUE, "normal", changing),
        )
        grids = side_by_side(self, matrices, "★=", 6, self.height - 110)
        self.input_grid, self.weight_grid, self.output_grid = grids
        self.write(MARGIN, self.height - 98, "★ correlation: slide, multiply, add", 13, GRAY)

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
            self.draw_grids(n, co, ci)
            if self.letters:
                self.input_grid.letters(ascii_lowercase, GRAY)
                self.weight_grid.letters(ascii_uppercase, ORANGE)
            self.stands_still()
        taps, s = indices.taps_of_output(self.shape, oh, ow), self.shape
        corner = range(oh * s.stride, oh * s.stride + s.kernel_h), range(ow * s.stride, ow * s.stride + s.kernel_w)
        window = [(row, column) for row in corner[0] for column in corner[1]]
        self.input_grid.window(window, {self.pixel(tap): self.weight[co, ci, tap.kh, tap.kw] for tap in taps})
        self.output_grid.mark([(oh, ow)], BLUE)
        sums = [sum(prod(self._factors(tap, n, co, c)) for tap in taps) for c in range(s.in_channels)]
        before, returned = float(self.bias[co]) + sum(sums[:ci]), self.output[n, co, oh, ow]
        terms = [self._term(tap, n, co, ci) for tap in taps]
        columns = running_sum(terms, [prod(self._factors(tap, n, co, ci)) for tap in taps], before)
        if ci or self.bias.any():
            columns = [(f"ci < {ci}" if ci else "bias", "", number(before)), *columns]
        of = "its terms" if s.in_channels == 1 else "all channels"
        total = conclusion(self, columns, float(self.bias[co]) + sum(sums), returned, of)
        element = f"output[{oh},{ow}]" if self.letters else f"output[{n},{co},{oh},{ow}]"
        if self.letters:
            self.sentence = f"{element} = {' + '.join(terms)} = {total}. The GPU returned {number(returned)}."
        else:
            what = f"{self._counted(len(taps), ci)} {element}{self._where(taps)}."
            self.sentence = f"{what} The bias and all its terms add up to {total}; the GPU returned {number(returned)}."
        return self

    def _factors(self, tap: Tap, n: int, co: int, ci: int) -> tuple[float, float]:
        return float(self.weight[co, ci, tap.kh, tap.kw]), float(self.input[n, ci, tap.ih, tap.iw])

    def _term(self, tap: Tap, n: int, co: int, ci: int) -> str:
        if self.letters:
            weight, pixel = tap.kh * self.shape.kernel_w + tap.kw, tap.ih * self.shape.in_w + tap.iw
            return f"{ascii_uppercase[weight]}·{ascii_lowercase[pixel]}"
        return product_text(*self._factors(tap, n, co, ci))

    def _counted(self, count: int, ci: int) -> str:
        pixels = "No pixel" if not count else "1 pixel" if count == 1 else f"{count} pixels"
        return f"{pixels} of channel {ci} contribute{'s' * (count < 2)} to"

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
        changes = (raised - self.output)[0, 0]
        cells = [(tap.oh, tap.ow) for tap in taps]
        self.boxes((self.output_grid.box(*cell) for cell in cells), BLUE, tint(BLUE), 1.6)
        self.output_grid.corners({cell: _signed(changes[cell]) for cell in {*cells, *_places(changes)}}, ORANGE)
        columns = [
            (f"[{tap.oh},{tap.ow}]", number(factor), _signed(changes[tap.oh, tap.ow]))
            for tap, factor in zip(taps, factors, strict=True)
        ]
        top, total = self.height - 84, self.output[0, 0].size
        self.lines([(MARGIN, top - 4, self.width - MARGIN, top - 4)], LINE, 1)
        table(self, ("output", partner, "change"), columns, Box(MARGIN, top, 624, 78))
        self.write(652, top + 39, f"{len(taps)} of {total} outputs", 14.5, BLUE)
        self.write(652, top + 65, f"change of their sum: {number(changes.sum())}", 14.5, BLUE)
        count = f"{len(taps)} of {total} outputs"
        rule = f"When it is raised by 1, each of these changes by the {partner} in its product"
        self.sentence = f"{what} contributes to {count}. {rule}, together by {number(sum(factors))}; "
        self.sentence += f"on the GPU they changed by {number(changes.sum())}."
        if not taps:
            self.sentence = f"{what} contributes to none of the {total} outputs; on the GPU, the outputs "
            self.sentence += "did not change." if not changes.any() else f"changed by {number(changes.sum())}."
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
        s, top = self.shape, 54
        size = PIXEL * s.padded("h")
        self.sheet = Box(MARGIN, top, size, size)
        inner = Box(MARGIN + PIXEL * s.padding_w, top + PIXEL * s.padding_h, PIXEL * s.in_w, PIXEL * s.in_h)
        self.image(inner, colormaps["gray_r"](digit[0, 0] / 15, bytes=True))
        self.boxes([inner], GRAY)
        if s.padding_h:
            self.boxes([self.sheet], GRAY, dashes=(2.5, 3))
        left = MARGIN + PIXEL * 32 + 44
        Grid(self, weight[0, 0], left, top + 60, (FILTER_CELL, FILTER_CELL), "weight", name, ORANGE, "bold")
        self.result = Box(left + 3 * FILTER_CELL + 44, top, PIXEL * s.out_w, PIXEL * s.out_h)
        draw_signed(self, output[0, 0] / (abs(output).max() or 1), self.result)
        self.boxes([self.result], BLUE)
        self.write(MARGIN, 20, "input", 15, weight="bold")
        self.write(MARGIN, 38, f"{s.in_h} × {s.in_w}, padding {s.padding_h}", 13, GRAY)
        self.write(self.result.x, 20, "output", 15, BLUE, "bold")
        self.write(self.result.x, 38, f"{s.out_h} × {s.out_w}, stride {s.stride}", 13, GRAY)
        self.write(left - 22, top + 60 + 60, "★", 30, GRAY, align="middle")
        self.write(self.result.x - 22, top + 60 + 60, "=", 30, GRAY, align="middle")
        self._draw_legend(left, top + 60 + 3 * FILTER_CELL + 30)
        self.stands_still()

    def _draw_legend(self, x: float, y: float) -> None:
        for i, (value, text) in enumerate(((0.6, "above 0"), (-0.6, "below 0, hatched"))):
            draw_signed(self, np.full((3, 3), value), Box(x, y + 24 * i, 14, 14))
            self.write(x + 20, y + 24 * i + 7, text, 13)

    def show(self, oh: int, ow: int) -> "EdgesPicture":
        """Move to one output."""
        self.starts()
        s, taps = self.shape, indices.taps_of_output(self.shape, oh, ow)
        corner = self.sheet.x + PIXEL * ow * s.stride, self.sheet.y + PIXEL * oh * s.stride
        self.boxes([Box(*corner, 3 * PIXEL, 3 * PIXEL)], ORANGE, line=3)
        place = self.result.x + PIXEL * ow, self.result.y + PIXEL * oh
        self.boxes([Box(*place, PIXEL, PIXEL)], BLUE, line=3)
        pairs = [(float(self.weight[0, 0, t.kh, t.kw]), float(self.digit[0, 0, t.ih, t.iw])) for t in taps]
        columns = running_sum([product_text(*pair) for pair in pairs], [prod(pair) for pair in pairs])
        returned = self.output[0, 0, oh, ow]
        total = conclusion(self, columns, sum(map(prod, pairs)), returned)
        sizes = f"{s.in_h} × {s.in_w} pixels become {s.out_h} × {s.out_w} outputs"
        steps = f"stride {s.stride}, padding {s.padding_h}"
        value = f"output[{oh},{ow}] = {total}; the GPU returned {number(returned)}."
        self.sentence = f"Filter “{self.name}”, {steps}: {sizes}. {value}"
        return self


# --- One matrix product ---------------------------------------------------------------------------------------


class MatrixPicture(Picture):
    """The same convolution as one product: a row for each window, a column for each weight of a filter (im2col).

    One image, stride 1, no padding: `input` (1, Ci, H, W), `weight` (Co, Ci, kH, kW), and the GPU's `output`
    (1, Co, oH, oW). `windows` is (oH*oW, Ci*kH*kW), and `product` (oH*oW, Co) the GPU's product with the filters.
    """

    def __init__(
        self, shape: ConvShape, input: Array, weight: Array, output: Array, windows: Array, product: Array
    ) -> None:
        self.shape, self.input, self.weight, self.output = shape, input, weight, output
        self.windows, self.product = windows, product
        super().__init__(424)
        self.starts()
        self._draw_tensors()
        self._draw_matrices()
        self.stands_still()

    def _draw_tensors(self) -> None:
        s, cell = self.shape, (24, 24)
        channels = [(ci, self.input[0, ci], f"ci = {ci}") for ci in range(s.in_channels)]
        pairs = [((co, ci), self.weight[co, ci], f"co {co}, ci {ci}") for co, ci in np.ndindex(s.weight[:2])]
        outputs = [(co, self.output[0, co], f"co = {co}") for co in range(s.out_channels)]
        self.inputs, x = self._row("input", channels, MARGIN, cell, INK)
        self.filters, x = self._row("weight", pairs, x + 20, cell, ORANGE)
        self.outputs, _ = self._row("output", outputs, x + 20, (28, 24), BLUE)

    def _row(self, title: str, parts: list[tuple], x: float, cell: tuple[float, float], color: str):
        """Draw the parts of one tensor beside each other; returns them by name, and where the last one ends."""
        grids = {}
        for name, values, note in parts:
            grids[name] = Grid(self, values, x, 46, cell, title * (not grids), note, color)
            x += max(cell[0] * values.shape[1], text_width(note, 13)) + 12
        return grids, x

    def _draw_matrices(self) -> None:
        s, (rows, columns) = self.shape, self.windows.shape
        top, filters, cell = 196, self.weight.reshape(s.out_channels, -1).T, (34, 26)
        rows_note = f"{rows} × {columns}: a row for each output position"
        self.rows = Grid(self, self.windows, 58, top, cell, "the windows", rows_note)
        labels = (Word(50, self.rows.box(row, 0).middle[1], self._position(row), 13, "right") for row in range(rows))
        self.words(labels, GRAY)
        left = self.rows.box(0, columns).x + 66
        note = f"{columns} × {s.out_channels}: a column for each filter"
        self.columns = Grid(self, filters, left, top, cell, "the filters", note, ORANGE)
        note = f"{rows} × {s.out_channels}"
        self.result = Grid(self, self.product, left + 250, top, (44, 26), "their product", note, BLUE)
        self.words((Word(x - 32, top + 78, sign, 26) for x, sign in ((left, "@"), (left + 250, "="))), GRAY)

    def _position(self, row: int) -> str:
        return "{},{}".format(*divmod(row, self.shape.out_w))

    def show(self, row: int, column: int, co: int) -> "MatrixPicture":
        """Move to a row and a column of the matrix of windows, and to a filter."""
        self.starts()
        s, (rows, columns) = self.shape, self.windows.shape
        (oh, ow), (ci, kh, kw) = divmod(row, s.out_w), map(int, np.unravel_index(column, s.weight[1:]))
        for channel, grid in self.inputs.items():
            self._frame(grid, (oh, ow), (s.kernel_h, s.kernel_w), ORANGE)
            if channel == ci:
                self._frame(grid, (kh, kw), (s.out_h, s.out_w), GRAY)
        self._frame(self.rows, (row, 0), (1, columns), ORANGE)
        self._frame(self.rows, (0, column), (rows, 1), GRAY)
        self._frame(self.columns, (0, co), (columns, 1), ORANGE)
        for grid, cell in (
            (self.inputs[ci], (oh + kh, ow + kw)),
            (self.filters[co, ci], (kh, kw)),
            (self.rows, (row, column)),
            (self.columns, (column, co)),
        ):
            self.boxes([grid.box(*cell)], ORANGE, tint(ORANGE), 4)
        self.outputs[co].mark([(oh, ow)], BLUE)
        self.result.mark([(row, co)], BLUE)
        at = self.rows.box(rows, column).middle[0]
        self.write(at, self.rows.bottom + 14, f"ci, kh, kw = {ci}, {kh}, {kw}", 13, GRAY, align="middle")
        pixel = f"input[0,{ci},{oh + kh},{ow + kw}] = {number(self.windows[row, column])}"
        self.sentence = (
            f"Row {row} is the window of the output at ({oh}, {ow}), column {column} belongs to the weights at "
            f"ci, kh, kw = {ci}, {kh}, {kw}; they cross at {pixel}. The row times filter {co} is "
            f"{number(self.product[row, co])}; the convolution returned {number(self.output[0, co, oh, ow])}."
        )
        return self

    def _frame(self, grid: Grid, corner: tuple[int, int], size: tuple[int, int], color: str) -> None:
        self.boxes([grid.box(*corner, *size)], color, line=3, dashes=(4, 3) if color == GRAY else None)
