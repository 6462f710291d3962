"""A product in tiles: what a workgroup and its threads do step by step, and how a tile of b is loaded."""

from math import prod

import numpy as np

from helpers.gemm.indices import LOADS, Cell, right_load, tile_loads, tile_mates
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, PAPER, Box, Picture, Word, in_words, number
from helpers.pictures.parts import Grid, product_text, running_sum, table

TILE, WRITE = 4, 4
PHASES = ("load", "barrier", "multiply", "barrier", "write")  # four for each pair of tiles; WRITE is the last step
CELL, SLOT, MEMORY = (21, 19), (42, 42), (466, 650)  # CSS pixels: cells of a matrix and of a tile; where tiles begin


class TilesPicture(Picture):
    """One workgroup of a product a @ b: its tiles move along K, and one of its threads loads, waits and multiplies.

    `result` (M, N) is what the GPU returned for a (M, K) @ b (K, N); the workgroup is the one of its last tile.
    ValueError where the matrices, or numbers in a or b, are too large for the sheet.
    """

    def __init__(self, a, b, result) -> None:
        (m, k), n = a.shape, b.shape[1]
        if m not in (4, 8) or n not in (4, 8) or not 9 <= k <= 12:
            raise ValueError(f"M, K, N = {m, k, n}: the picture has room for M and N of 4 or 8, and K of 9 to 12")
        for name, matrix in (("a", a), ("b", b)):
            if not np.isin(matrix, range(-9, 10)).all():
                raise ValueError(f"{name} has elements other than -9, -8, ... 9: a cell has room for one digit")
        self.result, self.corner, self.firsts = result, (m - TILE, n - TILE), range(0, k, TILE)
        self.moves = [(first, phase) for first in self.firsts for phase in range(4)] + [(self.firsts[-1], WRITE)]
        self.steps, past = len(self.moves), -k % TILE  # past: how many zeros fill the last tile
        self.operands = {
            "a": np.pad(a, ((0, 0), (0, past)), constant_values=np.nan),
            "b": np.pad(b, ((0, past), (0, 0)), constant_values=np.nan),
        }
        super().__init__(464)
        left, top = 2 * MARGIN + (k + past) * CELL[0], 72 + (k + past) * CELL[1]
        self.grids = {
            "a": Grid(self, self.operands["a"], MARGIN, top, CELL, f"a  {m} × {k}"),
            "b": Grid(self, self.operands["b"], left, 36, CELL, f"b  {k} × {n}"),
            "result": Grid(self, result, left, top, CELL, f"a @ b  {m} × {n}", numbers=False, tensor="output"),
        }
        self._mark_tile("result", self.corner)
        self._draw_steps_and_memory()
        self.stands_still()

    def _mark_tile(self, name: str, corner: Cell) -> None:
        self.tinted([self.grids[name].box(*corner, TILE, TILE)], self.grids[name].look.ink, 3)

    def _draw_steps_and_memory(self) -> None:
        self.bold(MARGIN, 20, "what each thread does", 15)
        for step, (first, phase) in enumerate(self.moves):
            y = 46 + 18 * step
            self.write(MARGIN, y, f"k {first} to {first + TILE - 1}" * (phase == 0), 13, GRAY)
            self.write(114, y, str(step), 13, GRAY, align="right")
            self.write(126, y, PHASES[phase], 13)
        names, empty = zip(MEMORY, ("left tile, from ", "right tile, from "), "ab", strict=True), np.zeros((TILE, TILE))
        self.memory = [Grid(self, empty, x, 74, SLOT, name + of, numbers=False, tensor=of) for x, name, of in names]
        slots = [slot for grid in self.memory for slot in enumerate(grid.boxes)]
        self.words((Word(box.x + 4, box.y + 10, str(i), 13, "left") for i, box in slots), GRAY)
        self.write(MEMORY[0], 258, "small: the slot, and the thread that loads it", 13, GRAY)

    def draw(self, step: int, thread: int) -> str:
        """Show what one thread does in one step."""
        first, phase = self.moves[step]
        self.tinted([Box(92, 37 + 18 * step, 104, 18)], BLUE, 2)
        if phase == WRITE:
            self.bold(MEMORY[0], 20, f"thread {thread} is done", 15)
        else:
            self._mark_tile("a", (self.corner[0], first))
            self._mark_tile("b", (first, self.corner[1]))
            self._fill_memory(thread, first, phase)
        owned = self.corner[0] + thread // TILE, self.corner[1] + thread % TILE
        box = self.grids["result"].box(*owned)
        self.boxes([box._replace(x=box.x - 2, width=box.width + 4)], BLUE, PAPER, 3)
        self.write(*box.middle, f"t{thread}", 12.5, BLUE, "bold", "middle")
        return f"Step {step}, {PHASES[phase]}: {self._say(thread, first, phase, owned)}"

    def _fill_memory(self, thread: int, first: int, phase: int) -> None:
        """Write what the thread can be sure of, and mark the slots that the step is about."""
        self.bold(MEMORY[0], 20, f"workgroup memory as thread {thread} sees it", 15)
        for grid, mates, values in zip(self.memory, tile_mates(TILE, thread), self._tiles(first), strict=True):
            self.tinted((grid.boxes[i] for i in (mates if phase in (1, 2) else [thread])), BLUE, 4)
            texts = [number(value) if phase > 0 or i == thread else "?" for i, value in enumerate(values)]
            self.label(grid.boxes, texts, 16, *grid.look[:2], 4, 7)

    def _tiles(self, first: int) -> list[np.ndarray]:
        """The values of both tiles, slot by slot, with 0 past the edge."""
        loads = zip(*(tile_loads(TILE, self.corner, first, thread) for thread in range(TILE**2)), strict=True)
        return [np.nan_to_num([self.operands[name][c] for c in cells]) for name, cells in zip("ab", loads, strict=True)]

    def _terms(self, thread: int, first: int) -> list[tuple[float, float]]:
        """What the thread multiplies in one turn: its row of the left tile and its column of the right one."""
        (left, right), (row, column) = self._tiles(first), tile_mates(TILE, thread)
        return list(zip(left[row].tolist(), right[column].tolist(), strict=True))

    def _sum(self, thread: int, end: int) -> float:
        """The thread's sum over all tiles that begin before k = `end`."""
        return sum(x * y for first in self.firsts if first < end for x, y in self._terms(thread, first))

    def _fill_table(self, thread: int, first: int, phase: int, element: str) -> str:
        """Write the terms of the turn, if they are multiplied, and the thread's sum, which is returned as written."""
        terms = self._terms(thread, first) if phase >= PHASES.index("multiply") else []
        sums = running_sum((product_text(*t) for t in terms), [prod(t) for t in terms], self._sum(thread, first))
        columns = [(str(k), text, total) for k, (text, _, total) in enumerate(sums, first)]
        if terms:
            table(self, ("k", "term", "running sum"), columns, Box(MEMORY[0] - 10, 296, 372, 78))
        total, so_far = number(self._sum(thread, first + len(terms))), " so far" * (phase < WRITE)
        self.write(MEMORY[0], 404, f"thread {thread} owns {element}; sum{so_far}: {total}", 14.5, BLUE)
        return total

    def _say(self, thread: int, first: int, phase: int, owned: Cell) -> str:
        """What the thread does, once its sum is written; each phase in words of its own."""
        element, returned = f"(a @ b)[{owned[0]},{owned[1]}]", number(self.result[owned])
        total = self._fill_table(thread, first, phase, element)
        if phase == WRITE:
            self.write(MEMORY[0], 432, f"the GPU returned: {returned}", 14.5, BLUE)
            return f"thread {thread} alone writes {element} = {total}; the GPU returned {returned}."
        if PHASES[phase] == "barrier":
            return self._wait(thread, first, phase)
        return (self._multiply if phase else self._load)(thread, first)

    def _load(self, thread: int, first: int) -> str:
        cells, loads = tile_loads(TILE, self.corner, first, thread), []
        for (name, matrix), (y, x) in zip(self.operands.items(), cells, strict=True):
            value = "0 (past the edge)" if np.isnan(matrix[y, x]) else number(matrix[y, x])
            loads.append(f"{name}[{y},{x}] = {value}")
        return f"thread {thread} loads {' and '.join(loads)}. It cannot see whether the other 15 threads are done."

    def _multiply(self, thread: int, first: int) -> str:
        terms = " + ".join(product_text(*term) for term in self._terms(thread, first))
        before, after = (number(self._sum(thread, end)) for end in (first, first + TILE))
        return f"thread {thread} adds {terms} to its sum, {before}, and gets {after}. Both tiles are loaded."

    def _wait(self, thread: int, first: int, phase: int) -> str:
        row, column = (in_words("thread", mates) for mates in tile_mates(TILE, thread))
        if phase < PHASES.index("multiply"):
            reads = f"thread {thread} is about to read what {row} loaded on the left and {column} on the right."
            risk = "cells of the last tiles" if first else "whatever was in memory before"
            return f"{reads} Without this barrier it could multiply {risk}."
        if first == self.firsts[-1]:
            return "no tile follows, so nothing could be overwritten; the loop makes all 16 threads wait once more."
        read = f"{row} read what thread {thread} loaded on the left, and {column} what it loaded on the right."
        return f"{read} Without this barrier it could overwrite its cells while a slower thread still multiplies."


# --- How a tile of b gets into workgroup memory, as it lies or transposed -------------------------------------

SIZES, CORNER = (8, 5), (4, 0)  # (K, N) of b, and where the tile of b begins
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
        self.right = Grid(self, np.zeros((TILE, TILE)), 410, 84, (62, 46), "right", note, numbers=False, tensor="b")
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
        self.label(strip, map(self._offset, row), weight="bold")
        self.label(strip, row, color=ORANGE, down=26)
