"""A choice of tile sizes: the tiles to scale, what they cost, and what is expected to limit the product."""

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, PAPER, Box, Picture, Word, tint
from helpers.pictures.parts import MARGIN
from helpers.speed.machine import H200, Machine
from helpers.speed.tile_sizes import LIMITS, WARP, TileSizes

SCALE, ORIGIN = 1.75, (116, 128)  # CSS pixels for each number; where the tile of results begins
TABLE, BARS = 400, (572, 776)  # where the words begin; where a bar begins, and where the whole arithmetic ends
FULL = 0.95  # a share from which on a part is not called a limit
NAMES = {
    "arithmetic": "arithmetic",
    "memory": "memory",
    "workgroup memory": "workgroup memory",
    "workgroups": "number of workgroups",
}
BOUND = {
    "arithmetic": "only the arithmetic limits it: it is compute-bound",
    "memory": "the memory limits it: it is bandwidth-bound. Larger tiles load each number less often",
    "workgroup memory": "workgroup memory limits it. More results in a thread use each number that it reads more often",
}


class TileSizesPicture(Picture):
    """The tiles of one workgroup and the results of one thread, the costs of the choice, and a bar for each limit.

    `product` is (M, K, N), the sizes of the whole matrix product.
    """

    def __init__(self, product: tuple[int, int, int], machine: Machine = H200) -> None:
        super().__init__(440)
        self.product, self.machine = product, machine

    def show(self, sizes: TileSizes) -> "TileSizesPicture":
        """Draw one choice."""
        if self.starts(sizes.rows, sizes.columns, sizes.depth):
            self._draw_tiles(sizes)
            self.stands_still()
        self._draw_thread(sizes)
        self._write_costs(sizes)
        limits = sizes.limits(self.product[0], self.product[2], self.machine)
        least = min(limits, key=limits.get)
        least = least if limits[least] < FULL else "arithmetic"
        if sizes.problem:
            self.words([Word(TABLE, 204, "This cannot run: a limit is passed.", 16, "left")], ORANGE, "bold")
        else:
            self._draw_bars(limits, least)
        self.sentence = self._say(sizes, limits, least)
        return self

    def _tiles(self, sizes: TileSizes) -> dict[str, Box]:
        x, y = ORIGIN
        width, height, depth = (SCALE * size for size in (sizes.columns, sizes.rows, sizes.depth))
        return {
            "a": Box(x - 10 - depth, y, depth, height),
            "b": Box(x, y - 10 - depth, width, depth),
            "results": Box(x, y, width, height),
        }

    def _draw_tiles(self, sizes: TileSizes) -> None:
        m, k, n = self.product
        self.write(MARGIN, 20, f"a ({m:,} × {k:,}) @ b ({k:,} × {n:,})", 16, weight="bold")
        tiles = self._tiles(sizes)
        self.boxes([tiles["a"], tiles["b"]], BLUE, tint(BLUE), 2)
        self.boxes([tiles["results"]], INK, line=2)
        x, below = ORIGIN[0], tiles["results"].y + tiles["results"].height + 16
        self.write(MARGIN, tiles["b"].middle[1], f"b  {sizes.depth} × {sizes.columns}", 14, BLUE, "bold")
        self.write(x, below, f"results  {sizes.rows} × {sizes.columns}", 14, weight="bold")
        self.write(MARGIN, below + 22, f"a  {sizes.rows} × {sizes.depth}", 14, BLUE, "bold")

    def _draw_thread(self, sizes: TileSizes) -> None:
        """The results of one thread, and what it reads for them from both tiles."""
        sliders = "rows", "columns", "depth", "side"
        said = " · ".join(f"{name} {getattr(sizes, name)}" for name in sliders)
        self.write(MARGIN, 46, said, 14)
        tiles, side = self._tiles(sizes), SCALE * sizes.side
        a, b, results = (tiles[name] for name in ("a", "b", "results"))
        x, y = results.width // (2 * side) * side, results.height // (2 * side) * side
        read = a._replace(y=a.y + y, height=side), b._replace(x=b.x + x, width=side)
        self.boxes(read, ORANGE, tint(ORANGE, 0.5), 1.5)
        self.boxes([Box(results.x + x, results.y + y, side, side)], ORANGE, ORANGE, 1.5)

    def _write_costs(self, sizes: TileSizes) -> None:
        """A line for each number, with its limit where it has one."""
        rows = [
            ("threads in a workgroup", f"{sizes.threads:,}", sizes.threads, LIMITS["threads"]),
            (
                "workgroup memory, bytes",
                f"{sizes.workgroup_bytes:,}",
                sizes.workgroup_bytes,
                LIMITS["workgroup memory"],
            ),
            ("registers in a thread, about", f"{sizes.registers}", sizes.registers, LIMITS["registers"]),
            ("multiply-adds per byte of memory", f"{sizes.intensity:.3g}", 0, 0),
            ("multiply-adds per number read from a tile", f"{sizes.per_read:.3g}", 0, 0),
            ("workgroups", f"{sizes.workgroups(self.product[0], self.product[2]):,}", 0, 0),
        ]
        for i, (name, text, value, limit) in enumerate(rows):
            y, over = 24 + 25 * i, value > limit > 0
            self.write(TABLE, y, name, 14, ORANGE if over else INK, "bold" if over else "normal")
            self.write(760, y, text, 15, ORANGE if over else INK, "bold", "right")
            self.write(768, y, f"≤ {limit:,}" * bool(limit), 12.5, ORANGE if over else GRAY)

    def _draw_bars(self, limits: dict[str, float], least: str) -> None:
        """How much of the arithmetic each part allows."""
        start, end = BARS
        top = 228
        self.write(TABLE, top - 26, f"what each part of this GPU allows ({self.machine.name}):", 14, weight="bold")
        for i, (name, share) in enumerate(limits.items()):
            y, color = top + 34 * i, ORANGE if name == least else BLUE
            self.write(start - 10, y + 11, NAMES[name], 14, INK, "bold" if name == least else "normal", "right")
            self.boxes([Box(start, y, end - start, 22)], LINE, PAPER)
            self.boxes([Box(start, y, max(2, (end - start) * share), 22)], color, tint(color, 0.5), 1.5)
            self.write(end + 8, y + 11, f"{100 * share:.0f} %", 14, color, "bold")
        y = top + 34 * len(limits) + 8
        self.words([Word(TABLE, y + 6, f"100 % = {self.machine.tflops:.0f} TFLOP/s", 13, "left")], GRAY)

    def _say(self, sizes: TileSizes, limits: dict[str, float], least: str) -> str:
        what = f"{sizes.threads:,} threads compute {sizes.rows} × {sizes.columns} results, {sizes.side**2} each"
        if problem := sizes.problem:
            return f"{what}. This cannot run: {problem}."
        count, machine = sizes.workgroups(self.product[0], self.product[2]), self.machine
        rounds = -(-count // machine.multiprocessors)
        share = f"expect at most {100 * limits[least]:.0f} % of the arithmetic"
        few = (
            f"there are too few workgroups: {count:,} for {machine.multiprocessors} multiprocessors"
            if rounds == 1
            else f"its last round of workgroups is not full: {count:,} on {machine.multiprocessors} multiprocessors"
        )
        idle = -sizes.threads % WARP
        apart = f"a GPU runs {WARP} threads of a workgroup together, and {idle} of the last {WARP} do nothing"
        why = few if least == "workgroups" else apart if least == "arithmetic" and idle else BOUND[least]
        return f"{what}; {share}, because {why}."
