"""A digit, a filter whose weights the reader clicks, and what it finds: the first and the last picture of lesson 01."""

from math import prod

import numpy as np
from matplotlib import colormaps

from helpers.convolution import indices
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, Box, Picture, Word, number
from helpers.pictures.figures import draw_signed
from helpers.pictures.parts import Grid, Window, conclusion, look, product_text, running_sum

Array = np.ndarray

PIXEL, FILTER_CELL, TOP = 8, 36, 48  # CSS pixels
LEVEL = 10  # the rows of outputs, from the first, that touch the horizontal stroke of the 7


class OwnFilterPicture(Picture):
    """A 7, a filter of 3 x 3 weights, and the outputs that it finds: the largest, tinted. One window is framed.

    `digit` is (1, 1, 28, 28), `weight` (1, 1, 3, 3), `output` (1, 1, 26, 26), and `whose` the kernel that computed it.
    """

    def __init__(self, digit: Array, weight: Array, output: Array, whose: str) -> None:
        super().__init__(376)
        self.shape = ConvShape(*digit.shape, 1, 3, 3)
        self.digit, self.weight, self.output = digit[0, 0], weight[0, 0], output[0, 0]
        left = MARGIN + PIXEL * 32 + 44
        right = left + 3 * FILTER_CELL + 44
        self.sheet = Box(MARGIN, TOP, PIXEL * 28, PIXEL * 28)
        self.result = Box(right, TOP, PIXEL * 26, PIXEL * 26)
        self._draw_planes(whose)
        size = FILTER_CELL, FILTER_CELL
        Grid(self, self.weight, left, TOP + 70, size, "weight", "click them").adjust("weight", -2, 2)
        self._draw_legend(right + PIXEL * 26 + 24, TOP + 40)
        self.words((Word(x - 22, TOP + 124, sign, 30) for x, sign in ((left, "★"), (right, "="))), GRAY)
        found = (self.output > 0) & (self.output >= 2 / 3 * self.output.max())
        self.found = np.argwhere(found).tolist()
        self.tinted((self._box(self.result, cell) for cell in self.found), BLUE, 1.6, 0.4)
        self.stands_still()

    def _draw_planes(self, whose: str) -> None:
        self.image(self.sheet, colormaps["gray_r"](self.digit / 15, bytes=True))
        draw_signed(self, self.output / (abs(self.output).max() or 1), self.result)
        for box, title, note in (
            (self.sheet, "input", "28 × 28"),
            (self.result, "output", f"26 × 26, by {whose.partition(',')[0]}"),
        ):
            self.boxes([box], look(title).ink)
            self.bold(box.x, 20, title, 15, look(title).ink)
            self.write(box.x, 38, note, 13, GRAY)

    def _draw_legend(self, x: float, y: float) -> None:
        for i, (value, text) in enumerate(((0.6, "above 0"), (-0.6, "below 0, hatched"))):
            draw_signed(self, np.full((3, 3), value), Box(x, y + 24 * i, 14, 14))
            self.write(x + 20, y + 24 * i + 7, text, 13)

    @staticmethod
    def _box(plane: Box, cell: list[int], size: int = 1) -> Box:
        """Where these cells of a plane are drawn, from the upper left one on."""
        return Box(plane.x + PIXEL * cell[1], plane.y + PIXEL * cell[0], size * PIXEL, size * PIXEL)

    @property
    def found_below(self) -> int:
        """How many of the outputs that are found do not touch the horizontal stroke."""
        return sum(oh >= LEVEL for oh, _ in self.found)

    def draw(self, oh: int, ow: int) -> str:
        """Move to one output."""
        frame = self._box(self.sheet, [oh, ow], 3)
        self.boxes([frame], look("weight").ink, line=3)
        self.boxes([self._box(self.result, [oh, ow])], BLUE, line=3)
        self.window = Window(frame, ("oh", "ow"), (oh, ow), (PIXEL, PIXEL))
        taps = indices.taps_of_output(self.shape, oh, ow)
        pairs = [(self.weight[t.kh, t.kw], self.digit[t.ih, t.iw]) for t in taps]
        columns = running_sum([product_text(*pair) for pair in pairs], [prod(pair) for pair in pairs])
        returned = self.output[oh, ow]
        total = conclusion(self, columns, sum(map(prod, pairs)), returned)
        return f"{self._finds()} output[{oh},{ow}] = {total}; the GPU returned {number(returned)}."

    def _finds(self) -> str:
        if not self.found:
            return "No output is above 0: nothing is found."
        count, below = len(self.found), self.found_below
        where = f"{count - below} of them on the horizontal stroke, {below} further down"
        return f"{count} outputs are two thirds of the largest or more, {where}."
