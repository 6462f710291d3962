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

ACROSS = 6  # small pictures in a row
MOST = 24  # small pictures in all
# CSS pixels
SIDE = 52  # a small picture
DOWN = 80  # from one to the next
RIGHT = 66
LARGE = 196  # each of the two large pictures
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
    def answer(self) -> int:
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
        title = f"{count:,} of {asked:,} answers are wrong"
        if count > len(self.mistakes):
            title += f"; the {len(self.mistakes)} surest:"
        self.bold(MARGIN, 18, title, 15)
        self.note(MARGIN, 38, "below each: what the network said (the right answer)")
        for i, mistake in enumerate(self.mistakes):
            box = self._small(i)
            draw_ink(self, mistake.image, box)
            self.write(box.middle[0], box.y + SIDE + 12, f"{mistake.answer} ({mistake.right})", 13, align="middle")
        rows = ceil(len(self.mistakes) / ACROSS)
        cells = Box(MARGIN - 5, 50, ACROSS * RIGHT, rows * DOWN)
        Area(self, np.zeros((rows, ACROSS)), cells, "mistakes").touch("mistakes", "mistake")
        explain(self, WIDTH - 2 * LARGE - 18, 276, LEGEND, 206)
        self.stands_still()

    def draw(self, mistake: int) -> str:
        """Look at one of them."""
        chosen = self.mistakes[mistake]
        framed(self, self._small(mistake), line=2.5)
        self._draw_large(chosen)
        return self._sentence(chosen)

    def _draw_large(self, mistake: Mistake) -> None:
        """The digit, its gradient, and the probabilities below both."""
        left = WIDTH - 2 * LARGE - 14 - 4
        title = f"digit {mistake.number}: the network said {mistake.answer}, right is {mistake.right}"
        self.bold(left, 18, title, 15)
        self.note(left, 42, "the digit")
        self.note(left + LARGE + 14, 42, "the pixels that matter")
        draw_ink(self, mistake.image, Box(left, 58, LARGE, LARGE))
        pixels = Box(left + LARGE + 14, 58, LARGE, LARGE)
        self.image(pixels, over(mistake.image, mistake.gradient))
        self.boxes([pixels], GRAY)
        box = Box(left, 318, 2 * LARGE + 14, 52)
        title = f"softmax of digit {mistake.number}"
        bars = Bars(self, mistake.softmax, box, 0, 1, range(mistake.softmax.size), title)
        bars.frame_bar(mistake.right, BLUE)
        bars.frame_bar(mistake.answer, ORANGE)
        self.numbered.append(Area(self, mistake.gradient, Box(0, 0, 1, 1), "gradient of the loss for each pixel"))

    def _sentence(self, mistake: Mistake) -> str:
        share = f"{self.count:,} of {self.asked:,} answers are wrong ({100 * self.count / self.asked:.1f} %)."
        answer = f"said {mistake.answer} with probability {mistake.softmax[mistake.answer]:.2f}"
        right = f"it is {a_digit(mistake.right)}, with {mistake.softmax[mistake.right]:.2f}"
        place = np.unravel_index(np.abs(mistake.gradient).argmax(), mistake.gradient.shape)
        row, column = place
        largest = number(float(mistake.gradient[place]))
        where = f"The pixel at row {row}, column {column} matters most: {largest}."
        return f"{share} Of digit {mistake.number}, the network {answer}; {right}. {where}"

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
