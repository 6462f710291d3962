"""How a tile of b gets into workgroup memory, as it lies or transposed, and what neighboring threads read."""

import numpy as np

from helpers.gemm.indices import LOADS, right_load
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture, Word, in_words
from helpers.pictures.parts import Grid

TILE, SIZES, CORNER = 4, (8, 5), (4, 0)  # threads along a side, (K, N) of b, where the tile of b begins
LINES = (  # of a kernel, in the order of LOADS
    "pass 1, for a @ b:  right[local.y * TILE + local.x] = b[first + local.y, n]",
    "pass 2, for grad_pre @ bᵀ:  right[local.x * TILE + local.y] = b[load_k, first + local.x]",
    "the same tile, loaded another way:  right[local.y * TILE + local.x] = b[k, first + local.y]",
)


class TransposedLoadPicture(Picture):
    """A tile of b in memory and in `right`, the thread that moves each number, and what its neighbors read.

    b is 8 x 5 and the workgroup 4 x 4: small enough to give each offset a place on one line.
    """

    def __init__(self) -> None:
        super().__init__(458)

    def draw(self, load: int, thread: int) -> str:
        """Choose one of LOADS, and point at what one thread moves."""
        self.loads = [right_load(LOADS[load], TILE, CORNER, t) for t in range(TILE**2)]
        if self.starts(load):
            self._draw_memory(load)
            self.stands_still()
        (k, n), slot = self.loads[thread]
        row = range(thread // TILE * TILE, (thread // TILE + 1) * TILE)
        offsets = [self._offset(t) for t in row]
        self._point_at(row, thread)
        facts = (
            f"thread {thread}",
            f"local.x = {thread % TILE}",
            f"local.y = {thread // TILE}",
            "",
            f"reads b[{k},{n}],",
        )
        facts += f"offset {self._offset(thread)},", f"writes right[{slot}]"
        self.column(688, 104, 22, facts, 14.5, ORANGE, "bold")
        access = "side by side: coalesced" if offsets[1] == offsets[0] + 1 else f"N = {SIZES[1]} apart: strided"
        reads = f"{in_words('thread', row)} read {in_words('offset', offsets)}"
        self.bold(MARGIN, 380, f"{reads}, {access}", 14.5, ORANGE)
        moved = f"Thread {thread} reads b[{k},{n}] at offset {self._offset(thread)} and writes it to right[{slot}]."
        return f"{moved} Together, {reads}, {access}."

    def _offset(self, thread: int) -> int:
        (k, n), _ = self.loads[thread]
        return k * SIZES[1] + n

    def _draw_memory(self, load: int) -> None:
        """Everything but the thread that is pointed at."""
        self.bold(MARGIN, 20, LINES[load], 15)
        note, offsets = "offset, and the thread that loads it", np.arange(SIZES[0] * SIZES[1])
        self.b = Grid(self, offsets.reshape(SIZES), 56, 84, (46, 33), "b in memory, 8 × 5", note, numbers=False)
        self.label(self.b.boxes, offsets, right=-6, down=-6.5)
        note = "slot, offset in b, and the thread that loads it"
        self.right = Grid(self, np.zeros((TILE, TILE)), 410, 84, (62, 46), "right", note, BLUE, numbers=False)
        self.strip = [Box(88 + 18.4 * i, 396, 18.4, 24) for i in offsets]
        self.boxes(self.strip)
        for t, ((k, n), slot) in enumerate(self.loads):
            box, place = self.b.box(k, n), self.right.boxes[slot]
            self.tinted([box, place, self.strip[self._offset(t)]], BLUE)
            self.words(
                [
                    Word(box.x + 41, box.y + 24, f"t{t}", 13, "right"),
                    Word(place.x + 57, place.y + 35, f"t{t}", 13, "right"),
                ],
                BLUE,
            )
            self.write(place.x + 5, place.y + 11, str(slot), 13, GRAY)
            self.write(place.x + 36, place.y + 21, str(self._offset(t)), 16, align="middle")
        self._label(self.b, "k", range(SIZES[0]), "n", range(SIZES[1]))
        k, n = ("k", range(CORNER[0], CORNER[0] + TILE)), ("n", range(CORNER[1], CORNER[1] + TILE))
        self._label(self.right, *(k + n if load == 0 else n + k))
        self.words([Word(MARGIN, 408, "offset", 13, "left"), Word(MARGIN, 434, "thread", 13, "left")], GRAY)

    def _label(self, grid: Grid, down: str, rows: range, across: str, columns: range) -> None:
        """Letters and numbers beside the rows and below the columns."""
        words = [Word(grid.x - 7, grid.box(i, 0).middle[1], f"{down} {row}", 13, "right") for i, row in enumerate(rows)]
        below = [(grid.box(0, i).middle[0], f"{across} {column}") for i, column in enumerate(columns)]
        self.words(words + [Word(x, grid.bottom + 12, text, 13) for x, text in below], GRAY)

    def _point_at(self, row: range, thread: int) -> None:
        """Mark what a row of neighboring threads reads and writes, and one of them more heavily."""
        places = [(self.b.box(*cell), self.right.boxes[slot]) for cell, slot in (self.loads[t] for t in row)]
        strip = [self.strip[self._offset(t)] for t in row]
        self.tinted([box for pair in places for box in pair] + strip, ORANGE, 2)
        self.boxes([*places[thread % TILE], strip[thread % TILE]], ORANGE, line=4)
        self.label(strip, map(self._offset, row), color=ORANGE)
        self.label(strip, row, color=ORANGE, down=26)
