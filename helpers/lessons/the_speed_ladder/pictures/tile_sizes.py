"""Tiles of a product: what a choice of sizes costs, and who loads what of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from helpers.bench.gpu_limits import H200
from helpers.bench.tile_sizes import MOST_REGISTERS, WARP, TileSizes
from helpers.lessons.the_speed_ladder.traffic import Cell, Traffic
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.pictures.parts import Area, look
from wgsl import MAX_THREADS, MAX_WORKGROUP_BYTES

# CSS pixels
SCALE = 1.75  # for each number
ORIGIN = (116, 128)  # where the tile of results begins
TABLE = 400  # where the words begin
BARS = (572, 776)  # where a bar begins, and where the whole arithmetic ends
FULL = 0.95  # a share from which on a part is not called a limit
BOUND = {
    "arithmetic": "only the arithmetic limits it: it is compute-bound",
    "memory": "the memory limits it: it is bandwidth-bound. Larger tiles load each number less often",
    "workgroup memory": "workgroup memory limits it. More results in a thread use each number that it reads more often",
}


def tile_boxes(x: float, y: float, width: float, height: float, depth: float) -> dict[str, Box]:
    """The results of a workgroup from (x, y) on, with the tile of a on their left and that of b above them."""
    a = Box(x - 10 - depth, y, depth, height)
    b = Box(x, y - 10 - depth, width, depth)
    return {"a": a, "b": b, "results": Box(x, y, width, height)}


class TileSizesPicture(Picture):
    """The tiles of one workgroup and the results of one thread, the costs of the choice, and a bar for each limit.

    `product` is (M, K, N), the sizes of the whole matrix product.
    """

    def __init__(self, product: tuple[int, int, int]) -> None:
        super().__init__(440)
        self.product = product

    def draw(self, sizes: TileSizes) -> str:
        """Draw one choice."""
        self.tiles = tile_boxes(*ORIGIN, SCALE * sizes.columns, SCALE * sizes.rows, SCALE * sizes.depth)
        m, _, n = self.product
        self.workgroups = sizes.workgroups(m, n)
        if self.starts(sizes.rows, sizes.columns, sizes.depth):
            self._draw_tiles(sizes)
            self.stands_still()
        self._draw_thread(sizes)
        self._write_costs(sizes)
        work = f"{sizes.threads:,} threads compute {sizes.rows} × {sizes.columns} results, {sizes.side**2} each"
        if sizes.problem:
            self.bold(TABLE, 212, "This cannot run: a limit is passed.", 16, ORANGE)
            return f"{work}. This cannot run: {sizes.problem}."
        limits = sizes.limits(m, n)
        least = min(limits, key=limits.get)
        if limits[least] >= FULL:
            least = "arithmetic"
        self._draw_bars(limits, least)
        share = f"expect at most {100 * limits[least]:.0f} % of the arithmetic"
        return f"{work}; {share}, because {self._reason(sizes, least)}."

    def _draw_tiles(self, sizes: TileSizes) -> None:
        m, k, n = self.product
        self.bold(MARGIN, 20, f"a ({m:,} × {k:,}) @ b ({k:,} × {n:,})", 16)
        left, _ = ORIGIN
        below = self.tiles["results"].bottom + 16
        _, beside_b = self.tiles["b"].middle
        self._draw_tile("a", sizes.rows, sizes.depth, MARGIN, below + 22)
        self._draw_tile("b", sizes.depth, sizes.columns, MARGIN, beside_b)
        self._draw_tile("results", sizes.rows, sizes.columns, left, below)

    def _draw_tile(self, name: str, rows: int, columns: int, x: float, y: float) -> None:
        """Draw a tile, and write its name and its sizes at (x, y)."""
        ink = look(name).ink
        self.tinted([self.tiles[name]], ink, 2)
        self.bold(x, y, f"{name}  {rows} × {columns}", 14, ink)

    def _draw_thread(self, sizes: TileSizes) -> None:
        """The results of one thread, and what it reads for them from both tiles."""
        choice = " · ".join(f"{name} {size}" for name, size in vars(sizes).items())
        self.write(MARGIN, 46, choice, 14)
        a, b, results = self.tiles.values()
        side = SCALE * sizes.side
        x = results.x + results.width // (2 * side) * side  # near the middle
        y = results.y + results.height // (2 * side) * side
        read_of_a = a._replace(y=y, height=side)
        read_of_b = b._replace(x=x, width=side)
        self.tinted([read_of_a, read_of_b], BLUE, 1.5, 0.5)
        self.boxes([Box(x, y, side, side)], BLUE, BLUE, 1.5)

    def _write_costs(self, sizes: TileSizes) -> None:
        """A line for each number, with its limit where it has one."""
        rows = [
            ("threads in a workgroup", sizes.threads, MAX_THREADS),
            ("workgroup memory, bytes", sizes.workgroup_bytes, MAX_WORKGROUP_BYTES),
            ("registers in a thread, about", sizes.registers, MOST_REGISTERS),
            ("threads at a time on a multiprocessor", sizes.resident, 0),
            ("multiply-adds per byte of memory", sizes.intensity, 0),
            ("multiply-adds per number read from a tile", sizes.per_read, 0),
            ("workgroups", self.workgroups, 0),
        ]
        for i, (name, value, limit) in enumerate(rows):
            y = 20 + 23 * i
            is_over = value > limit > 0
            color, weight = (ORANGE, "bold") if is_over else (INK, "normal")
            text = f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
            self.write(TABLE, y, name, 14, color, weight)
            self.bold(760, y, text, 15, color, "right")
            if limit:
                self.write(768, y, f"≤ {limit:,}", 13, ORANGE if is_over else GRAY)

    def _draw_bars(self, limits: dict[str, float], least: str) -> None:
        """Draw how much of the arithmetic each part allows."""
        start, end = BARS
        length = end - start
        top = 232
        self.bold(TABLE, top - 26, f"what each part of this GPU allows ({H200.name}):", 14)
        for i, (name, share) in enumerate(limits.items()):
            y = top + 34 * i
            color, weight = (ORANGE, "bold") if name == least else (BLUE, "normal")
            label = "number of workgroups" if name == "workgroups" else name
            self.write(start - 10, y + 11, label, 14, INK, weight, "right")
            whole = Box(start, y, length, 22)
            self.boxes([whole], LINE, PAPER)
            self.tinted([whole._replace(width=max(2, length * share))], color, 1.5, 0.5)
            self.bold(end + 8, y + 11, f"{100 * share:.0f} %", 14, color)
        y = top + 34 * len(limits) + 14
        self.note(TABLE, y, f"100 % = {H200.tflops:.0f} TFLOP/s")

    def _reason(self, sizes: TileSizes, least: str) -> str:
        """Say why a part of the machine limits the product."""
        idle = -sizes.threads % WARP
        count = H200.multiprocessors
        if least == "workgroups" and self.workgroups <= count:
            return f"there are too few workgroups: {self.workgroups:,} for {count} multiprocessors"
        if least == "workgroups":
            return f"its last round of workgroups is not full: {self.workgroups:,} on {count} multiprocessors"
        if least == "arithmetic" and idle:
            return f"a GPU runs {WARP} threads of a workgroup together, and {idle} of the last {WARP} do nothing"
        return BOUND[least]


# --- Who loads what: what one thread loads of the tiles, multiplies and writes --------------------------------

# CSS pixels
SIDE = 288  # of the results
DEPTH = 76  # along k
X = 112  # where the results begin
Y = 128
FRAMES = tile_boxes(X, Y, SIDE, SIDE, DEPTH)
NAMED = {"a": (MARGIN, Y + SIDE + 14), "b": (MARGIN, Y - 10 - DEPTH / 2), "results": (X + 60, Y + SIDE + 14)}
TEXT = 432  # where the words begin


class Shown(NamedTuple):
    """One kernel of the picture: its title, its share of a GPU's arithmetic, and what simulates it."""

    title: str
    share: float
    simulated: Callable[[], Traffic]


class TrafficPicture(Picture):
    """Both tiles and the results of a workgroup, in the same frames for every kernel.

    `shown` has a title for each, the share of the arithmetic that the GPU called `measured_on` makes with it, and a
    function that simulates it: it is called when the kernel is first shown. `adapter` is the reader's own.
    """

    def __init__(self, shown: Sequence[Shown], measured_on: str, adapter: str) -> None:
        super().__init__(452)
        self.shown = shown
        self.measured_on = measured_on
        self.adapter = adapter

    def draw(self, kernel: int, thread: int) -> str:
        """Point at what one thread of one kernel does."""
        title, share, simulated = self.shown[kernel]
        traffic = simulated()
        thread = min(thread, traffic.threads - 1)
        if self.starts(kernel):
            self._draw_frames(title, traffic)
            self.stands_still()
        for name in "ab":
            self.tinted(self._boxes(name, traffic, traffic.multiplied[name][thread]), ORANGE, 1, 3 / 16)
        for name in "ab":
            self.tinted(self._boxes(name, traffic, traffic.loaded[name][thread]), BLUE, 1, 0.8)
        self.tinted(self._boxes("results", traffic, traffic.written[thread]), ORANGE, 1, 0.7)
        self._touch_results(traffic)
        self._draw_share(share)
        return self._write_facts(title, traffic, thread)

    def _boxes(self, name: str, traffic: Traffic, cells: Sequence[Cell] | set[Cell]) -> list[Box]:
        """The boxes of some cells; those beside each other in a row are one box, where the cells are small."""
        area = Area(self, np.empty(traffic.sizes[name]), FRAMES[name])
        return [area.box(row, column, 1, count) for row, column, count in _runs(cells)]

    def _draw_frames(self, title: str, traffic: Traffic) -> None:
        self.title(20, title)
        for name, (rows, columns) in traffic.sizes.items():
            x, y, width, height = FRAMES[name]
            self.lines(((x, at, x + width, at) for at in _ticks(y, height, rows)), LINE, 0.6)
            self.lines(((at, y, at, y + height) for at in _ticks(x, width, columns)), LINE, 0.6)
            left, top = NAMED[name]
            self.bold(left, top, f"{name}  {rows} × {columns}", 14, look(name).ink)
        self.boxes(FRAMES.values(), INK, line=2)

    def _touch_results(self, traffic: Traffic) -> None:
        """Let a reader point at the result of a thread, where each has one."""
        results = Area(self, np.empty(traffic.sizes["results"]), FRAMES["results"], "the results")
        if traffic.threads == results.values.size:
            threads = {cell: {"thread": thread} for thread, (cell,) in enumerate(traffic.written)}
            results.point(threads)

    def _write_facts(self, title: str, traffic: Traffic, thread: int) -> str:
        """Describe the thread, in words beside what stands for it, what the whole workgroup costs, and a sentence."""
        loads_a = len(traffic.loaded["a"][thread])
        loads_b = len(traffic.loaded["b"][thread])
        reads_a = len(traffic.multiplied["a"][thread])
        reads_b = len(traffic.multiplied["b"][thread])
        count = len(traffic.written[thread])
        results = "1 result" if count == 1 else f"{count} results"
        depth, _ = traffic.sizes["b"]
        self.bold(TEXT, 54, f"thread {thread} of {traffic.threads}, in one turn", 16)
        lines = [
            (BLUE, 0.8, f"loads {loads_a:,} of a, {loads_b:,} of b, from storage memory"),
            (ORANGE, 3 / 16, f"multiplies {reads_a:,} of a with {reads_b:,} of b"),
            (ORANGE, 0.7, f"has {results}: {count * depth:,} multiply-adds"),
        ]
        for i, (color, strength, text) in enumerate(lines):
            y = 90 + 34 * i
            self.tinted([Box(TEXT, y - 9, 18, 18)], color, 1.5, strength)
            self.write(TEXT + 28, y, text, 14.5, color)
        self._write_counts(traffic)
        return (
            f"{title}: thread {thread} loads {loads_a + loads_b:,} numbers from storage memory, and multiplies "
            f"{reads_a + reads_b:,} numbers for its {results}. "
            f"For each multiply-add, that makes {traffic.costs_in_words}."
        )

    def _write_counts(self, traffic: Traffic) -> None:
        """Say what the whole workgroup costs."""
        self.bold(TEXT, 216, "all threads together, for each multiply-add", 16)
        loads, numbers, reads = traffic.costs
        lines = {
            250: ("numbers loaded from storage memory", loads),
            282: ("numbers read from workgroup memory", numbers),
            314: ("reads that it takes (a vec4f is one read)", reads),
            346: ("bank conflicts in the turn", f"{traffic.counts['bank_conflicts']:,}"),
        }
        for y, (name, count) in lines.items():
            self.write(TEXT, y, name, 14.5)
            self.bold(TEXT + 384, y, count, 17, align="right")

    def _draw_share(self, share: float) -> None:
        """Draw the part of the GPU's arithmetic that was measured with this kernel, and name both machines."""
        whole = Box(TEXT, 392, 310, 20)
        self.bold(TEXT, 378, f"the part of its arithmetic that an {self.measured_on} does", 14)
        self.boxes([whole], LINE, PAPER)
        self.tinted([whole._replace(width=max(2, whole.width * share))], ORANGE, 1.5, 0.7)
        digits = 1 if share < 0.1 else 0
        self.bold(whole.right + 10, 402, f"{100 * share:.{digits}f} %", 15, ORANGE)
        self.note(TEXT, 434, f"Counted by the simulator. Your adapter: {self.adapter}"[:72])


def _ticks(start: float, length: float, cells: int) -> list[float]:
    """The places of the lines between cells; where they are many, between every eight."""
    parts = cells if cells <= 16 else cells // 8
    return [start + i * length / parts for i in range(1, parts)]


def _runs(cells: Sequence[Cell] | set[Cell]) -> list[tuple[int, int, int]]:
    """The row, the first column and the length of each run of neighbors."""
    runs: list[tuple[int, int, int]] = []
    for row, column in sorted(cells):
        if runs:
            last_row, first, length = runs[-1]
            if (row, column) == (last_row, first + length):
                runs[-1] = row, first, length + 1
                continue
        runs.append((row, column, 1))
    return runs
