"""The numbers that threads load at once: in turns, or each thread a share."""

import numpy as np

from helpers.lessons.shared.sums import WAYS, loaded
from helpers.pictures.canvas import BLUE, MARGIN, ORANGE, Picture
from helpers.pictures.parts import Grid
from helpers.pictures.touchable import Cell

THREADS = 16
SHARE = 4  # numbers of each thread
SECTOR = 8  # numbers
MEMORY = np.arange(THREADS * SHARE).reshape(-1, SECTOR)
CELL = 42, 24  # CSS pixels of a number in memory
LEFTS = MARGIN, MARGIN + SECTOR * CELL[0] + 76  # where the two ways begin


class LoadsPicture(Picture):
    """Numbers in memory, a sector in each row, and who loads them at once: two ways, side by side."""

    def __init__(self) -> None:
        super().__init__(106 + len(MEMORY) * CELL[1])
        for left, name in zip(LEFTS, WAYS, strict=True):
            self.bold(left, 18, name, 16)
            self.note(left, 40, f"{MEMORY.size} numbers in memory, a sector in each row")
        self.stands_still()

    def draw(self, iteration: int, thread: int) -> str:
        """Mark what all threads load in an iteration, the sectors that are fetched, and one thread's number."""
        in_turns, in_turns_fetched = self._draw_way(0, iteration, thread)
        in_share, in_share_fetched = self._draw_way(1, iteration, thread)
        return (
            f"Iteration {iteration}: thread {thread} loads number {in_turns} where threads take turns, which takes "
            f"{in_turns_fetched}, and number {in_share} of its own share, which takes {in_share_fetched}."
        )

    def _draw_way(self, way: int, iteration: int, thread: int) -> tuple[int, str]:
        """The memory of one way to load; returns the number that the thread loads, and what all loads fetch."""
        grid = Grid(self, MEMORY, LEFTS[way], 56, CELL)
        grid.caption = WAYS[way]
        grid.point(loads_by_cell(way))
        cells = loaded_cells(way, iteration)
        grid.tinted(cells, ORANGE, 1.6, 0.3)
        sectors = sorted({row for row, _ in cells})
        for row in sectors:
            grid.frame([(row, 0), (row, SECTOR - 1)], ORANGE)
        grid.frame([cells[thread]], BLUE)
        fetched = f"{len(sectors)} sectors for {THREADS} loads"
        self.bold(grid.x, grid.bottom + 22, fetched, 15, ORANGE)
        return MEMORY[cells[thread]], fetched


def loaded_cells(way: int, iteration: int) -> list[Cell]:
    """The cell that each thread loads in an iteration."""
    return [divmod(place, SECTOR) for place in loaded(way, THREADS, SHARE, iteration)]


def loads_by_cell(way: int) -> dict[Cell, dict[str, int]]:
    """The iteration and the thread that load each cell."""
    loads = {}
    for iteration in range(SHARE):
        for thread, cell in enumerate(loaded_cells(way, iteration)):
            loads[cell] = {"iteration": iteration, "thread": thread}
    return loads
