"""The planes of an upstream gradient, and the bias's gradient that sums them."""

import numpy as np

from helpers.data.words import in_words
from helpers.pictures.canvas import BLUE, MARGIN, ORANGE, Picture, number
from helpers.pictures.parts import Grid

# CSS pixels of a cell
CELL_WIDTH = 36
CELL_HEIGHT = 34


class BiasGradientPicture(Picture):
    """Every plane of grad_output (N, Co, oH, oW), images below each other, and grad_bias (Co,) as it was returned."""

    def __init__(self, grad_output: np.ndarray, returned: np.ndarray) -> None:
        self.grad_output = grad_output
        self.returned = returned
        images, channels, rows, columns = grad_output.shape
        plane_width = columns * CELL_WIDTH + 40
        plane_height = rows * CELL_HEIGHT + 58
        super().__init__(46 + images * plane_height)
        self.planes = {}
        for n, co in np.ndindex(images, channels):
            left = MARGIN + co * plane_width
            top = 40 + n * plane_height
            plane = Grid(self, grad_output[n, co], left, top, (CELL_WIDTH, CELL_HEIGHT), f"grad_output[{n},{co}]")
            plane.point({cell: {"co": co} for cell in np.ndindex(rows, columns)})
            self.planes[n, co] = plane
        right = MARGIN + channels * plane_width + 20
        self.result = Grid(self, returned[:, None], right, 40, (64, 46), "grad_bias")
        self.result.touch("grad_bias", "co")
        self.stands_still()

    def draw(self, co: int) -> str:
        """Mark the planes of one channel and its sum."""
        images, _, *size = self.grad_output.shape
        planes = [self.planes[n, co] for n in range(images)]
        sums = self.grad_output[:, co].sum((1, 2), dtype=float)
        for plane in planes:
            plane.mark(list(np.ndindex(*size)))
        self.result.frame([(co, 0)], BLUE)
        _, middle = self.result.box(co, 0).middle
        self.bold(self.result.x + 78, middle, f"bias {co}", 15, self.result.look.ink)
        for plane, total in zip(planes, sums, strict=True):
            self.bold(plane.x, plane.bottom + 14, f"sum {number(total)}", 14, ORANGE)
        terms = " + ".join(term(total) for total in sums)
        count = self.grad_output[:, co].size
        return (
            f"Bias {co} was added to all {count} outputs of channel {co}, in "
            f"{in_words('image', range(images))}: grad_bias[{co}] = {terms} = {number(sums.sum())}. "
            f"The kernel wrote {number(self.returned[co])}."
        )


def term(value: float) -> str:
    """A number of a sum, in brackets where it is negative."""
    if value < 0:
        return f"({number(value)})"
    return number(value)
