"""Pictures of a convolution's input gradient: the flipped filter, and counts."""

from collections.abc import Sequence
from math import prod
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Gathered, output_channels_of
from helpers.convolution.pictures.groups import draw_group, group_of
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Picture, Word, in_words, number, tint
from helpers.pictures.parts import MARGIN, Grid, conclusion, product_text, running_sum, side_by_side


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
        down, right = s.dilation
        window = [(ih + i * down, iw + j * right) for i, j in np.ndindex(s.kernel_h, s.kernel_w)]
        bottom, end = window[-1]  # where the flipped filter has its weight [0, 0]
        own = ci % s.weight[1]  # the channel's place within its group
        weights = {(bottom - c.kh * down, end - c.kw * right): self.weight[co, own, c.kh, c.kw] for c in gathered}
        self.upstream.window(window, weights)
        self.result.mark([(ih, iw)], BLUE)
        if not self.letters:
            self._draw_divisions(ih, iw)
        returned = self.grad_input[n, ci, ih, iw]
        total = self._draw_sum(gathered, co, ci, n, returned)
        pixel = f"grad_input[{n},{ci},{ih},{iw}]"
        verdict = f"Its terms add up to {total}; the GPU returned {number(returned)}."
        self.sentence = f"{self._contributors(gathered, pixel, ci)} {verdict}"
        if self.letters:
            added = f"dX[{ih},{iw}] = {' + '.join(self._term(c, co, ci, n) for c in gathered)} = {total}"
            self.sentence = f"{added}: {self._where(gathered)}. The GPU returned {number(returned)}."
        return self

    def _draw_sum(self, gathered: list[Gathered], co: int, ci: int, n: int, returned: float) -> str:
        """The table of the terms of channel co, between the others of its group; returns the whole sum."""
        channels = output_channels_of(self.shape, ci)
        sums = {each: [prod(self._factors(c, each, ci, n)) for c in gathered] for each in channels}
        before, after = (sum(sum(sums[each]) for each in channels if (each - co) * side > 0) for side in (-1, 1))
        total = before + sum(sums[co]) + after
        columns = running_sum([self._term(c, co, ci, n) for c in gathered], sums[co], before)
        columns = [(f"co < {co}", "", number(before))] * (co > channels[0]) + columns
        columns += [(f"co > {co}", number(after), number(total))] * (co < channels[-1])
        of = "its terms" if len(channels) == 1 else "its channels" if self.shape.groups > 1 else "all channels"
        return conclusion(self, columns, total, returned, of)

    def _draw_grids(self, co: int, ci: int, n: int) -> None:
        s, own = self.shape, ci % self.shape.weight[1]
        rows, held = s.in_h + s.span("h") - 1, self._spread(n, co)
        height = min(54, 270 / rows) if self.letters else min(54, 270 / rows, 172 / max(s.in_h, s.kernel_h))
        flipped = self.weight[co, own, ::-1, ::-1]
        channel = f"ci = {ci}" + f" − {ci - own}" * (s.groups > 1)
        around = " with zeros" if s.kernel_h * s.kernel_w * s.stride_h > 1 else ""
        matrices = (
            (held, f"grad_output{around}", f"n = {n}, co = {co}", ORANGE, "bold", True, not self.letters),
            (flipped, "weight, flipped", f"co = {co}, {channel}", INK, "normal", False, not self.letters),
            (self.grad_input[n, ci], "grad_input", f"n = {n}, ci = {ci}", BLUE),
        )
        bottom = 6 + 46 + rows * height
        self.upstream, self.filter, self.result = side_by_side(self, matrices, "★=", 6, bottom)
        self._draw_holes(held)
        draw_group(self, s, co)
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
        """The upstream gradients where the flipped filter reads them; nan is a zero.

        Zeros surround them, as many as the dilated filter has rows and columns, but for one: (H + span - 1, ...).
        """
        s, around, beside = self.shape, self.shape.span("h") - 1, self.shape.span("w") - 1
        spread = np.full((s.padded("h") + around, s.padded("w") + beside), np.nan)
        places = spread[around :: s.stride_h, beside :: s.stride_w]
        places[: s.out_h, : s.out_w] = self.grad_output[n, co]
        rows, columns = s.in_h + around, s.in_w + beside
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
            ("h", ih + s.padding_h, s.kernel_h, s.dilation_h, s.out_h, left),
            ("w", iw + s.padding_w, s.kernel_w, s.dilation_w, s.out_w, (left + self.width - MARGIN) / 2 + 8),
        )
        for axis, position, weights, dilation, outputs, x in sizes:
            times, factor = ("·D", f"·{dilation}") if dilation > 1 else ("", "")
            self.write(x, 236, f"i{axis} + P − k{axis}{times} = {position} − k{axis}{factor}", 13, weight="bold")
            for line, k in enumerate(reversed(range(weights))):
                text, found = self._division(axis, position - k * dilation, outputs)
                color, weight = (ORANGE, "bold") if found else (GRAY, "normal")
                self.write(x, 254 + 16.5 * line, f"k{axis} = {k}:  {text}", 12.5, color, weight)

    def _division(self, axis: str, position: int, outputs: int) -> tuple[str, bool]:
        """One line of the table: which output a weight belongs to, or why it belongs to none."""
        output, rest = divmod(position, self.shape.stride_h)
        if position < 0:
            return f"{number(position)} is below 0", False
        if rest:
            return f"{position} = {self.shape.stride_h}·{output} + {rest}, a hole", False
        if output >= outputs:
            return f"{position} = {self.shape.stride_h}·{output}, but o{axis} < {outputs}", False
        return f"{position} = {self.shape.stride_h}·{output}, so o{axis} = {output}", True

    def _factors(self, c: Gathered, co: int, ci: int, n: int) -> tuple[float, float]:
        weight = self.weight[co, ci % self.shape.weight[1], c.kh, c.kw]
        return float(self.grad_output[n, co, c.oh, c.ow]), float(weight)

    def _term(self, c: Gathered, co: int, ci: int, n: int) -> str:
        if self.letters:
            output, tap = c.oh * self.shape.out_w + c.ow, c.kh * self.shape.kernel_w + c.kw
            return f"{ascii_uppercase[6 + output]}·{ascii_lowercase[tap]}"
        return product_text(*self._factors(c, co, ci, n))

    def _channels(self, ci: int) -> str:
        """The output channels that read input channel ci."""
        channels = output_channels_of(self.shape, ci)
        if self.shape.groups == 1:
            return "each channel"
        each = "each of " * (len(channels) > 1)
        return f"{each}{in_words('channel', channels)} (group {group_of(self.shape, channels[0])})"

    def _where(self, gathered: list[Gathered]) -> str:
        rows, columns = ({c.oh for c in gathered}, {c.ow for c in gathered})
        return f"output {in_words('row', rows)}, {in_words('column', columns)}"

    def _contributors(self, gathered: list[Gathered], pixel: str, ci: int) -> str:
        if not gathered:
            where = "under a weight" if max(self.shape.dilation) > 1 else "in its window"
            return f"No output has the pixel {where}, so nothing contributes to {pixel}."
        each = f" of {self._channels(ci)}" * (self.shape.out_channels > 1)
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
