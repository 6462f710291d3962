"""Winograd's F(4x4, 3x3): a tile of 6 x 6 pixels, 36 products with the transformed filter, and 4 x 4 outputs."""

import numpy as np

from helpers.operations.convolution.winograd import Matrices
from helpers.pictures.canvas import GRAY, MARGIN, ORANGE, Picture, number
from helpers.pictures.parts import Grid

# CSS pixels
CELL = 27, 27
TOP = 66  # where the grids begin
MIDDLE = 164
BELOW = 262
LEFTS = MARGIN, 236, 456, 676


class WinogradPicture(Picture):
    """The way of one tile of pixels and of one filter to 4 x 4 outputs, and what one of the 36 products needs.

    `pixels` (6, 6) and `weights` (3, 3) are small whole numbers. Each of the `matrices` multiplies rows and,
    transposed, columns.
    """

    def __init__(self, pixels: np.ndarray, weights: np.ndarray, matrices: Matrices) -> None:
        super().__init__(430)
        self.matrices = matrices
        self.transformed_pixels = matrices.data @ pixels @ matrices.data.T
        self.transformed_weights = matrices.filter @ weights @ matrices.filter.T
        products = self.transformed_pixels * self.transformed_weights
        self.outputs = np.round(matrices.outputs @ products @ matrices.outputs.T, 9)
        self.grids = self._draw_grids(pixels, weights)
        self._touch()
        self.stands_still()

    def _touch(self) -> None:
        """Let a reader point at each product, and at what else has a part in one."""
        for name in ("of pixels", "of weights", "products"):
            self.grids[name].touch(name, "row", "column")
        parts = {"pixels": self.matrices.data, "filter": self.matrices.filter, "outputs": self.matrices.outputs.T}
        for name, matrix in parts.items():
            first = [int(np.flatnonzero(column)[0]) for column in matrix.T]  # the first product of each row or column
            cells = np.ndindex(self.grids[name].values.shape)
            self.grids[name].point({(i, j): {"row": first[i], "column": first[j]} for i, j in cells}, name)

    def _draw_grids(self, pixels: np.ndarray, weights: np.ndarray) -> dict[str, Grid]:
        first, second, third, last = LEFTS
        self.title(22, "Winograd's method: 4 × 4 outputs of a 3 × 3 filter")
        self._write_sign(first, TOP, "→")
        self._write_sign(first, BELOW, "→")
        self._write_sign(second, MIDDLE, "×")
        self._write_sign(third, MIDDLE, "→")

        def blank(x: float, y: float, title: str, tensor: str) -> Grid:
            return Grid(self, np.zeros((6, 6)), x, y, CELL, title, numbers=False, tensor=tensor)

        return {
            "pixels": Grid(self, pixels, first, TOP, CELL, "6 × 6 pixels", tensor="input"),
            "filter": Grid(self, weights, first, BELOW, CELL, "3 × 3 weights", tensor="weight"),
            "of pixels": blank(second, TOP, "transformed", "input"),
            "of weights": blank(second, BELOW, "transformed", "weight"),
            "products": blank(third, MIDDLE, "36 products", "output"),
            "outputs": Grid(self, self.outputs, last, MIDDLE, (36, 36), "4 × 4 outputs", tensor="output"),
        }

    def _write_sign(self, x: float, y: float, sign: str) -> None:
        """A sign to the right of the grid that begins at (x, y)."""
        width, height = CELL
        self.write(x + 3 * width + 110, y + 3 * height, sign, 26, GRAY, align="middle")

    def draw(self, row: int, column: int) -> str:
        """Point at one of the products."""
        pixels = self._tint_contributing("pixels", self.matrices.data, row, column)
        weights = self._tint_contributing("filter", self.matrices.filter, row, column)
        outputs = self._tint_contributing("outputs", self.matrices.outputs.T, row, column)
        for name in ("of pixels", "of weights", "products"):
            self.grids[name].tinted([(row, column)], "", 3, 0.4)
        pixel = self.transformed_pixels[row, column]
        weight = self.transformed_weights[row, column]
        x = LEFTS[2]
        y = self.grids["products"].bottom
        self.write(x, y + 20, f"{number(pixel)} × {number(weight)}", 14, ORANGE)
        self.write(x, y + 42, f"= {number(pixel * weight)}", 14, ORANGE)
        right = f"a weighted sum of {weights} weights" if weights > 1 else "one weight"
        used = "1 output" if outputs == 1 else f"{outputs} outputs"
        return (
            f"Product [{row},{column}] multiplies a weighted sum of {pixels} pixels by {right}, and is part of {used}."
        )

    def _tint_contributing(self, name: str, matrix: np.ndarray, row: int, column: int) -> int:
        """Tint the cells with which a product is connected by a matrix; returns their number."""
        cells = np.argwhere(np.outer(matrix[row], matrix[column]))
        self.grids[name].tinted(cells.tolist(), line=2)
        return len(cells)
