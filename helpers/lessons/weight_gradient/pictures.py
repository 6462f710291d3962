"""The first workgroup of threads beside the weights that they own."""

from math import prod

import numpy as np

from helpers.operations.convolution import indices
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, LINE, Picture, tint
from helpers.pictures.parts import Grid, look


class ThreadsPicture(Picture):
    """The first workgroup of 256 threads beside the weights that they own, one each."""

    def __init__(self, shape: ConvShape) -> None:
        self.shape = shape
        count = prod(shape.weight)
        super().__init__(436)
        self.title(18, "workgroup 0: 256 threads")
        self.bold(352, 18, "the weights, each with its thread", 17, look("weight").ink)
        threads = np.arange(256)
        owning = np.where(threads < count, threads, np.nan)
        self.threads = Grid(self, owning.reshape(16, 16), 52, 40, (17, 22), numbers=False)
        for row, box in enumerate(self.threads.boxes[::16]):
            self.write(46, box.middle[1], str(16 * row), 13, GRAY, align="right")
        filters = np.arange(count).reshape(-1, *shape.weight[2:])
        self.filters = []
        tinted = self.threads.boxes[:count]
        for i, owners in enumerate(filters):
            if owners.max() < 256:
                grid = self._filter(i, owners)
                self.filters.append(grid)
                tinted += grid.boxes
        self.boxes(tinted, LINE, tint(BLUE))
        self.threads.touch("threads", "thread")
        self.stands_still()

    def _filter(self, i: int, owners: np.ndarray) -> Grid:
        """The grid of one pair of channels, three such grids in a row."""
        row, column = divmod(i, 3)
        co, ci = divmod(i, self.shape.in_channels)
        rows, columns = owners.shape
        x = 352 + column * (29 * columns + 19)
        y = 72 + row * (24 * rows + 44)
        grid = Grid(self, owners, x, y, (29, 24), note=f"grad_weight[{co},{ci}]")
        grid.touch(grid.caption, "thread", start=int(owners[0, 0]))
        grid.caption = f"the threads of {grid.caption}"
        return grid

    def draw(self, thread: int) -> str:
        """Point at one thread and at its weight."""
        s = self.shape
        owned = indices.weight_of_thread(self.shape, thread)
        self.threads.mark([divmod(thread, 16)], BLUE)
        if owned:
            self.bold(52, 414, f"thread {thread}", 17, BLUE)
        else:
            self.bold(52, 414, f"thread {thread} owns no weight", 17, BLUE)
            return f"Thread {thread} owns nothing: there are {prod(s.weight)} weights, so it returns at once."
        co, ci, kh, kw = owned
        pair = co * s.in_channels + ci
        if pair < len(self.filters):
            self.filters[pair].mark([(kh, kw)], BLUE)
        code = f"because {thread} = (({co}·{s.in_channels} + {ci})·{s.kernel_h} + {kh})·{s.kernel_w} + {kw}"
        loop = f"It sums {s.batch}·{s.out_h}·{s.out_w} = {s.batch * s.out_h * s.out_w} products alone."
        return f"Thread {thread} owns grad_weight[{co},{ci},{kh},{kw}], {code}. {loop}"
