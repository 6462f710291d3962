"""Who loads what: the tiles of one workgroup, what one thread loads of them, what it multiplies, and what it writes."""

from collections.abc import Callable, Sequence
from itertools import groupby

from helpers.pictures.canvas import BLUE, INK, LINE, ORANGE, Box, Picture, tint
from helpers.pictures.parts import MARGIN
from helpers.speed.traffic import Cell, Traffic

SIDE, DEPTH, ORIGIN = 288, 76, (112, 128)  # CSS pixels: of the results, along k, and where the results begin
TEXT = 432  # where the words begin


class TrafficPicture(Picture):
    """Both tiles and the results of a workgroup, in the same frames for every kernel.

    `shown` has a title for each, and a function that simulates it: it is called when the kernel is first shown.
    """

    def __init__(self, shown: Sequence[tuple[str, Callable[[], Traffic]]]) -> None:
        super().__init__(452)
        self.shown = shown

    def show(self, kernel: int, thread: int) -> "TrafficPicture":
        """Point at what one thread of one kernel does."""
        title, simulated = self.shown[kernel]
        traffic = simulated()
        thread = min(thread, traffic.threads - 1)
        if self.starts(kernel):
            self._draw_frames(title, traffic)
            self.stands_still()
        for name in "ab":
            self.boxes(self._boxes(name, traffic, traffic.multiplied[name][thread]), ORANGE, tint(ORANGE), 1)
        for name in "ab":
            self.boxes(self._boxes(name, traffic, traffic.loaded[name][thread]), BLUE, tint(BLUE, 0.8), 1)
        self.boxes(self._boxes("results", traffic, traffic.written[thread]), ORANGE, tint(ORANGE, 0.7), 1)
        self._write_facts(traffic, thread)
        self.sentence = _say(title, traffic, thread)
        return self

    def _frame(self, name: str) -> Box:
        x, y = ORIGIN
        places = {
            "a": Box(x - 10 - DEPTH, y, DEPTH, SIDE),
            "b": Box(x, y - 10 - DEPTH, SIDE, DEPTH),
            "results": Box(x, y, SIDE, SIDE),
        }
        return places[name]

    def _boxes(self, name: str, traffic: Traffic, cells: Sequence[Cell] | set[Cell]) -> list[Box]:
        """Where some cells lie; those beside each other in a row are one box, where the cells are small."""
        frame, sizes = self._frame(name), _sizes(traffic)[name]
        width, height = frame.width / sizes[1], frame.height / sizes[0]
        return [
            Box(frame.x + first * width, frame.y + row * height, count * width, height)
            for row, first, count in _runs(cells)
        ]

    def _draw_frames(self, title: str, traffic: Traffic) -> None:
        self.write(MARGIN, 20, title, 17, weight="bold")
        for name, (rows, columns) in _sizes(traffic).items():
            frame = self._frame(name)
            right, bottom = frame.x + frame.width, frame.y + frame.height
            self.lines(((frame.x, y, right, y) for y in _ticks(frame.y, frame.height, rows)), LINE, 0.6)
            self.lines(((x, frame.y, x, bottom) for x in _ticks(frame.x, frame.width, columns)), LINE, 0.6)
        self.boxes(map(self._frame, ("a", "b", "results")), INK, line=2)
        (x, y), sizes = ORIGIN, _sizes(traffic)
        for name, at in (("a", (MARGIN, y + SIDE + 14)), ("results", (x + 60, y + SIDE + 14))):
            self.write(*at, f"{name}  {sizes[name][0]} × {sizes[name][1]}", 14, weight="bold")
        self.write(MARGIN, y - 10 - DEPTH / 2, f"b  {sizes['b'][0]} × {sizes['b'][1]}", 14, weight="bold")

    def _write_facts(self, traffic: Traffic, thread: int) -> None:
        """What the thread does, in words beside what stands for it."""
        loads = {name: len(traffic.loaded[name][thread]) for name in "ab"}
        reads = {name: len(traffic.multiplied[name][thread]) for name in "ab"}
        results = len(traffic.written[thread])
        self.write(TEXT, 54, f"thread {thread} of {traffic.threads}, in one turn", 16, weight="bold")
        lines = [
            (BLUE, 0.8, f"loads {loads['a']:,} of a, {loads['b']:,} of b, from storage memory"),
            (ORANGE, 3 / 16, f"multiplies {reads['a']:,} of a with {reads['b']:,} of b"),
            (ORANGE, 0.7, f"has {results} result{'s' * (results > 1)}: {results * traffic.depth:,} multiply-adds"),
        ]
        for i, (color, strength, text) in enumerate(lines):
            y = 90 + 34 * i
            self.boxes([Box(TEXT, y - 9, 18, 18)], color, tint(color, strength), 1.5)
            self.write(TEXT + 28, y, text, 14.5, color)
        self._write_counts(traffic)

    def _write_counts(self, traffic: Traffic) -> None:
        """What the whole workgroup costs."""
        self.write(TEXT, 216, "all threads together, for each multiply-add", 16, weight="bold")
        counts = [
            ("numbers loaded from storage memory", traffic.loads),
            ("numbers read from workgroup memory", traffic.reads),
            ("reads that it takes (a vec4f is one read)", traffic.counts["loads_workgroup"]),
        ]
        for i, (name, count) in enumerate(counts):
            self.write(TEXT, 250 + 32 * i, name, 14.5)
            self.write(
                TEXT + 384, 250 + 32 * i, f"{count / traffic.multiply_adds:.4g}", 17, weight="bold", align="right"
            )
        self.write(TEXT, 366, "bank conflicts in the turn", 14.5)
        conflicts = f"{traffic.counts['bank_conflicts']:,}"
        self.write(TEXT + 384, 366, conflicts, 17, weight="bold", align="right")


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
    found = []
    for _, run in groupby(enumerate(sorted(cells)), lambda each: (each[1][0], each[1][1] - each[0])):
        (_, (row, first)), *others = run
        found.append((row, first, 1 + len(others)))
    return found


def _say(title: str, traffic: Traffic, thread: int) -> str:
    loads = sum(len(traffic.loaded[name][thread]) for name in "ab")
    results = len(traffic.written[thread])
    multiplied = sum(len(traffic.multiplied[name][thread]) for name in "ab")
    per = f"{traffic.loads / traffic.multiply_adds:.4g} numbers loaded"
    if traffic.reads:
        reads = traffic.counts["loads_workgroup"] / traffic.multiply_adds
        per += f", and {traffic.reads / traffic.multiply_adds:.4g} numbers in {reads:.4g} reads of workgroup memory"
    return (
        f"{title}: thread {thread} loads {loads:,} numbers from storage memory, and multiplies {multiplied:,} numbers "
        f"for its {results} result{'s' * (results > 1)}. For each multiply-add, that makes {per}."
    )
