"""Winograd's F(4x4, 3x3): a tile of 6 x 6 pixels, 36 products with the transformed filter, and 4 x 4 outputs."""

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Picture, number, tint
from helpers.pictures.parts import MARGIN, Grid

CELL = 27, 27  # CSS pixels
TOPS, LEFTS = (72, 276), (MARGIN, 236, 456, 676)  # where the grids begin


class WinogradPicture(Picture):
    """The way of one tile of pixels and of one filter to 4 x 4 outputs, and what one of the 36 products needs.

    Parameters
    ----------
    pixels, weights : arrays (6, 6) and (3, 3)
        Small whole numbers.
    to_outputs, of_pixels, of_weights : arrays (4, 6), (6, 6) and (6, 3)
        The matrices of the transforms; each multiplies rows, and transposed columns.
    """

    def __init__(
        self,
        pixels: np.ndarray,
        weights: np.ndarray,
        to_outputs: np.ndarray,
        of_pixels: np.ndarray,
        of_weights: np.ndarray,
    ) -> None:
        super().__init__(452)
        self.matrices = to_outputs, of_pixels, of_weights
        self.pixels = of_pixels @ pixels @ of_pixels.T
        self.weights = of_weights @ weights @ of_weights.T
        self.products = self.pixels * self.weights
        self.outputs = np.round(to_outputs @ self.products @ to_outputs.T, 9)
        self.starts()
        self.grids = self._draw_grids(pixels, weights)
        self.stands_still()

    def _draw_grids(self, pixels: np.ndarray, weights: np.ndarray) -> dict[str, Grid]:
        blank, ((top, below), lefts) = np.zeros((6, 6)), (TOPS, LEFTS)
        middle = (top + below) / 2
        self.write(MARGIN, 22, "Winograd's method: 4 × 4 outputs of a 3 × 3 filter", 17, weight="bold")
        for at, sign in ((0, "→"), (1, "×"), (2, "→")):
            x = (lefts[at] + 6 * CELL[0] + lefts[at + 1]) / 2
            for y in (middle,) if at else TOPS:
                self.write(x, y + 3 * CELL[1], sign, 26, GRAY, align="middle")
        self.write(lefts[3], middle + 4 * 36 + 24, "directly: 16 × 9 =", 14)
        self.write(lefts[3], middle + 4 * 36 + 46, "144 products", 14)
        return {
            "pixels": Grid(self, pixels, lefts[0], top, CELL, "6 × 6 pixels"),
            "filter": Grid(self, weights, lefts[0], below, CELL, "3 × 3 weights"),
            "of pixels": Grid(self, blank, lefts[1], top, CELL, "transformed", numbers=False),
            "of weights": Grid(self, blank, lefts[1], below, CELL, "transformed", numbers=False),
            "products": Grid(self, blank, lefts[2], middle, CELL, "36 products", color=ORANGE, numbers=False),
            "outputs": Grid(self, self.outputs, lefts[3], middle, (36, 36), "4 × 4 outputs", color=BLUE),
        }

    def show(self, row: int, column: int) -> "WinogradPicture":
        """Point at one of the products."""
        self.starts()
        to_outputs, of_pixels, of_weights = self.matrices
        found = {
            "pixels": _cells(of_pixels[row], of_pixels[column]),
            "filter": _cells(of_weights[row], of_weights[column]),
            "outputs": _cells(to_outputs[:, row], to_outputs[:, column]),
        }
        for name, cells in found.items():
            color = BLUE if name == "outputs" else ORANGE
            self.boxes((self.grids[name].box(*cell) for cell in cells), color, tint(color), 2)
        chosen = [self.grids[name].box(row, column) for name in ("of pixels", "of weights", "products")]
        self.boxes(chosen, ORANGE, tint(ORANGE, 0.6), 3)
        pixel, weight, product = (each[row, column] for each in (self.pixels, self.weights, self.products))
        grid = self.grids["products"]
        self.write(grid.x, grid.bottom + 20, f"{number(pixel)} × {number(weight)}", 14, ORANGE)
        self.write(grid.x, grid.bottom + 42, f"= {number(product)}", 14, ORANGE)
        counts = {name: len(cells) for name, cells in found.items()}
        self.sentence = (
            f"Product [{row},{column}] multiplies a weighted sum of {counts['pixels']} pixels by "
            f"{_sum_of(counts['filter'])}, and is part of {counts['outputs']} output{'s' * (counts['outputs'] > 1)}. "
            f"For each pair of channels, a tile takes 36 products, where the direct way takes 16 × 9 = 144: 4 times "
            f"as many."
        )
        return self


def _cells(rows: np.ndarray, columns: np.ndarray) -> list[tuple[int, int]]:
    """Where the product of a column and a row is not 0."""
    return [(int(row), int(column)) for row, column in np.argwhere(np.outer(rows, columns))]


def _sum_of(weights: int) -> str:
    return f"a weighted sum of {weights} weights" if weights > 1 else "one weight"
