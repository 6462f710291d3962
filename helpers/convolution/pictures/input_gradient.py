"""Pictures of a convolution's input gradient: the flipped filter, counts, and two ways to compute it."""

from operator import attrgetter

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Gathered, output_channels_of
from helpers.convolution.pictures.groups import draw_group, group_of
from helpers.convolution.pictures.sums import (
    CORRELATION,
    Place,
    SumPicture,
    Tensor,
    contribute,
    rows_and_columns,
    window_cells,
)
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, ORANGE, Picture, Word, in_words, number, tint
from helpers.pictures.parts import LIFTED, LOWERED, Grid, conclusion, look, running_sum, side_by_side

Array = np.ndarray


class InputGradientPicture(SumPicture):
    """The flipped filter on the upstream gradient with zeros between and around, and the same as divisions.

    `grad_input` (N, Ci, H, W) is what a kernel returned for `weight` (Co, Ci, kH, kW) and `grad_output`
    (N, Co, oH, oW), in this order: weight, grad_output, grad_input. `letters` names the weights w00, w01, ...
    and the upstream gradients G, H, I, ... and leaves out the divisions, of which stride 1 without padding needs none.
    """

    left, right, result = Tensor("grad_output", "n", "co"), "weight", Tensor("grad_input", "n", "ci")
    axis, symbol, element = "co", "dX", ("ih", "iw")
    taps = staticmethod(indices.contributions_to_pixel)
    left_at, right_at = attrgetter("oh", "ow"), attrgetter("kh", "kw")

    def _right(self, place: Place) -> Array:
        return self.rights[place["co"], place["ci"] % self.shape.weight[1]]  # the channel's place within its group

    def _summed_indices(self, place: Place) -> range:
        return output_channels_of(self.shape, place["ci"])

    def _draw_window(self, taps: list[Gathered], row: int, column: int, place: Place) -> None:
        window = window_cells((row, column), self.shape.dilation, self.shape.weight[2:])
        end = window[-1]  # where the flipped filter has its weight [0, 0]
        cells = [tuple(np.subtract(end, np.multiply(self.right_at(c), self.shape.dilation))) for c in taps]
        factors = [self._factors(c, place)[1] for c in taps]
        self.window_grid.window(window, dict(zip(cells, factors, strict=True)), look(self.right).ink)
        self.window_grid.drag(window, self.element, (row, column))
        if not self.letters:
            self._draw_divisions(row, column)

    def _draw_grids(self, place: Place) -> None:
        s, flipped, spread = self.shape, self._right(place)[::-1, ::-1], self._spread(place)
        room = 54 if self.letters else 172 / max(s.in_h, s.kernel_h)  # the divisions need the rest
        height, first = min(54, 270 / len(spread), room), place["ci"] // s.weight[1] * s.weight[1]
        channel = f"ci = {place['ci']}" + f" − {first}" * (s.groups > 1)
        around = " with zeros" if s.kernel_h * s.kernel_w * s.stride_h > 1 else ""
        matrices = (
            (spread, f"grad_output{around}", self.left.note(place), LIFTED),
            (flipped, "weight, flipped", f"co = {place['co']}, {channel}", LOWERED if self.letters else 0.5),
            (self.result.plane(self.returned, place), "grad_input", self.result.note(place)),
        )
        bottom = 6 + 46 + len(spread) * height
        self.window_grid, self.filter, self.result_grid = side_by_side(self, matrices, "★=", 6, bottom)
        self.window_grid.empty = "0"
        self._draw_holes(spread)
        draw_group(self, s, place["co"])
        if self.letters:
            self._draw_letters()

    def _draw_letters(self) -> None:
        """Name the weights and the upstream gradients, and show the filter before it was flipped."""
        self.window_grid.name_cells()
        self.filter.name_cells(flipped=True)
        filter = self.filter
        Grid(self, filter.values[::-1, ::-1], filter.x, 228, (filter.width, 36), "weight", at=LOWERED).name_cells()
        self.numbered.pop()
        self.write(self.result_grid.x - 34, 296, CORRELATION, 13, GRAY)

    def _spread(self, place: Place) -> Array:
        """The upstream gradients where the flipped filter reads them; nan is a zero.

        Zeros surround them, one row and column fewer than the dilated filter has: (H + span - 1, ...).
        """
        s, around, beside = self.shape, self.shape.span("h") - 1, self.shape.span("w") - 1
        spread = np.full((s.padded("h") + around, s.padded("w") + beside), np.nan)
        places = spread[around :: s.stride_h, beside :: s.stride_w]
        places[: s.out_h, : s.out_w] = self.left.plane(self.lefts, place)
        rows, columns = s.in_h + around, s.in_w + beside
        return spread[s.padding_h : s.padding_h + rows, s.padding_w : s.padding_w + columns]

    def _draw_holes(self, spread: Array) -> None:
        """A small 0 in each place between upstream gradients, where the stride leaves a hole."""
        places = np.argwhere(~np.isnan(spread))
        if len(places):
            (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0) + 1
            inner = np.add(np.argwhere(np.isnan(spread[top:bottom, left:right])), (top, left))
            self.boxes((self.window_grid.box(*cell) for cell in inner), LINE, tint(GRAY, 1 / 8), 0.8)

    def _draw_divisions(self, ih: int, iw: int) -> None:
        """For each row and column of the filter: which output it belongs to, or why it belongs to none."""
        s, left = self.shape, self.filter.x
        for axis, pixel, x in (("h", ih, left), ("w", iw, (left + self.width - MARGIN) / 2 + 8)):
            sizes = (getattr(s, f"{name}_{axis}") for name in ("padding", "kernel", "dilation", "out"))
            padding, weights, dilation, outputs = sizes
            times, factor = ("·D", f"·{dilation}") if dilation > 1 else ("", "")
            rule = f"i{axis} + P − k{axis}{times} = {pixel + padding} − k{axis}{factor}"
            self.bold(x, 236, rule, 13)
            for line, k in enumerate(reversed(range(weights))):
                text, has_output = self._division(axis, pixel + padding - k * dilation, outputs)
                style = (ORANGE, "bold") if has_output else (GRAY,)
                self.write(x, 254 + 16.5 * line, f"k{axis} = {k}:  {text}", 12.5, *style)

    def _division(self, axis: str, position: int, outputs: int) -> tuple[str, bool]:
        """One line of the table, and whether there is an output."""
        stride = self.shape.stride_h
        output, rest = divmod(position, stride)
        if position < 0:
            return f"{number(position)} is below 0", False
        if rest:
            return f"{position} = {stride}·{output} + {rest}, a hole", False
        inside = output < outputs
        return f"{position} = {stride}·{output}, " + (
            f"so o{axis} = {output}" if inside else f"but o{axis} < {outputs}"
        ), inside

    def _channels(self, ci: int) -> str:
        """The output channels that read input channel ci."""
        channels = output_channels_of(self.shape, ci)
        if self.shape.groups == 1:
            return "each channel"
        quantifier = "each of " * (len(channels) > 1)
        return f"{quantifier}{in_words('channel', channels)} (group {group_of(self.shape, channels[0])})"

    def _location(self, taps: list[Gathered]) -> str:
        return f": output {rows_and_columns(map(self.left_at, taps))}"

    def _contributors(self, taps: list[Gathered], target: str, place: Place) -> str:
        if not taps:
            where = "under a weight" if max(self.shape.dilation) > 1 else "in its window"
            return f"No output has the pixel {where}, so nothing contributes to {target}."
        whose = f" of {self._channels(place['ci'])}" if self.shape.out_channels > 1 else ""
        return f"{contribute(len(taps), 'output', whose)} to {target}{self._location(taps)}."


# --- How many outputs each pixel touches ----------------------------------------------------------------------


class PixelCountsPicture(Picture):
    """In how many windows each pixel lies: the counts of its row and of its column, multiplied."""

    def draw(self, shape: ConvShape) -> str:
        """Count for other sizes; the image may have up to 7 x 9 pixels."""
        gathered = {pixel: indices.contributions_to_pixel(shape, *pixel) for pixel in np.ndindex(shape.input[2:])}
        rows, columns = ([set() for _ in range(size)] for size in shape.input[2:])
        for (row, column), taps in gathered.items():
            rows[row] |= {c.kh for c in taps}
            columns[column] |= {c.kw for c in taps}
        counts = np.reshape([*map(len, gathered.values())], shape.input[2:])
        grid = Grid(self, counts, 92, 92, (46, 44))
        grid.caption = "windows of each pixel"
        self.title(18, "in how many windows each pixel lies")
        self.write(92, 46, "rows of windows (left) × columns of windows (above)", 13, GRAY)
        for i, weights in enumerate(columns):
            self.write(grid.box(0, i).middle[0], 72, f"×{len(weights)}", 15, GRAY, align="middle")
        for i, weights in enumerate(rows):
            self.write(80, grid.box(i, 0).middle[1], str(len(weights)), 15, GRAY, align="right")
        for count in np.unique(counts[counts > 0]):
            cells = [grid.box(*cell) for cell in np.argwhere(counts == count)]
            self.boxes(cells, LINE, tint(BLUE, 0.45 * count / counts.max()))
        return self._sum_up(shape, counts)

    def _sum_up(self, shape: ConvShape, counts: Array) -> str:
        middle = shape.in_h // 2, shape.in_w // 2
        named = {"corner": (0, 0), "edge": (0, middle[1]), "center": middle}
        for i, (name, pixel) in enumerate(named.items()):
            self.write(540, 106 + 24 * i, f"{name} [{pixel[0]},{pixel[1]}]", 15)
            self.bold(690, 106 + 24 * i, str(counts[pixel]), 15, BLUE)
        products, windows = int(counts.sum()), shape.out_h * shape.out_w
        weights = shape.kernel_h * shape.kernel_w
        lines = [
            f"{windows} outputs × {weights} weights = {windows * weights}",
            f"of these, {windows * weights - products} lie in the padding",
            f"the counts add up to {products}",
        ]
        self.column(540, 210, 24, lines)
        corner, edge, center = (counts[pixel] for pixel in named.values())
        places = f"The corner pixel lies in {_windows(corner)}, the middle of the top edge in {_windows(edge)}"
        untouched = int((counts == 0).sum())
        rest = f" {untouched} {'pixels lie' if untouched > 1 else 'pixel lies'} in none, so the gradient there is 0."
        return f"{places}, the center in {_windows(center)}.{rest * (untouched > 0)}"


def _windows(count: int) -> str:
    return ("no window", "1 window")[count] if count < 2 else f"{count} windows"


# --- Outputs that scatter, and pixels that gather -------------------------------------------------------------


class ScatterGatherPicture(Picture):
    """One small case twice: one output adds to its pixels, and one pixel adds up its outputs.

    `weight` (kH, kW), `grad_output` (oH, oW), and `grad_input` (H, W) as a kernel returned it, at stride 1 without
    padding. The weights have the names w00, w01, ..., the upstream gradients G, H, I, ...
    """

    def __init__(self, weight: Array, grad_output: Array, grad_input: Array) -> None:
        self.weight, self.grad_output, self.grad_input = weight, grad_output, grad_input
        if max(weight.shape + grad_output.shape) > 3:
            raise ValueError(f"weight {weight.shape}, grad_output {grad_output.shape}: there is room for 3 x 3")
        (H, W), (oH, oW) = grad_input.shape, grad_output.shape
        self.shape = ConvShape.between((1, 1, H, W), (1, 1, oH, oW))
        super().__init__()
        self.names = look("grad_output").names(grad_output.shape), look("weight").names(weight.shape)
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
        cell, empty = (44, 36), np.full(self.grad_output.shape, np.nan)
        self.title(16, "scatter: one output adds to its pixels")
        self.bold(442, 16, "gather: one pixel adds up its outputs", 17)
        note = "each with its letter"
        self.upstream = Grid(self, self.grad_output, MARGIN, 86, cell, "grad_output", note, numbers=False)
        filter = Grid(self, self.weight, MARGIN, 230, (42, 36), "weight", numbers=False)
        for grid in (self.upstream, filter):
            grid.name_cells()
            grid.corners({cell: number(value) for cell, value in np.ndenumerate(grid.values)}, grid.look.ink)
        blank = np.full(self.grad_input.shape, np.nan)
        self.spread = Grid(self, blank, 180, 86, cell, "grad_input", "while it is being added up")
        self.collected = Grid(self, empty, 442, 86, cell, "grad_output", "times the weight")
        self.result = Grid(self, self.grad_input, 606, 86, cell, "grad_input", "what the GPU returned")
        self.numbered = [self.upstream, filter, self.result]
        self.words((Word(x, 86 + 54, "→", 22) for x in (161, 587)), GRAY)

    def _draw_scatter(self, window: list[tuple[int, int]], output: tuple[int, int], pixel: tuple[int, int]) -> None:
        self.upstream.mark([output])
        self.spread.mark(window, ORANGE)
        terms = [Gathered(ih - output[0], iw - output[1], *output) for ih, iw in window]
        self._write_terms(self.spread, window, terms, ORANGE)
        self.boxes([self.spread.box(*pixel)], BLUE, line=4)

    def _draw_gather(self, gathered: list[Gathered], output: tuple[int, int], pixel: tuple[int, int]) -> None:
        cells = [(c.oh, c.ow) for c in gathered]
        self.collected.mark(cells, BLUE)
        self._write_terms(self.collected, cells, gathered, BLUE)
        self.boxes([self.collected.box(*output)], ORANGE, line=4)
        self.result.frame([pixel], BLUE)

    def _write_terms(self, grid: Grid, cells: list[tuple[int, int]], terms: list[Gathered], color: str) -> None:
        """Letters above and the product below, in each of the cells."""
        boxes = [grid.box(*cell) for cell in cells]
        self.label(boxes, map(self._term, terms), 12, down=-8)
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
        return self.names[0][oh, ow]

    def _term(self, c: Gathered) -> str:
        return f"{self._output(c.oh, c.ow)}·{self.names[1][c.kh, c.kw]}"

    def _product(self, c: Gathered) -> float:
        return float(self.grad_output[c.oh, c.ow] * self.weight[c.kh, c.kw])
