"""A product in tiles: what a workgroup and its threads do step by step."""

from itertools import product

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.fused_gemm_backward.pictures.cards import fly
from helpers.operations.gemm.indices import Cell, tile_loads, tile_mates
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, Picture, number
from helpers.pictures.parts import Grid
from helpers.pictures.terms import product_text

TILE = 4
THREADS = TILE**2
STEPS = ("load", "load", "load", "barrier", "multiply", "barrier")  # of a turn; after the last one, "write"
BARRIER = STEPS.index("barrier")
MULTIPLY = STEPS.index("multiply")
WAITING = {  # by the place of a step
    2: "fast threads have loaded their numbers, slow ones have not. None can see how far the others are.",
    BARRIER: "all 16 threads wait until both tiles are loaded. A fast one could multiply too early.",
    MULTIPLY + 1: "all 16 threads wait until nobody reads the tiles any more. A fast one could load too early.",
}
SPEEDS = 1.0, 0.8, 0.65, 0.45  # how far the numbers of each row of threads have come when the first ones arrive
# CSS pixels
CELL = (22, 18)  # the width and the height of a cell of a matrix
SLOT = (26, 26)  # and of a tile
TOP = 40  # where matrices and tiles begin


class TilesPicture(Picture):
    """One workgroup of a product a @ b: its tiles fly in, turn by turn, and its threads load, wait and multiply.

    `result` (M, N) is what the kernel wrote for a (M, K) @ b (K, N), where M and N are multiples of TILE. `on` is the
    adapter.
    """

    def __init__(self, a, b, result, on: str) -> None:
        self.operands = {"a": a, "b": b}
        self.result = result
        self.on = on
        _, k = a.shape
        starts = range(0, k, TILE)  # of tiles, along k
        self.moves = list(product(starts, range(len(STEPS))))
        self.moves.append((starts[-1], len(STEPS)))
        super().__init__(224)
        self._draw_grids(a, b)
        self._let_point()
        self.stands_still()

    def _draw_grids(self, a, b) -> None:
        """The three matrices beside each other, and the two tiles at the right end."""
        m, k = a.shape
        _, n = b.shape
        width, _ = CELL
        left_of_b = MARGIN + k * width + 30
        left_of_c = left_of_b + n * width + 30
        self.grids = {
            "a": Grid(self, a, MARGIN, TOP, CELL, f"a, {m} × {k}"),
            "b": Grid(self, b, left_of_b, TOP, CELL, f"b, {k} × {n}"),
            "c": Grid(self, self.result, left_of_c, TOP, CELL, f"c = a @ b, {m} × {n}", numbers=False, tensor="output"),
        }
        slot_width, _ = SLOT
        right = self.width - MARGIN - TILE * slot_width
        left = right - TILE * slot_width - 12
        empty = np.zeros((TILE, TILE))
        left_tile = Grid(self, empty, left, TOP, SLOT, "left", numbers=False, tensor="a")
        right_tile = Grid(self, empty, right, TOP, SLOT, "right", numbers=False, tensor="b")
        self.tiles = [left_tile, right_tile]
        note = ["workgroup memory:", "16 threads see both tiles"]
        self.column(left, left_tile.bottom + 16, 20, note, 13, GRAY)

    def _let_point(self) -> None:
        """A number of a or b says who loads it, one of a tile who uses it, and one of c which thread makes it."""
        a, b, c = self.grids.values()
        load_steps = [k // TILE * len(STEPS) + 1 for k in range(len(b.values))]  # in which a column of a is loaded
        of_a = {(m, k): {"row": m, "step": load_steps[k]} for m, k in np.ndindex(a.values.shape)}
        of_b = {(k, n): {"column": n, "step": load_steps[k]} for k, n in np.ndindex(b.values.shape)}
        a.point(of_a, "a")
        b.point(of_b, "b")
        for side, tile in enumerate(self.tiles):
            first = THREADS * side + 1
            tile.point({divmod(i, TILE): {"slot": first + i} for i in range(THREADS)})
        c.touch("c", "row", "column")

    def draw(self, step: int, row: int, column: int, slot: int = 0) -> str:
        """Show a step of the thread that makes c[row,column], or who uses a slot: those of left are 1 to 16."""
        start, phase = self.moves[step]
        element = (row, column)
        tile_row, thread_row = divmod(row, TILE)
        tile_column, thread_column = divmod(column, TILE)
        self.corner = (tile_row * TILE, tile_column * TILE)
        self.thread = thread_row * TILE + thread_column
        self.cells = {"a": [], "b": []}  # by their slots
        for thread in range(THREADS):
            of_a, of_b = tile_loads(TILE, self.corner, start, thread)
            self.cells["a"].append(of_a)
            self.cells["b"].append(of_b)
        sums = self._sums_after(start, phase)
        is_last = phase == len(STEPS)
        self._draw_matrices(start, is_last)
        self._draw_sums(sums, element)
        if not is_last:
            self._draw_tiles(phase)
        total = number(sums[element])
        self._draw_status(step, phase, element, total)
        if slot:
            return self._say_use(slot - 1)
        if is_last:
            return f"Step {step}, write: {self._say_write(element, total)}"
        return f"Step {step}, {STEPS[phase]}: {self._say_phase(phase, total)}"

    def _sums_after(self, start: int, phase: int) -> np.ndarray:
        """The sums of all products up to this phase of the turn that loads from k = `start` on."""
        a, b = self.operands.values()
        end = start + TILE if phase >= MULTIPLY else start
        return a[:, :end] @ b[:end]

    def _draw_status(self, step: int, phase: int, element: Cell, total: str) -> None:
        """The line below the matrices: the step, the sum of the element, and the adapter."""
        _, height = CELL
        y = TOP + 8 * height + 20
        row, column = element
        if phase == len(STEPS):
            action = "write"
            so_far = f"; the kernel wrote: {number(self.result[element])}"
        else:
            action = STEPS[phase]
            so_far = " so far"
        self.bold(MARGIN, y, f"step {step}: {action}", 15, BLUE)
        self.write(190, y, f"c[{row},{column}]: {total}{so_far}", 15)
        self.note(self.width - MARGIN, y, f"on {self.on}", "right")

    def _draw_matrices(self, start: int, is_last: bool) -> None:
        """Frame the cells of the two tiles, and the tile of c."""
        top, left = self.corner
        if not is_last:
            self._frame_tile("a", (top, start))
            self._frame_tile("b", (start, left))
        self._frame_tile("c", self.corner)

    def _frame_tile(self, name: str, corner: Cell) -> None:
        """Frame the tile of a matrix that begins at a corner, as far as the matrix has cells."""
        grid = self.grids[name]
        size = np.minimum(TILE, np.subtract(grid.values.shape, corner))
        self.boxes([grid.box(*corner, *size)], grid.look.ink, line=3)

    def _draw_tiles(self, phase: int) -> None:
        """Both tiles: on their way, or in their slots, where a thread's row and column are marked."""
        mates_by_side = tile_mates(TILE, self.thread)
        for tile, name, mates in zip(self.tiles, "ab", mates_by_side, strict=True):
            if phase < BARRIER:
                self._fly_in(tile, name, phase)
                continue
            numbers = [number(self._value(name, cell)) for cell in self.cells[name]]
            self.label(tile.boxes, numbers, 14, tile.look.ink, tile.look.weight)
            if phase == MULTIPLY:
                self.tinted([tile.boxes[i] for i in mates], BLUE, 2.4)

    def _fly_in(self, tile: Grid, name: str, phase: int) -> None:
        """The numbers of a tile on their way into their slots, those of the first row of threads ahead."""
        ways = []
        for slot, cell in enumerate(self.cells[name]):
            if self._holds(name, cell):
                start = self.grids[name].box(*cell)
                end = tile.boxes[slot]
                part = SPEEDS[slot // TILE] * phase / 2
                text = number(self._value(name, cell))
                ways.append((start, end, part, text))
        fly(self, ways, tile.look.ink)

    def _draw_sums(self, sums: np.ndarray, element: Cell) -> None:
        """Draw the sums of the 16 threads, and mark the thread that is looked at."""
        grid = self.grids["c"]
        cells = [self._cell_of(thread) for thread in range(THREADS)]
        boxes = [grid.box(*cell) for cell in cells]
        texts = [number(sums[cell]) for cell in cells]
        self.label(boxes, texts, 13, grid.look.ink, grid.look.weight)
        self.boxes([grid.box(*element)], BLUE, line=3)

    def _cell_of(self, thread: int) -> Cell:
        """The element of c that a thread of the workgroup makes."""
        top, left = self.corner
        row, column = divmod(thread, TILE)
        return top + row, left + column

    def _holds(self, name: str, cell: Cell) -> bool:
        """Return whether an operand has a cell."""
        return all(np.less(cell, self.operands[name].shape))

    def _value(self, name: str, cell: Cell) -> float:
        """The number that is loaded from a cell: past the edge, 0."""
        if not self._holds(name, cell):
            return 0.0
        return float(self.operands[name][cell])

    def _say_write(self, element: Cell, total: str) -> str:
        """Say what the thread writes."""
        row, column = element
        returned = number(self.result[element])
        return f"thread {self.thread} alone writes c[{row},{column}] = {total}; the kernel wrote {returned}."

    def _say_phase(self, phase: int, total: str) -> str:
        """Say what the thread does, or for what it waits."""
        if phase in WAITING:
            return WAITING[phase]
        if phase == MULTIPLY:
            row, column = tile_mates(TILE, self.thread)
            lefts = [self._value("a", self.cells["a"][slot]) for slot in row]
            rights = [self._value("b", self.cells["b"][slot]) for slot in column]
            products = [product_text(left, right) for left, right in zip(lefts, rights, strict=True)]
            terms = " + ".join(products)
            return f"thread {self.thread} adds {terms}, a row of left times a column of right, and has {total}."
        of_a = self._say_load("a", self.cells["a"][self.thread])
        of_b = self._say_load("b", self.cells["b"][self.thread])
        return f"thread {self.thread} loads {of_a} and {of_b}: one number for each tile."

    def _say_load(self, name: str, cell: Cell) -> str:
        """Name what is loaded from a cell of a matrix."""
        if not self._holds(name, cell):
            return f"0 (past the edge of {name})"
        row, column = cell
        return f"{name}[{row},{column}] = {number(self._value(name, cell))}"

    def _say_use(self, slot: int) -> str:
        """Say which thread loads a slot, and which threads use it."""
        side, thread = divmod(slot, THREADS)  # a thread loads the slot of its own number
        name = "ab"[side]
        tile = self.tiles[side]
        cell = self.cells[name][thread]
        users = tile_mates(TILE, thread)[side]
        made = [self._cell_of(user) for user in users]
        self.boxes([tile.boxes[thread]], BLUE, line=3)
        self.tinted([self.grids["c"].box(*cell_of_c) for cell_of_c in made], BLUE, 2)
        verb = "loaded" if self._holds(name, cell) else "written"
        origin = f"{tile.caption}[{thread}] is {self._say_load(name, cell)}"
        return f"{origin}: {verb} once, by thread {thread}, and used by {in_words('thread', users)}."
