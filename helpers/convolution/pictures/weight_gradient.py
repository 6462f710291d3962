"""Pictures of a convolution's weight gradient: what contributes to a weight, and how threads share the work."""

from math import prod
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Contribution, input_channels_of
from helpers.convolution.pictures.groups import channel_note, channel_words, draw_group
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Picture, in_words, number, tint
from helpers.pictures.parts import MARGIN, Grid, conclusion, product_text, running_sum, side_by_side


class WeightGradientPicture(Picture):
    """Which inputs contribute to one weight: the upstream gradient laid over the input, and the sum that they make.

    `grad_weight` (Co, Ci, kH, kW) is what a kernel returned for `input` (N, Ci, H, W) and `grad_output`
    (N, Co, oH, oW); the picture sets its own sum beside it. `letters` names the input's pixels a, b, c, ... and the
    upstream gradient's G, H, I, ... (room for 26 and 20).
    """

    def __init__(self, shape: ConvShape, input, grad_output, grad_weight, letters: bool = False) -> None:
        if letters and (shape.in_h * shape.in_w > 26 or shape.out_h * shape.out_w > 20):
            raise ValueError(f"letters = True: {shape.input} and {shape.output} are more than 26 and 20 letters")
        self.shape, self.letters = shape, letters
        self.input, self.grad_output, self.grad_weight = input, grad_output, grad_weight
        super().__init__()

    def show(self, kh: int, kw: int, co: int = 0, ci: int = 0, n: int = 0) -> "WeightGradientPicture":
        """Move to weight [co, ci, kh, kw] and image n."""
        if self.starts(co, ci, n):
            self._draw_grids(co, ci, n)
            self.stands_still()
        contributions = indices.contributions_to_weight(self.shape, kh, kw)
        here = [c for c in contributions if c.n == n]
        self._draw_window(here, kh, kw, co)
        self.weight_grid.mark([(kh, kw)], BLUE)
        every = {c: prod(self._factors(c, co, ci)) for c in contributions}
        earlier, later = (sum(p for c, p in every.items() if (c.n - n) * side > 0) for side in (-1, 1))
        terms, returned = [self._term(c, co, ci) for c in here], self.grad_weight[co, ci, kh, kw]
        columns = running_sum(terms, [every[c] for c in here], earlier)
        columns = [(f"n < {n}", "", number(earlier))] * (n > 0) + columns
        columns += [(f"n > {n}", number(later), number(sum(every.values())))] * (n + 1 < self.shape.batch)
        of = "its terms" if self.shape.batch == 1 else "all images"
        total = conclusion(self, columns, sum(every.values()), returned, of)
        verdict = f"Its terms add up to {total}; the GPU returned {number(returned)}."
        self.sentence = f"{self._contributors(here, len(every), (co, ci, kh, kw), n)} {verdict}"
        if self.letters:
            where = f"input {self._where(here)}. The GPU returned {number(returned)}."
            self.sentence = f"dW[{kh},{kw}] = {' + '.join(terms)} = {total}: {where}"
        return self

    def _draw_grids(self, co: int, ci: int, n: int) -> None:
        s, image = self.shape, self.input[n, input_channels_of(self.shape, co)[ci]]
        padded = np.pad(image, ((s.padding_h,) * 2, (s.padding_w,) * 2), constant_values=np.nan)
        matrices = (
            (padded, "input", f"n = {n}, {channel_note(s, co, ci)}", INK, "normal", True),
            (self.grad_output[n, co], "grad_output", f"n = {n}, co = {co}", ORANGE, "bold"),
            (self.grad_weight[co, ci], "grad_weight", f"co = {co}, ci = {ci}", BLUE),
        )
        self.input_grid, output_grid, self.weight_grid = side_by_side(self, matrices, "★=", 6, self.height - 110)
        self.write(MARGIN, self.height - 98, "★ correlation: slide, multiply, add", 13, GRAY)
        draw_group(self, s, co)
        if self.letters:
            self.input_grid.letters(ascii_lowercase, GRAY)
            output_grid.letters(ascii_uppercase[6:], ORANGE)

    def _draw_window(self, here: list[Contribution], kh: int, kw: int, co: int) -> None:
        s = self.shape
        cells = {(c.ih + s.padding_h, c.iw + s.padding_w): self.grad_output[c.n, co, c.oh, c.ow] for c in here}
        top, left = kh * s.dilation_h, kw * s.dilation_w
        window = [(top + oh * s.stride_h, left + ow * s.stride_w) for oh, ow in np.ndindex(s.out_h, s.out_w)]
        self.input_grid.window(window, cells)

    def _factors(self, c: Contribution, co: int, ci: int) -> tuple[float, float]:
        channel = input_channels_of(self.shape, co)[ci]
        return float(self.grad_output[c.n, co, c.oh, c.ow]), float(self.input[c.n, channel, c.ih, c.iw])

    def _term(self, c: Contribution, co: int, ci: int) -> str:
        if self.letters:
            factor, pixel = c.oh * self.shape.out_w + c.ow, c.ih * self.shape.in_w + c.iw
            return f"{ascii_uppercase[6 + factor]}·{ascii_lowercase[pixel]}"
        return product_text(*self._factors(c, co, ci))

    def _where(self, here: list[Contribution]) -> str:
        return f"{in_words('row', {c.ih for c in here})}, {in_words('column', {c.iw for c in here})}"

    def _contributors(self, here: list[Contribution], count: int, place: tuple[int, ...], n: int) -> str:
        image, weight = f"image {n}", f"grad_weight[{','.join(map(str, place))}]"
        if self.shape.groups > 1:
            image += f", {channel_words(self.shape, *place[:2])},"
        if not here:
            return f"No pixel of {image} contributes to {weight}: only padding lies there."
        pixels = f"{len(here)} pixels of {image} contribute" if len(here) > 1 else f"1 pixel of {image} contributes"
        others = f" ({count} in the whole batch)" * (self.shape.batch > 1)
        return f"{pixels} to {weight}: {self._where(here)}{others}."


# --- How threads share the work -------------------------------------------------------------------------------


class ThreadsPicture(Picture):
    """The first workgroup of 256 threads beside the weights that they own, one each."""

    def __init__(self, shape: ConvShape) -> None:
        self.shape, count = shape, prod(shape.weight)
        super().__init__(436)
        self.starts()
        self.write(MARGIN, 18, "workgroup 0: 256 threads", 17, weight="bold")
        self.write(352, 18, "the weights, each with its thread", 17, BLUE, "bold")
        numbers = np.where(np.arange(256) < count, np.arange(256), np.nan).reshape(16, 16)
        self.threads = Grid(self, numbers, 52, 40, (17, 22), numbers=False)
        for row, box in enumerate(self.threads.boxes[::16]):
            self.write(46, box.middle[1], str(16 * row), 13, GRAY, align="right")
        filters = np.arange(count).reshape(-1, *shape.weight[2:])
        self.filters = [self._filter(i, owners) for i, owners in enumerate(filters) if owners.max() < 256]
        owned = [box for grid in self.filters for box in grid.boxes]
        self.boxes(self.threads.boxes[:count] + owned, LINE, tint(BLUE))
        self.stands_still()

    def _filter(self, i: int, owners: np.ndarray) -> Grid:
        """The grid of one pair of channels, three such grids in a row."""
        (row, column), (co, ci) = divmod(i, 3), divmod(i, self.shape.in_channels)
        place = 352 + column * (29 * owners.shape[1] + 19), 72 + row * (24 * owners.shape[0] + 44)
        return Grid(self, owners, *place, (29, 24), note=f"grad_weight[{co},{ci}]")

    def show(self, thread: int) -> "ThreadsPicture":
        """Point at one thread and at its weight."""
        self.starts()
        s, owned = self.shape, indices.weight_of_thread(self.shape, thread)
        self.threads.mark([divmod(thread, 16)])
        self.write(52, 414, f"thread {thread}{' owns no weight' * (not owned)}", 17, ORANGE, "bold")
        self.sentence = f"Thread {thread} owns nothing: there are {prod(s.weight)} weights, so it returns at once."
        if owned:
            co, ci, kh, kw = owned
            if co * s.in_channels + ci < len(self.filters):
                self.filters[co * s.in_channels + ci].mark([(kh, kw)])
            code = f"because {thread} = (({co}·{s.in_channels} + {ci})·{s.kernel_h} + {kh})·{s.kernel_w} + {kw}"
            loop = f"It sums {s.batch}·{s.out_h}·{s.out_w} = {s.batch * s.out_h * s.out_w} products alone."
            self.sentence = f"Thread {thread} owns grad_weight[{co},{ci},{kh},{kw}], {code}. {loop}"
        return self


class SharedProductsPicture(Picture):
    """The products of one weight, one cell each, and the few that one of many threads takes."""

    def __init__(self, shape: ConvShape, threads: int) -> None:
        self.shape, self.threads, self.count = shape, threads, shape.batch * shape.out_h * shape.out_w
        rows, cell = shape.batch * shape.out_h, 368 / shape.out_w
        super().__init__(int(56 + rows * cell))
        self.starts()
        self.write(MARGIN, 18, f"the {self.count} products of one weight, in loop order", 17, weight="bold")
        self.cells = Grid(self, np.zeros((rows, shape.out_w)), MARGIN, 40, (cell, cell), numbers=False).boxes
        self.rounds = [range(self.count)[first : first + threads] for first in range(0, self.count, threads)]
        for i, taken in enumerate(self.rounds):
            self.boxes((self.cells[product] for product in taken), LINE, tint(BLUE, (1 + 2 * (i % 2)) / 16))
            note = f"round {i}: {in_words('thread', range(len(taken)))} take {in_words('product', taken)}"
            self.write(404, self._middle(taken) - 12, note, 15, BLUE)
        self.stands_still()

    def show(self, thread: int) -> "SharedProductsPicture":
        """Point at the products of one thread."""
        self.starts()
        mine = indices.products_of_thread(self.shape, thread, self.threads)
        self.boxes((self.cells[product] for product in mine), ORANGE, tint(ORANGE, 7 / 16), 4)
        for taken, product in zip(self.rounds, mine, strict=False):
            self.write(404, self._middle(taken) + 12, f"thread {thread} takes product {product}", 15, ORANGE, "bold")
        outputs = ", at (oh, ow) = " * bool(mine) + ", ".join(str(divmod(i, self.shape.out_w)) for i in mine)
        share = f"takes {in_words('product', mine)}{outputs}: {len(mine)} of {self.count}."
        access = "In each round, neighboring threads read neighboring addresses: their access is coalesced."
        self.sentence = f"Thread {thread} of {self.threads} {share} {access}"
        return self

    def _middle(self, taken: range) -> float:
        return self.cells[(taken[0] + taken[-1]) // 2].middle[1]
