"""The first picture of lesson 03: an output scatters into its window, and a pixel gathers from its outputs."""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from helpers.lessons.shared.pictures.sums import ask, rows_and_columns
from helpers.operations.convolution.indices import Tap, taps_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, Picture, number
from helpers.pictures.parts import LIFTED, Grid, foot, look, running_sum, side_by_side

Array = np.ndarray
FOOT = 54  # CSS pixels
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
        self.letters, self.names = (look(name).names(self.shape.of(name)[2:]) for name in TENSORS[:2])
        super().__init__(230)  # to fit on the first screen
        planes = zip((grad_output, weight, grad_input), TENSORS, strict=True)
        matrices = [(values, name, "", LIFTED, values is grad_output) for values, name in planes]
        grids = side_by_side(self, matrices, "×→", 6, self.height - FOOT - 13, 2.2)
        self.grids = dict(zip(TENSORS, grids, strict=True))
        for tensor, grid in enumerate(grids[:2]):
            grid.name_cells()
            grid.touch(TENSORS[tensor], "row", "column", tensor=tensor, dropped=0)
        filter = self.grids["weight"]
        filter.corners({cell: number(value) for cell, value in np.ndenumerate(weight)}, filter.look.ink)
        self.numbered.append(filter)
        self.stands_still()

    def draw(self, tensor: int, row: int, column: int, dropped: int = 0) -> str:
        """Look at a number of grad_output (0), weight (1) or grad_input (2), or drop this many windows."""
        name = TENSORS[tensor]
        if dropped:
            name = "grad_output"
            row, column = divmod(dropped - 1, self.shape.out_w)
        taps = sorted(taps_of(name, self.shape, row, column), key=lambda tap: tap.at("weight"))
        self._write_result(self._dropped(dropped, self.upstream, self.weight) if dropped else self.returned)
        for other in TENSORS[:2]:
            if other != name:
                self.grids[other].tinted([tap.at(other) for tap in taps], line=1.6)
        chosen = self.grids[name]
        chosen.frame([(row, column)], BLUE if name == "grad_input" else chosen.look.ink)
        if name == "grad_input":
            return self._gather(taps, f"dX[{row},{column}]", float(self.returned[row, column]))
        where = rows_and_columns((tap.ih, tap.iw) for tap in taps)
        self._scatter(taps, f"window {dropped} of {self.upstream.size}" if dropped else f"{len(taps)} products")
        if name == "weight":
            said = f"carries one product from each of {len(taps)} outputs to a pixel: {where}."
            return f"{self.names[row, column]} {said}"
        output = f"Output {self.letters[row, column]}"
        if dropped:
            hits = self._dropped(dropped, np.ones_like(self.upstream), np.ones_like(self.weight))
            often = "once" if hits.max() == 1 else f"up to {number(hits.max())} times"
            return f"{output} drops its window. {(hits > 0).sum()} of {hits.size} pixels are hit, {often}."
        return f"{output} scatters: it adds one product to each of {len(taps)} pixels, {where}."

    def _dropped(self, count: int, upstream: Array, window: Array) -> Array:
        """The sums after the first `count` outputs have added their upstream gradients times a window."""
        sums = np.zeros(self.returned.shape)
        kH, kW = window.shape
        for (oh, ow), value in [*np.ndenumerate(upstream)][:count]:
            sums[oh : oh + kH, ow : ow + kW] += value * window
        return sums

    def _write_result(self, values: Array) -> None:
        """The numbers of the pixels, which change while windows drop."""
        still = self.grids["grad_input"]
        name = "grad_input"
        written = Grid(self, values, still.x, still.y, (still.width, still.height), at=LIFTED, tensor=name)
        written.caption = name
        written.touch(name, "row", "column", tensor=2, dropped=0)

    def _scatter(self, taps: Sequence[Tap], beside: str) -> None:
        """Say what is added to which pixel."""
        signed = ["+" * (product >= 0) + number(product) for product in map(self._product, taps)]
        pixels = [(tap.ih, tap.iw) for tap in taps]
        grid = self.grids["grad_input"]
        grid.corners(dict(zip(pixels, signed, strict=True)), grid.look.ink)
        grid.frame(pixels, look("grad_output").ink)
        terms = zip([f"[{ih},{iw}]" for ih, iw in pixels], map(self._term, taps), signed, strict=True)
        foot(self, ("to pixel", "term", "product"), [*terms], (beside, f"on {self.on}"), FOOT)

    def _gather(self, taps: Sequence[Tap], name: str, returned: float) -> str:
        """The sum of one pixel."""
        weights = {(tap.oh, tap.ow): self.weight[tap.kh, tap.kw] for tap in taps}
        self.grids["grad_output"].factors(weights, look("weight").ink)
        terms = [*map(self._term, taps)]
        products = [*map(self._product, taps)]
        total = number(sum(products))
        said = f"the kernel wrote: {number(returned)}"
        beside = f"sum of its terms: {total}", f"on {self.on}" if total == number(returned) else said
        foot(self, ("term", "product", "running sum"), running_sum(terms, products), beside, FOOT)
        outputs = f"{len(taps)} output{'s' * (len(taps) > 1)}"
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
