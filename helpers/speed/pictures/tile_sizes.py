"""A choice of tile sizes: the tiles to scale, what they cost, and what is expected to limit the product."""

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.speed.gpu_limits import H200
from helpers.speed.tile_sizes import LIMITS, WARP, TileSizes

SCALE, ORIGIN = 1.75, (116, 128)  # CSS pixels for each number; where the tile of results begins
TABLE, BARS = 400, (572, 776)  # where the words begin; where a bar begins, and where the whole arithmetic ends
FULL = 0.95  # a share from which on a part is not called a limit
BOUND = {
    "arithmetic": "only the arithmetic limits it: it is compute-bound",
    "memory": "the memory limits it: it is bandwidth-bound. Larger tiles load each number less often",
    "workgroup memory": "workgroup memory limits it. More results in a thread use each number that it reads more often",
}


def tile_boxes(x: float, y: float, width: float, height: float, depth: float) -> dict[str, Box]:
    """The results of a workgroup from (x, y) on, with the tile of a on their left and that of b above them."""
    a, b = Box(x - 10 - depth, y, depth, height), Box(x, y - 10 - depth, width, depth)
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
        self.workgroups = sizes.workgroups(self.product[0], self.product[2])
        if self.starts(sizes.rows, sizes.columns, sizes.depth):
            self._draw_tiles(sizes)
            self.stands_still()
        self._draw_thread(sizes)
        self._write_costs(sizes)
        limits = sizes.limits(self.product[0], self.product[2])
        least = min(limits, key=limits.get)
        least = least if limits[least] < FULL else "arithmetic"
        said = f"{sizes.threads:,} threads compute {sizes.rows} × {sizes.columns} results, {sizes.side**2} each"
        if sizes.problem:
            self.bold(TABLE, 204, "This cannot run: a limit is passed.", 16, ORANGE)
            return f"{said}. This cannot run: {sizes.problem}."
        self._draw_bars(limits, least)
        share = f"expect at most {100 * limits[least]:.0f} % of the arithmetic"
        return f"{said}; {share}, because {self._reason(sizes, least)}."

    def _draw_tiles(self, sizes: TileSizes) -> None:
        m, k, n = self.product
        self.bold(MARGIN, 20, f"a ({m:,} × {k:,}) @ b ({k:,} × {n:,})", 16)
        tiles = self.tiles
        self.tinted([tiles["a"], tiles["b"]], BLUE, 2)
        self.boxes([tiles["results"]], INK, line=2)
        x, below = ORIGIN[0], tiles["results"].y + tiles["results"].height + 16
        self.bold(MARGIN, tiles["b"].middle[1], f"b  {sizes.depth} × {sizes.columns}", 14, BLUE)
        self.bold(x, below, f"results  {sizes.rows} × {sizes.columns}", 14)
        self.bold(MARGIN, below + 22, f"a  {sizes.rows} × {sizes.depth}", 14, BLUE)

    def _draw_thread(self, sizes: TileSizes) -> None:
        """The results of one thread, and what it reads for them from both tiles."""
        said = " · ".join(f"{name} {size}" for name, size in vars(sizes).items())
        self.write(MARGIN, 46, said, 14)
        a, b, results = self.tiles.values()
        side = SCALE * sizes.side
        x, y = results.width // (2 * side) * side, results.height // (2 * side) * side
        read = a._replace(y=a.y + y, height=side), b._replace(x=b.x + x, width=side)
        self.tinted(read, ORANGE, 1.5, 0.5)
        self.boxes([Box(results.x + x, results.y + y, side, side)], ORANGE, ORANGE, 1.5)

    def _write_costs(self, sizes: TileSizes) -> None:
        """A line for each number, with its limit where it has one."""
        rows = [
            ("threads in a workgroup", sizes.threads, LIMITS["threads"]),
            ("workgroup memory, bytes", sizes.workgroup_bytes, LIMITS["workgroup memory"]),
            ("registers in a thread, about", sizes.registers, LIMITS["registers"]),
            ("multiply-adds per byte of memory", sizes.intensity, 0),
            ("multiply-adds per number read from a tile", sizes.per_read, 0),
            ("workgroups", self.workgroups, 0),
        ]
        for i, (name, value, limit) in enumerate(rows):
            y, over = 24 + 25 * i, value > limit > 0
            color = ORANGE if over else INK
            self.write(TABLE, y, name, 14, color, "bold" if over else "normal")
            self.bold(760, y, f"{value:,}" if isinstance(value, int) else f"{value:.3g}", 15, color, "right")
            self.write(768, y, f"≤ {limit:,}" * bool(limit), 12.5, ORANGE if over else GRAY)

    def _draw_bars(self, limits: dict[str, float], least: str) -> None:
        """How much of the arithmetic each part allows."""
        start, end = BARS
        top = 228
        self.bold(TABLE, top - 26, f"what each part of this GPU allows ({H200.name}):", 14)
        for i, (name, share) in enumerate(limits.items()):
            y, color = top + 34 * i, ORANGE if name == least else BLUE
            self.write(
                start - 10,
                y + 11,
                name.replace("workgroups", "number of workgroups"),
                14,
                INK,
                "bold" if name == least else "normal",
                "right",
            )
            self.boxes([Box(start, y, end - start, 22)], LINE, PAPER)
            self.tinted([Box(start, y, max(2, (end - start) * share), 22)], color, 1.5, 0.5)
            self.bold(end + 8, y + 11, f"{100 * share:.0f} %", 14, color)
        y = top + 34 * len(limits) + 14
        self.write(TABLE, y, f"100 % = {H200.tflops:.0f} TFLOP/s", 13, GRAY)

    def _reason(self, sizes: TileSizes, least: str) -> str:
        """Why a part of the machine limits the product."""
        idle, count = -sizes.threads % WARP, H200.multiprocessors
        if least == "workgroups" and self.workgroups <= count:
            return f"there are too few workgroups: {self.workgroups:,} for {count} multiprocessors"
        if least == "workgroups":
            return f"its last round of workgroups is not full: {self.workgroups:,} on {count} multiprocessors"
        if least == "arithmetic" and idle:
            return f"a GPU runs {WARP} threads of a workgroup together, and {idle} of the last {WARP} do nothing"
        return BOUND[least]
