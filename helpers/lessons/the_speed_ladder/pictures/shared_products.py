"""The products of one weight, and the few that each of many threads takes."""

import numpy as np

from helpers.data.words import in_words
from helpers.operations.convolution import indices
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, LINE, MARGIN, ORANGE, Picture, tint
from helpers.pictures.parts import Grid


class SharedProductsPicture(Picture):
    """The products of one weight, one cell each, and the few that one of many threads takes."""

    def __init__(self, shape: ConvShape, threads: int) -> None:
        self.shape = shape
        self.threads = threads
        self.count = shape.batch * shape.out_h * shape.out_w
        rows = shape.batch * shape.out_h
        cell = 368 / shape.out_w
        super().__init__(int(56 + rows * cell))
        self.title(18, f"the {self.count} products of one weight, in loop order")
        grid = Grid(self, np.zeros((rows, shape.out_w)), MARGIN, 40, (cell, cell), numbers=False)
        self.cells = grid.boxes
        self.iterations = []
        for first in range(0, self.count, threads):
            end = min(first + threads, self.count)
            self.iterations.append(range(first, end))
        for i, products in enumerate(self.iterations):
            self._draw_iteration(i, products)
        self.stands_still()

    def _draw_iteration(self, i: int, products: range) -> None:
        """Tint the products of one iteration, and say beside them which threads take them."""
        strength = 1 / 16 if i % 2 == 0 else 3 / 16
        self.boxes((self.cells[product] for product in products), LINE, tint(BLUE, strength))
        threads = in_words("thread", range(len(products)))
        note = f"iteration {i}: {threads} take {in_words('product', products)}"
        self.write(404, self._middle(products) - 12, note, 15, BLUE)

    def draw(self, thread: int) -> str:
        """Point at the products of one thread."""
        products = indices.products_of_thread(self.shape, thread, self.threads)
        self.tinted((self.cells[product] for product in products), ORANGE, 4, 7 / 16)
        for taken, product in zip(self.iterations, products, strict=False):
            self.bold(404, self._middle(taken) + 12, f"thread {thread} takes product {product}", 15, ORANGE)
        names = in_words("product", products)
        if products:
            outputs = [str(divmod(product, self.shape.out_w)) for product in products]
            names += f", at (oh, ow) = {', '.join(outputs)}"
        share = f"Thread {thread} of {self.threads} takes {names}: {len(products)} of {self.count}."
        return f"{share} In each iteration, neighboring threads read neighboring addresses: their access is coalesced."

    def _middle(self, products: range) -> float:
        """The y in the middle of some products."""
        _, y = self.cells[(products[0] + products[-1]) // 2].middle
        return y
