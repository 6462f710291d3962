"""Split-K: which workgroup sums which slice of the products, and the second pass that adds the slices."""

from collections.abc import Sequence
from math import ceil

import numpy as np

from helpers.bench.gpu_limits import H200
from helpers.bench.tile_sizes import TileSizes
from helpers.lessons.past_the_library.indices import slice_of
from helpers.pictures.canvas import BLUE, INK, MARGIN, ORANGE, PAPER, Box, Picture
from helpers.pictures.parts import Area

# CSS pixels
TILES = Box(MARGIN + 66, 84, 396, 236)  # the workgroups
SUMS = Box(MARGIN + 66, 372, 396, 30)  # the results
CHIP = Box(530, 118, 290, 264)  # the multiprocessors
ACROSS = 12  # multiprocessors beside each other


class SplitKPicture(Picture):
    """The workgroups of a product with few results and many products for each, and where they run.

    `product` is (M, K, N). The results are cut into tiles of 64 x 64, and K into steps of 16.
    """

    def __init__(self, product: tuple[int, int, int]) -> None:
        super().__init__(452)
        self.product = product
        self.sizes = TileSizes(64, 64, 16, 8)
        m, k, n = product
        self.tiles = self.sizes.workgroups(m, n)
        self.steps = ceil(k / self.sizes.depth)
        self.results = Area(self, np.empty((1, self.tiles)), SUMS).boxes
        self.fewest = ceil(H200.multiprocessors / self.tiles)  # slices that leave no multiprocessor without work

    def draw(self, slices: int, workgroup: int) -> str:
        """Cut K into this many slices, and point at one workgroup."""
        area = Area(self, np.empty((slices, self.tiles)), TILES, "workgroups")
        area.point({cell: {"workgroup": number} for number, cell in enumerate(np.ndindex(slices, self.tiles))})
        workgroups = area.boxes
        if self.starts(slices):
            self._draw_workgroups(workgroups)
            self._draw_multiprocessors(slices)
            self.stands_still()
        split, tile = divmod(workgroup, self.tiles)
        self.tinted([workgroups[tile]._replace(height=TILES.height)], ORANGE, 2.5)
        self.tinted([workgroups[workgroup]], ORANGE, 2.5, 0.8)
        self.tinted([self.results[tile]], ORANGE, 2.5)
        x, _ = self.results[tile].middle
        self.arrow((x, TILES.bottom + 4), (x, SUMS.y - 4), ORANGE, 2.5, 8)
        return self._say(slices, workgroup, split, tile)

    def _draw_workgroups(self, workgroups: Sequence[Box]) -> None:
        """Draw both passes: the workgroups of the first one, and the results of the second."""
        m, k, n = self.product
        self.title(20, f"{m:,} × {n:,} results of {k:,} products each")
        self.bold(MARGIN, 48, "pass 1: a workgroup for each tile and slice", 15, BLUE)
        slices = len(workgroups) // self.tiles
        self.tinted(workgroups, BLUE, 1 if slices < 30 else 0.3)
        self.note(TILES.x - 10, TILES.y + 10, "k = 0", "right")
        self.note(TILES.x - 10, TILES.bottom - 8, f"{k:,}", "right")
        self.bold(MARGIN, SUMS.y - 24, "pass 2: add the slices", 15, BLUE)
        self.boxes(self.results, INK, PAPER, 1.5)
        self.label(self.results, range(self.tiles))
        _, middle = SUMS.middle
        self.note(SUMS.x - 10, middle, "tile", "right")

    def _draw_multiprocessors(self, slices: int) -> None:
        """Draw the multiprocessors, each with the number of its workgroups."""
        count = H200.multiprocessors
        groups = slices * self.tiles
        title = "1 workgroup" if groups == 1 else f"{groups:,} workgroups"
        self.bold(CHIP.x, 48, title, 15, BLUE)
        self.write(CHIP.x, 74, f"on {count} multiprocessors:", 14)
        self.write(CHIP.x, 94, "how many each of them has", 14)
        cells = Area(self, np.empty((ceil(count / ACROSS), ACROSS)), CHIP).boxes[:count]
        on_all, rest = divmod(groups, count)
        groups_of_each = [on_all + 1] * rest + [on_all] * (count - rest)
        self.boxes(cells)
        self.tinted(cells[:groups], BLUE, 1.2)
        self.label(cells, groups_of_each)
        threads = ceil(groups / count) * self.sizes.threads
        self.write(CHIP.x, CHIP.bottom + 22, f"at most {threads:,} of {H200.threads:,} threads on one", 14)

    def _say(self, slices: int, workgroup: int, split: int, tile: int) -> str:
        """Say what the slices keep busy, what one workgroup adds, and what the second pass costs."""
        groups = slices * self.tiles
        count = H200.multiprocessors
        depth = self.sizes.depth
        idle = max(0, count - groups)
        busy = f"all {count} multiprocessors work"
        if idle:
            verb = "has" if idle == 1 else "have"
            busy = f"{idle} of {count} multiprocessors {verb} nothing to do"
        steps = slice_of(split, slices, self.steps)
        m, k, n = self.product
        first = steps.start * depth
        end = min(steps.stop * depth, k)
        adds = f"Workgroup {workgroup} adds the products {first:,} to {end - 1:,} for tile {tile}"
        if slices == 1:
            return f"1 slice, {groups:,} workgroups: {busy}. {adds}; no second pass is needed."
        megabytes = 4 * slices * m * n / 1e6
        second = f"the second pass adds {slices} sums for each result, from {megabytes:.1f} MB"
        return f"{slices} slices, {groups:,} workgroups: {busy}. {adds}; {second}."
