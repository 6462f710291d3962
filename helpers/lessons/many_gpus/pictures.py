"""Pictures of a batch that workers share, of the tree that combines its parts, and of what handing over costs."""

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.lessons.many_gpus import indices
from helpers.lessons.many_gpus.indices import Place
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, Box, Picture, number
from helpers.pictures.charts import Axes
from helpers.pictures.parts import Grid

Array = np.ndarray

# CSS pixels
CELL = (24, 16)  # of a number
LEFT = 106  # where images begin
APART = 77  # from one image to the next
TENSOR_TOPS = 46, 98, 200  # of images, of their upstream gradients, of the pixels' gradients
HANDED_TOP = 136  # of what is handed over
HANDED_CELL = (25, 16)
SUMS = 728  # where the sums begin


class SharedPicture(Picture):
    """Eight images of 3 x 3 pixels with one output each, whose gradients some workers compute.

    `tensors` has arrays (8, rows, columns) for images, upstream gradients and gradients of pixels, and `weights` an
    array (workers, 3, 3) for each number of workers; `on` is the GPU.
    """

    def __init__(self, tensors: Mapping[str, Array], weights: Mapping[int, Array], on: str) -> None:
        super().__init__(252)
        self.tensors = tensors
        self.weights = weights
        self.on = on

    def draw(self, workers: int, worker: int, weight: int = -1) -> str:
        """Mark what a worker has and hands over, or the terms of a number that is added up."""
        shares = indices.bounds(len(self.tensors["input"]), workers)
        self.title(15, f"eight images, {workers} workers (on {self.on})")
        for top, name in zip(TENSOR_TOPS, self.tensors, strict=True):
            self._draw_tensor(name, top, shares, worker)
        self.note(MARGIN, HANDED_TOP + 16, "handed over")
        biases = [self.tensors["grad_output"][first:end].sum() for first, end in shares]
        rows = self.weights[workers].reshape(workers, -1)
        gradients = np.column_stack([rows, biases])
        for k, (first, end) in enumerate(shares):
            band = self._draw_band(k, first, end, is_chosen=k == worker)
            self._draw_gradients(gradients[k], band.x + 8, f" of worker {k}", weight)
        self.bold(SUMS, HANDED_TOP - 9, "added up", 13)
        self._draw_gradients(gradients.sum(0), SUMS, "", weight)
        if weight >= 0:
            return say_terms(gradients[:, weight], weight)
        first, end = shares[worker]
        return self._say_share(worker, first, end)

    def _draw_band(self, worker: int, first: int, end: int, is_chosen: bool) -> Box:
        """A band below a worker's images, with its name; returns its box."""
        band = Box(LEFT - 4 + APART * first, HANDED_TOP - 19, APART * (end - first) - 7, 71)
        if is_chosen:
            self.tinted([band], BLUE, 1.4, 0.06)
            ink = BLUE
        else:
            self.tinted([band], GRAY, 1.4, 0.06)
            ink = INK
        self.bold(band.x + 6, band.y + 10, f"worker {worker}", 13, ink)
        return band

    def _draw_tensor(self, name: str, top: float, shares: Sequence[tuple[int, int]], worker: int) -> None:
        """A tensor's arrays beside each other, with a frame around those of the worker."""
        arrays = self.tensors[name]
        rows = len(arrays[0])
        label = "images" if name == "input" else name
        self.note(MARGIN, top + rows * CELL[1] / 2, label)
        for n, values in enumerate(arrays):
            owner = next(k for k, (_, end) in enumerate(shares) if n < end)
            grid = Grid(self, values, LEFT + APART * n, top, CELL, tensor=name)
            grid.caption = f"{name} of image {n}"
            grid.point({cell: {"worker": owner} for cell in np.ndindex(values.shape)})
            if owner == worker:
                whole = grid.box(0, 0, *grid.values.shape)
                self.boxes([whole], BLUE, line=2.4)

    def _draw_gradients(self, gradients: Array, x: float, whose: str, weight: int) -> None:
        """The gradients of the nine weights and of the bias; pointing at one shows from whom its terms are."""
        self._draw_handed_over("weight", gradients[:9].reshape(3, 3), x, whose, 0, weight)
        self._draw_handed_over("bias", gradients[9:, None], x + 81, whose, 9, weight)

    def _draw_handed_over(self, tensor: str, values: Array, x: float, whose: str, first: int, weight: int) -> None:
        """One gradient, whose numbers count from `first` on."""
        grid = Grid(self, values, x, HANDED_TOP, HANDED_CELL, tensor=tensor)
        grid.caption = f"grad_{tensor}{whose}"
        cells = enumerate(np.ndindex(values.shape), first)
        grid.point({cell: {"weight": number} for number, cell in cells})
        if first <= weight < first + values.size:
            row, column = divmod(weight - first, 3)
            grid.mark([(row, column)], ORANGE)

    def _say_share(self, worker: int, first: int, end: int) -> str:
        images = f"images {first} to {end - 1}"
        return (
            f"Worker {worker} has {images}. Its 10 numbers of grad_weight and grad_bias are added to those of the "
            f"others; its {9 * (end - first)} numbers of grad_input stay side by side."
        )


def say_terms(terms: Array, weight: int) -> str:
    """Say how a number of the gradients is added up over the workers."""
    name = "grad_bias"
    if weight < 9:
        row, column = divmod(weight, 3)
        name = f"grad_weight[{row},{column}]"
    texts = [f"({number(term)})" if term < 0 else number(term) for term in terms]
    total = number(terms.sum())
    return f"{name} is added up over the workers: {' + '.join(texts)} = {total}."


PARTS = 8
# CSS pixels
BOX = (70, 42)  # of a part
APART_DOWN = 66  # from one row to the next
TREE_TOP = 46  # of the first row
BUTTON = (96, 26)
NEXT = 106  # from one button to the next


class TreePicture(Picture):
    """A tree over eight parts, whose sums are held by some workers, of which one is killed after some rounds."""

    def __init__(self, parts: Array) -> None:
        super().__init__(TREE_TOP + 3 * APART_DOWN + BOX[1] + 4)
        sums = np.asarray(parts)
        self.levels = [sums]
        while len(sums) > 1:
            sums = sums[::2] + sums[1::2]
            self.levels.append(sums)

    def draw(self, workers: int, rounds: int, killed: int) -> str:
        """Show the sums after some rounds; `killed` is 0 for nobody, and k + 1 for worker k."""
        self.note(MARGIN, 18, "click a worker to kill it")
        again = set()
        if killed:
            again = indices.computed_again(PARTS, workers, rounds, killed - 1)
        names = [f"worker {k}" for k in range(workers)]
        buttons(self, 190, ["nobody", *names], "killed", killed)
        for after, sums in enumerate(self.levels[: rounds + 1]):
            self._level(after, sums, workers, again)
        return self._sentence(workers, rounds, killed, again)

    def _level(self, after: int, sums: Array, workers: int, again: set[Place]) -> None:
        label = f"round {after}" if after else "parts"
        self.note(MARGIN, TREE_TOP + APART_DOWN * after + BOX[1] / 2, label)
        for i, total in enumerate(sums):
            box = self._box(after, i)
            who = indices.owner((after, i), PARTS, workers)
            grid = Grid(self, [[total]], box.x, box.y, BOX, at=0.32)
            grid.caption = f"{label}, number {i}"
            grid.point({(0, 0): {"killed": who + 1}})
            self.note(box.middle[0], box.bottom - 12, f"worker {who}", "middle")
            is_again = (after, i) in again
            if is_again:
                grid.frame([(0, 0)], ORANGE)
            if after:
                terms = self._box(after - 1, 2 * i), self._box(after - 1, 2 * i + 1)
                lines = [(term.middle[0], term.bottom, box.middle[0], box.y) for term in terms]
                if is_again:
                    self.lines(lines, ORANGE, 2.2)
                else:
                    self.lines(lines, LINE, 1.4)

    def _box(self, after: int, i: int) -> Box:
        middle = (i + 0.5) * 2**after - 0.5  # of the parts below it
        x = 80 + 84 * middle
        y = TREE_TOP + APART_DOWN * after
        return Box(x, y, *BOX)

    def _sentence(self, workers: int, rounds: int, killed: int, again: set[Place]) -> str:
        noun = "sum" if rounds else "part"
        held = counted(len(self.levels[rounds]), noun)
        state = f"After {counted(rounds, 'round')}, {workers} workers hold {held}."
        if not killed:
            return state
        worker = f"Worker {killed - 1} is killed"
        if not again:
            return f"{state} {worker}, which held none of them: nothing is lost."
        parts = sum(row == 0 for row, _ in again)
        lost = sum(row == rounds for row, _ in again)
        is_or_are = "is" if lost == 1 else "are"
        return f"{state} {worker}, and {counted(lost, noun)} {is_or_are} lost: {parts} parts are computed again."


CHART = Box(120, 52, 440, 236)
MOST = 10  # the largest power of two of workers
# powers of ten, of milliseconds
LOWEST = -2
HIGHEST = 3
WAYS = tuple(indices.ROUND)


class ManyPicture(Picture):
    """The time of a step over the number of workers, by a model, on two logarithmic axes, beside what was measured."""

    def __init__(self) -> None:
        super().__init__(336)
        self.axes = Axes(self, CHART, (0, MOST), (LOWEST, HIGHEST))
        self.title(18, "milliseconds of a step, over the number of workers")
        self.axes.rows({power: f"{10.0**power:,g}" for power in range(LOWEST, HIGHEST + 1)})
        self.axes.columns({power: f"{2**power:,}" for power in range(0, MOST + 1, 2)})
        self.note(MARGIN, 324, "squares: measured on four NVIDIA H100, November 2026")
        self.stands_still()

    def draw(self, computing: int, workers: int, way: int) -> str:
        """A step that takes `computing` ms on one worker; `workers` is a power of two, `way` how it is handed over."""
        name = WAYS[way]
        powers = np.arange(MOST + 1)
        buttons(self, 590, WAYS, "way", way)
        ideal = computing / 2.0**powers
        handing_over = np.array([indices.handing_over(name, 2**power) for power in powers.tolist()])
        together = ideal + handing_over
        self.axes.curve(powers, np.log10(ideal), GRAY, 1.6, (4, 4))
        self.axes.curve(powers[1:], np.log10(handing_over[1:]), ORANGE, 2)
        self.axes.curve(powers, np.log10(together), BLUE, 3)
        for count, measured in indices.MEASURED[name].items():
            self.axes.mark(np.log2(count), np.log10(measured), ORANGE)
        x = float(self.axes.x(workers))
        self.lines([(x, CHART.y, x, CHART.bottom)], INK, 1.4, (3, 3))
        count = counted(2**workers, "worker")
        self.bold(590, 66, count, 16)
        self._write_time(0, "computing (dashed)", ideal[workers], GRAY)
        self._write_time(1, f"handing over: {counted(workers, 'round')}", handing_over[workers], ORANGE)
        self._write_time(2, "together", together[workers], BLUE)
        best = int(together.argmin())
        return (
            f"With {name}, a step of {computing:,} milliseconds takes {together[workers]:,.3g} with {count}. "
            f"It is fastest with {2**best:,}."
        )

    def _write_time(self, row: int, label: str, milliseconds: float, color: str) -> None:
        self.note(590, 106 + 56 * row, label)
        self.bold(590, 128 + 56 * row, f"{milliseconds:,.3g} ms", 16, color)


def counted(count: int, noun: str) -> str:
    """A noun after its number."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun}s"


def buttons(picture: Picture, x: float, names: Sequence[str], value: str, pressed: int) -> None:
    """Buttons from x on, each of which gives a value its own number."""
    for i, name in enumerate(names):
        grid = Grid(picture, [[0]], x + NEXT * i, 5, BUTTON, numbers=False)
        grid.touch(name, value, start=i, clicked=True)
        middle = grid.boxes[0].middle
        if i == pressed:
            grid.tinted([(0, 0)], ORANGE, 2)
            picture.bold(*middle, name, 13, ORANGE, "middle")
        else:
            grid.tinted([(0, 0)], GRAY, 1)
            picture.bold(*middle, name, 13, INK, "middle")
