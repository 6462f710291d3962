"""The terms of one element: of a fused layer's product and of its three gradients."""

from math import prod
from typing import NamedTuple

import numpy as np

from helpers.operations.gemm import reference
from helpers.operations.gemm.indices import Cell, gemm_terms
from helpers.pictures.canvas import BLUE, INK, MARGIN, Picture, number
from helpers.pictures.parts import Grid, side_by_side
from helpers.pictures.terms import foot, product_text, running_sum


class Product(NamedTuple):
    """One of the four products: its name, its two factors and its result."""

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


Term = list[tuple[str, Cell]]  # the factors of a term: the matrix and the cell of each


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
        chosen = PRODUCTS[product]
        if self.starts(product):
            self._draw_grids(chosen)
            self.stands_still()
        terms = self._terms(chosen, row, column)
        values = [self._values(factors) for factors in terms]
        self._mark_terms(chosen, terms, values)
        self.grids[chosen.result].frame([(row, column)], BLUE)
        element = chosen.element.format(row, column)
        returned = number(self.matrices[chosen.result][row, column])
        self.write(MARGIN, 46, f"{chosen.rule}:   {element}", 15)
        texts = [product_text(*factors) for factors in values]
        products = [prod(factors) for factors in values]
        total = number(sum(products))
        beside = f"sum of its terms: {total}", f"the kernel wrote: {returned}"
        foot(self, ("term", "product", "running sum"), running_sum(texts, products), beside)
        if 0 < term <= len(terms):
            name, _, _ = element.partition(" = ")
            return f"{self._say_term(terms[term - 1], texts[term - 1], products[term - 1])}, a term of {name}."
        addends = [f"({text})" if text.startswith("−") else text for text in texts]
        return f"{element} = {' + '.join(addends)} = {total}; the kernel wrote {returned}."

    def _terms(self, product: Product, row: int, column: int) -> list[Term]:
        """The terms of an element, in the order in which a kernel adds them."""
        terms = []
        for left, right in gemm_terms(product.result, self.sizes, row, column):
            term = [(product.left, left)]
            if product.right:
                term.append((product.right, right))
            terms.append(term)
        if product.result == "pre":
            terms.append([("bias", (0, column))])
        return terms

    def _values(self, term: Term) -> list[float]:
        return [float(self.matrices[name][cell]) for name, cell in term]

    def _say_term(self, term: Term, text: str, product: float) -> str:
        """Frame the factors of a term, and say what they are."""
        self.boxes([self.grids[name].box(*cell) for name, cell in term], INK, line=2.4)
        factors = " times ".join(f"{name}[{y},{x}]" for name, (y, x) in term)
        if len(term) == 1:
            return f"{factors}: {text}"
        return f"{factors}: {text} = {number(product)}"

    def _mark_terms(self, product: Product, terms: list[Term], values: list[list[float]]) -> None:
        """Mark the factors, each with its term for who points at it, and write those on the right below the left."""
        if product.right:
            rights = {}
            for term, factors in zip(terms, values, strict=True):
                if len(term) == 2:
                    _, left_cell = term[0]
                    rights[left_cell] = factors[1]
            self.grids[product.left].factors(rights, self.grids[product.right].look.ink)
        cells_of: dict[str, dict] = {}
        for i, term in enumerate(terms, 1):
            for name, cell in term:
                cells_of.setdefault(name, {})[cell] = {"term": i}
        for name, cells in cells_of.items():
            self.grids[name].mark([*cells])
            self.grids[name].point(cells, name)

    def _draw_grids(self, product: Product) -> None:
        self.title(18, product.title)
        names = [product.left, product.right, product.result] if product.right else [product.left, product.result]
        signs = "•=" if product.right else "="
        matrices = [self._matrix(product, name) for name in names]
        grids = side_by_side(self, matrices, signs, 60, self.height - 150, 1.7)
        self.grids = dict(zip(names, grids, strict=True))
        self.grids[product.result].touch(product.result, "row", "column")
        if product.result == "pre":
            self._draw_bias()

    def _draw_bias(self) -> None:
        """The bias, below the columns of b."""
        b = self.grids["b"]
        cell = (b.width, b.height)
        bias = Grid(self, self.matrices["bias"], b.x, b.bottom + 14, cell, tensor="bias")
        bias.caption = "bias"
        self.bold(b.x - 10, bias.box(0, 0).middle[1], "+ bias", 15, bias.look.ink, "right")
        self.grids["bias"] = bias

    def _matrix(self, product: Product, name: str) -> tuple:
        """The values of a matrix as it lies in memory, its name, and a note."""
        values = self.matrices[name]
        rows, columns = values.shape
        note = f"{columns} numbers" if name == "d_bias" else f"{rows} × {columns}"
        if name == "grad_pre":
            note += ", grad · relu′(pre)"
        if f" {name}ᵀ" in product.title:
            note += ", used transposed"
        return values, name, note
