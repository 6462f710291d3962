"""Pictures of a convolution: the window of an output, what depends on a number, a digit's edges, one matrix product."""

from math import prod
from operator import attrgetter

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Tap
from helpers.convolution.pictures.groups import channel_words
from helpers.convolution.pictures.sums import Place, SumPicture, Tensor, contribute, draw_grids, rows_and_columns
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, Box, Picture, Word, number, text_width
from helpers.pictures.figures import colored, draw_signed, explain
from helpers.pictures.parts import Cell, Grid, Window, conclusion, foot, look, product_text, running_sum

Array = np.ndarray


class WindowPicture(SumPicture):
    """Which pixels and weights make one output: the filter laid over the input, and the sum of the products.

    `bias` is (Co,). `letters` names the input's pixels a, b, c, ... (room for 26) and the weights w00, w01, ...
    """

    left, result = Tensor("weight", "co", "ci"), Tensor("output", "n", "co")
    element = "oh", "ow"
    axis, symbol, total = "ci", "output", "The bias and all its terms"
    taps = staticmethod(indices.taps_of_output)
    left_at, right_at = attrgetter("kh", "kw"), attrgetter("ih", "iw")

    def __init__(
        self, shape: ConvShape, input: Array, weight: Array, output: Array, bias: Array, letters: bool = False
    ) -> None:
        self.bias = bias
        super().__init__(shape, input, weight, output, letters)

    def _summed_indices(self, place: Place) -> range:
        return range(self.shape.weight[1])

    def _bias(self, place: Place) -> float:
        return float(self.bias[place["co"]])

    def _steps(self) -> tuple[Cell, Cell]:
        return self.shape.stride, self.shape.dilation

    def _contributors(self, taps: list[Tap], target: str, place: Place) -> str:
        pixels = contribute(len(taps), "pixel", f" of {channel_words(self.shape, place['co'], place['ci'])}")
        where = f": {rows_and_columns(map(self.right_at, taps))}" if taps else ", only padding"
        return f"{pixels} to {target}{where}."


# --- Three views of one convolution ---------------------------------------------------------------------------


class ContributionPicture(Picture):
    """One number of a convolution, and the numbers of the other two tensors that it is multiplied or added up with.

    An output has its window of pixels and all weights, a weight the pixels that it multiplies and the outputs that it
    reaches, a pixel the weights that multiply it and the outputs that it reaches. One image and one pair of channels:
    `input` (1, 1, H, W), `weight` (1, 1, kH, kW), and the `output` (1, 1, oH, oW) that a kernel returned.
    """

    tensors = ("input", indices.taps_of_pixel), ("weight", indices.taps_of_weight), ("output", indices.taps_of_output)
    places = attrgetter("ih", "iw"), attrgetter("kh", "kw"), attrgetter("oh", "ow")

    def __init__(self, shape: ConvShape, input: Array, weight: Array, output: Array) -> None:
        super().__init__()
        self.shape = shape
        names = [name for name, _ in self.tensors]
        planes = zip((input[0, 0], weight[0, 0], output[0, 0]), names, ("", "", "what the GPU returned"), strict=True)
        self.grids = draw_grids(self, shape, [*planes], 0)
        for tensor, (grid, name) in enumerate(zip(self.grids, names, strict=True)):
            grid.touch(name, "row", "column", tensor=tensor)
        self.stands_still()

    def draw(self, tensor: int, row: int, column: int) -> str:
        """Point at the number at (row, column) of the input (0), the weight (1) or the output (2)."""
        name, taps_of = self.tensors[tensor]
        taps = taps_of(self.shape, row, column)
        for other, (grid, place) in enumerate(zip(self.grids, self.places, strict=True)):
            if other != tensor:
                grid.tinted(dict.fromkeys(map(place, taps)), line=1.6)
        self.grids[tensor].frame([(row, column)], BLUE)
        self._draw_products(taps)
        return f"{name}[{row},{column}] {self._role(tensor, taps)}"

    def _draw_products(self, taps: list[Tap]) -> None:
        pixels, weights, _ = (grid.values for grid in self.grids)
        products = [f"{number(pixels[t.ih, t.iw])} · {number(weights[t.kh, t.kw])}" for t in taps]
        columns = [(f"[{tap.oh},{tap.ow}]", text) for tap, text in zip(taps, products, strict=True)]
        foot(self, ("in output", "pixel · weight"), columns, (f"{len(taps)} products", ""))

    def _role(self, tensor: int, taps: list[Tap]) -> str:
        """What the number does, and what its gradient will add up."""
        pixels, _, outputs = ([place(tap) for tap in taps] for place in self.places)
        if tensor == 2:
            return f"adds up {len(taps)} products: the filter lies over input {rows_and_columns(pixels)}."
        reached = f"{len(taps)} output{'s' * (len(taps) > 1)}: {rows_and_columns(outputs)}"
        if tensor == 1:
            return f"multiplies one pixel for each of {reached}. These are input {rows_and_columns(pixels)}."
        return f"reaches {reached}, through a different weight each time."


# --- What depends on a weight, and what on a pixel ------------------------------------------------------------


class DependencePicture(Picture):
    """Which outputs one weight or one pixel contributes to, and how each of them changes when it is raised by 1.

    One image and one pair of channels: `input` (1, 1, H, W), `weight` (1, 1, kH, kW), and the `output` (1, 1, oH, oW)
    that a kernel returned. The changes are the differences of two such outputs.
    """

    def __init__(self, shape: ConvShape, input: Array, weight: Array, output: Array) -> None:
        super().__init__()
        self.shape, self.output = shape, output[0, 0]
        notes = "n = 0, ci = 0", "co = 0, ci = 0", "n = 0, co = 0"
        planes = zip((input[0, 0], weight[0, 0], self.output), ("input", "weight", "output"), notes, strict=True)
        self.grids = dict(zip(("pixel", "weight", "output"), draw_grids(self, shape, [*planes], 0, True), strict=True))
        self.stands_still()

    def draw(self, kind: str, row: int, column: int, raised: Array) -> str:
        """Raise the "weight" or the "pixel" at (row, column): `raised` is the output (1, 1, oH, oW) with it."""
        partner, taps = ("pixel", indices.taps_of_weight) if kind == "weight" else ("weight", indices.taps_of_pixel)
        taps = taps(self.shape, row, column)
        down, right = self.shape.padding if kind == "pixel" else (0, 0)
        self.grids[kind].frame([(row + down, column + right)], BLUE)
        cells = [self._cell(partner, tap) for tap in taps]
        self.grids[partner].tinted(cells, line=1.6)
        changes = raised[0, 0] - self.output
        outputs = [(tap.oh, tap.ow) for tap in taps]
        factors = [self.grids[partner].values[cell] for cell in cells]
        self._draw_changes(partner, outputs, factors, changes)
        return _dependence(f"{kind.capitalize()} [{row},{column}]", partner, factors, changes)

    def _cell(self, kind: str, tap: Tap) -> Cell:
        """The weight or, in the padded input, the pixel of a product."""
        return (tap.kh, tap.kw) if kind == "weight" else tuple(np.add((tap.ih, tap.iw), self.shape.padding))

    def _draw_changes(self, partner: str, outputs: list[Cell], factors: list[float], changes: Array) -> None:
        """Write the changes on the GPU into the outputs and into a table."""
        grid = self.grids["output"]
        grid.tinted(outputs, line=1.6)
        moved = map(tuple, np.argwhere(changes).tolist())
        grid.corners({cell: _signed(changes[cell]) for cell in {*outputs, *moved}}, INK)
        rows = zip(outputs, factors, strict=True)
        columns = [(f"[{oh},{ow}]", number(factor), _signed(changes[oh, ow])) for (oh, ow), factor in rows]
        beside = f"{len(outputs)} of {changes.size} outputs", f"change of their sum: {number(changes.sum())}"
        foot(self, ("output", partner, "change"), columns, beside)


def _dependence(what: str, partner: str, factors: list[float], changes: Array) -> str:
    """How many outputs change, and by how much."""
    changed = number(changes.sum())
    if not factors:
        moved = f"changed by {changed}" if changes.any() else "did not change"
        return f"{what} contributes to none of the {changes.size} outputs; on the GPU, they {moved}."
    rule = f"When it is raised by 1, each of these changes by the {partner} in its product"
    together = f"{rule}, together by {number(sum(factors))}; on the GPU they changed by {changed}."
    return f"{what} contributes to {len(factors)} of {changes.size} outputs. {together}"


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
        top, left = 54, MARGIN + PIXEL * 32 + 44
        self._draw_digit(MARGIN, top)
        size = FILTER_CELL, FILTER_CELL
        self.filter = Grid(self, weight[0, 0], left, top + 60, size, "weight", name)
        explain(self, left, top + 97 + 3 * FILTER_CELL, {"above 0": 0.6}, 0, 3)
        explain(self, left, top + 121 + 3 * FILTER_CELL, {"below 0, hatched": -0.6}, 0, 3)
        right = left + 3 * FILTER_CELL + 44
        self._draw_output(right, top)
        self.words((Word(x - 22, top + 120, sign, 30) for x, sign in ((left, "★"), (right, "="))), GRAY)
        self.stands_still()

    def _draw_digit(self, x: float, y: float) -> None:
        s = self.shape
        self.sheet = Box(x, y, PIXEL * s.padded("w"), PIXEL * s.padded("h"))
        inner = Box(x + PIXEL * s.padding_w, y + PIXEL * s.padding_h, PIXEL * s.in_w, PIXEL * s.in_h)
        self.image(inner, colored(self.digit[0, 0], 15, ink=True))
        self.boxes([inner], GRAY)
        if s.padding_h:
            self.boxes([self.sheet], GRAY, dashes=(2.5, 3))
        self._head(x, "input", f"{s.in_h} × {s.in_w}, padding {s.padding_h}")

    def _draw_output(self, x: float, y: float) -> None:
        s = self.shape
        self.result = Box(x, y, PIXEL * s.out_w, PIXEL * s.out_h)
        draw_signed(self, self.output[0, 0] / (abs(self.output).max() or 1), self.result)
        self.boxes([self.result], look("output").ink)
        self._head(x, "output", f"{s.out_h} × {s.out_w}, stride {s.stride_h}")

    def _head(self, x: float, title: str, note: str) -> None:
        self.bold(x, 20, title, 15, look(title).ink)
        self.write(x, 38, note, 13, GRAY)

    def draw(self, oh: int, ow: int) -> str:
        """Move to one output."""
        s, taps = self.shape, indices.taps_of_output(self.shape, oh, ow)
        frame, result = (
            Box(box.x + PIXEL * ow * jump, box.y + PIXEL * oh * jump, size, size)
            for box, jump, size in ((self.sheet, s.stride_h, 3 * PIXEL), (self.result, 1, PIXEL))
        )
        self.boxes([frame], look("weight").ink, line=3)
        self.boxes([result], BLUE, line=3)
        self.window = Window(frame, ("oh", "ow"), (oh, ow), (PIXEL * s.stride_h, PIXEL * s.stride_w))
        pairs = [(self.weight[0, 0, t.kh, t.kw], self.digit[0, 0, t.ih, t.iw]) for t in taps]
        columns = running_sum([product_text(*pair) for pair in pairs], [prod(pair) for pair in pairs])
        returned = self.output[0, 0, oh, ow]
        total = conclusion(self, columns, sum(map(prod, pairs)), returned)
        sizes = f"{s.in_h} × {s.in_w} pixels become {s.out_h} × {s.out_w} outputs"
        steps = f"stride {s.stride_h}, padding {s.padding_h}"
        value = f"output[{oh},{ow}] = {total}; the GPU returned {number(returned)}."
        return f"Filter “{self.name}”, {steps}: {sizes}. {value}"


class OwnFilterPicture(EdgesPicture):
    """A 7, a filter of 3 x 3 weights that the reader clicks, and the outputs that it finds: the largest, tinted."""

    level = 10  # the rows of outputs, from the first, that touch the level stroke

    def __init__(self, digit: Array, weight: Array, output: Array) -> None:
        super().__init__(ConvShape(*digit.shape, 1, 3, 3), digit, weight, output, "click them")
        self.filter.adjust("weight", -2, 2)
        found = (output[0, 0] > 0) & (output[0, 0] >= 2 / 3 * output.max())
        self.found = np.argwhere(found).tolist()
        boxes = (Box(self.result.x + PIXEL * ow, self.result.y + PIXEL * oh, PIXEL, PIXEL) for oh, ow in self.found)
        self.tinted(boxes, BLUE, 1.6, 0.4)
        self.stands_still()

    @property
    def found_below(self) -> int:
        """How many of the outputs that are found do not touch the level stroke."""
        return sum(oh >= self.level for oh, _ in self.found)

    def draw(self, oh: int, ow: int) -> str:
        """Move to one output."""
        one = super().draw(oh, ow).partition("outputs. ")[2]
        if not self.found:
            return f"No output is above 0: your filter finds nothing. {one}"
        count, below = len(self.found), self.found_below
        return (
            f"Your filter finds {count} outputs, {count - below} of them on the level stroke, {below} below it. {one}"
        )


# --- As one matrix product: a row for each window, a column for each weight -----------------------------------


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
        self._draw_tensors()
        self._draw_matrices()
        self.stands_still()

    def _draw_tensors(self) -> None:
        s, cell = self.shape, (24, 24)
        channels = [(ci, self.input[0, ci], f"ci = {ci}") for ci in range(s.in_channels)]
        pairs = [((co, ci), self.weight[co, ci], f"co {co}, ci {ci}") for co, ci in np.ndindex(s.weight[:2])]
        outputs = [(co, self.output[0, co], f"co = {co}") for co in range(s.out_channels)]
        self.inputs, x = self._row("input", channels, MARGIN, cell)
        self.filters, x = self._row("weight", pairs, x + 20, cell)
        self.outputs, _ = self._row("output", outputs, x + 20, (32, 24))

    def _row(self, title: str, parts: list[tuple], x: float, cell: tuple[float, float]) -> tuple:
        """Draw the parts of one tensor beside each other; returns them by name, and where the last one ends."""
        grids = {}
        for name, values, note in parts:
            grids[name] = Grid(self, values, x, 46, cell, title * (not grids), note, tensor=title)
            grids[name].caption = f"{title}, {note}"
            x += max(cell[0] * values.shape[1], text_width(note, 13)) + 12
        return grids, x

    def _draw_matrices(self) -> None:
        s, (rows, columns) = self.shape, self.windows.shape
        top, filters, cell = 196, self.weight.reshape(s.out_channels, -1).T, (34, 26)
        rows_note = f"{rows} × {columns}: a row for each output position"
        self.rows = Grid(self, self.windows, 58, top, cell, "the windows", rows_note, tensor="input")
        for row, (oh, ow) in enumerate(np.ndindex(s.output[2:])):
            self.write(50, self.rows.box(row, 0).middle[1], f"{oh},{ow}", 13, GRAY, align="right")
        left = self.rows.box(0, columns).x + 66
        note = f"{columns} × {s.out_channels}: a column for each filter"
        self.columns = Grid(self, filters, left, top, cell, "the filters", note, tensor="weight")
        note = f"{rows} × {s.out_channels}"
        self.result = Grid(self, self.product, left + 250, top, (44, 26), "their product", note, tensor="output")
        self.words((Word(x - 32, top + 78, sign, 26) for x, sign in ((left, "@"), (left + 250, "="))), GRAY)

    def draw(self, row: int, column: int, co: int) -> str:
        """Move to a row and a column of the matrix of windows, and to a filter."""
        output = divmod(row, self.shape.out_w)
        ci, *weight = map(int, np.unravel_index(column, self.shape.weight[1:]))
        pixel = tuple(map(sum, zip(output, weight, strict=True)))
        self._draw_frames(row, column, co, self.inputs[ci].box(*weight, *self.shape.output[2:]))
        crossings = [self.inputs[ci].box(*pixel), self.filters[co, ci].box(*weight)]
        crossings += [self.rows.box(row, column), self.columns.box(column, co)]
        self.tinted(crossings, BLUE, 4)
        self.outputs[co].frame([output], BLUE)
        self.result.frame([(row, co)], BLUE)
        named = f"ci, kh, kw = {ci}, {weight[0]}, {weight[1]}"
        self.write(self.rows.box(row, column).middle[0], self.rows.bottom + 14, named, 13, GRAY, align="middle")
        value = f"input[0,{ci},{pixel[0]},{pixel[1]}] = {number(self.windows[row, column])}"
        return (
            f"Row {row} is the window of the output at {output}, column {column} belongs to the weights at "
            f"{named}; they cross at {value}. The row times filter {co} is "
            f"{number(self.product[row, co])}; the convolution returned {number(self.output[0, co, *output])}."
        )

    def _draw_frames(self, row: int, column: int, co: int, pixels: Box) -> None:
        """The window, and dashed the pixels of the weight: in the input, and as a row and a column of the matrix."""
        rows, columns = self.windows.shape
        corner = divmod(row, self.shape.out_w)
        windows = [grid.box(*corner, *self.shape.weight[2:]) for grid in self.inputs.values()]
        windows += [self.rows.box(row, 0, 1, columns), self.columns.box(0, co, columns, 1)]
        self.boxes(windows, look("weight").ink, line=3)
        self.boxes([pixels, self.rows.box(0, column, rows, 1)], GRAY, line=3, dashes=(4, 3))
