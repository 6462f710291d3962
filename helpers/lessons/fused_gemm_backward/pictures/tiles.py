"""A product in tiles: what a workgroup and its threads do step by step, and how a tile is transposed on its way in."""

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from helpers.data.words import in_words
from helpers.operations.gemm.indices import LOADS, Cell, load_into_tile, tile_loads, tile_mates
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, PAPER, Box, Picture, Word, number
from helpers.pictures.parts import Grid, product_text

TILE = 4
STEPS = ("load", "load", "load", "barrier", "multiply", "barrier")  # of a turn; after the last one, "write"
BARRIER, MULTIPLY = STEPS.index("barrier"), STEPS.index("multiply")
WAITING = {  # by the place of a step
    2: "fast threads have loaded their numbers, slow ones have not. None can see how far the others are.",
    BARRIER: "all 16 threads wait until both tiles are loaded. A fast one could multiply too early.",
    MULTIPLY + 1: "all 16 threads wait until nobody reads the tiles any more. A fast one could load too early.",
}
SPEEDS = 1.0, 0.8, 0.65, 0.45  # how far the numbers of each row of threads have come when the first ones arrive
CELL, SLOT, TOP = (22, 18), (26, 26), 40  # CSS pixels: cells of a matrix and of a tile; where they begin


def fly(picture: Picture, ways: Iterable[tuple[Box, Box, float, str]], color: str) -> None:
    """Cards on their way from one box to another: of each, the part of its way that is behind it, and its text."""
    for start, end, part, text in ways:
        card = Box(*(np.multiply(start, 1 - part) + np.multiply(end, part)))
        picture.boxes([card], PAPER, PAPER)
        picture.tinted([card], color, 1.4)
        picture.label([card], [text], 13, color, "bold")


class TilesPicture(Picture):
    """One workgroup of a product a @ b: its tiles fly in, turn by turn, and its threads load, wait and multiply.

    `result` (M, N) is what the kernel wrote for a (M, K) @ b (K, N), where M and N are multiples of TILE. `on` is the
    adapter.
    """

    def __init__(self, a, b, result, on: str) -> None:
        (m, k), n = a.shape, b.shape[1]
        self.operands, self.result, self.on = {"a": a, "b": b}, result, on
        firsts = range(0, k, TILE)
        self.moves = [(first, i) for first in firsts for i in range(len(STEPS))] + [(firsts[-1], len(STEPS))]
        super().__init__(224)
        places = np.cumsum([MARGIN, k * CELL[0] + 30, n * CELL[0] + 30])
        titles = f"a, {m} × {k}", f"b, {k} × {n}", f"c = a @ b, {m} × {n}"
        *operands, product = zip((a, b, result), places, titles, strict=True)
        grids = [Grid(self, values, x, TOP, CELL, title) for values, x, title in operands]
        values, x, title = product
        grids.append(Grid(self, values, x, TOP, CELL, title, numbers=False, tensor="output"))
        self.grids = dict(zip("abc", grids, strict=True))
        self.tiles = [
            Grid(self, np.zeros((TILE, TILE)), self.width - MARGIN - gap, TOP, SLOT, name, numbers=False, tensor=of)
            for gap, name, of in ((2 * TILE * SLOT[0] + 12, "left", "a"), (TILE * SLOT[0], "right", "b"))
        ]
        x, y = self.tiles[0].x, self.tiles[0].bottom
        self.column(x, y + 16, 20, ("workgroup memory:", "16 threads see both tiles"), 13, GRAY)
        self._let_point()
        self.stands_still()

    def _let_point(self) -> None:
        """A number of a or b says who loads it, one of a tile who uses it, and one of c which thread makes it."""
        a, b, c = self.grids.values()
        loaded = [k // TILE * len(STEPS) + 1 for k in range(len(b.values))]  # the step that loads a column of a
        a.point({(m, k): {"row": m, "step": loaded[k]} for m, k in np.ndindex(a.values.shape)}, "a")
        b.point({(k, n): {"column": n, "step": loaded[k]} for k, n in np.ndindex(b.values.shape)}, "b")
        for i, grid in enumerate(self.tiles):
            grid.point({divmod(slot, TILE): {"slot": TILE**2 * i + slot + 1} for slot in range(TILE**2)})
        c.touch("c", "row", "column")

    def draw(self, step: int, row: int, column: int, slot: int = 0) -> str:
        """Show a step of the thread that makes c[row,column], or who uses a slot: those of left are 1 to 16."""
        (first, phase), element = self.moves[step], (row, column)
        self.corner, self.thread = (row // TILE * TILE, column // TILE * TILE), row % TILE * TILE + column % TILE
        loads = [tile_loads(TILE, self.corner, first, thread) for thread in range(TILE**2)]
        self.cells = dict(zip("ab", zip(*loads, strict=True), strict=True))  # of each matrix, by their slots
        (a, b), end = self.operands.values(), first + TILE * (phase >= MULTIPLY)
        sums, is_last = a[:, :end] @ b[:end], phase == len(STEPS)
        self._draw_matrices(first, is_last)
        self._draw_sums(sums, element)
        if not is_last:
            self._draw_tiles(phase)
        name, total, returned = f"c[{row},{column}]", number(sums[element]), number(self.result[element])
        what, y = (*STEPS, "write")[phase], TOP + 8 * CELL[1] + 20
        self.bold(MARGIN, y, f"step {step}: {what}", 15, BLUE)
        self.write(190, y, f"{name}: {total}{f'; the kernel wrote: {returned}' if is_last else ' so far'}", 15)
        self.note(self.width - MARGIN, y, f"on {self.on}", "right")
        if slot:
            return self._use(slot - 1)
        written = f"thread {self.thread} alone writes {name} = {total}; the kernel wrote {returned}."
        return f"Step {step}, {what}: {written if is_last else self._say(phase, total)}"

    def _draw_matrices(self, first: int, is_last: bool) -> None:
        """Where the two tiles come from, and the tile of c."""
        corners = {"a": (self.corner[0], first), "b": (first, self.corner[1]), "c": self.corner}
        for name, at in corners.items():
            grid = self.grids[name]
            size = np.minimum(TILE, np.subtract(grid.values.shape, at))
            if name == "c" or not is_last:
                self.boxes([grid.box(*at, *size)], grid.look.ink, line=3)

    def _draw_tiles(self, phase: int) -> None:
        """Both tiles: on their way, or in their slots, where a thread's row and column are marked."""
        for grid, (name, cells), mine in zip(
            self.tiles, self.cells.items(), tile_mates(TILE, self.thread), strict=True
        ):
            numbers = [number(self._value(name, cell)) for cell in cells]
            if phase >= BARRIER:
                self.label(grid.boxes, numbers, 14, *grid.look[:2])
                self.tinted((grid.boxes[i] for i in (mine if phase == MULTIPLY else ())), BLUE, 2.4)
                continue
            ways = (
                (self.grids[name].box(*cell), grid.boxes[i], SPEEDS[i // TILE] * phase / 2, numbers[i])
                for i, cell in enumerate(cells)
                if self._holds(name, cell)
            )
            fly(self, ways, grid.look.ink)

    def _draw_sums(self, sums: np.ndarray, element: Cell) -> None:
        """What the 16 threads have added up, and the thread that is looked at."""
        places = [tuple(np.add(self.corner, divmod(thread, TILE))) for thread in range(TILE**2)]
        grid = self.grids["c"]
        self.label([grid.box(*at) for at in places], [number(sums[at]) for at in places], 13, *grid.look[:2])
        self.boxes([grid.box(*element)], BLUE, line=3)

    def _holds(self, name: str, cell: Cell) -> bool:
        return all(np.less(cell, self.operands[name].shape))

    def _value(self, name: str, cell: Cell) -> float:
        """What is loaded from a cell: past the edge, 0."""
        return float(self.operands[name][cell]) if self._holds(name, cell) else 0.0

    def _say(self, phase: int, total: str) -> str:
        """What the thread does, or for what it waits."""
        if phase in WAITING:
            return WAITING[phase]
        if phase == MULTIPLY:
            sides = zip(self.cells.items(), tile_mates(TILE, self.thread), strict=True)
            factors = [[self._value(name, cells[i]) for i in mine] for (name, cells), mine in sides]
            terms = " + ".join(product_text(*pair) for pair in zip(*factors, strict=True))
            return f"thread {self.thread} adds {terms}, a row of left times a column of right, and has {total}."
        loads = " and ".join(self._load(name, cells[self.thread]) for name, cells in self.cells.items())
        return f"thread {self.thread} loads {loads}: one number for each tile."

    def _load(self, name: str, cell: Cell) -> str:
        if not self._holds(name, cell):
            return f"0 (past the edge of {name})"
        return f"{name}[{cell[0]},{cell[1]}] = {number(self._value(name, cell))}"

    def _use(self, slot: int) -> str:
        """Who loads a slot, and who uses it."""
        side, slot = divmod(slot, TILE**2)
        name, grid = "ab"[side], self.tiles[side]
        users, cell = tile_mates(TILE, slot)[side], self.cells[name][slot]
        self.boxes([grid.boxes[slot]], BLUE, line=3)
        self.tinted((self.grids["c"].box(*np.add(self.corner, divmod(user, TILE))) for user in users), BLUE, 2)
        done = "loaded" if self._holds(name, cell) else "written"
        said = f"{grid.caption}[{slot}] is {self._load(name, cell)}"
        return f"{said}: {done} once, by thread {slot}, and used by {in_words('thread', users)}."


# --- How a tile gets into workgroup memory, as it lies or transposed -------------------------------------------

SIZES, CORNER = (8, 5), (4, 0)  # (M, K) of a, and where the tile begins
FLIGHT = 0, 0.64, 0.82, 1  # the part of its way that is behind a tile, in each step
WAYS = (  # in the order of LOADS
    "0: as it lies. Threads read along a row of a, and write along a row of left.",
    "1: transposed on its way in. Threads read along a row of a, and write down a column of left.",
    "2: the same tile, read the other way. Threads read down a column of a, and write along a row of left.",
)


class TransposedLoadPicture(Picture):
    """A tile of a that flies into `left`, the thread that moves each number, and what its neighbors read.

    a is 8 x 5 and the workgroup 4 x 4: small enough to give each offset a place on one line.
    """

    def __init__(self) -> None:
        super().__init__(386)

    def draw(self, load: int, thread: int, flight: int) -> str:
        """Choose one of LOADS, how far the tile has come, and one thread."""
        places, slots = zip(*(load_into_tile(LOADS[load], TILE, CORNER, t) for t in range(TILE**2)), strict=True)
        if self.starts(load):
            self._draw_memory(load, places, slots)
            self.stands_still()
        offsets = [m * SIZES[1] + k for m, k in places]
        cells, homes = [self.a.box(*place) for place in places], [self.left.boxes[slot] for slot in slots]
        first = thread // TILE * TILE
        row = range(first, first + TILE)
        moved = cells, homes, [self.strip[offset] for offset in offsets]  # of each thread
        self.tinted([boxes[t] for boxes in moved for t in row], BLUE, 2)
        self.boxes([boxes[thread] for boxes in moved], BLUE, line=4)
        if FLIGHT[flight] in (0, 1):  # in between, cards lie over them
            named = enumerate(self.left.boxes)
            self.words((Word(box.x + 4, box.y + 9, str(i), 12, "left") for i, box in named), GRAY)
        ways = (
            (_card(*cell.middle), _card(home.x + 35, home.y + 24), FLIGHT[flight], str(offset))
            for cell, home, offset in zip(cells, homes, offsets, strict=True)
        )
        fly(self, ways, self.a.look.ink)
        read = [offsets[t] for t in row]
        self.label((self.strip[offset] for offset in read), row, color=BLUE, down=24)
        facts = f"thread {thread}", f"local.x = {thread % TILE}", f"local.y = {thread // TILE}"
        self.column(640, 110, 24, facts, 15, BLUE, "bold")
        access = "side by side: coalesced" if read[1] == read[0] + 1 else f"{SIZES[1]} apart: strided"
        reads = f"{in_words('thread', row)} read {in_words('offset', read)}"
        self.bold(MARGIN, 312, f"{reads}, {access}", 14.5, BLUE)
        (m, k), slot = places[thread], slots[thread]
        said = f"Thread {thread} reads a[{m},{k}] at offset {offsets[thread]} and writes it to left[{slot}]."
        return f"{said} {reads.capitalize()}, {access}."

    def _draw_memory(self, load: int, places: Sequence[Cell], slots: Sequence[int]) -> None:
        """Everything that does not move."""
        self.bold(MARGIN, 16, WAYS[load], 14)
        offsets, empty = np.arange(prod(SIZES)), np.zeros((TILE, TILE))
        what = "a, in storage", "8 × 5; each number is its offset"
        self.a = Grid(self, offsets.reshape(SIZES), 56, 80, (40, 25), *what)
        what = "left, in workgroup memory", "small numbers: its slots"
        self.left = Grid(self, empty, 360, 80, (54, 36), *what, numbers=False, tensor="a")
        self.strip = [Box(72 + 18.8 * i, 328, 18.8, 22) for i in offsets]
        self.boxes(self.strip)
        self.label(self.strip, offsets, 12)
        self.column(MARGIN, 339, 24, ("offset", "thread"), 13, GRAY)
        rows = [Word(self.a.x - 7, self.a.box(m, 0).middle[1], f"m {m}", 12, "right") for m in range(SIZES[0])]
        columns = [Word(self.a.box(0, k).middle[0], self.a.bottom + 10, f"k {k}", 12) for k in range(SIZES[1])]
        self.words(rows + columns, GRAY)
        self.a.point({place: {"thread": t} for t, place in enumerate(places)}, "a")
        self.left.point({divmod(slot, TILE): {"thread": t} for t, slot in enumerate(slots)}, "left")


def _card(x: float, y: float) -> Box:
    """A card for one number, with its middle there."""
    return Box(x - 13, y - 9, 26, 18)
