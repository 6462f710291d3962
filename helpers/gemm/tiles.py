"""The picture of a matrix product in tiles: a workgroup walks along K, and one of its threads loads and multiplies."""

from collections.abc import Iterable, Sequence

import numpy as np

from helpers.gemm.indices import Cell, tile_loads, tile_mates
from helpers.gemm.pictures import product_text
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, PAPER, Box, Picture, Word, in_words, number, tint

GHOST = (0, (2, 3))  # the dashes of a cell that no memory holds
PHASES = "load", "barrier", "multiply", "barrier"


class TilesPicture(Picture):
    """One workgroup of a product a @ b: its tiles march along K, and one of its threads loads, waits and multiplies.

    Parameters
    ----------
    a, b, result : arrays (M, K), (K, N) and (M, N)
        `result` is what the GPU returned for a @ b. The workgroup is the one of the result's last tile.

    Raises ValueError where the matrices, or numbers in a or b, are too large for the sheet.
    """

    TILE = 4
    WIDE, CELL, BIG = 23, 20, 44  # a cell's width and height in a matrix, and its side in workgroup memory
    TOP, LEFT, RIGHT = 28, 536, 746
    LIST, TABLE = 40, 318

    def __init__(self, a, b, result) -> None:
        self.a, self.b, self.result, tile = a, b, result, self.TILE
        (m, k), n = a.shape, b.shape[1]
        if m not in (4, 8) or n not in (4, 8) or not 9 <= k <= 12:
            raise ValueError(f"M, K, N = {m, k, n}: the picture has room for M and N of 4 or 8, and K of 9 to 12")
        for name, matrix in (("a", a), ("b", b)):
            if not np.isin(matrix, range(-9, 10)).all():
                raise ValueError(f"{name} has elements other than -9, -8, ... 9: a cell has room for one digit")
        self.firsts = range(0, k, tile)
        self.corner = m - tile, n - tile
        self.reach = len(self.firsts) * tile  # K with the zeros that fill the last tile
        self.inner = 20 + self.reach * self.WIDE + 22, self.TOP + self.reach * self.CELL + 22  # the result's corner
        super().__init__(960, 460)
        self._draw_matrices()
        self._draw_steps()
        self._draw_memory()
        self._make_moving_parts()

    @property
    def steps(self) -> int:
        """How many steps a thread takes: four for each pair of tiles, and the last one, which writes."""
        return len(self.firsts) * len(PHASES) + 1

    def show(self, step: int, thread: int) -> "TilesPicture":
        """Show what one thread does in one step."""
        turn, phase = divmod(step, len(PHASES))
        done = step == self.steps - 1
        first = self.firsts[min(turn, len(self.firsts) - 1)]
        multiplied = done or phase >= PHASES.index("multiply")
        self._point(step, thread, first, done)
        self._fill_memory(thread, first, None if done else phase)
        self._fill_table(thread, first, multiplied, done)
        tell = self._write if done else (self._load, self._await_load, self._multiply, self._await_use)[phase]
        self.sentence = f"Step {step}, {'write' if done else PHASES[phase]}: {tell(thread, first)}"
        return self

    # --- What stands still ----------------------------------------------------------------------------

    def _draw_matrices(self) -> None:
        left, top = self.inner
        sides = (20, top, self.a, "a"), (left, self.TOP, self.b, "b"), (left, top, self.result, "a @ b")
        for x, y, matrix, name in sides:
            color = BLUE if matrix is self.result else INK
            self.words([Word(x, y - 12, f"{name}  {matrix.shape[0]} × {matrix.shape[1]}", 13, "left")], color)
        self._small_grid(20, top, self.a)
        self._small_grid(left, self.TOP, self.b)
        rows, columns = self.result.shape
        self.boxes((self._cell(left, top, *place) for place in np.ndindex(rows, columns)), LINE)
        ghosts = [self._cell(20, top, m, k) for m, k in self._past(len(self.a))]
        ghosts += [self._cell(left, self.TOP, k, n) for n, k in self._past(columns)]
        self.boxes(ghosts, LINE, line=0.8, dashes=GHOST)
        self.boxes([self._side(left, top, *self.corner)], BLUE, tint(BLUE), line=3)

    def _cell(self, left: float, top: float, row: int, column: int) -> Box:
        """A cell of the matrix whose corner is at (left, top)."""
        return Box(left + column * self.WIDE, top + row * self.CELL, self.WIDE, self.CELL)

    def _side(self, left: float, top: float, row: int, column: int) -> Box:
        """The tile that begins at a cell of that matrix."""
        return self._cell(left, top, row, column)._replace(width=self.TILE * self.WIDE, height=self.TILE * self.CELL)

    def _past(self, count: int) -> Iterable[Cell]:
        """The places past the edge of K, for each of `count` rows or columns."""
        return ((i, k) for i in range(count) for k in range(self.a.shape[1], self.reach))

    def _small_grid(self, left: float, top: float, matrix: np.ndarray) -> None:
        boxes = [self._cell(left, top, *place) for place in np.ndindex(matrix.shape)]
        self.boxes(boxes)
        middles = [(box.x + self.WIDE / 2, box.y + self.CELL / 2) for box in boxes]
        self.words(Word(*at, number(value), 12) for at, value in zip(middles, matrix.flat, strict=True))

    def _draw_steps(self) -> None:
        self.words([Word(20, 16, "what each thread does", 15, "left")], weight="bold")
        names = [*PHASES * len(self.firsts), "write"]
        self.words(Word(142, self._line(i), name, 13, "left") for i, name in enumerate(names))
        self.words((Word(130, self._line(i), str(i), 12, "right") for i in range(self.steps)), GRAY)
        spans = [(i * len(PHASES), f"k {k} to {k + self.TILE - 1}") for i, k in enumerate(self.firsts)]
        self.words((Word(20, self._line(i), text, 13, "left") for i, text in spans), GRAY)

    def _line(self, step: int) -> float:
        return self.LIST + 17 * step

    def _draw_memory(self) -> None:
        for left, name in ((self.LEFT, "left tile, from a"), (self.RIGHT, "right tile, from b")):
            self.words([Word(left, 54, name, 14, "left")], weight="bold")
            boxes = [self._big(left, i) for i in range(self.TILE**2)]
            self.boxes(boxes)
            self.words((Word(box.x + 6, box.y + 10, str(i), 12, "left") for i, box in enumerate(boxes)), GRAY)
        legend = "small: the thread that loads the cell, and its slot"
        self.words([Word(self.LEFT, 299, legend, 12, "left")], GRAY)

    def _big(self, left: float, slot: int) -> Box:
        y, x = divmod(slot, self.TILE)
        return Box(left + x * self.BIG, 68 + y * self.BIG, self.BIG, self.BIG)

    # --- What moves -----------------------------------------------------------------------------------

    def _make_moving_parts(self) -> None:
        self.line = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE), line=2))
        self.tiles = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE), line=3))
        self.own = self.moves(self.boxes(edge=ORANGE, face=PAPER, line=3))
        self.mine = self.moves(self.words(color=ORANGE, weight="bold"))
        self.marked = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE), line=4))
        self.known = self.moves(self.words())
        self.unknown = self.moves(self.words(color=GRAY))
        self.head = self.moves(self.words(weight="bold"))
        self.notes = self.moves(self.words(color=ORANGE))
        self.labels = self.moves(self.words(color=GRAY))
        self.table = self.moves(self.words())
        self.verdict = self.moves(self.words(color=BLUE))

    def _point(self, step: int, thread: int, first: int, done: bool) -> None:
        """Mark the step, the tiles that it is about, and the element that the thread owns."""
        (left, top), (row, column) = self.inner, self.corner
        self.line.put([Box(108, self._line(step) - 8.5, 112, 17)])
        tiles = self._side(20, top, row, first), self._side(left, self.TOP, first, column)
        self.tiles.put(() if done else tiles)
        own = self._cell(left, top, *self._owned(thread))
        self.own.put([own])
        self.mine.put([Word(own.x + own.width / 2, own.y + own.height / 2, f"t{thread}", 12)])

    def _owned(self, thread: int) -> Cell:
        return self.corner[0] + thread // self.TILE, self.corner[1] + thread % self.TILE

    def _fill_memory(self, thread: int, first: int, phase: int | None) -> None:
        """Write what the thread may count on, mark what the step is about, and say who shares it."""
        here, loading = (self.LEFT, self.RIGHT), phase == PHASES.index("load")
        mates, cells = tile_mates(self.TILE, thread), self._tiles(first)
        every = range(self.TILE**2) if phase is not None else ()
        known = [thread] if loading else every
        places = [(left, tile, slot) for left, tile in zip(here, cells, strict=True) for slot in every]
        self.known.put(self._word(left, i, number(tile[i]), 16) for left, tile, i in places if i in known)
        self.unknown.put(self._word(left, i, "?", 16) for left, _, i in places if i not in known)
        reads = phase in (1, 2)
        marked = mates if reads else ([thread],) * 2 if phase is not None else ((), ())
        self.marked.put(self._big(left, i) for left, slots in zip(here, marked, strict=True) for i in slots)
        about = f"workgroup memory, as thread {thread} may trust it" if every else f"thread {thread} is done"
        self.head.put([Word(self.LEFT, 22, about, 15, "left")])
        notes = self._notes(thread, first, phase, mates) if every else ((), ())
        self.notes.put(
            Word(left, 262 + 18 * i, line, 14, "left")
            for left, lines in zip(here, notes, strict=True)
            for i, line in enumerate(lines)
        )

    def _notes(self, thread: int, first: int, phase: int, mates) -> Iterable[Sequence[str]]:
        """A few words below each tile."""
        if phase == 0:
            return (self._note(thread, *load) for load in self._loads(thread, first))
        if phase == 2:
            y, x = divmod(thread, self.TILE)
            return [f"thread {thread} reads row {y}"], [f"thread {thread} reads column {x}"]
        word = "loaded by" if phase == 1 else "still read by"
        return ((word, in_words("thread", slots)) for slots in mates)

    def _word(self, left: float, slot: int, text: str, size: float) -> Word:
        box = self._big(left, slot)
        return Word(box.x + self.BIG * 0.58, box.y + self.BIG * 0.66, text, size)

    def _loads(self, thread: int, first: int) -> tuple[tuple[str, Cell], tuple[str, Cell]]:
        left, right = tile_loads(self.TILE, self.corner, first, thread)
        return ("a", left), ("b", right)

    def _loaded(self, name: str, cell: Cell) -> float | None:
        """The value of a cell of a or b, or None past the edge."""
        matrix = {"a": self.a, "b": self.b}[name]
        return float(matrix[cell]) if cell[0] < matrix.shape[0] and cell[1] < matrix.shape[1] else None

    def _note(self, thread: int, name: str, cell: Cell) -> Sequence[str]:
        if self._loaded(name, cell) is None:
            return f"thread {thread} puts 0:", f"there is no k = {cell[1 if name == 'a' else 0]}"
        return [f"thread {thread} loads {name}[{cell[0]},{cell[1]}]"]

    def _tiles(self, first: int) -> tuple[list[float], list[float]]:
        """The values of both tiles, slot by slot, with 0 past the edge."""
        loads = [self._loads(thread, first) for thread in range(self.TILE**2)]
        return tuple([self._loaded(*load[side]) or 0.0 for load in loads] for side in (0, 1))

    def _terms(self, thread: int, first: int) -> list[tuple[float, float]]:
        """What the thread multiplies in one turn: its row of the left tile and its column of the right one."""
        (left, right), (row, column) = self._tiles(first), tile_mates(self.TILE, thread)
        return [(left[i], right[j]) for i, j in zip(row, column, strict=True)]

    def _sum(self, thread: int, end: int) -> float:
        """The thread's sum over all tiles that begin before k = `end`."""
        return sum(x * y for first in self.firsts if first < end for x, y in self._terms(thread, first))

    def _fill_table(self, thread: int, first: int, multiplied: bool, done: bool) -> None:
        before, terms = self._sum(thread, first), self._terms(thread, first)
        sums = before + np.cumsum([x * y for x, y in terms])
        columns = [(number(first + i), product_text(*term), number(sums[i] + 0.0)) for i, term in enumerate(terms)]
        labels = enumerate(("k", "term", "running sum") if multiplied else ())
        self.labels.put(Word(626, self.TABLE + 26 * i, label, 14, "right") for i, label in labels)
        self.table.put(
            Word(672 + 78 * i, self.TABLE + 26 * row, word, 15)
            for i, column in enumerate(columns if multiplied else ())
            for row, word in enumerate(column)
        )
        y, x = self._owned(thread)
        total = number(sums[-1] if multiplied else before)
        lines = [f"thread {thread} owns (a @ b)[{y},{x}]; sum{'' if done else ' so far'}: {total}"]
        lines += [f"the GPU returned: {number(self.result[y, x])}"] if done else []
        self.verdict.put(Word(self.LEFT, self.TABLE + 88 + 26 * i, line, 15, "left") for i, line in enumerate(lines))

    # --- What it means --------------------------------------------------------------------------------

    def _load(self, thread: int, first: int) -> str:
        loads = [(name, cell, self._loaded(name, cell)) for name, cell in self._loads(thread, first)]
        left, right = (
            f"{name}[{row},{column}] = {number(value or 0)}{' (past the edge)' if value is None else ''}"
            for name, (row, column), value in loads
        )
        return f"thread {thread} loads {left} and {right}. Whether the other 15 are done with theirs, it cannot know."

    def _await_load(self, thread: int, first: int) -> str:
        row, column = (in_words("thread", mates) for mates in tile_mates(self.TILE, thread))
        return (
            f"thread {thread} is about to read what {row} loaded on the left and {column} on the right. Without this "
            f"barrier it could multiply what {'stood there before' if first == 0 else 'is left of the last tiles'}."
        )

    def _multiply(self, thread: int, first: int) -> str:
        terms = " + ".join(product_text(*term) for term in self._terms(thread, first))
        before, after = (number(self._sum(thread, end)) for end in (first, first + self.TILE))
        return (
            f"thread {thread} adds {terms} to its sum, {before}, and has {after}. All cells of both tiles are in place."
        )

    def _await_use(self, thread: int, first: int) -> str:
        row, column = (in_words("thread", mates) for mates in tile_mates(self.TILE, thread))
        if first == self.firsts[-1]:
            return "no tile follows, so nothing could be overwritten; the loop makes all 16 threads wait once more."
        return (
            f"{row} read what thread {thread} put on the left, and {column} what it put on the right. Without this "
            f"barrier it could overwrite that with its next cells while a slower thread still multiplies."
        )

    def _write(self, thread: int, _) -> str:
        y, x = self._owned(thread)
        total, returned = number(self._sum(thread, self.reach)), number(self.result[y, x])
        return f"thread {thread}, and no other, writes (a @ b)[{y},{x}] = {total}; the GPU returned {returned}."
