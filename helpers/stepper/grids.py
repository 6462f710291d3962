"""Where the arrays of a run stand on the sheet: each in its own shape, in rows from left to right."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

import numpy as np

from helpers.pictures.canvas import Box, number, text_width
from helpers.stepper.replay import SECTOR, Memory

LARGEST, SMALLEST = 42, 18  # CSS pixels: the side of a cell
HEAD, GAP = 22, 14  # above an array, for its name; between two of them, and between its planes
ROW = 12  # the most elements of a one-dimensional array in one row; longer ones have a sector in each row


@dataclass
class Drawn:
    """An array on the sheet: its top left corner, and the box of each element."""

    memory: Memory
    x: float
    y: float
    height: float  # of a cell
    boxes: list[Box]

    @property
    def size(self) -> float:
        """Of its numbers."""
        return min(15.0, max(11.0, 0.42 * self.height))

    @property
    def note(self) -> str:
        """Its shape, and the workgroup where each one has its own."""
        return _note(self.memory)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.boxes[-1].y + self.height

    @property
    def panels(self) -> list[Box]:
        """A box around each plane."""
        rows, columns = _plane(self.memory.shape)
        corners = self.boxes[:: rows * columns]
        return [Box(box.x, box.y, columns * self.height, rows * self.height) for box in corners]

    def runs(self, first: int, end: int) -> list[Box]:
        """Boxes around the elements from `first` to before `end`, one for each row that they lie in."""
        columns = _plane(self.memory.shape)[1]
        rows = groupby(range(first, min(end, len(self.boxes))), lambda word: word // columns)
        runs = [list(words) for _, words in rows]
        return [self.boxes[words[0]]._replace(width=len(words) * self.height) for words in runs]

    def written(self, value: float) -> str:
        """A number with as many digits as its cell has room for; nothing for nan."""
        if np.isnan(value):
            return ""
        room = (self.height - 2) / (0.64 * self.size)
        texts = [number(value), *(f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}") for digits in (3, 2, 1))]
        return next((text for text in texts if len(text) <= room), "…")


def _note(memory: Memory) -> str:
    return " × ".join(map(str, memory.shape)) + (f", group {memory.group}" if memory.group > 0 else "")


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of one plane; a vector is a row, or rows of one sector each."""
    if len(shape) > 1:
        return shape[-2:]
    return (1, shape[0]) if shape[0] <= ROW else (-(-shape[0] // SECTOR), SECTOR)


def _width(memory: Memory, cell: float) -> float:
    columns, planes = _plane(memory.shape)[1], max(prod(memory.shape[:-2]), 1)
    head = text_width(memory.name, 13, "bold") + 6 + text_width(_note(memory), 12)
    return max(head, planes * columns * cell + (planes - 1) * GAP)


def arrange(memories: Sequence[Memory], area: Box) -> list[Drawn]:
    """Put arrays into an area, from left to right and from above, with cells as large as possible; [] without room."""
    sizes = range(LARGEST, SMALLEST - 1, -1)
    return next(filter(None, (_placed(memories, area, cell) for cell in sizes)), [])


def _placed(memories: Sequence[Memory], area: Box, cell: float) -> list[Drawn]:
    """The arrays with cells of one size; [] where there is no room."""
    x, y, bottom, placed = area.x, area.y, area.y, []
    for memory in memories:
        width, height = _width(memory, cell), HEAD + _plane(memory.shape)[0] * cell
        if x > area.x and x + width > area.right:
            x, y = area.x, bottom + GAP / 2
        if x + width > area.right + 0.1 or y + height > area.bottom:
            return []
        placed.append(Drawn(memory, x, y + HEAD, cell, _boxes(memory.shape, x, y + HEAD, cell)))
        x, bottom = x + width + GAP, max(bottom, y + height)
    return placed


def _boxes(shape: tuple[int, ...], x: float, y: float, cell: float) -> list[Box]:
    (rows, columns), planes = _plane(shape), max(prod(shape[:-2]), 1)
    left = x + np.arange(planes) * (columns * cell + GAP)
    places = np.ndindex(planes, rows, columns)
    return [Box(left[plane] + j * cell, y + i * cell, cell, cell) for plane, i, j in places][: prod(shape)]
