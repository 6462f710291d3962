"""The adjoint identity on a small case: three pairs of tensors, and their dot products."""

import numpy as np

from helpers.gradient_checks.dot_products import DATA, Case, case
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Grid

CELL, GAP = (33, 28), 14  # CSS pixels of a number, and between two images
RIGHT, DOTS = 366, 690  # where the second factors begin, and the products
LOSS = "⟨conv2d(x, w), dy⟩"


class AdjointPicture(Picture):
    """⟨conv2d(x, w), dy⟩ = ⟨w, grad_weight⟩ = ⟨x, grad_input⟩, or not: what came out wrong has a thick outline."""

    def __init__(self) -> None:
        super().__init__(444)

    def draw(self, kernel: int, data: int) -> str:
        """Run a kernel on one kind of data."""
        here, name = case(kernel, data), list(DATA)[data]
        self.title(20, f"kernel {kernel}: {here.mistake or 'no mistake'}")
        self.write(MARGIN, 42, f"in {here.gradient}" if here.mistake else "", 13, GRAY)
        self.bold(RIGHT, 20, f"data {data}: {name}", 17)
        t, wrong = here.tensors, 0
        self._pair(106, (here.output, "conv2d(x, w)"), (t["grad_output"], "dy"), LOSS, here.loss)
        for y, letter, argument in ((210, "w", "weight"), (326, "x", "input")):
            gradient = f"grad_{argument}"
            got, dot = here.got[gradient], here.dot(gradient)
            grids = self._pair(y, (t[argument], letter), (got, gradient), f"⟨{letter}, {gradient}⟩", dot, here.loss)
            places = np.argwhere(got != here.right[gradient]).tolist()
            self.boxes((grids[n].box(row, column) for n, _, row, column in places), ORANGE, line=3)
            wrong += len(places)
        if wrong:
            self.boxes([Box(RIGHT, 425, 12, 12)], ORANGE, line=3)
            self.write(RIGHT + 22, 431, "wrong numbers", 13, ORANGE)
        return _sentence(here, name, wrong)

    def _pair(self, y: float, first: tuple, second: tuple, dot: str, value: int, loss: int | None = None) -> list[Grid]:
        """Two tensors (images, 1, rows, columns) and their dot product; returns the grids of the second one."""
        self._grids(MARGIN, y, *first)
        middle, color = y + CELL[1] * first[0].shape[2] / 2, BLUE if loss in (None, value) else ORANGE
        self.write(RIGHT - 30, middle, "•", 18, GRAY)
        self.write(DOTS - 30, middle, "=", 24, GRAY)
        self.bold(DOTS, middle, f"{value}", 24, color)
        self.write(DOTS, middle - 26, dot, 13, GRAY)
        if loss is not None:
            self.bold(DOTS, middle + 26, "equal" if value == loss else "not equal", 14, color)
        return self._grids(RIGHT, y, *second)

    def _grids(self, x: float, y: float, tensor: np.ndarray, title: str) -> list[Grid]:
        """The images of a tensor beside each other; a filter has no image."""
        step = tensor.shape[3] * CELL[0] + GAP
        several = len(tensor) > 1
        grids = [
            Grid(self, image, x + n * step, y, CELL, title * (n == 0), f"n = {n}" * several, tensor=title)
            for n, (image,) in enumerate(tensor)
        ]
        for grid in grids[1:]:
            grid.caption = f"{title}, {grid.caption}"
        return grids


def _sentence(here: Case, data: str, wrong: int) -> str:
    """Whether the identity shows the mistake."""
    if not here.mistake:
        return f"Data: {data}. Both kernels are right, and all three dot products are {here.loss}."
    head = f"Data: {data}. Mistake in {here.gradient}: {here.mistake}."
    if (dot := here.dot(here.gradient)) != here.loss:
        argument = "w" if here.gradient == "grad_weight" else "x"
        return f"{head} ⟨{argument}, {here.gradient}⟩ is {dot}, but {LOSS} is {here.loss}: the mistake is found."
    same = f"{head} All three dot products are {here.loss}"
    if wrong:
        return f"{same}, though {wrong} numbers of {here.gradient} are wrong: these data hide the mistake."
    return (
        f"{same}, and every number of {here.gradient} is right on these data: no check can find the mistake with them."
    )
