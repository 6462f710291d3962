"""Many ones, added by one thread and by a tree, and the whole numbers near their count that are float32."""

import numpy as np

from helpers.lessons.shared.sums import EXACT
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Grid

BLOCK = EXACT // 4
MOST = 12  # blocks
THREADS = 256
NEAR = 4  # whole numbers on each side of the count
# CSS pixels
FIRST_BAR = Box(196, 34, 0, 26)
BLOCK_WIDTH = 500 / MOST
CELL = (89, 32)  # of a whole number


class OnesPicture(Picture):
    """The sums that one thread and a tree make of many ones, and the whole numbers near their count that are float32.

    `returned` is what a GPU, `on`, made of 2^24 - 8 and 16 ones in one thread.
    """

    def __init__(self, returned: float, on: str) -> None:
        super().__init__(234)
        self.adapter_note = f"adapter: {on}"
        self.returned_note = f"{EXACT - 8:,} + 1 + 1 + ... + 1, 16 times, in one thread on {on}: {returned:,.0f}"

    def draw(self, blocks: int, near: int) -> str:
        """Add up this many blocks of ones, and point at a whole number near their count."""
        ones = blocks * BLOCK
        # First only the adapter: where it stops, one finds out.
        self.write(MARGIN, 112, self.returned_note if ones > EXACT else self.adapter_note, 13, BLUE)
        self.title(18, f"{ones:,} ones, added in float32")
        of_one_thread = min(ones, EXACT)
        self._draw_bar(0, "one thread", blocks, of_one_thread)
        self._draw_bar(1, f"tree of {THREADS} threads", blocks, ones)
        pointed = ones - NEAR + near
        rounded = self._draw_numbers(ones, near)
        if rounded == pointed:
            explanation = "is a float32 number"
        else:
            explanation = f"is none: a sum of {pointed:,} becomes {rounded:,}"
        sums = f"Of {ones:,} ones, one thread makes {of_one_thread:,}, and the tree {ones:,}."
        return f"{sums} {pointed:,} {explanation}."

    def _draw_bar(self, row: int, name: str, blocks: int, total: int) -> None:
        """The total of one way to add, over the place for all blocks."""
        bar = FIRST_BAR._replace(y=FIRST_BAR.y + 33 * row, width=BLOCK_WIDTH * blocks)
        _, middle = bar.middle
        self.bold(MARGIN, middle, name, 15)
        self.boxes([bar], GRAY, dashes=(3, 3))
        self.tinted([bar._replace(width=BLOCK_WIDTH * total / BLOCK)], ORANGE, 2, 0.4)
        self.bold(bar.right + 8, middle, f"{total:,}", 15, ORANGE)

    def _draw_numbers(self, ones: int, near: int) -> int:
        """The whole numbers around `ones`, of which some are float32 numbers; returns what one of them becomes."""
        whole = np.arange(ones - NEAR, ones + NEAR + 1)
        floats = whole.astype(np.float32).astype(int)
        is_float = floats == whole
        self.bold(MARGIN, 138, "which whole numbers are float32 numbers? The others are dashed", 15)
        grid = Grid(self, np.where(is_float, whole, np.nan)[None], MARGIN, 154, CELL, numbers=False)
        grid.touch("whole numbers", "near")
        self._write_numbers(grid, whole, is_float, INK)
        self._write_numbers(grid, whole, ~is_float, GRAY)
        grid.frame([(0, near)], BLUE)
        if not is_float[near]:
            self._draw_rounding(grid, near, floats[near] - whole[0])
        return int(floats[near])

    def _write_numbers(self, grid: Grid, whole: np.ndarray, chosen: np.ndarray, color: str) -> None:
        boxes = [grid.boxes[i] for i in np.flatnonzero(chosen)]
        self.label(boxes, (f"{n:,}" for n in whole[chosen]), 13, color)

    def _draw_rounding(self, grid: Grid, near: int, rounded: int) -> None:
        """An arrow from a whole number to the float32 number that it is rounded to."""
        start, _ = grid.boxes[near].middle
        end, _ = grid.boxes[rounded].middle
        top = grid.bottom + 3
        below = grid.bottom + 20
        self.lines([(start, top, start, below), (start, below, end, below)], BLUE, 2)
        self.arrow((end, below), (end, top), BLUE, 2)
        self.write((start + end) / 2, below + 13, "is rounded to", 13, BLUE, align="middle")
