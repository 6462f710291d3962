"""The places of a run's arrays on the sheet: each in its own shape, in rows from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import prod

import numpy as np

from helpers.pictures.canvas import Box, number
from helpers.pictures.marks import text_width
from helpers.widgets.stepper.replay import Memory

# CSS pixels: the side of a cell
LARGEST = 42
SMALLEST = 18
HEAD = 22  # above an array, for its name
GAP = 14  # between two of them, and between its planes


@dataclass(frozen=True)
class Drawn:
    """An array on the sheet: its top left corner, and the box of each element."""

    memory: Memory
    x: float
    y: float
    height: float  # of a cell

    @cached_property
    def boxes(self) -> list[Box]:
        """The cells, element by element."""
        planes, rows, columns = self.memory.planes
        left = self.x + np.arange(planes) * (columns * self.height + GAP)
        cell = self.height
        places = np.ndindex(planes, rows, columns)
        boxes = [Box(left[plane] + j * cell, self.y + i * cell, cell, cell) for plane, i, j in places]
        return boxes[: prod(self.memory.shape)]

    @property
    def size(self) -> float:
        """Of its numbers."""
        return min(15.0, max(11.0, 0.42 * self.height))

    @property
    def bottom(self) -> float:
        """The y at which the last row ends."""
        return self.boxes[-1].y + self.height

    @property
    def panels(self) -> list[Box]:
        """A box around each plane."""
        _, rows, columns = self.memory.planes
        corners = self.boxes[:: rows * columns]
        return [Box(box.x, box.y, columns * self.height, rows * self.height) for box in corners]

    def runs(self, first: int, end: int) -> list[Box]:
        """Boxes around the elements from `first` to before `end`, one for each row that they lie in."""
        columns = self.memory.planes[-1]
        words = range(first, min(end, len(self.boxes)))
        boxes = []
        for _, of_row in groupby(words, lambda word: word // columns):
            in_row = list(of_row)
            boxes.append(self.boxes[in_row[0]]._replace(width=len(in_row) * self.height))
        return boxes

    def written(self, value: float) -> str:
        """A number with as many digits as its cell has room for; nothing for nan."""
        if np.isnan(value):
            return ""
        letters = (self.height - 2) / (0.64 * self.size)
        rounded = [f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}") for digits in (3, 2, 1)]
        for text in (number(value), *rounded):
            if len(text) <= letters:
                return text
        return "…"


def _width(memory: Memory, cell: float) -> float:
    planes, _, columns = memory.planes
    head = text_width(memory.name, 13, "bold") + 6 + text_width(memory.note, 13)
    return max(head, planes * columns * cell + (planes - 1) * GAP)


def arrange(memories: Sequence[Memory], area: Box) -> list[Drawn]:
    """Put arrays into an area, from left to right and from above, with cells as large as possible; [] without room."""
    for cell in range(LARGEST, SMALLEST - 1, -1):
        placed = _placed(memories, area, cell)
        if placed:
            return placed
    return []


def _placed(memories: Sequence[Memory], area: Box, cell: float) -> list[Drawn]:
    """The arrays with cells of one size; [] where there is no room."""
    x = area.x
    y = area.y
    bottom = area.y
    placed = []
    for memory in memories:
        width = _width(memory, cell)
        height = HEAD + memory.planes[1] * cell
        if x > area.x and x + width > area.right:
            x = area.x
            y = bottom + GAP / 2
        if x + width > area.right + 0.1 or y + height > area.bottom:
            return []
        placed.append(Drawn(memory, x, y + HEAD, cell))
        x = x + width + GAP
        bottom = max(bottom, y + height)
    return placed
