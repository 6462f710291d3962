"""A tile in the banks of workgroup memory: where a row of threads reads a column of it."""

from collections import Counter

import numpy as np

from helpers.data.words import in_words
from helpers.pictures.canvas import BLUE, MARGIN, ORANGE, Picture
from helpers.pictures.parts import Grid

BANKS = 32
SIDE = 16  # rows and columns of numbers in the tile
THREADS = 16  # that read a column together
CELL = (33, 21)  # CSS pixels
MOST_PAD = 4
TEXT = MARGIN + (SIDE + MOST_PAD) * CELL[0] + 20  # where the words begin


class BanksPicture(Picture):
    """The slots of a tile, each with the number of its bank, and the column that 16 threads read."""

    def __init__(self) -> None:
        super().__init__(40 + SIDE * CELL[1] + 30)

    def draw(self, pad: int, column: int) -> str:
        """Mark the slots of a column, in rows that have `pad` slots more than numbers."""
        width = SIDE + pad
        banks = np.arange(SIDE * width).reshape(SIDE, width) % BANKS
        grid = Grid(self, banks, MARGIN, 36, CELL, "the tile: each slot with the number of its bank")
        points = {(row, at): {"column": min(at, SIDE - 1)} for row, at in np.ndindex(SIDE, width)}
        grid.point(points)
        if pad:
            unused = [(row, at) for row in range(SIDE) for at in range(SIDE, width)]
            grid.tinted(unused, BLUE, 1, 0.15)
            self.note(MARGIN, grid.bottom + 18, "blue: slots that hold no number")
        cells = [(thread, column) for thread in range(THREADS)]
        grid.tinted(cells, ORANGE, 1.6, 0.3)
        used = Counter(int(banks[cell]) for cell in cells)
        turns = max(used.values())
        times = f"{turns} {'turn' if turns == 1 else 'turns'}"
        words = [f"a row: {width} slots", f"{THREADS} threads", f"{len(used)} banks", times]
        self.column(TEXT, 60, 24, words, 14, ORANGE)
        where = in_words("bank", used) if len(used) < 6 else f"{len(used)} banks"
        return (
            f"Rows of {width} slots: thread t reads row t of column {column}. The {THREADS} slots are in {where}, "
            f"so the read takes {times}."
        )
