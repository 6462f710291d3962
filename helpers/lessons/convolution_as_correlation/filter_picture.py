"""A digit, a filter whose weights the reader clicks, and what it finds: the first and the last picture of lesson 01."""

import re

import numpy as np

from helpers.operations.convolution import indices
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, Box, Picture, Word, number
from helpers.pictures.figures import draw_ink, draw_signed, explain
from helpers.pictures.parts import Grid, head, look
from helpers.pictures.touchable import Window

Array = np.ndarray

# CSS pixels
PIXEL = 7
FILTER_CELL = 42
TOP = 48
# the horizontal stroke of the 7: this many rows of ink from the uppermost on, in each column with ink this high
THICK = 5
LOWEST_TOP = 13
# what finds it: at least as many large outputs, of which at least this share is on it
FEWEST = 8
SHARE = 3 / 4


class OwnFilterPicture(Picture):
    """A 7, a filter of 3 x 3 weights, and the outputs that it finds: the largest, tinted. One window is framed.

    `digit` is (1, 1, 28, 28), `weight` (1, 1, 3, 3), `output` (1, 1, 26, 26), and `whose` the kernel that computed it.
    """

    def __init__(self, digit: Array, weight: Array, output: Array, whose: str) -> None:
        super().__init__(TOP + PIXEL * 28 + 8)
        self.shape = ConvShape(*digit.shape, 1, 3, 3)
        self.digit = digit[0, 0]
        self.weight = weight[0, 0]
        self.output = output[0, 0]
        left = MARGIN + PIXEL * 32 + 44
        right = left + 3 * FILTER_CELL + 44
        self.sheet = Box(MARGIN, TOP, PIXEL * 28, PIXEL * 28)
        self.result = Box(right, TOP, PIXEL * 26, PIXEL * 26)
        self.beside = right + PIXEL * 26 + 24
        self._draw_planes(left, whose)
        middle = TOP + 54 + 1.5 * FILTER_CELL
        star = Word(left - 22, middle, "★", 30)
        equals = Word(right - 22, middle, "=", 30)
        self.words([star, equals], GRAY)
        is_large = (self.output > 0) & (self.output >= 2 / 3 * self.output.max())
        self.large_outputs = np.argwhere(is_large).tolist()
        self.stroke = level_stroke(self.digit)
        large = [self._box(self.result, cell) for cell in self.large_outputs]
        self.tinted(large, BLUE, 1.6, 0.4)
        self.stands_still()

    def _draw_planes(self, left: float, whose: str) -> None:
        """The digit, the filter from `left` on, and the outputs with their colors explained."""
        draw_ink(self, self.digit, self.sheet, 15)
        draw_signed(self, self.output, self.result)
        head(self, self.sheet.x, self.sheet.y, "input", "28 × 28")
        short = re.split(r",| [(]", whose)[0]
        head(self, self.result.x, self.result.y, "output", f"26 × 26, by {short}")
        size = (FILTER_CELL, FILTER_CELL)
        self.filter = Grid(self, self.weight, left, TOP + 54, size, "weight", "click; small: its pixel")
        self.filter.adjust("weight", -2, 2)
        explain(self, self.beside, TOP + 47, {"above 0": 0.6}, 0, 3)
        explain(self, self.beside, TOP + 71, {"below 0, hatched": -0.6}, 0, 3)

    @staticmethod
    def _box(plane: Box, cell: list[int], size: int = 1) -> Box:
        """The box of `size` x `size` cells of a plane, from the upper left one on."""
        row, column = cell
        x = plane.x + PIXEL * column
        y = plane.y + PIXEL * row
        return Box(x, y, size * PIXEL, size * PIXEL)

    @property
    def on_level_stroke(self) -> int:
        """The number of large outputs whose windows hold pixels of the horizontal stroke."""
        return sum(self.stroke[oh : oh + 3, ow : ow + 3].any() for oh, ow in self.large_outputs)

    @property
    def finds_level_stroke(self) -> bool:
        """True where the filter finds the horizontal stroke, and little else: the other one is not quite upright."""
        count = len(self.large_outputs)
        return count >= FEWEST and self.on_level_stroke >= SHARE * count

    def draw(self, oh: int, ow: int) -> str:
        """Move to one output."""
        frame = self._box(self.sheet, [oh, ow], 3)
        self.boxes([frame], look("weight").ink, line=3)
        self.boxes([self._box(self.result, [oh, ow])], BLUE, line=3)
        self.window = Window(frame, ("oh", "ow"), (oh, ow), (PIXEL, PIXEL))
        pixels = {}
        products = []
        for tap in indices.taps_of_output(self.shape, oh, ow):
            pixel = self.digit[tap.ih, tap.iw]
            pixels[tap.kh, tap.kw] = pixel
            products.append(self.weight[tap.kh, tap.kw] * pixel)
        self.filter.factors(pixels, GRAY)
        total = number(sum(products))
        returned = number(self.output[oh, ow])
        lines = f"sum of products: {total}", f"the kernel wrote: {returned}"
        self.column(self.beside, TOP + 130, 24, lines, 14, BLUE)
        return f"{self._say_found()} output[{oh},{ow}] = {total}; the kernel wrote {returned}."

    def _say_found(self) -> str:
        """Say how many outputs the filter finds, and where."""
        if not self.large_outputs:
            return "No output is above 0: nothing is found."
        count = len(self.large_outputs)
        on_it = self.on_level_stroke
        where = f"{on_it} of them on the horizontal stroke, {count - on_it} elsewhere"
        return f"{count} outputs are two thirds of the largest or more, {where}."


def level_stroke(digit: Array) -> Array:
    """The pixels of a 7 (rows, columns) that are its horizontal stroke, as booleans."""
    has_ink = digit > 0
    tops = np.where(has_ink.any(axis=0), has_ink.argmax(axis=0), len(digit))  # of the ink in each column
    rows = np.arange(len(digit))[:, None]
    return has_ink & (tops <= LOWEST_TOP) & (rows < tops + THICK)
