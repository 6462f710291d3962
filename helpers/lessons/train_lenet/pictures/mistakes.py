"""The mistakes of a network: the digits, what it said and how sure it was, and which pixels mattered."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from helpers.lessons.train_lenet.pictures.maps import Area, framed
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, WIDTH, Box, Picture, a_digit, number
from helpers.pictures.figures import colored, draw_ink, explain
from helpers.pictures.parts import Bars

Array = np.ndarray

# small pictures in a row, and in all
ACROSS = 6
MOST = 24
# CSS pixels: a small picture, and from one to the next
SIDE = 52
DOWN = 80
RIGHT = 66
LARGE = 196  # CSS pixels of the two large pictures
LEGEND = {"more ink here: smaller loss": -0.8, "more ink here: larger loss": 0.8}
FADED = 0.35  # of the ink, below the colors of a gradient


class Mistake(NamedTuple):
    """One digit that the network got wrong.

    `number` is its place among all that were asked for, `softmax` (classes,) what the network holds for likely, and
    `gradient` (H, W) that of its loss for its pixels.
    """

    number: int
    image: Array
    right: int
    softmax: Array
    gradient: Array

    @property
    def said(self) -> int:
        """The network's answer."""
        return int(self.softmax.argmax())


class MistakesPicture(Picture):
    """Wrong digits in small, and one of them large, with the gradient of its loss laid over it.

    `count` of `asked` answers are wrong; `mistakes` are those that are shown, the surest first.
    """

    def __init__(self, mistakes: Sequence[Mistake], count: int, asked: int) -> None:
        self.mistakes = mistakes[:MOST]
        self.count = count
        self.asked = asked
        super().__init__(int(max(400, 58 + DOWN * ceil(len(self.mistakes) / ACROSS))))
        of = f"{count:,} of {asked:,} answers are wrong"
        most = f"; the {len(self.mistakes)} surest:" * (count > len(self.mistakes))
        self.bold(MARGIN, 18, f"{of}{most}", 15)
        self.note(MARGIN, 38, "below each: what the network said (the right answer)")
        for i, mistake in enumerate(self.mistakes):
            box = self._small(i)
            draw_ink(self, mistake.image, box)
            self.write(box.middle[0], box.y + SIDE + 12, f"{mistake.said} ({mistake.right})", 13, align="middle")
        rows = ceil(len(self.mistakes) / ACROSS)
        cells = Box(MARGIN - 5, 50, ACROSS * RIGHT, rows * DOWN)
        Area(self, np.zeros((rows, ACROSS)), cells, "mistakes").touch("mistakes", "mistake")
        explain(self, WIDTH - 2 * LARGE - 18, 276, LEGEND, 206)
        self.stands_still()

    def draw(self, mistake: int) -> str:
        """Look at one of them."""
        chosen = self.mistakes[mistake]
        framed(self, self._small(mistake), line=2.5)
        left = WIDTH - 2 * LARGE - 14 - 4
        top = 58
        said = f"digit {chosen.number}: the network said {chosen.said}, right is {chosen.right}"
        self.bold(left, 18, said, 15)
        self.note(left, 42, "the digit")
        self.note(left + LARGE + 14, 42, "the pixels that matter")
        digit, pixels = (Box(left + i * (LARGE + 14), top, LARGE, LARGE) for i in range(2))
        draw_ink(self, chosen.image, digit)
        self.image(pixels, over(chosen.image, chosen.gradient))
        self.boxes([pixels], GRAY)
        box = Box(left, 318, 2 * LARGE + 14, 52)
        title = f"softmax of digit {chosen.number}"
        bars = Bars(self, chosen.softmax, box, 0, 1, range(chosen.softmax.size), title)
        bars.frame_bar(chosen.right, BLUE)
        bars.frame_bar(chosen.said, ORANGE)
        self.numbered.append(Area(self, chosen.gradient, Box(0, 0, 1, 1), "gradient of the loss for each pixel"))
        place = np.unravel_index(np.abs(chosen.gradient).argmax(), chosen.gradient.shape)
        share = f"{self.count:,} of {self.asked:,} answers are wrong ({100 * self.count / self.asked:.1f} %)."
        sure = f"said {chosen.said} with probability {chosen.softmax[chosen.said]:.2f}"
        right = f"it is {a_digit(chosen.right)}, with {chosen.softmax[chosen.right]:.2f}"
        where = f"The pixel at row {place[0]}, column {place[1]} matters most: {number(float(chosen.gradient[place]))}."
        return f"{share} Of digit {chosen.number}, the network {sure}; {right}. {where}"

    def _small(self, i: int) -> Box:
        row, column = divmod(i, ACROSS)
        return Box(MARGIN + column * RIGHT, 54 + row * DOWN, SIDE, SIDE)


def over(image: Array, gradient: Array) -> Array:
    """A gradient's colors over faded ink: the farther from 0, the less ink shows through."""
    share = np.sqrt(np.abs(gradient) / (np.abs(gradient).max() or 1.0))[..., None]
    ink = 255 - FADED * (255 - colored(image, ink=True).astype(float))
    mixed = share * colored(gradient) + (1 - share) * ink
    mixed[..., 3] = 255
    return np.rint(mixed).astype(np.uint8)
