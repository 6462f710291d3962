"""A product in tiles: what a workgroup and its threads do step by step, and how a tile is transposed on its way in."""

from collections.abc import Iterable
from math import prod

import numpy as np

from helpers.gemm.indices import LOADS, Cell, load_into_tile, tile_loads, tile_mates
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, PAPER, Box, Picture, Word, in_words, number
from helpers.pictures.parts import Grid, product_text

TILE = 4
STEPS = ("load", "load", "load", "barrier", "multiply", "barrier")  # of a turn; after the last one, "write"
BARRIER, MULTIPLY = STEPS.index("barrier"), STEPS.index("multiply")
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

    def __init__(self, a, b, result, on: str = "") -> None:
        (m, k), n = a.shape, b.shape[1]
        self.operands, self.result, self.on = {"a": a, "b": b}, result, on
        self.firsts = range(0, k, TILE)
        self.moves = [(first, i) for first in self.firsts for i in range(len(STEPS))] + [(self.firsts[-1], len(STEPS))]
        super().__init__(224)
        places = np.cumsum([MARGIN, k * CELL[0] + 30, n * CELL[0] + 30])
        titles = f"a, {m} × {k}", f"b, {k} × {n}"
        pairs = zip((a, b), places, titles, strict=False)
        self.grids = {title[0]: Grid(self, values, x, TOP, CELL, title) for values, x, title in pairs}
        title = f"c = a @ b, {m} × {n}"
        self.grids["c"] = Grid(self, result, places[-1], TOP, CELL, title, numbers=False, tensor="output")
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
        loads = {"a": ("row", 1), "b": ("column", 0)}  # which value follows the cell, and which axis is k
        for name, (value, along) in loads.items():
            grid = self.grids[name]
            cells = np.ndindex(grid.values.shape)
            grid.point(
                {cell: {value: cell[1 - along], "step": cell[along] // TILE * len(STEPS) + 1} for cell in cells}, name
            )
        for i, grid in enumerate(self.tiles):
            slots = {cell: {"slot": TILE**2 * i + slot + 1} for slot, cell in enumerate(np.ndindex(TILE, TILE))}
            grid.point(slots)
        self.grids["c"].touch("c", "row", "column")

    def draw(self, step: int, row: int, column: int, slot: int = 0) -> str:
        """Show a step of the thread that makes c[row,column], or who uses a slot: those of left are 1 to 16."""
        (first, phase), self.element = self.moves[step], (row, column)
        self.corner, self.thread = (row // TILE * TILE, column // TILE * TILE), row % TILE * TILE + column % TILE
        end = first + TILE * (phase >= MULTIPLY)
        self._draw_matrices(first, phase)
        self._draw_sums(end)
        if phase < len(STEPS):
            self._draw_tiles(first, phase)
        returned = number(self.result[self.element]) if phase == len(STEPS) else ""
        what, y = (*STEPS, "write")[phase], TOP + 8 * CELL[1] + 20
        self.bold(MARGIN, y, f"step {step}: {what}", 15, BLUE)
        total = f"{self._name}: {number(self._sum(end))}" + (
            f"; the kernel wrote: {returned}" if returned else " so far"
        )
        self.write(190, y, total, 15)
        self.write(self.width - MARGIN, y, f"on {self.on}" if self.on else "", 13, GRAY, align="right")
        return self._use(first, slot - 1) if slot else f"Step {step}, {what}: {self._say(first, phase)}"

    @property
    def _name(self) -> str:
        return f"c[{self.element[0]},{self.element[1]}]"

    def _draw_matrices(self, first: int, phase: int) -> None:
        """Where the two tiles come from, and the tile of c."""
        for name, at in ("a", (self.corner[0], first)), ("b", (first, self.corner[1])), ("c", self.corner):
            rows, columns = np.minimum(TILE, np.subtract(self.grids[name].values.shape, at))
            if name == "c" or phase < len(STEPS):
                self.boxes([self.grids[name].box(*at, rows, columns)], self.grids[name].look.ink, line=3)

    def _draw_tiles(self, first: int, phase: int) -> None:
        """Both tiles: on their way, or in their slots, where a thread's row and column are marked."""
        mates = tile_mates(TILE, self.thread)
        for name, grid, cells, numbers, mine in zip(
            "ab", self.tiles, self._cells(first), self._tiles(first), mates, strict=True
        ):
            if phase >= BARRIER:
                self.label(grid.boxes, map(number, numbers), 14, *grid.look[:2])
                self.tinted((grid.boxes[i] for i in (mine if phase == MULTIPLY else ())), BLUE, 2.4)
                continue
            inside = [i for i, cell in enumerate(cells) if self._holds(name, cell)]
            places = ((self.grids[name].box(*cells[i]), grid.boxes[i], SPEEDS[i // TILE] * phase / 2) for i in inside)
            fly(self, ((*place, number(numbers[i])) for place, i in zip(places, inside, strict=True)), grid.look.ink)

    def _draw_sums(self, end: int) -> None:
        """What the 16 threads have added up, and the thread that is looked at."""
        places = [tuple(np.add(self.corner, divmod(thread, TILE))) for thread in range(TILE**2)]
        a, b = self.operands.values()
        sums = a[:, :end] @ b[:end]
        grid = self.grids["c"]
        self.label([grid.box(*at) for at in places], [number(sums[at]) for at in places], 13, *grid.look[:2])
        self.boxes([grid.box(*self.element)], BLUE, line=3)

    def _cells(self, first: int) -> list[tuple[Cell, ...]]:
        """The cells of a, and those of b, that the threads load."""
        return [*zip(*(tile_loads(TILE, self.corner, first, thread) for thread in range(TILE**2)), strict=True)]

    def _holds(self, name: str, cell: Cell) -> bool:
        return all(np.less(cell, self.operands[name].shape))

    def _tiles(self, first: int) -> list[list[float]]:
        """The values of both tiles, slot by slot, with 0 past the edge."""
        pairs = zip("ab", self._cells(first), strict=True)
        return [
            [float(self.operands[name][c]) if self._holds(name, c) else 0.0 for c in cells] for name, cells in pairs
        ]

    def _sum(self, end: int) -> float:
        """The thread's sum over all k before `end`."""
        a, b = self.operands.values()
        return float(a[self.element[0], :end] @ b[:end, self.element[1]])

    def _say(self, first: int, phase: int) -> str:
        """What the thread does, or for what it waits."""
        me = f"thread {self.thread}"
        if phase == len(STEPS):
            returned = number(self.result[self.element])
            return f"{me} alone writes {self._name} = {number(self._sum(first + TILE))}; the kernel wrote {returned}."
        if phase == MULTIPLY:
            terms = " + ".join(product_text(*pair) for pair in self._terms(first))
            return (
                f"{me} adds {terms}, a row of left times a column of right, and has {number(self._sum(first + TILE))}."
            )
        if phase == BARRIER:
            return "all 16 threads wait until both tiles are loaded. A fast one could multiply too early."
        if phase > MULTIPLY:
            return "all 16 threads wait until nobody reads the tiles any more. A fast one could load too early."
        if phase == 2:
            return "fast threads have loaded their numbers, slow ones have not. None can see how far the others are."
        loads = " and ".join(
            self._load(name, cells[self.thread]) for name, cells in zip("ab", self._cells(first), strict=True)
        )
        return f"{me} loads {loads}: one number for each tile."

    def _load(self, name: str, cell: Cell) -> str:
        y, x = cell
        if not self._holds(name, cell):
            return f"0 (past the edge of {name})"
        return f"{name}[{y},{x}] = {number(self.operands[name][cell])}"

    def _terms(self, first: int) -> list[tuple[float, float]]:
        """What the thread multiplies in one turn: its row of the left tile and its column of the right one."""
        (left, right), (row, column) = self._tiles(first), tile_mates(TILE, self.thread)
        return [(left[i], right[j]) for i, j in zip(row, column, strict=True)]

    def _use(self, first: int, slot: int) -> str:
        """Who loads a slot, and who uses it."""
        side, slot = divmod(slot, TILE**2)
        name, grid = "ab"[side], self.tiles[side]
        users = tile_mates(TILE, slot)[side]
        self.boxes([grid.boxes[slot]], BLUE, line=3)
        elements = [self.grids["c"].box(*np.add(self.corner, divmod(user, TILE))) for user in users]
        self.tinted(elements, BLUE, 2)
        cell = self._cells(first)[side][slot]
        said = f"{grid.caption}[{slot}] is {self._load(name, cell)}"
        done = "loaded" if self._holds(name, cell) else "written"
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
        self.loads = [load_into_tile(LOADS[load], TILE, CORNER, t) for t in range(TILE**2)]
        if self.starts(load):
            self._draw_memory(load)
            self.stands_still()
        (m, k), slot = self.loads[thread]
        row = range(thread // TILE * TILE, (thread // TILE + 1) * TILE)
        offsets = [self._offset(t) for t in row]
        cells = [self.a.box(*cell) for cell, _ in self.loads]
        slots = [self.left.boxes[slot] for _, slot in self.loads]
        marked = [boxes[t] for boxes in (cells, slots) for t in row] + [self.strip[offset] for offset in offsets]
        self.tinted(marked, BLUE, 2)
        self.boxes([cells[thread], slots[thread], self.strip[offsets[thread % TILE]]], BLUE, line=4)
        if FLIGHT[flight] in (0, 1):  # in between, cards lie over them
            named = enumerate(self.left.boxes)
            self.words((Word(box.x + 4, box.y + 9, str(i), 12, "left") for i, box in named), GRAY)
        ways = zip(
            (_card(*box.middle) for box in cells),
            (_card(x + 35, y + 24) for x, y, *_ in slots),
            map(self._offset, range(TILE**2)),
            strict=True,
        )
        fly(self, ((start, end, FLIGHT[flight], str(offset)) for start, end, offset in ways), self.a.look.ink)
        self.label((self.strip[offset] for offset in offsets), row, color=BLUE, down=24)
        facts = f"thread {thread}", f"local.x = {thread % TILE}", f"local.y = {thread // TILE}"
        self.column(640, 110, 24, facts, 15, BLUE, "bold")
        access = "side by side: coalesced" if offsets[1] == offsets[0] + 1 else f"{SIZES[1]} apart: strided"
        reads = f"{in_words('thread', row)} read {in_words('offset', offsets)}"
        self.bold(MARGIN, 312, f"{reads}, {access}", 14.5, BLUE)
        moved = f"Thread {thread} reads a[{m},{k}] at offset {self._offset(thread)} and writes it to left[{slot}]."
        return f"{moved} {reads.capitalize()}, {access}."

    def _offset(self, thread: int) -> int:
        (m, k), _ = self.loads[thread]
        return m * SIZES[1] + k

    def _draw_memory(self, load: int) -> None:
        """Everything that does not move."""
        self.bold(MARGIN, 16, WAYS[load], 14)
        offsets = np.arange(prod(SIZES))
        self.a = Grid(
            self, offsets.reshape(SIZES), 56, 80, (40, 25), "a, in storage", "8 × 5; each number is its offset"
        )
        self.left = Grid(
            self,
            np.zeros((TILE, TILE)),
            360,
            80,
            (54, 36),
            "left, in workgroup memory",
            "small numbers: its slots",
            numbers=False,
            tensor="a",
        )
        self.strip = [Box(72 + 18.8 * i, 328, 18.8, 22) for i in offsets]
        self.boxes(self.strip)
        self.label(self.strip, offsets, 12)
        self.words([Word(MARGIN, 339, "offset", 13, "left"), Word(MARGIN, 363, "thread", 13, "left")], GRAY)
        rows = [Word(self.a.x - 7, self.a.box(m, 0).middle[1], f"m {m}", 12, "right") for m in range(SIZES[0])]
        columns = [Word(self.a.box(0, k).middle[0], self.a.bottom + 10, f"k {k}", 12) for k in range(SIZES[1])]
        self.words(rows + columns, GRAY)
        self.a.point({cell: {"thread": t} for t, (cell, _) in enumerate(self.loads)}, "a")
        self.left.point({divmod(slot, TILE): {"thread": t} for t, (_, slot) in enumerate(self.loads)}, "left")


def _card(x: float, y: float) -> Box:
    """A card for one number, with its middle there."""
    return Box(x - 13, y - 9, 26, 18)
