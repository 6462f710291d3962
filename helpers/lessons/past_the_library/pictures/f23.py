"""Winograd's F(2,3) by hand: four pixels and three weights, four products, and the two outputs made of them."""

from collections.abc import Sequence

import numpy as np

from helpers.lessons.past_the_library.small_layers import F23
from helpers.pictures.canvas import BLUE, GREEN, INK, MARGIN, ORANGE, Picture, number
from helpers.pictures.parts import Grid

# CSS pixels
CELL = 96, 34
LEFT = MARGIN + 170  # of the columns, one for each product
ROWS = {"pixels": 60, "of pixels": 136, "of weights": 186, "products": 236, "outputs": 320}  # tops
WEIGHTS_LEFT = LEFT + 4 * CELL[0] + 40
OF_PIXELS = "d0 − d2", "d1 + d2", "d2 − d1", "d1 − d3"
OF_WEIGHTS = "g0", "(g0 + g1 + g2) / 2", "(g0 − g1 + g2) / 2", "g2"
SIGNS = {1: "+", -1: "−"}


class F23Picture(Picture):
    """Four products of transformed numbers: from which pixels and weights each is made, and which outputs it reaches.

    `pixels` are four numbers, and `weights` three.
    """

    def __init__(self, pixels: Sequence[float], weights: Sequence[float]) -> None:
        super().__init__(372)
        self.of_pixels = F23.data @ pixels
        self.of_weights = F23.filter @ weights
        self.products = self.of_pixels * self.of_weights
        self.outputs = F23.outputs @ self.products
        self.title(20, "Winograd's F(2,3): two outputs of three weights")
        self.pixels = self._row("pixels", pixels, "input", "four pixels d")
        self.weights = Grid(self, [weights], WEIGHTS_LEFT, ROWS["pixels"], (60, CELL[1]), tensor="weight")
        self.weights.caption = "three weights g"
        self.write(WEIGHTS_LEFT, ROWS["pixels"] - 14, self.weights.caption, 14, GREEN)
        middle = [self._row("of pixels", self.of_pixels, "input", "pixels, transformed")]
        middle.append(self._row("of weights", self.of_weights, "weight", "weights, transformed"))
        middle.append(self._row("products", self.products, "results", "four products m"))
        self.columns = middle
        self.results = self._row("outputs", self.outputs, "output", "two outputs y")
        for grid in middle:
            grid.touch(grid.caption, "product")
        self._point()
        for grid, letter in zip((self.pixels, self.weights, middle[-1], self.results), "dgmy", strict=True):
            names = {cell: f"{letter}{cell[1]}" for cell in np.ndindex(grid.values.shape)}
            grid.corners(names, grid.look.ink)
        self.stands_still()

    def _row(self, name: str, values: Sequence[float], tensor: str, caption: str) -> Grid:
        """A row of numbers, with its name on the left."""
        y = ROWS[name]
        grid = Grid(self, [values], LEFT, y, CELL, tensor=tensor)
        grid.caption = caption
        self.write(LEFT - 12, y + CELL[1] / 2, caption, 14, grid.look.ink, align="right")
        return grid

    def _point(self) -> None:
        """Let each pixel, weight and output lead to the first product that has it."""
        parts = {self.pixels: F23.data.T, self.weights: F23.filter.T, self.results: F23.outputs}
        for grid, matrix in parts.items():
            grid.point({(0, i): {"product": int(np.flatnonzero(row)[0])} for i, row in enumerate(matrix)})

    def draw(self, product: int) -> str:
        """Point at one product."""
        self.pixels.tinted([(0, int(i)) for i in np.flatnonzero(F23.data[product])], INK, 3)
        self.weights.tinted([(0, int(i)) for i in np.flatnonzero(F23.filter[product])], "", 3)
        for grid in self.columns:
            grid.tinted([(0, product)], "", 3, 0.2)
        reached = {int(i): int(F23.outputs[i, product]) for i in np.flatnonzero(F23.outputs[:, product])}
        self.results.tinted([(0, i) for i in reached], "", 3)
        for i in reached:
            x, _ = self.columns[-1].box(0, product).middle
            end, _ = self.results.box(0, i).middle
            self.arrow((x, ROWS["products"] + CELL[1] + 4), (end, ROWS["outputs"] - 6), ORANGE, 2)
        self._write_terms(product, reached)
        made = f"{number(self.of_pixels[product])} · {number(self.of_weights[product])}"
        uses = [f"{'added to' if sign > 0 else 'taken off'} y{i}" for i, sign in reached.items()]
        return (
            f"Product m{product} is ({OF_PIXELS[product]}) times {OF_WEIGHTS[product]}: {made} = "
            f"{number(self.products[product])}. It is {' and '.join(uses)}."
        )

    def _write_terms(self, product: int, reached: dict[int, int]) -> None:
        """Write what the product is made of, and the outputs as sums of the products."""
        x = WEIGHTS_LEFT
        self.bold(x, ROWS["of pixels"] + 4, f"m{product} =", 15, ORANGE)
        self.write(x, ROWS["of pixels"] + 28, f"({OF_PIXELS[product]})", 15, INK)
        self.write(x, ROWS["of pixels"] + 52, f"× {OF_WEIGHTS[product]}", 15, GREEN)
        for i, row in enumerate(F23.outputs):
            terms = [f"{SIGNS[int(sign)]} m{j}" for j, sign in enumerate(row) if sign]
            color = BLUE if i in reached else INK
            self.write(x, ROWS["products"] + 34 + 28 * i, f"y{i} = {' '.join(terms).removeprefix('+ ')}", 15, color)
