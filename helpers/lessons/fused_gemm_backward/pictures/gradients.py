"""The terms of one element: of a fused layer's product and of its three gradients."""

from math import prod
from typing import NamedTuple

import numpy as np

from helpers.operations.gemm import reference
from helpers.operations.gemm.indices import Cell, gemm_terms
from helpers.pictures.canvas import BLUE, INK, MARGIN, Picture, number
from helpers.pictures.parts import Grid, foot, product_text, running_sum, side_by_side


class Product(NamedTuple):
    """What one of the four products is called, what it multiplies, and its result."""

    title: str
    rule: str
    left: str
    right: str  # empty for a plain sum
    result: str
    element: str  # of the result, as NumPy would say it


PRODUCTS = (
    Product(
        "forward: pre = a @ b + bias",
        "a row of a times a column of b",
        "a",
        "b",
        "pre",
        "pre[{0},{1}] = a[{0},:] · b[:,{1}] + bias[{1}]",
    ),
    Product(
        "gradient of a: d_a = grad_pre @ bᵀ",
        "a row of grad_pre times a row of b",
        "grad_pre",
        "b",
        "d_a",
        "d_a[{0},{1}] = grad_pre[{0},:] · b[{1},:]",
    ),
    Product(
        "gradient of b: d_b = aᵀ @ grad_pre",
        "a column of a times a column of grad_pre",
        "a",
        "grad_pre",
        "d_b",
        "d_b[{0},{1}] = a[:,{0}] · grad_pre[:,{1}]",
    ),
    Product(
        "gradient of bias: d_bias = grad_pre.sum(0)",
        "the sum of a column of grad_pre",
        "grad_pre",
        "",
        "d_bias",
        "d_bias[{1}] = grad_pre[:,{1}].sum()",
    ),
)


class GradientsPicture(Picture):
    """The four products of a relu layer on a small example: the terms of one element of the result.

    a (M, K), b (K, N), bias (N) and grad (M, N) have M and K up to 4 and N up to 5; `returned` is what the GPU
    returned: pre (M, N), d_a (M, K), d_b (K, N) and d_bias (N).
    """

    def __init__(self, a, b, bias, grad, returned: dict[str, np.ndarray]) -> None:
        self.sizes = (*a.shape, b.shape[1])
        grad_pre = grad * reference.derivative(a @ b + bias, "relu")
        arrays = {"a": a, "b": b, "bias": bias, "grad_pre": grad_pre, **returned}
        self.matrices = {name: np.atleast_2d(values) for name, values in arrays.items()}
        super().__init__(424)

    def size(self, product: int) -> tuple[int, int]:
        """Rows and columns of a product's result."""
        return self.matrices[PRODUCTS[product].result].shape

    def draw(self, product: int, row: int, column: int, term: int = 0) -> str:
        """Move to one element of the result of one of the PRODUCTS, and to one of its terms, from 1 on."""
        p = PRODUCTS[product]
        if self.starts(product):
            self._draw_grids(p)
            self.stands_still()
        pairs = gemm_terms(p.result, self.sizes, row, column)
        terms = [[(name, cell) for name, cell in zip((p.left, p.right), pair, strict=True) if name] for pair in pairs]
        terms += [[("bias", (0, column))]] * (p.result == "pre")
        values = [[float(self.matrices[name][cell]) for name, cell in each] for each in terms]
        self._mark_terms(p, terms, values)
        self.grids[p.result].frame([(row, column)], BLUE)
        element, returned = p.element.format(row, column), self.matrices[p.result][row, column]
        self.write(MARGIN, 46, f"{p.rule}:   {element}", 15)
        texts, products = [product_text(*factors) for factors in values], [*map(prod, values)]
        total = number(sum(products))
        beside = f"sum of its terms: {total}", f"the kernel wrote: {number(returned)}"
        foot(self, ("term", "product", "running sum"), running_sum(texts, products), beside)
        if 0 < term <= len(terms):
            sides, text = terms[term - 1], texts[term - 1]
            self.boxes((self.grids[name].box(*cell) for name, cell in sides), INK, line=2.4)
            factors = " times ".join(f"{name}[{y},{x}]" for name, (y, x) in sides)
            made = f"{text} = {number(products[term - 1])}" if len(sides) > 1 else text
            return f"{factors}: {made}, a term of {element.partition(' = ')[0]}."
        said = " + ".join(f"({text})" if text[0] == "−" else text for text in texts)
        return f"{element} = {said} = {total}; the kernel wrote {number(returned)}."

    def _mark_terms(self, p: Product, terms: list[list[tuple[str, Cell]]], values: list[list[float]]) -> None:
        """Mark the factors, each with its term for who points at it, and write those on the right below the left."""
        if p.right:
            factors = {term[0][1]: pair[1] for term, pair in zip(terms, values, strict=True) if len(term) > 1}
            self.grids[p.left].factors(factors, self.grids[p.right].look.ink)
        pointed: dict[str, dict] = {}
        for i, term in enumerate(terms, 1):
            for name, cell in term:
                pointed.setdefault(name, {})[cell] = {"term": i}
        for name, cells in pointed.items():
            self.grids[name].mark([*cells])
            self.grids[name].point(cells, name)

    def _draw_grids(self, p: Product) -> None:
        self.title(18, p.title)
        names, signs = [name for name in (p.left, p.right, p.result) if name], "•=" if p.right else "="
        matrices = [self._matrix(p, name) for name in names]
        self.grids = dict(zip(names, side_by_side(self, matrices, signs, 60, self.height - 150, 1.7), strict=True))
        self.grids[p.result].touch(p.result, "row", "column")
        if p.result == "pre":
            b = self.grids["b"]
            self.grids["bias"] = bias = Grid(
                self, self.matrices["bias"], b.x, b.bottom + 14, (b.width, b.height), tensor="bias"
            )
            bias.caption = "bias"
            self.bold(b.x - 10, bias.box(0, 0).middle[1], "+ bias", 15, bias.look.ink, "right")

    def _matrix(self, p: Product, name: str) -> tuple:
        values = self.matrices[name]
        note = f"{len(values)} × {values.shape[1]}" if name != "d_bias" else f"{values.shape[1]} numbers"
        note += ", grad · relu′(pre)" * (name == "grad_pre")
        return values, name, note + ", used transposed" * (f" {name}ᵀ" in p.title)  # drawn as it is in memory
