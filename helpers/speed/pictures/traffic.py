"""Who loads what: the tiles of one workgroup, what one thread loads of them, what it multiplies, and what it writes."""

from collections.abc import Callable, Sequence
from itertools import groupby

from helpers.pictures.canvas import BLUE, INK, LINE, MARGIN, ORANGE, Box, Picture
from helpers.speed.pictures.tile_sizes import tile_boxes
from helpers.speed.traffic import Cell, Traffic

SIDE, DEPTH, X, Y = 288, 76, 112, 128  # CSS pixels: of the results, along k, and where the results begin
FRAMES = tile_boxes(X, Y, SIDE, SIDE, DEPTH)
NAMED = {"a": (MARGIN, Y + SIDE + 14), "b": (MARGIN, Y - 10 - DEPTH / 2), "results": (X + 60, Y + SIDE + 14)}
TEXT = 432  # where the words begin


class TrafficPicture(Picture):
    """Both tiles and the results of a workgroup, in the same frames for every kernel.

    `shown` has a title for each, and a function that simulates it: it is called when the kernel is first shown.
    """

    def __init__(self, shown: Sequence[tuple[str, Callable[[], Traffic]]]) -> None:
        super().__init__(452)
        self.shown = shown

    def draw(self, kernel: int, thread: int) -> str:
        """Point at what one thread of one kernel does."""
        title, simulated = self.shown[kernel]
        traffic = simulated()
        thread = min(thread, traffic.threads - 1)
        if self.starts(kernel):
            self._draw_frames(title, traffic)
            self.stands_still()
        for cells, color, strength in ((traffic.multiplied, ORANGE, 3 / 16), (traffic.loaded, BLUE, 0.8)):
            for name in "ab":
                self.tinted(self._boxes(name, traffic, cells[name][thread]), color, 1, strength)
        self.tinted(self._boxes("results", traffic, traffic.written[thread]), ORANGE, 1, 0.7)
        return self._write_facts(title, traffic, thread)

    def _boxes(self, name: str, traffic: Traffic, cells: Sequence[Cell] | set[Cell]) -> list[Box]:
        """Where some cells lie; those beside each other in a row are one box, where the cells are small."""
        frame, (rows, columns) = FRAMES[name], _sizes(traffic)[name]
        width, height = frame.width / columns, frame.height / rows
        return [
            Box(frame.x + column * width, frame.y + row * height, count * width, height)
            for row, column, count in _runs(cells)
        ]

    def _draw_frames(self, title: str, traffic: Traffic) -> None:
        self.title(20, title)
        for name, (rows, columns) in _sizes(traffic).items():
            x, y, width, height = FRAMES[name]
            self.lines(((x, at, x + width, at) for at in _ticks(y, height, rows)), LINE, 0.6)
            self.lines(((at, y, at, y + height) for at in _ticks(x, width, columns)), LINE, 0.6)
            left, top = NAMED[name]
            self.bold(left, top, f"{name}  {rows} × {columns}", 14)
        self.boxes(FRAMES.values(), INK, line=2)

    def _write_facts(self, title: str, traffic: Traffic, thread: int) -> str:
        """What the thread does, in words beside what stands for it, what the whole workgroup costs, and a sentence."""
        loads, reads = ([len(cells[name][thread]) for name in "ab"] for cells in (traffic.loaded, traffic.multiplied))
        results = len(traffic.written[thread])
        has = f"{results} result{'s' * (results > 1)}"
        self.bold(TEXT, 54, f"thread {thread} of {traffic.threads}, in one turn", 16)
        lines = [
            (BLUE, 0.8, f"loads {loads[0]:,} of a, {loads[1]:,} of b, from storage memory"),
            (ORANGE, 3 / 16, f"multiplies {reads[0]:,} of a with {reads[1]:,} of b"),
            (ORANGE, 0.7, f"has {has}: {results * traffic.depth:,} multiply-adds"),
        ]
        for i, (color, strength, text) in enumerate(lines):
            y = 90 + 34 * i
            self.tinted([Box(TEXT, y - 9, 18, 18)], color, 1.5, strength)
            self.write(TEXT + 28, y, text, 14.5, color)
        self._write_counts(traffic)
        return (
            f"{title}: thread {thread} loads {sum(loads):,} numbers from storage memory, and multiplies {sum(reads):,} "
            f"numbers for its {has}. For each multiply-add, that makes {traffic.costs_in_words}."
        )

    def _write_counts(self, traffic: Traffic) -> None:
        """What the whole workgroup costs."""
        self.bold(TEXT, 216, "all threads together, for each multiply-add", 16)
        loads, numbers, reads = traffic.costs
        lines = {
            250: ("numbers loaded from storage memory", loads),
            282: ("numbers read from workgroup memory", numbers),
            314: ("reads that it takes (a vec4f is one read)", reads),
            366: ("bank conflicts in the turn", f"{traffic.counts['bank_conflicts']:,}"),
        }
        for y, (name, count) in lines.items():
            self.write(TEXT, y, name, 14.5)
            self.bold(TEXT + 384, y, count, 17, align="right")


def _sizes(traffic: Traffic) -> dict[str, Cell]:
    return {
        "a": (traffic.rows, traffic.depth),
        "b": (traffic.depth, traffic.columns),
        "results": (traffic.rows, traffic.columns),
    }


def _ticks(start: float, length: float, cells: int) -> list[float]:
    """Where the lines between cells are; where they are many, between every eight."""
    parts = cells if cells <= 16 else cells // 8
    return [start + i * length / parts for i in range(1, parts)]


def _runs(cells: Sequence[Cell] | set[Cell]) -> list[tuple[int, int, int]]:
    """The row, the first column and the length of each run of neighbors."""
    by_run = groupby(enumerate(sorted(cells)), lambda place: (place[1][0], place[1][1] - place[0]))
    runs = ([cell for _, cell in run] for _, run in by_run)
    return [(*run[0], len(run)) for run in runs]
