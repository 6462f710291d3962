"""The adjoint identity on a small case: three pairs of tensors, and their dot products."""

import numpy as np

from helpers.oracles.dot_products import DATA, Case, case
from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture
from helpers.pictures.parts import MARGIN, Grid

CELL, GAP = (33, 28), 14  # CSS pixels of a number, and between two images
RIGHT, DOTS = 366, 690  # where the second factors begin, and the products
LOSS = "⟨conv2d(x, w), dy⟩"


class AdjointPicture(Picture):
    """⟨conv2d(x, w), dy⟩ = ⟨w, grad_weight⟩ = ⟨x, grad_input⟩, or not: what came out wrong has a thick outline."""

    def __init__(self) -> None:
        super().__init__(444)

    def show(self, kernel: int, data: int) -> "AdjointPicture":
        """Run a kernel on one kind of data."""
        self.starts()
        here, name = case(kernel, data), list(DATA)[data]
        self.write(MARGIN, 20, f"kernel {kernel}: {here.mistake or 'no mistake'}", 17, weight="bold")
        self.write(MARGIN, 42, f"in {here.gradient}" if here.mistake else "", 13, GRAY)
        self.write(RIGHT, 20, f"data {data}: {name}", 17, weight="bold")
        t = here.tensors
        self._pair(106, (here.output, "conv2d(x, w)"), (t["grad_output"], "dy"), LOSS, here.loss)
        wrong = 0
        for y, letter, gradient in ((210, "w", "grad_weight"), (326, "x", "grad_input")):
            dot = here.dot(gradient)
            first, second = (t[gradient.removeprefix("grad_")], letter), (here.got[gradient], gradient)
            grids = self._pair(y, first, second, f"⟨{letter}, {gradient}⟩", dot, here.loss)
            wrong += self._outline(grids, here.got[gradient] != here.right[gradient])
        if wrong:
            self.boxes([Box(RIGHT, 425, 12, 12)], ORANGE, line=3)
            self.write(RIGHT + 22, 431, "wrong numbers", 13, ORANGE)
        self.sentence = _sentence(here, name, wrong)
        return self

    def _pair(self, y: float, first: tuple, second: tuple, dot: str, value: int, loss: int | None = None) -> list[Grid]:
        """Two tensors (images, 1, rows, columns) and their dot product; returns the grids of the second one."""
        self._grids(MARGIN, y, *first)
        middle = y + CELL[1] * first[0].shape[2] / 2
        self.write(RIGHT - 30, middle, "•", 18, GRAY)
        self.write(DOTS - 30, middle, "=", 24, GRAY)
        same = loss is None or value == loss
        self.write(DOTS, middle, f"{value}", 24, BLUE if same else ORANGE, "bold")
        self.write(DOTS, middle - 26, dot, 13, GRAY)
        if loss is not None:
            self.write(DOTS, middle + 26, "equal" if same else "not equal", 14, BLUE if same else ORANGE, "bold")
        return self._grids(RIGHT, y, *second)

    def _grids(self, x: float, y: float, tensor: np.ndarray, title: str) -> list[Grid]:
        """The images of a tensor beside each other; a filter has no image."""
        step = tensor.shape[3] * CELL[0] + GAP
        notes = [f"n = {n}" for n in range(len(tensor))] if len(tensor) > 1 else [""]
        titles = [title] + [""] * (len(tensor) - 1)
        return [Grid(self, tensor[n, 0], x + n * step, y, CELL, titles[n], note) for n, note in enumerate(notes)]

    def _outline(self, grids: list[Grid], wrong: np.ndarray) -> int:
        for grid, places in zip(grids, wrong[:, 0], strict=True):
            self.boxes((grid.box(*place) for place in np.argwhere(places).tolist()), ORANGE, line=3)
        return int(wrong.sum())


def _sentence(here: Case, data: str, wrong: int) -> str:
    """Whether the identity shows the mistake."""
    if not here.mistake:
        return f"Data: {data}. Both kernels are right, and all three dot products are {here.loss}."
    head = f"Data: {data}. Mistake in {here.gradient}: {here.mistake}."
    found, argument = here.dot(here.gradient), {"grad_weight": "w", "grad_input": "x"}[here.gradient]
    if found != here.loss:
        return f"{head} ⟨{argument}, {here.gradient}⟩ is {found}, but {LOSS} is {here.loss}: the mistake is found."
    if wrong:
        count = f"{wrong} numbers of {here.gradient} are wrong"
        return f"{head} All three dot products are {here.loss}, though {count}: these data hide the mistake."
    right = f"every number of {here.gradient} is right on these data"
    return f"{head} All three dot products are {here.loss}, and {right}: no check can find the mistake with them."
