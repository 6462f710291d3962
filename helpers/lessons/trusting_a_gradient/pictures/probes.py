"""A picture of three one-hot probes: a numbered input, and the patterns that kernels with a fault return."""

import numpy as np

from helpers.lessons.shared.wrong_kernels import WEIGHT_1, named
from helpers.lessons.trusting_a_gradient import probes
from helpers.operations.kernels import load
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Grid

PLACE = 1, 3  # the output whose upstream gradient is 1
UNKNOWN = {  # the patterns, and the wrong kernels that make them
    "Pattern A": "one padding for both axes",
    "Pattern B": "filter flipped",
    "Pattern C": "stride forgotten",
}
# CSS pixels
TOP = 62  # where the input begins
PIXEL = (40, 24)
SMALL = (58, 26)  # a cell of a pattern
BELOW = 288  # where the patterns begin
STEP = 206  # from one pattern to the next


class ProbesPicture(Picture):
    """The pixels under the filter are framed; below them is what the right kernel returns, and three unknown ones.

    A card for a word lies below each of the unknown patterns.
    """

    def __init__(self) -> None:
        super().__init__(BELOW + 3 * SMALL[1] + 56)
        s = probes.SHAPE
        oh, ow = PLACE
        image = probes.numbered(s.input)[0, 0]
        padding = [(s.padding_h, s.padding_h), (s.padding_w, s.padding_w)]
        padded = np.pad(image, padding, constant_values=np.nan)
        pixels = Grid(self, padded, MARGIN, TOP, PIXEL, "input", "its pixels numbered, padding around them")
        first = oh * s.stride_h, ow * s.stride_w  # under the filter, in the padded input
        last = first[0] + s.kernel_h - 1, first[1] + s.kernel_w - 1
        pixels.frame([first, last], BLUE)
        one_hot = probes.one_hot(s.output, (0, 0, oh, ow))[0, 0]
        upstream = Grid(self, one_hot, 560, TOP, PIXEL, "grad_output", "a single 1")
        upstream.frame([PLACE], BLUE)
        facts = ["filter 3 × 2, stride 2", "padding 1 above and below,", "2 on the left and right"]
        self.column(560, TOP + 3 * PIXEL[1] + 34, 22, facts, 14)
        right = probes.probe(load(WEIGHT_1), s, *PLACE)[0, 0]
        self.sentence = self._pattern(0, "right", right, right)
        for i, (name, fault) in enumerate(UNKNOWN.items(), 1):
            wrong = named(WEIGHT_1, fault).wrong
            got = probes.probe(wrong, s, *PLACE)[0, 0]
            self.sentence += self._pattern(i, name, got, right)
            self.cards[name] = Box(MARGIN + STEP * i - 8, BELOW + 3 * SMALL[1] + 14, 160, 32)

    def _pattern(self, i: int, name: str, got: np.ndarray, right: np.ndarray) -> str:
        """Draw what a kernel returns, with wrong numbers tinted, and return it in words."""
        grid = Grid(self, got, MARGIN + STEP * i, BELOW, SMALL, name, "grad_weight", tensor="grad_weight")
        grid.tinted(map(tuple, np.argwhere(got != right)), ORANGE, 1.6)
        if i == 0:
            self.write(MARGIN, grid.bottom + 30, "tinted: wrong", 13, GRAY)
        rows = []
        for row in got:
            numbers = " ".join(f"{value:g}" for value in row)
            rows.append(f"[{numbers}]")
        return f"{name}: {', '.join(rows)}. "
