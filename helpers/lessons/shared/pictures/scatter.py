"""The first picture of lesson 03: an output scatters into its window, and a pixel gathers from its outputs."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Self

import numpy as np

from helpers.lessons.shared.pictures.sums import ask, rows_and_columns
from helpers.operations.convolution.indices import Tap, taps_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, Picture, number
from helpers.pictures.parts import LIFTED, Grid, look, side_by_side
from helpers.pictures.terms import foot, running_sum

Array = np.ndarray
FOOT = 52  # CSS pixels
TENSORS = "grad_output", "weight", "grad_input"


class ScatterGatherPicture(Picture):
    """The window to which an output adds, the outputs from which a pixel gathers, and windows that drop one by one.

    `weight` (kH, kW), `grad_output` (oH, oW), and `grad_input` (H, W) as a kernel returned it, at stride 1 without
    padding. `on` is the adapter.
    """

    def __init__(self, weight: Array, grad_output: Array, grad_input: Array, on: str = "") -> None:
        self.upstream = grad_output
        self.weight = weight
        self.returned = grad_input
        self.on = on
        self.shape = ConvShape.between((1, 1, *grad_input.shape), (1, 1, *grad_output.shape))
        self.letters = look("grad_output").names(grad_output.shape)
        self.names = look("weight").names(weight.shape)
        super().__init__(266)  # to fit on the first screen
        matrices = [
            (grad_output, "grad_output", "", LIFTED, True),
            (weight, "weight", "", LIFTED, False),
            (grad_input, "grad_input", "", LIFTED, False),
        ]
        bottom = self.height - FOOT - 13
        grids = side_by_side(self, matrices, "×→", 0, bottom, 1.6)
        self.grids = dict(zip(TENSORS, grids, strict=True))
        for tensor, grid in enumerate(grids[:2]):
            grid.name_cells()
            grid.touch(TENSORS[tensor], "row", "column", tensor=tensor, dropped=0)
        filter = self.grids["weight"]
        numbers = {cell: number(value) for cell, value in np.ndenumerate(weight)}
        filter.corners(numbers, filter.look.ink)
        self.numbered.append(filter)
        self.stands_still()

    def draw(self, tensor: int, row: int, column: int, dropped: int = 0) -> str:
        """Look at a number of grad_output (0), weight (1) or grad_input (2), or drop this many windows."""
        name = TENSORS[tensor]
        if dropped:
            name = "grad_output"
            row, column = divmod(dropped - 1, self.shape.out_w)
        taps = sorted(taps_of(name, self.shape, row, column), key=lambda tap: tap.at("weight"))
        sums = self._dropped(dropped, self.upstream, self.weight) if dropped else self.returned
        self._write_result(sums)
        for other in TENSORS[:2]:
            if other != name:
                self.grids[other].tinted([tap.at(other) for tap in taps], line=1.6)
        chosen = self.grids[name]
        if name == "grad_input":
            chosen.frame([(row, column)], BLUE)
            return self._gather(taps, f"dX[{row},{column}]", float(self.returned[row, column]))
        chosen.frame([(row, column)], chosen.look.ink)
        where = rows_and_columns((tap.ih, tap.iw) for tap in taps)
        if dropped:
            self._scatter(taps, f"window {dropped} of {self.upstream.size}")
            return f"Output {self.letters[row, column]} drops its window. {self._say_hits(dropped)}"
        self._scatter(taps, f"{len(taps)} products")
        if name == "weight":
            products = f"one product from each of {len(taps)} outputs to a pixel"
            return f"{self.names[row, column]} carries {products}: {where}."
        output = f"Output {self.letters[row, column]}"
        return f"{output} scatters: it adds one product to each of {len(taps)} pixels, {where}."

    def _say_hits(self, dropped: int) -> str:
        """Say how many pixels the first windows hit, and how often."""
        hits = self._dropped(dropped, np.ones_like(self.upstream), np.ones_like(self.weight))
        most = hits.max()
        often = "once" if most == 1 else f"up to {number(most)} times"
        return f"{(hits > 0).sum()} of {hits.size} pixels are hit, {often}."

    def _dropped(self, count: int, upstream: Array, window: Array) -> Array:
        """The sums after the first `count` outputs have added their upstream gradients times a window."""
        sums = np.zeros(self.returned.shape)
        kH, kW = window.shape
        for (oh, ow), value in islice(np.ndenumerate(upstream), count):
            sums[oh : oh + kH, ow : ow + kW] += value * window
        return sums

    def _write_result(self, values: Array) -> None:
        """The numbers of the pixels, which change while windows drop."""
        still = self.grids["grad_input"]
        name = "grad_input"
        size = still.width, still.height
        written = Grid(self, values, still.x, still.y, size, at=LIFTED, tensor=name)
        written.caption = name
        written.touch(name, "row", "column", tensor=2, dropped=0)

    def _scatter(self, taps: Sequence[Tap], beside: str) -> None:
        """Say what is added to which pixel."""
        signed = [with_sign(self._product(tap)) for tap in taps]
        pixels = [(tap.ih, tap.iw) for tap in taps]
        grid = self.grids["grad_input"]
        grid.corners(dict(zip(pixels, signed, strict=True)), grid.look.ink)
        grid.frame(pixels, look("grad_output").ink)
        columns = []
        for tap, product in zip(taps, signed, strict=True):
            columns.append((f"[{tap.ih},{tap.iw}]", self._term(tap), product))
        foot(self, ("to pixel", "term", "product"), columns, (beside, f"on {self.on}"), FOOT)

    def _gather(self, taps: Sequence[Tap], name: str, returned: float) -> str:
        """The sum of one pixel."""
        weights = {(tap.oh, tap.ow): self.weight[tap.kh, tap.kw] for tap in taps}
        self.grids["grad_output"].factors(weights, look("weight").ink)
        terms = [self._term(tap) for tap in taps]
        products = [self._product(tap) for tap in taps]
        total = number(sum(products))
        is_right = total == number(returned)
        below = f"on {self.on}" if is_right else f"the kernel wrote: {number(returned)}"
        beside = f"sum of its terms: {total}", below
        foot(self, ("term", "product", "running sum"), running_sum(terms, products), beside, FOOT)
        outputs = "1 output" if len(taps) == 1 else f"{len(taps)} outputs"
        return f"{name} = {' + '.join(terms)} = {total}, gathered from {outputs}. The kernel wrote {number(returned)}."

    def asks(self, row: int, column: int, names: Iterable[str]) -> Self:
        """The matrices alone, with one pixel framed: from which outputs does it gather?"""
        self._write_result(self.returned)
        self._still = (0, 0)
        self._still_svg = ""
        self.window_grid = self.grids["grad_output"]
        pixel = self.grids["grad_input"]
        ask(self, self.window_grid, pixel, f"grad_input[{row},{column}]", (row, column), names)
        return self

    def _term(self, tap: Tap) -> str:
        return f"{self.letters[tap.oh, tap.ow]}·{self.names[tap.kh, tap.kw]}"

    def _product(self, tap: Tap) -> float:
        return float(self.upstream[tap.oh, tap.ow] * self.weight[tap.kh, tap.kw])


def with_sign(value: float) -> str:
    """A number with its sign, also where that is a plus."""
    text = number(value)
    if value >= 0:
        return f"+{text}"
    return text
