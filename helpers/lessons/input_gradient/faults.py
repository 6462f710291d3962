"""Four faults of the input gradient beside a test: which of them does it catch? A picture of lesson 03."""

from collections.abc import Mapping

import numpy as np

from helpers.data.words import listed
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, Picture, number
from helpers.pictures.parts import Grid

Array = np.ndarray

FAULTS = {  # and the edit of 1_gather that plants each
    "no flip": ("params.padding_h - kh", "kh - params.padding_h"),
    "holes filled": ("column % params.stride == 0u && ", ""),
    "channels swapped": ("(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
    "one padding": ("iw + params.padding_w", "iw + params.padding_h"),
}
# CSS pixels
LEFT = 236
ACROSS = 310
DOWN = 176
CELL = (46, 20)


class FaultsPicture(Picture):
    """The filter of a test, to click, and what four kernels with a fault make of its first channel.

    `right` and `got`, by fault, are (1, Ci, H, W); `pixel` counts the numbers of the four from 1 on: one is looked at.
    """

    def __init__(self, s: ConvShape, weight: Array, right: Array, got: Mapping[str, Array], pixel: int = 0) -> None:
        super().__init__(2 * DOWN + 4)
        Grid(self, weight, MARGIN, 46, (56, 46), "weight", "click them").adjust("weight", -2, 4)
        lines = f"stride {s.stride_h}", f"padding {s.padding_h} and {s.padding_w}"
        channels = "1 channel" if s.in_channels == 1 else f"{s.in_channels} channels"
        lines = f"{s.in_h} × {s.in_w} pixels", *lines, f"{channels} in, {s.out_channels} out"
        self.column(MARGIN, 210, 22, lines, 14)
        self.caught = []
        pixel_sentence = ""
        for i, (fault, result) in enumerate(got.items()):
            wrong = int((result != right).sum())
            pixel_sentence += self._draw_fault(i, fault, result[0, 0], right[0, 0], wrong, pixel)
            if wrong:
                self.caught.append(fault)
        missed = [f"“{fault}”" for fault in got if fault not in self.caught]
        count = f"The test catches {len(self.caught)} of {len(got)} faults."
        others = f"It misses {listed(missed)}." if missed else "It misses none."
        self.sentence = pixel_sentence or f"{count} {others}"

    def _draw_fault(self, i: int, fault: str, got: Array, right: Array, wrong: int, pixel: int) -> str:
        """The numbers of one kernel; returns what is said of the one that is looked at."""
        x = LEFT + i % 2 * ACROSS
        y = 46 + i // 2 * DOWN
        grid = Grid(self, got, x, y, CELL, fault, tensor="grad_input")
        verdict = (f"{wrong} wrong", 14, BLUE, "bold") if wrong else ("missed", 14, GRAY)
        self.write(x + got.shape[1] * CELL[0], y - 16, *verdict, align="right")
        cells = [*np.ndindex(got.shape)]
        grid.tinted([cell for cell in cells if got[cell] != right[cell]], INK, 1.6)
        first = i * len(cells) + 1
        grid.point({cell: {"pixel": first + k} for k, cell in enumerate(cells)})
        if not first <= pixel < first + len(cells):
            return ""
        (row, column) = cell = cells[pixel - first]
        return (
            f"{fault.capitalize()}: grad_input[{row},{column}] is {number(got[cell])}; right is {number(right[cell])}."
        )
