"""Records of what a reader can touch in a picture: cells to point at, numbers to change, a window to drag."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from helpers.pictures.canvas import Box

Cell = tuple[int, int]  # row and column


class Touchable(NamedTuple):
    """Cells of a grid that a reader can point at, and the values that each stands for; the others stand for nothing.

    A reader only looks at `passing` ones, whose values no slider has. Where `clicked`, pointing alone does nothing, as
    another picture would come under the pointer.
    """

    grid: Any  # a `Grid` of helpers.pictures.parts
    values: Mapping[Cell, Mapping[str, int]]
    passing: bool = False
    clicked: bool = False
    limits = None

    def values_at(self, cell: Cell) -> Mapping[str, int]:
        """The values that a cell stands for."""
        return self.values.get(cell, {})

    def cell(self, values: Mapping[str, int]) -> Cell | None:
        """The cell that values choose; None where they choose none of this grid."""
        if self.passing:
            return None
        for cell, cell_values in self.values.items():
            if cell_values.items() <= values.items():
                return cell
        return None


class Adjustable(NamedTuple):
    """A grid whose numbers a reader changes, from `low` to `high` in steps; `upright`: each is a bar to drag."""

    grid: Any  # a `Grid` of helpers.pictures.parts
    low: float
    high: float
    step: float = 1
    upright: bool = False
    passing = False

    @property
    def limits(self) -> dict[str, float]:
        """The settings that the page needs of them."""
        return {"low": self.low, "high": self.high, "step": self.step, "upright": self.upright}

    def read(self, numbers: Iterable[float]) -> np.ndarray:
        """Numbers as they are allowed, in the shape of the grid."""
        matrix = np.reshape([*numbers], self.grid.values.shape)
        steps = np.rint((np.clip(matrix, self.low, self.high) - self.low) / self.step)
        return np.round(self.low + steps * self.step, 6)


class Window(NamedTuple):
    """A frame that a reader drags as a whole: the values that are its row and its column, and their place now.

    `step` is how far, in CSS pixels, one row and one column more move it.
    """

    box: Box
    values: tuple[str, str]
    place: Cell
    step: tuple[float, float]

    def values_at(self, place: Cell) -> dict[str, int]:
        """The values of another place."""
        return dict(zip(self.values, place, strict=True))
