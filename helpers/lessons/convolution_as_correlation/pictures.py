"""One number of a convolution with all numbers that belong to it."""

from helpers.lessons.shared.pictures.forward import Array
from helpers.lessons.shared.pictures.sums import draw_grids, rows_and_columns
from helpers.operations.convolution.indices import Tap, taps_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, Picture, number
from helpers.pictures.terms import foot


class ContributionPicture(Picture):
    """One number of a convolution, and the numbers of the other two tensors that it is multiplied or added up with.

    An output has its window of pixels and all weights, a weight the pixels that it multiplies and the outputs that it
    reaches, a pixel the weights that multiply it and the outputs that it reaches. One image and one pair of channels:
    `input` (1, 1, H, W), `weight` (1, 1, kH, kW), and the `output` (1, 1, oH, oW) that a kernel returned.
    """

    tensors = "input", "weight", "output"

    def __init__(self, shape: ConvShape, input: Array, weight: Array, output: Array) -> None:
        super().__init__()
        self.shape = shape
        notes = "", "", "what the kernel wrote"
        planes = zip((input[0, 0], weight[0, 0], output[0, 0]), self.tensors, notes, strict=True)
        self.grids = draw_grids(self, shape, [*planes], 0)
        for tensor, (grid, name) in enumerate(zip(self.grids, self.tensors, strict=True)):
            grid.touch(name, "row", "column", tensor=tensor)
        self.stands_still()

    def draw(self, tensor: int, row: int, column: int) -> str:
        """Point at the number at (row, column) of the input (0), the weight (1) or the output (2)."""
        name = self.tensors[tensor]
        taps = sorted(taps_of(name, self.shape, row, column))
        for other, grid in zip(self.tensors, self.grids, strict=True):
            if other != name:
                grid.tinted(dict.fromkeys(tap.at(other) for tap in taps), line=1.6)
        self.grids[tensor].frame([(row, column)], BLUE)
        self._draw_products(taps)
        return f"{name}[{row},{column}] {self._role(tensor, taps)}"

    def _draw_products(self, taps: list[Tap]) -> None:
        pixels, weights, _ = (grid.values for grid in self.grids)
        columns = []
        for tap in taps:
            product = f"{number(pixels[tap.ih, tap.iw])} · {number(weights[tap.kh, tap.kw])}"
            columns.append((f"[{tap.oh},{tap.ow}]", product))
        foot(self, ("in output", "pixel · weight"), columns, (f"{len(taps)} products", ""))

    def _role(self, tensor: int, taps: list[Tap]) -> str:
        """Say what the number does, and what its gradient will add up."""
        pixels = rows_and_columns(tap.at("input") for tap in taps)
        outputs = rows_and_columns(tap.at("output") for tap in taps)
        if tensor == 2:
            return f"adds up {len(taps)} products: the filter lies over input {pixels}."
        count = "1 output" if len(taps) == 1 else f"{len(taps)} outputs"
        if tensor == 1:
            return f"multiplies one pixel for each of {count}: {outputs}. These are input {pixels}."
        if len(taps) == 1:
            return f"reaches {count}: {outputs}."
        return f"reaches {count}: {outputs}, through a different weight each time."
