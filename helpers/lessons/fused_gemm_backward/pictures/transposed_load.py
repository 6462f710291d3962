"""A tile on its way into workgroup memory, as it lies or transposed."""

from collections.abc import Sequence
from math import prod

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.fused_gemm_backward.pictures.cards import fly
from helpers.lessons.fused_gemm_backward.pictures.tiles import TILE
from helpers.operations.gemm.indices import LOADS, Cell, load_into_tile
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, Box, Picture, Word
from helpers.pictures.parts import Grid

SIZES = (8, 5)  # (M, K) of a
CORNER = (4, 0)  # where the tile begins in a
FLIGHT = 0, 0.64, 0.82, 1  # the part of its way that is behind a tile, in each step
WAYS = (  # in the order of LOADS
    "0: as it lies. Threads read along a row of a, and write along a row of left.",
    "1: transposed on its way in. Threads read along a row of a, and write down a column of left.",
    "2: the same tile, read the other way. Threads read down a column of a, and write along a row of left.",
)
CARD = 26, 18  # CSS pixels


class TransposedLoadPicture(Picture):
    """A tile of a that flies into `left`, the thread that moves each number, and what its neighbors read.

    a is 8 x 5 and the workgroup 4 x 4: small enough to give each offset a place on one line.
    """

    def __init__(self) -> None:
        super().__init__(386)

    def draw(self, load: int, thread: int, flight: int) -> str:
        """Choose one of LOADS, how far the tile has come, and one thread."""
        places, slots = zip(*(load_into_tile(LOADS[load], TILE, CORNER, i) for i in range(TILE**2)), strict=True)
        if self.starts(load):
            self._draw_memory(load, places, slots)
            self.stands_still()
        offsets = [m * SIZES[1] + k for m, k in places]
        cells = [self.a.box(*place) for place in places]
        homes = [self.left.boxes[slot] for slot in slots]
        first = thread // TILE * TILE
        row = range(first, first + TILE)
        self._mark_threads(row, thread, cells, homes, [self.strip[offset] for offset in offsets])
        if FLIGHT[flight] in (0, 1):  # in between, cards lie over them
            self._number_slots()
        self._fly_cards(cells, homes, offsets, FLIGHT[flight])
        read = [offsets[neighbor] for neighbor in row]
        self.label((self.strip[offset] for offset in read), row, color=BLUE, down=24)
        facts = f"thread {thread}", f"local.x = {thread % TILE}", f"local.y = {thread // TILE}"
        self.column(640, 110, 24, facts, 15, BLUE, "bold")
        access = "side by side: coalesced" if read[1] == read[0] + 1 else f"{SIZES[1]} apart: strided"
        reads = f"{in_words('thread', row)} read {in_words('offset', read)}"
        self.bold(MARGIN, 312, f"{reads}, {access}", 14.5, BLUE)
        m, k = places[thread]
        move = f"Thread {thread} reads a[{m},{k}] at offset {offsets[thread]} and writes it to left[{slots[thread]}]."
        return f"{move} {reads.capitalize()}, {access}."

    def _mark_threads(self, row: range, thread: int, *boxes_by_thread: Sequence[Box]) -> None:
        """Mark what the threads of a row move, and frame what one of them does."""
        boxes_of_row = []
        for boxes in boxes_by_thread:
            boxes_of_row += [boxes[neighbor] for neighbor in row]
        self.tinted(boxes_of_row, BLUE, 2)
        self.boxes([boxes[thread] for boxes in boxes_by_thread], BLUE, line=4)

    def _number_slots(self) -> None:
        named = enumerate(self.left.boxes)
        self.words((Word(box.x + 4, box.y + 9, str(slot), 13, "left") for slot, box in named), GRAY)

    def _fly_cards(self, cells: Sequence[Box], homes: Sequence[Box], offsets: Sequence[int], part: float) -> None:
        """The numbers on their way from their cells to their slots."""
        ways = []
        for cell, home, offset in zip(cells, homes, offsets, strict=True):
            start = card(*cell.middle)
            end = card(home.x + 35, home.y + 24)
            ways.append((start, end, part, str(offset)))
        fly(self, ways, self.a.look.ink)

    def _draw_memory(self, load: int, places: Sequence[Cell], slots: Sequence[int]) -> None:
        """Everything that does not move."""
        self.bold(MARGIN, 16, WAYS[load], 14)
        offsets = np.arange(prod(SIZES))
        self.a = Grid(
            self, offsets.reshape(SIZES), 56, 80, (40, 25), "a, in storage", "8 × 5; each number is its offset"
        )
        slot_note = "small numbers: its slots"
        self.left = Grid(
            self,
            np.zeros((TILE, TILE)),
            360,
            80,
            (54, 36),
            "left, in workgroup memory",
            slot_note,
            numbers=False,
            tensor="a",
        )
        self.strip = [Box(72 + 18.8 * i, 328, 18.8, 22) for i in offsets]
        self.boxes(self.strip)
        self.label(self.strip, offsets, 13)
        self.column(MARGIN, 339, 24, ("offset", "thread"), 13, GRAY)
        self._name_rows_and_columns()
        self.a.point({place: {"thread": thread} for thread, place in enumerate(places)}, "a")
        self.left.point({divmod(slot, TILE): {"thread": thread} for thread, slot in enumerate(slots)}, "left")

    def _name_rows_and_columns(self) -> None:
        rows, columns = SIZES
        names = [Word(self.a.x - 7, self.a.box(m, 0).middle[1], f"m {m}", 13, "right") for m in range(rows)]
        names += [Word(self.a.box(0, k).middle[0], self.a.bottom + 10, f"k {k}", 13) for k in range(columns)]
        self.words(names, GRAY)


def card(x: float, y: float) -> Box:
    """A card for one number, with its middle there."""
    width, height = CARD
    return Box(x - width / 2, y - height / 2, width, height)
