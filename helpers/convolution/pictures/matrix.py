"""A picture of a convolution as one matrix product: which row is which window, and which column which weight."""

import numpy as np

from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word, number, text_width
from helpers.pictures.parts import Grid

Array = np.ndarray


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
        self.inputs, x = self._row("input", channels, MARGIN, cell, INK)
        self.filters, x = self._row("weight", pairs, x + 20, cell, ORANGE)
        self.outputs, _ = self._row("output", outputs, x + 20, (28, 24), BLUE)

    def _row(self, title: str, parts: list[tuple], x: float, cell: tuple[float, float], color: str) -> tuple:
        """Draw the parts of one tensor beside each other; returns them by name, and where the last one ends."""
        grids = {}
        for name, values, note in parts:
            grids[name] = Grid(self, values, x, 46, cell, title * (not grids), note, color)
            grids[name].caption = f"{title}, {note}"
            x += max(cell[0] * values.shape[1], text_width(note, 13)) + 12
        return grids, x

    def _draw_matrices(self) -> None:
        s, (rows, columns) = self.shape, self.windows.shape
        top, filters, cell = 196, self.weight.reshape(s.out_channels, -1).T, (34, 26)
        rows_note = f"{rows} × {columns}: a row for each output position"
        self.rows = Grid(self, self.windows, 58, top, cell, "the windows", rows_note)
        for row, (oh, ow) in enumerate(np.ndindex(s.output[2:])):
            self.write(50, self.rows.box(row, 0).middle[1], f"{oh},{ow}", 13, GRAY, align="right")
        left = self.rows.box(0, columns).x + 66
        note = f"{columns} × {s.out_channels}: a column for each filter"
        self.columns = Grid(self, filters, left, top, cell, "the filters", note, ORANGE)
        note = f"{rows} × {s.out_channels}"
        self.result = Grid(self, self.product, left + 250, top, (44, 26), "their product", note, BLUE)
        self.words((Word(x - 32, top + 78, sign, 26) for x, sign in ((left, "@"), (left + 250, "="))), GRAY)

    def draw(self, row: int, column: int, co: int) -> str:
        """Move to a row and a column of the matrix of windows, and to a filter."""
        output = divmod(row, self.shape.out_w)
        ci, *weight = map(int, np.unravel_index(column, self.shape.weight[1:]))
        pixel = tuple(map(sum, zip(output, weight, strict=True)))
        self._draw_frames(row, column, co, self.inputs[ci].box(*weight, *self.shape.output[2:]))
        crossings = [self.inputs[ci].box(*pixel), self.filters[co, ci].box(*weight)]
        crossings += [self.rows.box(row, column), self.columns.box(column, co)]
        self.tinted(crossings, ORANGE, 4)
        self.outputs[co].mark([output], BLUE)
        self.result.mark([(row, co)], BLUE)
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
        self.boxes(windows, ORANGE, line=3)
        self.boxes([pixels, self.rows.box(0, column, rows, 1)], GRAY, line=3, dashes=(4, 3))
