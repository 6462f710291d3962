"""Pictures of a convolution's input gradient: scatter and gather, the flipped filter, and counts."""

from collections.abc import Sequence
from math import prod
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Gathered
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Picture, Word, in_words, number, tint
from helpers.pictures.parts import MARGIN, Grid, conclusion, product_text, running_sum, side_by_side


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

    def show(self, oh: int, ow: int, ih: int, iw: int) -> "ScatterGatherPicture":
        """Move to the output [oh, ow] on the left and to the pixel [ih, iw] on the right."""
        if self.starts():
            self._draw_grids()
            self.stands_still()
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
        self.sentence = f"{spread} {collected}; the GPU returned {number(self.grad_input[ih, iw])}. {link}"
        return self

    def _draw_grids(self) -> None:
        self.lines([(420, 8, 420, 338)], LINE, 1)
        cell, empty = (42, 36), np.full(self.grad_output.shape, np.nan)
        self.write(MARGIN, 16, "scatter: one output adds to its pixels", 17, weight="bold")
        self.write(442, 16, "gather: one pixel adds up its outputs", 17, weight="bold")
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
        middles = [grid.box(*cell).middle for cell in cells]
        self.words(Word(x, y - 8, self._term(c), 13) for (x, y), c in zip(middles, terms, strict=True))
        products = (Word(x, y + 9, number(self._product(c)), 13) for (x, y), c in zip(middles, terms, strict=True))
        self.words(products, color, "bold")

    def _say_who_writes(self, count: int, pixel: tuple[int, int]) -> None:
        """Why the left side races and the right one does not, below the grids."""
        where = f"grad_input[{pixel[0]},{pixel[1]}]"
        adds = f"{count} threads add" if count > 1 else "1 thread adds"
        race = "nothing orders them: a data race" if count > 1 else "no other thread does: no race here"
        for x, color, lines in (
            (180, ORANGE, (f"{adds} to {where};", race)),
            (606, BLUE, (f"1 thread writes {where};", "all others only read: no race")),
        ):
            self.words((Word(x, 290 + 20 * i, line, 13.5, "left") for i, line in enumerate(lines)), color)

    def _output(self, oh: int, ow: int) -> str:
        return ascii_uppercase[6 + oh * self.shape.out_w + ow]

    def _term(self, c: Gathered) -> str:
        return f"{self._output(c.oh, c.ow)}·{ascii_lowercase[c.kh * self.shape.kernel_w + c.kw]}"

    def _product(self, c: Gathered) -> float:
        return float(self.grad_output[c.oh, c.ow] * self.weight[c.kh, c.kw])


# --- The flipped filter ---------------------------------------------------------------------------------------


class InputGradientPicture(Picture):
    """The flipped filter on the upstream gradient with zeros between and around, and the same as divisions.

    `grad_input` (N, Ci, H, W) is what a kernel returned for `weight` (Co, Ci, kH, kW) and `grad_output`
    (N, Co, oH, oW). `letters` names the weights a, b, c, ... and the upstream gradients G, H, I, ... and leaves out
    the divisions, of which stride 1 without padding needs none.
    """

    def __init__(self, shape: ConvShape, weight, grad_output, grad_input, letters: bool = False) -> None:
        if letters and max(prod(shape.weight[2:]) - 6, prod(shape.output[2:])) > 20:
            raise ValueError(f"letters = True: {shape.weight} and {shape.output} are more than 26 and 20 letters")
        self.shape, self.letters = shape, letters
        self.weight, self.grad_output, self.grad_input = weight, grad_output, grad_input
        super().__init__()

    def show(self, ih: int, iw: int, co: int = 0, ci: int = 0, n: int = 0) -> "InputGradientPicture":
        """Move to pixel [n, ci, ih, iw], and look at output channel co."""
        if self.starts(co, ci, n):
            self._draw_grids(co, ci, n)
            self.stands_still()
        s = self.shape
        gathered = indices.contributions_to_pixel(s, ih, iw)
        window = [(ih + i, iw + j) for i, j in np.ndindex(s.kernel_h, s.kernel_w)]
        corner = ih + s.kernel_h - 1, iw + s.kernel_w - 1  # where the flipped filter has its weight [0, 0]
        weights = {(corner[0] - c.kh, corner[1] - c.kw): self.weight[co, ci, c.kh, c.kw] for c in gathered}
        self.upstream.window(window, weights)
        self.result.mark([(ih, iw)], BLUE)
        if not self.letters:
            self._draw_divisions(ih, iw)
        products = [[prod(self._factors(c, channel, ci, n)) for c in gathered] for channel in range(s.out_channels)]
        terms, returned = [self._term(c, co, ci, n) for c in gathered], self.grad_input[n, ci, ih, iw]
        earlier = sum(map(sum, products[:co]))
        columns = [(f"co < {co}", "", number(earlier))] * (co > 0) + running_sum(terms, products[co], earlier)
        of = "its terms" if s.out_channels == 1 else "all channels"
        total = conclusion(self, columns, sum(map(sum, products)), returned, of)
        pixel = f"grad_input[{n},{ci},{ih},{iw}]"
        verdict = f"Its terms add up to {total}; the GPU returned {number(returned)}."
        self.sentence = f"{self._contributors(gathered, pixel, co)} {verdict}"
        if self.letters:
            added = f"dX[{ih},{iw}] = {' + '.join(terms)} = {total}"
            self.sentence = f"{added}: {self._where(gathered)}. The GPU returned {number(returned)}."
        return self

    def _draw_grids(self, co: int, ci: int, n: int) -> None:
        s = self.shape
        rows, held = s.in_h + s.kernel_h - 1, self._spread(n, co)
        height = min(54, 270 / rows) if self.letters else min(54, 270 / rows, 172 / max(s.in_h, s.kernel_h))
        flipped = self.weight[co, ci, ::-1, ::-1]
        around = " with zeros" if s.kernel_h * s.kernel_w * s.stride_h > 1 else ""
        matrices = (
            (held, f"grad_output{around}", f"n = {n}, co = {co}", ORANGE, "bold", True, not self.letters),
            (flipped, "weight, flipped", f"co = {co}, ci = {ci}", INK, "normal", False, not self.letters),
            (self.grad_input[n, ci], "grad_input", f"n = {n}, ci = {ci}", BLUE),
        )
        bottom = 6 + 46 + rows * height
        self.upstream, self.filter, self.result = side_by_side(self, matrices, "★=", 6, bottom)
        self._draw_holes(held)
        if self.letters:
            names = iter(ascii_uppercase[6:])
            self._name(self.upstream, ["" if np.isnan(v) else next(names) for v in held.flat], ORANGE, 0.29)
            letters = ascii_lowercase[: s.kernel_h * s.kernel_w]
            self._name(self.filter, letters[::-1], INK)
            size = self.filter.width, 34
            before = Grid(self, self.weight[co, ci], self.filter.x, 228, size, "weight", numbers=False)
            self._name(before, letters, INK)
            self.write(self.result.x - 34, 296, "★ correlation: slide, multiply, add", 13, GRAY)

    def _name(self, grid: Grid, names: Sequence[str], color: str, line: float = 0.5) -> None:
        """Letter and number of each cell side by side, at that part of its height; no name is a cell without both."""
        cells = zip(grid.boxes, names, grid.values.flat, strict=True)
        held = [(box.x, box.y + line * box.height, *each) for box, *each in cells]
        self.words((Word(x + 11, y, name, 13) for x, y, name, _ in held if name), GRAY)
        numbers = (Word(x + grid.width - 6, y, number(v), 14, "right") for x, y, name, v in held if name)
        self.words(numbers, color, "bold" if color == ORANGE else "normal")

    def _spread(self, n: int, co: int) -> np.ndarray:
        """The upstream gradients where the flipped filter reads them, (H + kH - 1, W + kW - 1); nan is a zero."""
        s = self.shape
        spread = np.full((s.padded("h") + s.kernel_h - 1, s.padded("w") + s.kernel_w - 1), np.nan)
        places = spread[s.kernel_h - 1 :: s.stride_h, s.kernel_w - 1 :: s.stride_w]
        places[: s.out_h, : s.out_w] = self.grad_output[n, co]
        rows, columns = s.in_h + s.kernel_h - 1, s.in_w + s.kernel_w - 1
        return spread[s.padding_h : s.padding_h + rows, s.padding_w : s.padding_w + columns]

    def _draw_holes(self, held: np.ndarray) -> None:
        """A small 0 in each place between upstream gradients, where the stride leaves a hole."""
        places = np.argwhere(~np.isnan(held))
        if self.shape.stride_h == 1 or not len(places):
            return
        (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0)
        inner = [(i, j) for i, j in np.argwhere(np.isnan(held)) if top <= i <= bottom and left <= j <= right]
        self.boxes((self.upstream.box(*cell) for cell in inner), LINE, tint(GRAY, 1 / 8), 0.8)

    def _draw_divisions(self, ih: int, iw: int) -> None:
        s, left = self.shape, self.filter.x
        sizes = (
            ("h", ih, s.padding_h, s.kernel_h, s.out_h, left),
            ("w", iw, s.padding_w, s.kernel_w, s.out_w, (left + self.width - MARGIN) / 2 + 8),
        )
        for axis, i, padding, weights, outputs, x in sizes:
            self.write(x, 236, f"i{axis} + P − k{axis} = {i + padding} − k{axis}", 13, weight="bold")
            for line, k in enumerate(reversed(range(weights))):
                text, found = self._division(axis, k, i + padding - k, outputs)
                color, weight = (ORANGE, "bold") if found else (GRAY, "normal")
                self.write(x, 254 + 16.5 * line, f"k{axis} = {k}:  {text}", 12.5, color, weight)

    def _division(self, axis: str, k: int, position: int, outputs: int) -> tuple[str, bool]:
        """One line of the table: which output the weight k belongs to, or why it belongs to none."""
        output, rest = divmod(position, self.shape.stride_h)
        if position < 0:
            return f"{number(position)} is below 0", False
        if rest:
            return f"{position} = {self.shape.stride_h}·{output} + {rest}, a hole", False
        if output >= outputs:
            return f"{position} = {self.shape.stride_h}·{output}, but o{axis} < {outputs}", False
        return f"{position} = {self.shape.stride_h}·{output}, so o{axis} = {output}", True

    def _factors(self, c: Gathered, co: int, ci: int, n: int) -> tuple[float, float]:
        return float(self.grad_output[n, co, c.oh, c.ow]), float(self.weight[co, ci, c.kh, c.kw])

    def _term(self, c: Gathered, co: int, ci: int, n: int) -> str:
        if self.letters:
            output, tap = c.oh * self.shape.out_w + c.ow, c.kh * self.shape.kernel_w + c.kw
            return f"{ascii_uppercase[6 + output]}·{ascii_lowercase[tap]}"
        return product_text(*self._factors(c, co, ci, n))

    def _where(self, gathered: list[Gathered]) -> str:
        rows, columns = ({c.oh for c in gathered}, {c.ow for c in gathered})
        return f"output {in_words('row', rows)}, {in_words('column', columns)}"

    def _contributors(self, gathered: list[Gathered], pixel: str, co: int) -> str:
        if not gathered:
            return f"No output has the pixel in its window, so nothing contributes to {pixel}."
        each = " of each channel" * (self.shape.out_channels > 1)
        outputs = f"{len(gathered)} outputs{each} contribute" if len(gathered) > 1 else f"1 output{each} contributes"
        return f"{outputs} to {pixel}: {self._where(gathered)}."


# --- How many outputs each pixel touches ----------------------------------------------------------------------


class PixelCountsPicture(Picture):
    """In how many windows each pixel lies: the counts of its row and of its column, multiplied."""

    def show(self, shape: ConvShape) -> "PixelCountsPicture":
        """Count for other sizes; the image may have up to 7 x 9 pixels."""
        self.starts()
        counts = np.array([len(indices.contributions_to_pixel(shape, *pixel)) for pixel in np.ndindex(shape.input[2:])])
        counts = counts.reshape(shape.input[2:])
        rows, columns = (self._along(shape, axis) for axis in (0, 1))
        grid = Grid(self, counts, 92, 92, (46, 44))
        self.write(MARGIN, 18, "in how many windows each pixel lies", 17, weight="bold")
        self.write(92, 46, "rows of windows (left) × columns of windows (above)", 13, GRAY)
        self.words((Word(grid.box(0, i).middle[0], 72, f"×{count}", 15) for i, count in enumerate(columns)), GRAY)
        self.words((Word(80, grid.box(i, 0).middle[1], str(count), 15, "right") for i, count in enumerate(rows)), GRAY)
        for count in np.unique(counts[counts > 0]):
            cells = [grid.box(*cell) for cell in np.argwhere(counts == count)]
            self.boxes(cells, LINE, tint(BLUE, 0.45 * count / counts.max()))
        self._sum_up(shape, counts)
        return self

    def _along(self, shape: ConvShape, axis: int) -> list[int]:
        """In how many window rows (axis 0) or window columns (axis 1) each row or column of pixels lies."""
        letter = "hw"[axis]
        padding, weights, outputs = (getattr(shape, f"{name}_{letter}") for name in ("padding", "kernel", "out"))
        return [
            sum(indices.output_of(i + padding - k, shape.stride_h, outputs) is not None for k in range(weights))
            for i in range(shape.input[2 + axis])
        ]

    def _sum_up(self, shape: ConvShape, counts: np.ndarray) -> None:
        middle = shape.in_h // 2, shape.in_w // 2
        named = {"corner": (0, 0), "edge": (0, middle[1]), "center": middle}
        for i, (name, pixel) in enumerate(named.items()):
            self.write(540, 106 + 24 * i, f"{name} [{pixel[0]},{pixel[1]}]", 15)
            self.write(690, 106 + 24 * i, str(counts[pixel]), 15, BLUE, "bold")
        products, windows = int(counts.sum()), shape.out_h * shape.out_w
        weights = shape.kernel_h * shape.kernel_w
        lines = [
            f"{windows} outputs × {weights} weights = {windows * weights}",
            f"of these, {windows * weights - products} lie in the padding",
            f"the counts add up to {products}",
        ]
        self.words(Word(540, 210 + 24 * i, line, 14, "left") for i, line in enumerate(lines))
        corner, edge, center = (counts[pixel] for pixel in named.values())
        places = f"The corner pixel lies in {_windows(corner)}, the middle of the top edge in {_windows(edge)}"
        untouched = int((counts == 0).sum())
        rest = f" {untouched} {'pixels lie' if untouched > 1 else 'pixel lies'} in none, so the gradient there is 0."
        self.sentence = f"{places}, the center in {_windows(center)}.{rest * (untouched > 0)}"


def _windows(count: int) -> str:
    return ("no window", "1 window")[count] if count < 2 else f"{count} windows"
