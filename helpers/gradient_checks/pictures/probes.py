"""A picture of a one-hot probe: a numbered input, and its pixels that a kernel read, listed by the weight gradient."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks import probes
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word, number
from helpers.pictures.parts import Grid, fitting
from wgsl import Kernel

Array = np.ndarray

TOP, PIXEL, SMALL = 128, 42, (40, 32)  # CSS pixels: where the grids begin, and the sizes of their cells
RIGHT = 560  # where the grids on the right begin


class ProbePicture(Picture):
    """What one kernel of conv2d_grad_weight reads for a single 1 in the upstream gradient, and what it should read.

    `shape` has one image and one channel. `kernels` are pairs of words, a name and the mistake as an edit, and the
    kernel; the first kernel is right.
    """

    def __init__(self, shape: ConvShape, kernels: Sequence[tuple[str, str, Kernel]]) -> None:
        self.shape, self.kernels = shape, kernels
        super().__init__(TOP + PIXEL * shape.padded("h") + 14)

    def draw(self, kernel: int, oh: int, ow: int) -> str:
        """Move to a kernel, and to the output whose upstream gradient is 1."""
        name, edit, source = self.kernels[kernel]
        if self.starts(kernel):
            self.title(18, f"kernel {kernel}: {name}")
            size = fitting([edit], self.width - 2 * MARGIN - 60, 13)
            self.words([Word(MARGIN, 44, edit, size, "left", True)], GRAY)
            self._draw_input()
            self.stands_still()
        got, want = (probes.probe(text, self.shape, oh, ow)[0, 0] for text in (source, self.kernels[0][2]))
        self._draw_reads(got, oh, ow)
        self._draw_gradients(got, want, oh, ow)
        return f"grad_output is 1 at ({oh}, {ow}), and 0 elsewhere. {_said(kernel, got, want)}"

    def _draw_input(self) -> None:
        s = self.shape
        sides = (s.padding_h,) * 2, (s.padding_w,) * 2
        padded = np.pad(probes.numbered(s.input)[0, 0], sides, constant_values=np.nan)
        title, note = "input, its pixels numbered", "framed: under the filter; filled: read, for the weight kh,kw below"
        self.pixels = Grid(self, padded, MARGIN, TOP, (PIXEL, PIXEL), title, note, numbers=False)
        held = [box for box, value in zip(self.pixels.boxes, padded.flat, strict=True) if value == value]
        self.label(held, range(1, len(held) + 1), 15, down=-7)

    def _draw_reads(self, got: Array, oh: int, ow: int) -> None:
        """Fill the pixels that were read, each with the place of its weight, and frame those under the filter."""
        s, readers = self.shape, defaultdict(list)
        for (kh, kw), pixel in np.ndenumerate(got):
            if 1 <= pixel <= s.in_h * s.in_w:
                row, column = divmod(int(pixel) - 1, s.in_w)
                readers[row + s.padding_h, column + s.padding_w].append(f"{kh},{kw}")
        boxes, texts = [self.pixels.box(*cell) for cell in readers], [" ".join(names) for names in readers.values()]
        self.tinted(boxes, GRAY, 1.6, 1 / 4)
        size = fitting(texts, PIXEL - 6, 12, "bold")
        self.label(boxes, texts, size, INK, "bold", down=11)
        self.boxes(self._window(oh, ow), BLUE, line=4)

    def _window(self, oh: int, ow: int) -> Iterator[Box]:
        """Frames around the pixels under the filter: one around those that adjoin."""
        s = self.shape
        rows = range(oh * s.stride_h, oh * s.stride_h + s.span("h"), s.dilation_h)
        columns = range(ow * s.stride_w, ow * s.stride_w + s.span("w"), s.dilation_w)
        height, width = (1 if gap > 1 else size for gap, size in zip(s.dilation, s.weight[2:], strict=True))
        for row, column in product(rows[::height], columns[::width]):
            yield self.pixels.box(row, column, height, width)

    def _draw_gradients(self, got: Array, want: Array, oh: int, ow: int) -> None:
        """The one-hot gradient; below it what came out, with its wrong numbers marked, and what should."""
        upstream = probes.one_hot(self.shape.output, (0, 0, oh, ow))[0, 0]
        grid = Grid(self, upstream, RIGHT, TOP, SMALL, "grad_output", "a single 1", numbers=False)
        one = grid.box(oh, ow)
        others = [box for box in grid.boxes if box != one]
        self.label(others, "0" * len(others), color=GRAY)
        self.write(*one.middle, "1", 16, INK, "bold", "middle")
        self.boxes([one], BLUE, line=4)
        top = grid.bottom + 64
        result = Grid(self, got, RIGHT, top, SMALL, "grad_weight", "what it returned")
        Grid(self, want, RIGHT + 150, top, SMALL, "", "what is right", tensor="grad_weight")
        wrong = np.argwhere(got != want).tolist()
        for cell in wrong:
            result.mark([cell], ORANGE)
        if wrong:
            self.write(RIGHT, result.bottom + 16, "framed: wrong", 13, ORANGE)


def _said(kernel: int, got: Array, want: Array) -> str:
    """Which pixels were read, and where that is wrong."""
    rows, right = _listed(got), _listed(want)
    if kernel == 0:
        return f"The right kernel returns {rows}: these are the pixels that it read, one for each weight; 0 is padding."
    wrong = int((got != want).sum())
    if not wrong:
        return f"This wrong kernel returns {rows}, which is right here: try another output."
    order = ", the right pixels in a wrong order" * (sorted(got.flat) == sorted(want.flat))
    verb = "is" if wrong == 1 else "are"
    return f"This kernel returns {rows}{order}; right is {right}. {wrong} of its {want.size} numbers {verb} wrong."


def _listed(rows: Array) -> str:
    """The rows of a small matrix in words, each of which stays in one line."""
    return ", ".join("[" + "\N{NO-BREAK SPACE}".join(map(number, row)) + "]" for row in rows)
