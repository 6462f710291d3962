"""The im2col matrix of a small layer, each element by its address, beside the image in which that address lies."""

import numpy as np

from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GREEN, INK, MARGIN, ORANGE, Picture
from helpers.pictures.parts import Grid

# CSS pixels
CELL = 36, 20
TOP = 50  # where the grids begin
BETWEEN = 34  # two channels
MATRIX = 290  # where the matrix begins
TEXT = MATRIX + 6 * CELL[0] + 34


class Im2colPicture(Picture):
    """The channels of one image, and the matrix whose columns are its windows: addresses in place of numbers.

    `shape` has no padding; `adapter` is the reader's own.
    """

    def __init__(self, shape: ConvShape, adapter: str) -> None:
        super().__init__(238)
        self.shape = s = shape
        self.addresses = np.arange(s.in_channels * s.in_h * s.in_w).reshape(s.input[1:])
        self.rows = [*np.ndindex(s.weight[1:])]  # ci, kh, kw
        self.columns = [*np.ndindex(s.output[2:])]  # oh, ow
        self.matrix = np.array([[self.address(*row, *column) for column in self.columns] for row in self.rows])
        self.channels = self._channels()
        self.grid = Grid(
            self,
            self.matrix,
            MATRIX,
            TOP,
            CELL,
            "the im2col matrix",
            "columns: outputs; rows: weights",
            tensor="input",
        )
        self.grid.touch("the im2col matrix", "row", "column")
        self._name_rows()
        copies = self.matrix.size
        self.write(TEXT, 180, f"{self.addresses.size} pixels", 14)
        self.write(TEXT, 202, f"{copies} elements", 14)
        self.note(MARGIN, 226, f"Your adapter: {adapter}"[:90])
        self.stands_still()

    def _channels(self) -> list[Grid]:
        """The channels below each other; who points at a pixel sees its first copy."""
        s = self.shape
        grids = []
        for ci, addresses in enumerate(self.addresses):
            y = TOP + ci * (s.in_h * CELL[1] + BETWEEN)
            grid = Grid(self, addresses, MARGIN, y, CELL, tensor="input")
            grid.caption = f"input, channel {ci}"
            self.bold(MARGIN, y - 14, grid.caption, 15)
            first = {}
            for cell in np.ndindex(addresses.shape):
                row, column = np.argwhere(self.matrix == addresses[cell])[0].tolist()
                first[cell] = {"row": row, "column": column}
            grid.point(first)
            grids.append(grid)
        return grids

    def _name_rows(self) -> None:
        """Write which weight each row belongs to, and which output each column."""
        for i, (ci, kh, kw) in enumerate(self.rows):
            box = self.grid.box(i, 0)
            self.write(box.x - 8, box.middle[1], f"{ci},{kh},{kw}", 13, GREEN, align="right")
        for i, (oh, ow) in enumerate(self.columns):
            box = self.grid.box(len(self.rows) - 1, i)
            self.write(box.middle[0], box.bottom + 12, f"{oh},{ow}", 13, ORANGE, align="middle")

    def address(self, ci: int, kh: int, kw: int, oh: int, ow: int) -> int:
        """The address in the image of the pixel under a weight, where the filter makes an output."""
        s = self.shape
        return (ci * s.in_h + oh * s.stride_h + kh) * s.in_w + ow * s.stride_w + kw

    def draw(self, row: int, column: int) -> str:
        """Point at one element of the matrix."""
        ci, kh, kw = self.rows[row]
        oh, ow = self.columns[column]
        at = int(self.matrix[row, column])
        self._tint_window(oh, ow)
        ih, iw = divmod(at - self.addresses[ci, 0, 0], self.shape.in_w)
        self.channels[ci].tinted([(ih, iw)], BLUE, 4, 0.3)
        self.grid.tinted([(i, column) for i in range(len(self.rows))], ORANGE, 1)
        copies = np.argwhere(self.matrix == at).tolist()
        self.grid.tinted(copies, BLUE, 1, 0.3)
        self.grid.tinted([(row, column)], BLUE, 4, 0.1)
        self._write_address(row, column, at, len(copies))
        times = "once" if len(copies) == 1 else f"{len(copies)} times"
        return (
            f"Row {row} is weight [{ci},{kh},{kw}], and column {column} is output [{oh},{ow}]: they meet at pixel "
            f"[{ci},{ih},{iw}], at address {at}. The matrix has this pixel {times}."
        )

    def _tint_window(self, oh: int, ow: int) -> None:
        """Tint the pixels that make an output, in all channels."""
        s = self.shape
        window = [(oh * s.stride_h + i, ow * s.stride_w + j) for i, j in np.ndindex(*s.weight[2:])]
        for grid in self.channels:
            grid.tinted(window, ORANGE, 1)

    def _write_address(self, row: int, column: int, at: int, copies: int) -> None:
        """Write where row and column meet."""
        ci, kh, kw = self.rows[row]
        oh, ow = self.columns[column]
        self.bold(TEXT, TOP - 8, f"row {row}, column {column}", 15)
        self.write(TEXT, TOP + 18, f"weight ci = {ci}, kh = {kh}, kw = {kw}", 14, GREEN)
        self.write(TEXT, TOP + 42, f"output oh = {oh}, ow = {ow}", 14, ORANGE)
        self.write(TEXT, TOP + 68, f"pixel at address {at},", 14, INK)
        times = "once" if copies == 1 else f"{copies} times"
        self.write(TEXT, TOP + 90, f"in the matrix {times}", 14, BLUE)
