"""The first picture: what one thread loads for its one result, and what a GPU makes of it."""

import numpy as np

from helpers.lessons.the_speed_ladder.pictures.tile_sizes import Shown, tile_boxes
from helpers.lessons.the_speed_ladder.traffic import Cell
from helpers.pictures.canvas import BLUE, INK, LINE, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.pictures.parts import Area, look

# CSS pixels
SIDE = 144  # of the results
DEPTH = 48  # along k
FRAMES = tile_boxes(112, 72, SIDE, SIDE, DEPTH)
TEXT = 320  # where the words begin
BAR = Box(TEXT, 150, 430, 20)


class OneResultPicture(Picture):
    """The two matrices and the results of a workgroup, one thread's part in them, and the bar that was measured.

    `measured_on` is the GPU of the bar, and `adapter` the reader's own.
    """

    def __init__(self, shown: Shown, measured_on: str, adapter: str) -> None:
        super().__init__(236)
        self.shown = shown
        self.traffic = shown.simulated()
        self.parts = {name: Area(self, np.empty(size), FRAMES[name]) for name, size in self.traffic.sizes.items()}
        for name, frame in FRAMES.items():
            self._draw_lines(frame, *self.traffic.sizes[name])
        self.boxes(FRAMES.values(), INK, line=2)
        self.bold(MARGIN, 40, "b", 16, look("b").ink)
        self.bold(MARGIN, 130, "a", 16)
        self.bold(FRAMES["results"].right + 10, 130, "a b", 16, look("results").ink)
        self._draw_share(measured_on)
        self.note(TEXT, 214, f"Counted by the simulator. Your adapter: {adapter}"[:72])
        self.stands_still()

    def draw(self, thread: int) -> str:
        """Point at what one thread loads, and at its result."""
        loaded = {name: self.traffic.loaded[name][thread] for name in "ab"}
        for name, cells in loaded.items():
            self.tinted([self._around(name, cells)], BLUE, 1, 0.8)
        result = self.traffic.written[thread]
        self.tinted([self._around("results", result)], ORANGE, 1, 0.7)
        results = Area(self, np.empty(self.traffic.sizes["results"]), FRAMES["results"], "the results")
        results.point({cell: {"thread": number} for number, (cell,) in enumerate(self.traffic.written)})
        ((row, column),) = result
        count, sums = sum(map(len, loaded.values())), len(loaded["a"])
        self.bold(TEXT, 40, f"thread {thread} of {self.traffic.threads}", 17)
        self.write(TEXT, 72, f"loads row {row} of a and column {column} of b: {count} numbers", 15, BLUE)
        self.write(TEXT, 98, f"for its one result, {sums} multiply-adds", 15, ORANGE)
        loads, _, _ = self.traffic.costs
        return (
            f"Thread {thread} loads row {row} of a and column {column} of b, {count} numbers, "
            f"for {sums} multiply-adds: {loads} for each."
        )

    def _draw_lines(self, frame: Box, rows: int, columns: int) -> None:
        """Draw the lines between the cells."""
        height, width = frame.height / rows, frame.width / columns
        across = [(frame.x, frame.y + i * height, frame.right, frame.y + i * height) for i in range(1, rows)]
        down = [(frame.x + i * width, frame.y, frame.x + i * width, frame.bottom) for i in range(1, columns)]
        self.lines(across + down, LINE, 0.5)

    def _draw_share(self, measured_on: str) -> None:
        """Draw the part of the GPU's arithmetic that was measured."""
        self.bold(TEXT, 134, f"what an {measured_on} then does of its arithmetic", 15)
        self.boxes([BAR], LINE, PAPER)
        self.tinted([BAR._replace(width=BAR.width * self.shown.share)], ORANGE, 1.5, 0.7)
        self.bold(BAR.right + 10, 160, f"{100 * self.shown.share:.1f} %", 16, ORANGE)
        self.write(TEXT, 186, "and the rest of the time, it waits", 15)

    def _around(self, name: str, cells: list[Cell]) -> Box:
        """The box around a row or a column of cells, or one cell."""
        rows, columns = zip(*cells, strict=True)
        part = self.parts[name]
        return part.box(min(rows), min(columns), max(rows) - min(rows) + 1, max(columns) - min(columns) + 1)
