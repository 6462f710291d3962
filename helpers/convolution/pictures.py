"""The picture of a weight gradient: the input, the upstream gradient laid over it, and the weight they make."""

from functools import partial
from string import ascii_lowercase, ascii_uppercase

import numpy as np

from helpers.convolution.indices import Contribution, contributions_to_weight
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Picture, Word, in_words, number, tint

WIDTH, HEIGHT = 960, 460
TOP, TABLE = 56, 372  # where the grids begin, and where the list of terms begins
COLUMNS = 9  # terms that fit in the list
SIGNS = 46  # room for the sign between two grids


class WeightGradientPicture(Picture):
    """Which inputs one weight met, and what came of it.

    Parameters
    ----------
    shape : ConvShape
    input : array (N, Ci, H, W)
    grad_output : array (N, Co, oH, oW)
    grad_weight : array (Co, Ci, kH, kW)
        What a kernel returned for them; the picture sets its own sum beside it.
    letters : bool
        Name the input's pixels a, b, c, ... and the upstream gradient's G, H, I, ... (room for 26 and 20).
    """

    def __init__(self, shape: ConvShape, input, grad_output, grad_weight, letters: bool = False) -> None:
        self.shape, self.input, self.grad_output, self.grad_weight = shape, input, grad_output, grad_weight
        if letters and (shape.in_h * shape.in_w > 26 or shape.out_h * shape.out_w > 20):
            raise ValueError(f"letters = True: {shape.input} and {shape.output} are more than 26 and 20 letters")
        self.letters = letters
        self.drawn = None
        super().__init__(WIDTH, HEIGHT)

    def show(self, kh: int, kw: int, co: int = 0, ci: int = 0, n: int = 0) -> "WeightGradientPicture":
        """Move to weight [co, ci, kh, kw] and image n."""
        if self.drawn != (co, ci, n):
            self._draw_still(co, ci, n)
            self.drawn = co, ci, n
        self._move(kh, kw, co, ci, n)
        return self

    # --- What stands still --------------------------------------------------------------------------------

    def _draw_still(self, co: int, ci: int, n: int) -> None:
        self.clear()
        s = self.shape
        tallest = max(s.padded("h"), s.out_h, s.kernel_h)
        widths = s.padded("w"), s.out_w, s.kernel_w
        sizes = (cell for cell in range(62, 0, -1) if tallest * cell <= TABLE - TOP - 20)
        self.cell = next(cell for cell in sizes if sum(self._columns(widths, cell)) <= WIDTH - 30)
        lefts = np.cumsum([20, *self._columns(widths, self.cell)])
        self.left = dict(zip(("input", "output", "weight"), lefts.tolist(), strict=False))
        self._draw_padding()
        input_left, input_top = self._input_corner()
        self.grid(input_left, input_top, self.cell, self.input[n, ci], INK)
        self.grid(self.left["output"], TOP, self.cell, self.grad_output[n, co], ORANGE, weight="bold")
        self.grid(self.left["weight"], TOP, self.cell, self.grad_weight[co, ci], BLUE)
        if self.letters:
            self._draw_letters(input_left, input_top)
        self._draw_titles(co, ci, n)
        self._make_moving_parts()

    @staticmethod
    def _columns(widths: tuple[int, int, int], cell: int) -> list[float]:
        """CSS pixels from the left of each grid to the next, with room for the words beside it."""
        inner = [max(width * cell, 170) + SIGNS for width in widths[:2]]
        return [*inner, max(widths[2] * cell, 190)]

    def _input_corner(self) -> tuple[float, float]:
        s = self.shape
        return self.left["input"] + s.padding_w * self.cell, TOP + s.padding_h * self.cell

    def _draw_padding(self) -> None:
        s, cell = self.shape, self.cell
        if s.padding_h or s.padding_w:
            corners = np.ndindex(s.padded("h"), s.padded("w"))
            boxes = [Box(self.left["input"] + column * cell, TOP + row * cell, cell, cell) for row, column in corners]
            self.boxes(boxes, LINE, line=0.8, dashes=(0, (2, 3)))

    def _draw_letters(self, left: float, top: float) -> None:
        self._name_cells(left, top, self.input.shape[2:], ascii_lowercase, GRAY)
        self._name_cells(self.left["output"], TOP, self.grad_output.shape[2:], ascii_uppercase[6:], ORANGE)

    def _name_cells(self, left: float, top: float, size: tuple[int, int], names: str, color: str) -> None:
        corners = zip(names, np.ndindex(size), strict=False)
        places = [(left + (x + 0.16) * self.cell, top + (y + 0.17) * self.cell, name) for name, (y, x) in corners]
        self.words((Word(*place, 13) for place in places), color, style="italic")

    def _draw_titles(self, co: int, ci: int, n: int) -> None:
        s = self.shape
        names = (f"input[{n},{ci}]", f"grad_output[{n},{co}]", f"grad_weight[{co},{ci}]")
        for left, name, color in zip(self.left.values(), names, (INK, ORANGE, BLUE), strict=True):
            self.words([Word(left, 22, name, 17, "left")], color, weight="bold")
        signs = ("output", s.out_h, "\N{STAR OPERATOR}", 44), ("weight", s.kernel_h, "=", 26)
        heights = [
            (self.left[part] - SIGNS / 2, TOP + rows * self.cell / 2, sign, size) for part, rows, sign, size in signs
        ]
        self.words((Word(*place) for place in heights), GRAY)
        labels = enumerate(("term", "product", "running sum"))
        self.words((Word(104, TABLE + 20 + 30 * row, label, 14, "right") for row, label in labels), GRAY)

    # --- What moves ---------------------------------------------------------------------------------------

    def _make_moving_parts(self) -> None:
        self.chips = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE), line=1.6))
        self.missed = self.moves(self.boxes(edge=ORANGE, line=1.6))
        self.factors = self.moves(self.words(color=ORANGE, weight="bold"))
        self.window = self.moves(self.boxes(edge=ORANGE, line=4))
        self.weight = self.moves(self.boxes(edge=BLUE, face=tint(BLUE), line=4))
        self.table = self.moves(self.words())
        self.verdict = self.moves(self.words(color=BLUE))

    def _move(self, kh: int, kw: int, co: int, ci: int, n: int) -> None:
        contributions = contributions_to_weight(self.shape, kh, kw)
        pairs = [(self.grad_output[m.n, co, m.oh, m.ow], self.input[m.n, ci, m.ih, m.iw]) for m in contributions]
        products = [float(factor) * float(pixel) for factor, pixel in pairs]
        here = [m for m in contributions if m.n == n]
        self._move_window(here, kh, kw, co, n)
        self.weight.put([Box(self.left["weight"] + kw * self.cell, TOP + kh * self.cell, self.cell, self.cell)])
        sums = [0.0, *np.cumsum(products).tolist()]
        first = sum(m.n < n for m in contributions)
        before = [(in_words("image", range(n)), "", number(sums[first]))] if n else []
        terms = zip(map(partial(self._term, co, ci), here), products[first:], sums[first + 1 :], strict=False)
        self._fill_table(before + [(term, number(product), number(total)) for term, product, total in terms])
        self._conclude(sums[-1], (co, ci, kh, kw))
        self.sentence = self._sentence(here, contributions, sums[-1], (co, ci, kh, kw), n)

    def _move_window(self, here: list[Contribution], kh: int, kw: int, co: int, n: int) -> None:
        s, cell = self.shape, self.cell
        left, top, step = self.left["input"] + kw * cell, TOP + kh * cell, s.stride * cell
        self.window.put([Box(left, top, (s.out_w - 1) * step + cell, (s.out_h - 1) * step + cell)])
        corners = {(oh, ow): (left + ow * step, top + oh * step) for oh, ow in np.ndindex(s.out_h, s.out_w)}
        met = {(m.oh, m.ow): self.grad_output[n, co, m.oh, m.ow] for m in here}
        self.chips.put(Box(*corners[place], cell, cell) for place in met)
        self.missed.put(Box(*corner, cell, cell) for place, corner in corners.items() if place not in met)
        near = {place: (x + cell * 0.94, y + cell * 0.84) for place, (x, y) in corners.items()}
        self.factors.put(
            Word(*near[place], "×" + number(factor), max(cell * 0.25, 9), "right") for place, factor in met.items()
        )

    def _fill_table(self, columns: list[tuple[str, str, str]]) -> None:
        if len(columns) > COLUMNS:
            columns = [*columns[: COLUMNS - 2], ("…", "…", "…"), columns[-1]]
        words = [
            (162 + 92 * i, TABLE + 20 + 30 * row, columns[i][row]) for i in range(len(columns)) for row in range(3)
        ]
        self.table.put(Word(x, y, word, 15) for x, y, word in words)

    def _conclude(self, total: int, index: tuple[int, int, int, int]) -> None:
        lines = f"sum of its terms: {number(total)}", f"the GPU returned: {number(self.grad_weight[index])}"
        top = TOP + self.shape.kernel_h * self.cell + 24
        self.verdict.put(Word(self.left["weight"], top + 24 * i, line, 15, "left") for i, line in enumerate(lines))

    def _term(self, co: int, ci: int, m: Contribution) -> str:
        if self.letters:
            factor, pixel = m.oh * self.shape.out_w + m.ow, m.ih * self.shape.in_w + m.iw
            return f"{ascii_uppercase[6 + factor]}·{ascii_lowercase[pixel]}"
        return f"{number(self.grad_output[m.n, co, m.oh, m.ow])}·{number(self.input[m.n, ci, m.ih, m.iw])}"

    def _sentence(
        self, here: list[Contribution], contributions: list[Contribution], total: int, index: tuple, n: int
    ) -> str:
        place = f"grad_weight[{','.join(map(str, index))}]"
        returned = number(self.grad_weight[index])
        verdict = f"Its terms add up to {number(total)}; the GPU returned {returned}."
        if not here:
            return f"{place} met only padding in image {n}. {verdict}"
        where = f"{in_words('row', {m.ih for m in here})}, {in_words('column', {m.iw for m in here})}"
        if self.letters:
            terms = " + ".join(self._term(*index[:2], m) for m in here)
            return f"dW[{index[2]},{index[3]}] = {terms} = {number(total)}: input {where}. The GPU returned {returned}."
        others = f" ({len(contributions)} in all)" if self.shape.batch > 1 else ""
        met = f"met {len(here)} pixel{'s' * (len(here) > 1)} of image {n}: {where}{others}"
        return f"{place} {met}. {verdict}"
