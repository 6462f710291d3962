"""A picture of two ways to compute an input gradient: outputs that scatter, and pixels that gather."""

from string import ascii_lowercase, ascii_uppercase

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Gathered
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, Picture, Word, number
from helpers.pictures.parts import Grid, conclusion, running_sum


class ScatterGatherPicture(Picture):
    """One small case twice: one output adds to its pixels, and one pixel adds up its outputs.

    `weight` (kH, kW), `grad_output` (oH, oW), and `grad_input` (H, W) as a kernel returned it, at stride 1 without
    padding. The weights have the names a, b, c, ..., the upstream gradients G, H, I, ...
    """

    def __init__(self, weight: np.ndarray, grad_output: np.ndarray, grad_input: np.ndarray) -> None:
        self.weight, self.grad_output, self.grad_input = weight, grad_output, grad_input
        if max(weight.shape + grad_output.shape) > 3:
            raise ValueError(f"weight {weight.shape}, grad_output {grad_output.shape}: there is room for 3 x 3")
        (H, W), (oH, oW) = grad_input.shape, grad_output.shape
        self.shape = ConvShape.between((1, 1, H, W), (1, 1, oH, oW))
        super().__init__()
        self._draw_grids()
        self.stands_still()

    def draw(self, oh: int, ow: int, ih: int, iw: int) -> str:
        """Move to the output [oh, ow] on the left and to the pixel [ih, iw] on the right."""
        gathered = indices.contributions_to_pixel(self.shape, ih, iw)
        window = [(oh + kh, ow + kw) for kh, kw in np.ndindex(self.weight.shape)]
        self._draw_scatter(window, (oh, ow), (ih, iw))
        self._draw_gather(gathered, (oh, ow), (ih, iw))
        self._say_who_writes(len(gathered), (ih, iw))
        terms, products = [self._term(c) for c in gathered], [self._product(c) for c in gathered]
        total = conclusion(self, running_sum(terms, products), sum(products), self.grad_input[ih, iw])
        spread = f"Output {self._output(oh, ow)} adds one product to each of {len(window)} pixels."
        collected = f"Pixel [{ih},{iw}] collects {' + '.join(terms)} = {total}"
        common = [self._term(c) for c in gathered if (c.oh, c.ow) == (oh, ow)]
        link = f"{common[0]} is in both." if common else "No product is in both."
        return f"{spread} {collected}; the GPU returned {number(self.grad_input[ih, iw])}. {link}"

    def _draw_grids(self) -> None:
        self.lines([(420, 8, 420, 338)], LINE, 1)
        cell, empty = (42, 36), np.full(self.grad_output.shape, np.nan)
        self.title(16, "scatter: one output adds to its pixels")
        self.bold(442, 16, "gather: one pixel adds up its outputs", 17)
        note = "each with its letter"
        self.upstream = Grid(self, self.grad_output, MARGIN, 86, cell, "grad_output", note, ORANGE, numbers=False)
        filter = Grid(self, self.weight, MARGIN, 230, (42, 36), "weight", numbers=False)
        for grid, names, color in ((self.upstream, ascii_uppercase[6:], ORANGE), (filter, ascii_lowercase, INK)):
            grid.letters(names, color)
            grid.corners({cell: number(value) for cell, value in np.ndenumerate(grid.values)}, color)
        blank = np.full(self.grad_input.shape, np.nan)
        self.spread = Grid(self, blank, 180, 86, cell, "grad_input", "while it is being added up", BLUE)
        self.collected = Grid(self, empty, 442, 86, cell, "grad_output", "times the weight", ORANGE)
        self.result = Grid(self, self.grad_input, 606, 86, cell, "grad_input", "what the GPU returned", BLUE)
        self.numbered = [self.upstream, filter, self.result]
        self.words((Word(x, 86 + 54, "→", 22) for x in (161, 587)), GRAY)

    def _draw_scatter(self, window: list[tuple[int, int]], output: tuple[int, int], pixel: tuple[int, int]) -> None:
        self.upstream.mark([output])
        self.spread.mark(window)
        terms = [Gathered(ih - output[0], iw - output[1], *output) for ih, iw in window]
        self._write_terms(self.spread, window, terms, ORANGE)
        self.boxes([self.spread.box(*pixel)], BLUE, line=4)

    def _draw_gather(self, gathered: list[Gathered], output: tuple[int, int], pixel: tuple[int, int]) -> None:
        cells = [(c.oh, c.ow) for c in gathered]
        self.collected.mark(cells, BLUE)
        self._write_terms(self.collected, cells, gathered, BLUE)
        self.boxes([self.collected.box(*output)], ORANGE, line=4)
        self.result.mark([pixel], BLUE)

    def _write_terms(self, grid: Grid, cells: list[tuple[int, int]], terms: list[Gathered], color: str) -> None:
        """Letters above and the product below, in each of the cells."""
        boxes = [grid.box(*cell) for cell in cells]
        self.label(boxes, map(self._term, terms), down=-8)
        self.label(boxes, (number(self._product(c)) for c in terms), 13, color, "bold", down=9)

    def _say_who_writes(self, count: int, pixel: tuple[int, int]) -> None:
        """Why the left side races and the right one does not, below the grids."""
        where = f"grad_input[{pixel[0]},{pixel[1]}]"
        adds = f"{count} threads add" if count > 1 else "1 thread adds"
        race = "nothing orders them: a data race" if count > 1 else "no other thread does: no race here"
        for x, color, lines in (
            (180, ORANGE, (f"{adds} to {where};", race)),
            (606, BLUE, (f"1 thread writes {where};", "all others only read: no race")),
        ):
            self.column(x, 290, 20, lines, 13.5, color)

    def _output(self, oh: int, ow: int) -> str:
        return ascii_uppercase[6 + oh * self.shape.out_w + ow]

    def _term(self, c: Gathered) -> str:
        return f"{self._output(c.oh, c.ow)}·{ascii_lowercase[c.kh * self.shape.kernel_w + c.kw]}"

    def _product(self, c: Gathered) -> float:
        return float(self.grad_output[c.oh, c.ow] * self.weight[c.kh, c.kw])
