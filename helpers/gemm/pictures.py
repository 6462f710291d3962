"""Pictures of a fused layer's gradients: which row meets which column, and how long each part of a launch takes."""

from collections.abc import Sequence
from math import floor, log10, prod
from typing import NamedTuple

import numpy as np

from helpers.gemm.indices import Cell, GemmTerm, gemm_terms
from helpers.gemm.reference import derivative
from helpers.pictures.canvas import (
    BLUE,
    GRAY,
    INK,
    LINE,
    ORANGE,
    PAPER,
    Box,
    Line,
    Picture,
    Word,
    in_words,
    number,
    tint,
)

WIDTH, HEIGHT = 960, 460


def product_text(*factors: float) -> str:
    """A product in words, with parentheses around a negative factor that is not alone."""
    return "·".join(f"({number(f)})" if f < 0 and len(factors) > 1 else number(f) for f in factors)


# --- Which row meets which column ---------------------------------------------------------------------------


class Product(NamedTuple):
    """What one of the four products is called, what it multiplies, and how."""

    title: str
    left: str
    right: str | None
    result: str
    meets: str
    element: str  # one element as NumPy would say it


PRODUCTS = (
    Product(
        title="forward: pre = a @ b + bias",
        left="a",
        right="b",
        result="pre",
        meets="a row of a meets a column of b",
        element="pre[{row},{column}] = a[{row},:] · b[:,{column}] + bias[{column}]",
    ),
    Product(
        title="gradient of a: d_a = grad_pre @ bᵀ",
        left="grad_pre",
        right="b",
        result="d_a",
        meets="a row of grad_pre meets a row of b",
        element="d_a[{row},{column}] = grad_pre[{row},:] · b[{column},:]",
    ),
    Product(
        title="gradient of b: d_b = aᵀ @ grad_pre",
        left="a",
        right="grad_pre",
        result="d_b",
        meets="a column of a meets a column of grad_pre",
        element="d_b[{row},{column}] = a[:,{row}] · grad_pre[:,{column}]",
    ),
    Product(
        title="gradient of bias: d_bias = column sums of grad_pre",
        left="grad_pre",
        right=None,
        result="d_bias",
        meets="a column of grad_pre is added up",
        element="d_bias[{column}] = the sum of grad_pre[:,{column}]",
    ),
)


class GemmPicture(Picture):
    """The four products of a relu layer on a small example: what one element of the result met.

    Parameters
    ----------
    a, b, bias, grad : arrays (M, K), (K, N), (N) and (M, N)
        Small enough for the sheet: M and K up to 4, N up to 5.
    returned : mapping of str to array
        What the GPU returned: pre (M, N), d_a (M, K), d_b (K, N) and d_bias (N).

    Raises ValueError where the example is too large for the sheet.
    """

    TOP, TABLE, CELL, SIGNS = 84, 352, 48, 46

    def __init__(self, a, b, bias, grad, returned: dict[str, np.ndarray]) -> None:
        self.sizes = (*a.shape, b.shape[1])
        if any(size > most for size, most in zip(self.sizes, (4, 4, 5), strict=True)):
            raise ValueError(f"M, K, N = {self.sizes}: at most 4, 4 and 5 fit in the picture; take a smaller example")
        self.bias = bias
        grad_pre = grad * derivative(a @ b + bias, "relu")
        self.matrices = {"a": a, "b": b, "grad_pre": grad_pre}
        self.matrices |= {name: np.atleast_2d(values) for name, values in returned.items()}
        self.matrices = {name: values + 0.0 for name, values in self.matrices.items()}  # -0 would be drawn as such
        self.drawn = None
        super().__init__(WIDTH, HEIGHT)

    def show(self, product: int, row: int, column: int) -> "GemmPicture":
        """Move to one element of the result of one of the PRODUCTS."""
        if self.drawn != product:
            self._draw_still(PRODUCTS[product])
            self.drawn = product
        self._move(PRODUCTS[product], row, column)
        return self

    def size(self, product: int) -> tuple[int, int]:
        """Rows and columns of a product's result."""
        return self.matrices[PRODUCTS[product].result].shape

    # --- What stands still ----------------------------------------------------------------------------

    def _draw_still(self, p: Product) -> None:
        self.clear()
        self.words([Word(20, 20, p.title, 17, "left")], weight="bold")
        self.words([Word(WIDTH - 20, 20, p.meets, 14, "right")], GRAY)
        names = [name for name in (p.left, p.right, p.result) if name]
        widths = [max(self.matrices[name].shape[1] * self.CELL, 150) + self.SIGNS for name in names]
        self.left = dict(zip(names, np.cumsum([20, *widths]).tolist(), strict=False))
        for name in names:
            self._draw_matrix(name, BLUE if name == p.result else ORANGE if name == "grad_pre" else INK)
        middle = self.TOP + 1.5 * self.CELL
        signs = zip(names[1:], (("·", 52), ("=", 26)) if p.right else (("=", 26),), strict=True)
        self.words((Word(self.left[name] - self.SIGNS / 2, middle, sign, size) for name, (sign, size) in signs), GRAY)
        if p.result == "pre":
            self._draw_bias()
        labels = enumerate(("term", "product", "running sum"))
        self.words((Word(104, self.TABLE + 20 + 30 * row, label, 14, "right") for row, label in labels), GRAY)
        self._make_moving_parts()

    def _draw_matrix(self, name: str, color: str) -> None:
        left, rows = self.left[name], len(self.matrices[name])
        self.words([Word(left, 50, name, 16, "left")], color, weight="bold")
        weight = "bold" if name == "grad_pre" else "normal"
        self.grid(left, self.TOP, self.CELL, self.matrices[name], color, weight)
        if name == "grad_pre":
            below = self.TOP + rows * self.CELL + 16
            self.words([Word(left, below, "grad where pre > 0, else 0", 13, "left")], GRAY)

    def _draw_bias(self) -> None:
        left, top = self.left["b"], self._bias_top()
        self.grid(left, top, self.CELL, self.bias[None], INK)
        self.words([Word(left - 10, top + self.CELL / 2, "+ bias", 16, "right")], weight="bold")

    def _bias_top(self) -> float:
        return self.TOP + len(self.matrices["b"]) * self.CELL + 14

    # --- What moves -----------------------------------------------------------------------------------

    def _make_moving_parts(self) -> None:
        self.chips = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE), line=1.6))
        self.factors = self.moves(self.words(color=ORANGE, weight="bold"))
        self.outlines = self.moves(self.boxes(edge=ORANGE, line=4))
        self.element = self.moves(self.boxes(edge=BLUE, face=tint(BLUE), line=4))
        self.places = self.moves(self.words(color=GRAY))
        self.table = self.moves(self.words())
        self.verdict = self.moves(self.words(color=BLUE))

    def _move(self, p: Product, row: int, column: int) -> None:
        terms = gemm_terms(p.result, self.sizes, row, column)
        lefts, rights = [t.left for t in terms], [t.right for t in terms if t.right]
        met = [(p.left, lefts)] + ([(p.right, rights)] if p.right else [])
        chips = [self._box(name, cell) for name, cells in met for cell in cells]
        outlines = [_around(self._box(name, cells[0]), self._box(name, cells[-1])) for name, cells in met]
        if p.result == "pre":
            bias = Box(self.left["b"] + column * self.CELL, self._bias_top(), self.CELL, self.CELL)
            chips, outlines = [*chips, bias], [*outlines, bias]
        self.chips.put(chips)
        self.outlines.put(outlines)
        self.factors.put(self._factor(p, term) for term in terms if term.right)
        self.element.put([self._box(p.result, (row, column))])
        self.places.put(self._place(name, cells) for name, cells in [*met, (p.result, [(row, column)])])
        self._conclude(p, terms, row, column)

    def _conclude(self, p: Product, terms: list[GemmTerm], row: int, column: int) -> None:
        pairs = [
            [self._value(name, cell) for name, cell in zip((p.left, p.right), t, strict=True) if cell] for t in terms
        ]
        if p.result == "pre":
            pairs.append([float(self.bias[column])])
        texts = [product_text(*pair) for pair in pairs]
        products = [prod(pair) + 0.0 for pair in pairs]  # + 0.0: no minus zero
        sums = np.cumsum(products)
        rows = texts, map(number, products), map(number, sums)
        self.table.put(
            Word(162 + 92 * i, self.TABLE + 20 + 30 * line, word, 15)
            for line, words in enumerate(rows)
            for i, word in enumerate(words)
        )
        total, returned = number(sums[-1]), number(self._value(p.result, (row, column)))
        lines = f"sum of its terms: {total}", f"the GPU returned: {returned}"
        self.verdict.put(Word(740, self.TABLE + 50 + 30 * i, line, 15, "left") for i, line in enumerate(lines))
        element = p.element.format(row=row, column=column)
        told = " + ".join(
            f"({text})" if len(pair) == 1 and pair[0] < 0 else text for pair, text in zip(pairs, texts, strict=True)
        )
        self.sentence = f"{element} = {told} = {total}; the GPU returned {returned}."

    def _value(self, name: str, cell: Cell) -> float:
        return float(self.matrices[name][cell])

    def _factor(self, p: Product, term: GemmTerm) -> Word:
        box = self._box(p.left, term.left)
        text = "×" + number(self._value(p.right, term.right))
        return Word(box.x + self.CELL * 0.94, box.y + self.CELL * 0.83, text, 12, "right")

    def _place(self, name: str, cells: list[Cell]) -> Word:
        rows, columns = {row for row, _ in cells}, {column for _, column in cells}
        single = [in_words(word, found) for word, found in (("row", rows), ("column", columns)) if len(found) == 1]
        shape = self.matrices[name].shape[1:] if name == "d_bias" else self.matrices[name].shape
        where = single[-1:] if name == "d_bias" else single
        return Word(self.left[name], 71, f"{', '.join(where)} of {' × '.join(map(str, shape))}", 13, "left")

    def _box(self, name: str, cell: Cell) -> Box:
        return Box(self.left[name] + cell[1] * self.CELL, self.TOP + cell[0] * self.CELL, self.CELL, self.CELL)


def _around(first: Box, last: Box) -> Box:
    """The rectangle from one box to another, to its lower right."""
    return Box(first.x, first.y, last.x + last.width - first.x, last.y + last.height - first.y)


# --- One launch on a time axis ------------------------------------------------------------------------------

Span = tuple[str, float, float]  # name, start and duration in milliseconds


def timeline(spans: Sequence[Span], sentence: str) -> Picture:
    """The parts of one launch on a common time axis, a row for each, so that even the shortest can be read.

    Parameters
    ----------
    spans : sequence of (name, start in ms, duration in ms)
        One to twelve, in the order of the rows.
    sentence : str
        What the picture shows, in words made from the same spans.

    Raises ValueError for too few or too many spans, or for one that lasts less than nothing.
    """
    if not 1 <= len(spans) <= 12:
        raise ValueError(f"{len(spans)} spans: the picture has room for 1 to 12; leave out or join some")
    for name, _, lasts in spans:
        if lasts < 0:
            raise ValueError(
                f"span {name!r} lasts {lasts} ms: a duration is 0 or more; subtract the start from the end"
            )
    left = max(190, 34 + 8.5 * max(len(name) for name, _, _ in spans))  # room for the longest name
    right, top, row = 820, 52, 30
    begin, end = min(start for _, start, _ in spans), max(start + lasts for _, start, lasts in spans)
    scale = (right - left) / ((end - begin) or 1)
    bottom = top + row * len(spans)
    picture = Picture(WIDTH, bottom + 16)
    ticks = [(left + tick * scale, tick) for tick in _ticks(end - begin)]
    picture.lines((Line(x, top - 10, x, bottom) for x, _ in ticks), LINE, 0.8)
    picture.words((Word(x, 28, number(tick), 13) for x, tick in ticks), GRAY)
    picture.words([Word(left - 14, 28, "ms since the start", 13, "right")], GRAY)
    bars = [
        Box(left + (start - begin) * scale, top + i * row + 5, max(lasts * scale, 3), 20)
        for i, (_, start, lasts) in enumerate(spans)
    ]
    picture.boxes(bars, BLUE, tint(BLUE, 0.5), 1.5)
    picture.words(Word(left - 14, bar.y + 10, name, 14, "right") for bar, (name, _, _) in zip(bars, spans, strict=True))
    notes = [
        Word(bar.x + bar.width + 8, bar.y + 10, f"{_brief(lasts)} ms", 14, "left")
        for bar, (_, _, lasts) in zip(bars, spans, strict=True)
    ]
    picture.boxes((Box(note.x - 4, note.y - 8, 9 * len(note.text) + 6, 16) for note in notes), PAPER, PAPER)
    picture.words(notes, BLUE)
    picture.sentence = sentence
    return picture


def _brief(milliseconds: float) -> str:
    """As many digits as a measurement deserves, and never an exponent."""
    return f"{milliseconds:.{3 if milliseconds < 1 else 2 if milliseconds < 10 else 1}f}"


def _ticks(length: float) -> np.ndarray:
    """Round times from 0 to `length`: four to ten of them."""
    ten = 10.0 ** floor(log10(length or 1))
    step = next(ten * part for part in (0.1, 0.2, 0.25, 0.5, 1) if length / (ten * part) <= 10)
    return step * np.arange(floor(length / step) + 1)
