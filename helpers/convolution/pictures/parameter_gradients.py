"""Pictures of the gradients of a convolution's weights and bias, and of how threads share the work."""

from math import prod

import numpy as np

from helpers.convolution import indices
from helpers.convolution.indices import Tap
from helpers.convolution.pictures.groups import channel_words
from helpers.convolution.pictures.sums import Place, SumPicture, contribute, rows_and_columns
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, ORANGE, Picture, in_words, number, tint
from helpers.pictures.parts import Cell, Grid, look


class WeightGradientPicture(SumPicture):
    """Which inputs contribute to one weight: the upstream gradient laid over the input, and the sum that they make.

    Its tensors are `input` and `grad_output`; a kernel returned grad_weight (Co, Ci, kH, kW). `letters` names the
    input's pixels a, b, c, ... and the upstream gradients G, H, I, ... (room for 26 and 20).
    """

    left, over, result = "grad_output", "grad_output", "grad_weight"
    axis, symbol = "n", "dW"
    lettered = 228, 54  # to fit on the first screen of a lesson

    def _steps(self) -> tuple[Cell, Cell]:
        return self.shape.dilation, self.shape.stride

    def _location(self, taps: list[Tap]) -> str:
        return f": input {rows_and_columns(tap.at(self.right) for tap in taps)}"

    def _contributors(self, taps: list[Tap], target: str, place: Place) -> str:
        whose = f" of image {place['n']}"
        if self.shape.groups > 1:
            whose += f", {channel_words(self.shape, place['co'], place['ci'])},"
        pixels, batch = contribute(len(taps), "pixel", whose), self.shape.batch
        if not taps:
            return f"{pixels} to {target}: only padding lies there."
        others = f" ({batch * len(taps)} in the whole batch)" * (batch > 1)
        return f"{pixels} to {target}: {rows_and_columns(tap.at(self.right) for tap in taps)}{others}."


# --- How threads share the work -------------------------------------------------------------------------------


class ThreadsPicture(Picture):
    """The first workgroup of 256 threads beside the weights that they own, one each."""

    def __init__(self, shape: ConvShape) -> None:
        self.shape, count = shape, prod(shape.weight)
        super().__init__(436)
        self.title(18, "workgroup 0: 256 threads")
        self.bold(352, 18, "the weights, each with its thread", 17, look("weight").ink)
        numbers = np.where(np.arange(256) < count, np.arange(256), np.nan).reshape(16, 16)
        self.threads = Grid(self, numbers, 52, 40, (17, 22), numbers=False)
        for row, box in enumerate(self.threads.boxes[::16]):
            self.write(46, box.middle[1], str(16 * row), 13, GRAY, align="right")
        filters = np.arange(count).reshape(-1, *shape.weight[2:])
        self.filters = [self._filter(i, owners) for i, owners in enumerate(filters) if owners.max() < 256]
        owned = [box for grid in self.filters for box in grid.boxes]
        self.boxes(self.threads.boxes[:count] + owned, LINE, tint(BLUE))
        self.threads.touch("threads", "thread")
        self.stands_still()

    def _filter(self, i: int, owners: np.ndarray) -> Grid:
        """The grid of one pair of channels, three such grids in a row."""
        (row, column), (co, ci) = divmod(i, 3), divmod(i, self.shape.in_channels)
        place = 352 + column * (29 * owners.shape[1] + 19), 72 + row * (24 * owners.shape[0] + 44)
        grid = Grid(self, owners, *place, (29, 24), note=f"grad_weight[{co},{ci}]")
        grid.touch(grid.caption, "thread", start=int(owners[0, 0]))
        grid.caption = f"the threads of {grid.caption}"
        return grid

    def draw(self, thread: int) -> str:
        """Point at one thread and at its weight."""
        s, owned = self.shape, indices.weight_of_thread(self.shape, thread)
        self.threads.mark([divmod(thread, 16)], BLUE)
        self.bold(52, 414, f"thread {thread}{' owns no weight' * (not owned)}", 17, BLUE)
        if not owned:
            return f"Thread {thread} owns nothing: there are {prod(s.weight)} weights, so it returns at once."
        co, ci, kh, kw = owned
        if co * s.in_channels + ci < len(self.filters):
            self.filters[co * s.in_channels + ci].mark([(kh, kw)], BLUE)
        code = f"because {thread} = (({co}·{s.in_channels} + {ci})·{s.kernel_h} + {kh})·{s.kernel_w} + {kw}"
        loop = f"It sums {s.batch}·{s.out_h}·{s.out_w} = {s.batch * s.out_h * s.out_w} products alone."
        return f"Thread {thread} owns grad_weight[{co},{ci},{kh},{kw}], {code}. {loop}"


class SharedProductsPicture(Picture):
    """The products of one weight, one cell each, and the few that one of many threads takes."""

    def __init__(self, shape: ConvShape, threads: int) -> None:
        self.shape, self.threads, self.count = shape, threads, shape.batch * shape.out_h * shape.out_w
        rows, cell = shape.batch * shape.out_h, 368 / shape.out_w
        super().__init__(int(56 + rows * cell))
        self.title(18, f"the {self.count} products of one weight, in loop order")
        self.cells = Grid(self, np.zeros((rows, shape.out_w)), MARGIN, 40, (cell, cell), numbers=False).boxes
        self.iterations = [range(self.count)[first : first + threads] for first in range(0, self.count, threads)]
        for i, taken in enumerate(self.iterations):
            self.boxes((self.cells[product] for product in taken), LINE, tint(BLUE, (1 + 2 * (i % 2)) / 16))
            note = f"iteration {i}: {in_words('thread', range(len(taken)))} take {in_words('product', taken)}"
            self.write(404, self._middle(taken) - 12, note, 15, BLUE)
        self.stands_still()

    def draw(self, thread: int) -> str:
        """Point at the products of one thread."""
        mine = indices.products_of_thread(self.shape, thread, self.threads)
        self.tinted((self.cells[product] for product in mine), ORANGE, 4, 7 / 16)
        for taken, product in zip(self.iterations, mine, strict=False):
            self.bold(404, self._middle(taken) + 12, f"thread {thread} takes product {product}", 15, ORANGE)
        outputs = ", at (oh, ow) = " * bool(mine) + ", ".join(str(divmod(i, self.shape.out_w)) for i in mine)
        share = f"takes {in_words('product', mine)}{outputs}: {len(mine)} of {self.count}."
        access = "In each iteration, neighboring threads read neighboring addresses: their access is coalesced."
        return f"Thread {thread} of {self.threads} {share} {access}"

    def _middle(self, taken: range) -> float:
        return self.cells[(taken[0] + taken[-1]) // 2].middle[1]


# --- The gradient of the bias: which upstream gradients it collects -------------------------------------------

CELL = 36, 34  # CSS pixels


class BiasGradientPicture(Picture):
    """Every plane of grad_output (N, Co, oH, oW), images below each other, and grad_bias (Co,) as it was returned."""

    def __init__(self, grad_output: np.ndarray, returned: np.ndarray) -> None:
        self.grad_output, self.returned = grad_output, returned
        images, channels, rows, columns = grad_output.shape
        across, down = columns * CELL[0] + 40, rows * CELL[1] + 58
        super().__init__(46 + images * down)
        self.planes = {}
        for n, co in np.ndindex(images, channels):
            place = MARGIN + co * across, 40 + n * down
            self.planes[n, co] = plane = Grid(self, grad_output[n, co], *place, CELL, f"grad_output[{n},{co}]")
            plane.point({cell: {"co": co} for cell in np.ndindex(rows, columns)})
        left = MARGIN + channels * across + 20
        self.result = Grid(self, returned[:, None], left, 40, (64, 46), "grad_bias")
        self.result.touch("grad_bias", "co")
        self.stands_still()

    def draw(self, co: int) -> str:
        """Mark the planes of one channel and its sum."""
        images, _, *size = self.grad_output.shape
        planes, sums = [self.planes[n, co] for n in range(images)], self.grad_output[:, co].sum((1, 2), dtype=float)
        for plane in planes:
            plane.mark([*np.ndindex(*size)])
        self.result.frame([(co, 0)], BLUE)
        self.bold(self.result.x + 78, self.result.box(co, 0).middle[1], f"bias {co}", 15, self.result.look.ink)
        for plane, total in zip(planes, sums, strict=True):
            self.bold(plane.x, plane.bottom + 14, f"sum {number(total)}", 14, ORANGE)
        parts = " + ".join(number(s) if s >= 0 else f"({number(s)})" for s in sums)
        return (
            f"Bias {co} was added to all {self.grad_output[:, co].size} outputs of channel {co}, in "
            f"{in_words('image', range(images))}: grad_bias[{co}] = {parts} = {number(sums.sum())}. "
            f"The kernel wrote {number(self.returned[co])}."
        )
