"""The first picture of lesson 03: an output scatters into its window, and a pixel gathers from its outputs."""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from helpers.convolution.indices import Tap, taps_of
from helpers.convolution.pictures.sums import ask, rows_and_columns
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, Picture, number
from helpers.pictures.parts import LIFTED, Grid, foot, look, running_sum, side_by_side

Array = np.ndarray
FOOT = 54  # CSS pixels
UPSTREAM, WEIGHT, PIXEL = range(3)
NAMES = "grad_output", "weight", "grad_input"


class ScatterGatherPicture(Picture):
    """The window to which an output adds, the outputs from which a pixel gathers, and windows that drop one by one.

    `weight` (kH, kW), `grad_output` (oH, oW), and `grad_input` (H, W) as a kernel returned it, at stride 1 without
    padding. `on` is the adapter.
    """

    def __init__(self, weight: Array, grad_output: Array, grad_input: Array, on: str = "") -> None:
        self.factors, self.returned, self.on = (grad_output, weight), grad_input, on
        self.names = [look(name).names(values.shape) for name, values in zip(NAMES, self.factors, strict=False)]
        self.shape = ConvShape.between((1, 1, *grad_input.shape), (1, 1, *grad_output.shape))
        super().__init__(230)  # to fit on the first screen
        planes = zip((*self.factors, grad_input), NAMES, strict=True)
        matrices = [(values, name, "", LIFTED, name == NAMES[UPSTREAM]) for values, name in planes]
        self.grids = side_by_side(self, matrices, "×→", 6, self.height - FOOT - 13, 2.2)
        for grid in self.grids[:PIXEL]:
            grid.name_cells()
        filter = self.grids[WEIGHT]
        filter.corners({cell: number(value) for cell, value in np.ndenumerate(weight)}, filter.look.ink)
        self.numbered.append(filter)
        for tensor, grid in enumerate(self.grids[:PIXEL]):
            grid.touch(NAMES[tensor], "row", "column", tensor=tensor, dropped=0)
        self.stands_still()

    def draw(self, tensor: int, row: int, column: int, dropped: int = 0) -> str:
        """Look at a number of grad_output (0), weight (1) or grad_input (2), or drop this many windows."""
        if dropped:
            tensor, (row, column) = UPSTREAM, divmod(dropped - 1, self.shape.out_w)
        taps = sorted(taps_of(NAMES[tensor], self.shape, row, column), key=lambda tap: tap.at(NAMES[WEIGHT]))
        self._write_result(self._dropped(dropped, *self.factors) if dropped else self.returned)
        for other, grid in enumerate(self.grids):
            if other not in (tensor, PIXEL):
                grid.tinted([tap.at(NAMES[other]) for tap in taps], line=1.6)
        chosen = self.grids[tensor]
        chosen.frame([(row, column)], BLUE if tensor == PIXEL else chosen.look.ink)
        if tensor == PIXEL:
            return self._gather(taps, f"dX[{row},{column}]", float(self.returned[row, column]))
        name, where = self.names[tensor][row, column], rows_and_columns(tap.at(NAMES[PIXEL]) for tap in taps)
        self._scatter(taps, f"window {dropped} of {self.names[UPSTREAM].size}" if dropped else f"{len(taps)} products")
        if dropped:
            hits = self._dropped(dropped, *map(np.ones_like, self.factors))
            often = "once" if hits.max() == 1 else f"up to {number(hits.max())} times"
            return f"Output {name} drops its window. {(hits > 0).sum()} of {hits.size} pixels are hit, {often}."
        if tensor == WEIGHT:
            return f"{name} carries one product from each of {len(taps)} outputs to a pixel: {where}."
        return f"Output {name} scatters: it adds one product to each of {len(taps)} pixels, {where}."

    def _dropped(self, count: int, upstream: Array, window: Array) -> Array:
        """The sums after the first `count` outputs have added their upstream gradients times a window."""
        sums, (kH, kW) = np.zeros(self.returned.shape), window.shape
        for (oh, ow), value in [*np.ndenumerate(upstream)][:count]:
            sums[oh : oh + kH, ow : ow + kW] += value * window
        return sums

    def _write_result(self, values: Array) -> None:
        """The numbers of the pixels, which change while windows drop."""
        still = self.grids[PIXEL]
        written = Grid(self, values, still.x, still.y, (still.width, still.height), at=LIFTED, tensor=NAMES[PIXEL])
        written.caption = NAMES[PIXEL]
        written.touch(NAMES[PIXEL], "row", "column", tensor=PIXEL, dropped=0)

    def _scatter(self, taps: Sequence[Tap], beside: str) -> None:
        """What is added to which pixel."""
        signed = ["+" * (product >= 0) + number(product) for product in map(self._product, taps)]
        pixels = [tap.at(NAMES[PIXEL]) for tap in taps]
        self.grids[PIXEL].corners(dict(zip(pixels, signed, strict=True)), self.grids[PIXEL].look.ink)
        self.grids[PIXEL].frame(pixels, look(NAMES[UPSTREAM]).ink)
        terms = zip([f"[{ih},{iw}]" for ih, iw in pixels], map(self._term, taps), signed, strict=True)
        foot(self, ("to pixel", "term", "product"), [*terms], (beside, f"on {self.on}"), FOOT)

    def _gather(self, taps: Sequence[Tap], name: str, returned: float) -> str:
        """The sum of one pixel."""
        weights = {(tap.oh, tap.ow): self.factors[WEIGHT][tap.kh, tap.kw] for tap in taps}
        self.grids[UPSTREAM].factors(weights, look(NAMES[WEIGHT]).ink)
        terms, products = [*map(self._term, taps)], [*map(self._product, taps)]
        total, said = number(sum(products)), f"the kernel wrote: {number(returned)}"
        beside = f"sum of its terms: {total}", f"on {self.on}" if self.on and total == number(returned) else said
        foot(self, ("term", "product", "running sum"), running_sum(terms, products), beside, FOOT)
        outputs = f"{len(taps)} output{'s' * (len(taps) > 1)}"
        return f"{name} = {' + '.join(terms)} = {total}, gathered from {outputs}. The kernel wrote {number(returned)}."

    def asks(self, row: int, column: int, names: Iterable[str]) -> Self:
        """The matrices alone, with one pixel framed: from which outputs does it gather?"""
        self._write_result(self.returned)
        self._still, self._still_svg, self.window_grid = (0, 0), "", self.grids[UPSTREAM]
        ask(self, self.window_grid, self.grids[PIXEL], f"{NAMES[PIXEL]}[{row},{column}]", (row, column), names)
        return self

    def _term(self, tap: Tap) -> str:
        return "·".join(names[tap.at(name)] for names, name in zip(self.names, NAMES, strict=False))

    def _product(self, tap: Tap) -> float:
        return float(self.factors[UPSTREAM][tap.oh, tap.ow] * self.factors[WEIGHT][tap.kh, tap.kw])
