"""The roofline: how fast each step of the ladder is, over how many operations it makes for each byte it loads."""

from collections.abc import Sequence
from functools import cached_property
from math import floor, log10

import numpy as np

from helpers.bench.ladder import STEPS
from helpers.bench.recorded import Point, Recorded
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, PAPER, Box, Picture, number
from helpers.pictures.charts import Axes

Array = np.ndarray

# CSS pixels: the axes
LEFT = 62
RIGHT = 452
TOP = 66
BOTTOM = 364
# where the list of steps begins, and a line of it
LIST = (474, 66)
ROW = 24.5
# where its columns end
RATE = LIST[0] + 204
RATIO = LIST[0] + 284
OWN = LIST[0] + 352
HIGHEST = 2.0  # the power of ten at the top: 100 TFLOP/s
DOT = 4  # half a mark's width
APART = 19  # from a number to the next one
INTENSITIES = range(-3, 7)  # powers of two: operations per byte
# the corners between which numbers stand
FIRST = (LEFT + 8, TOP)
LAST = (RIGHT, BOTTOM - 8)
ANGLES = np.linspace(0, 2 * np.pi, 25)
AROUND = np.concatenate([r * np.stack([np.cos(ANGLES[:-1]), np.sin(ANGLES[:-1])], 1) for r in range(17, 160, 5)])


class RooflinePicture(Picture):
    """Every step of the ladder as a point with its number beside it, under the roofs of the recorded GPU.

    `recorded` is a run on a real GPU, `own` one on the reader's own machine, drawn as squares; own may be missing.
    """

    def __init__(self, recorded: Recorded, own: Recorded | None = None) -> None:
        super().__init__(466)
        if not recorded.points:
            raise ValueError(f"{recorded.adapter}: no step of the ladder is recorded")
        self.recorded = recorded
        self.own = own
        self.machine = recorded.machine
        points = [*recorded.points, *(own.nearest if own else [])]
        self.points, self.others = ({p.number: p for p in points if p.run is run} for run in (recorded, own))
        self.lowest = floor(log10(min(point.tflops for point in points)))
        box = Box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP)
        self.axes = Axes(self, box, (INTENSITIES[0], INTENSITIES[-1]), (self.lowest, HIGHEST))
        self.placed = list(zip(points, self._placed(points), strict=True))
        self._draw_axes()
        self.curve(*self.roofs.T, BLUE, 3)
        self._draw_legend()
        self.stands_still()

    def draw(self, step: int) -> str:
        """Point at one step, by its number."""
        for point, at in sorted(self.placed, key=lambda placed: placed[0].number == step):  # that one on top
            self._mark(point, at, point.number == step)
        self._list(step)
        chosen = STEPS[step - 1]
        self.bold(MARGIN, BOTTOM + 58, f"{step}  {chosen.path}, on {chosen.layer}", 14, ORANGE)
        self.write(MARGIN, BOTTOM + 82, f"new: {chosen.idea}", 14)
        before = f" What limited {chosen.before}: {chosen.limit}. {chosen.why}" if chosen.limit else ""
        said = f"Step {step}, {chosen.name}: {number(round(chosen.intensity, 1))} operations for each byte loaded"
        if point := self.points.get(step):
            said += f", {100 * point.share:.0f} % of the recorded GPU's arithmetic"
        return f"{said}.{before}"

    def x(self, intensity: float | Array) -> float | Array:
        """The place of some operations per byte."""
        return self.axes.x(np.log2(intensity))

    def y(self, tflops: float | Array) -> float | Array:
        """The height of a speed."""
        return self.axes.y(np.log10(tflops))

    def _draw_axes(self) -> None:
        self.title(20, "the steps under the roofs of the hardware")
        self.note(MARGIN, TOP - 20, "TFLOP/s")
        self.note((LEFT + RIGHT) / 2, BOTTOM + 34, "operations for each byte loaded", "middle")
        self.axes.rows({power: f"{10.0**power:,g}" for power in range(self.lowest, 3)})
        powers = {power: f"{2**power}" if power >= 0 else f"1/{2**-power}" for power in INTENSITIES if power % 2}
        self.axes.columns(powers, 14, 0.8)

    @cached_property
    def roofs(self) -> Array:
        """Points (R, 2) along what the recorded GPU's memory and arithmetic allow."""
        start = max(2.0 ** INTENSITIES[0], 10.0**self.lowest / self.machine.bandwidth * 1e3)
        at = np.sort([self.machine.ridge, *np.geomspace(start, 2.0 ** INTENSITIES[-1], 99)])
        return np.stack([self.x(at), self.y(np.minimum(self.machine.tflops, at * self.machine.bandwidth / 1e3))], 1)

    def place(self, point: Point) -> tuple[float, float]:
        """The place of a step's point."""
        return float(self.x(point.step.intensity)), float(self.y(point.tflops))

    def _placed(self, points: Sequence[Point]) -> Array:
        """The places of the numbers: near their points, best nearer to them than to any other, and off the roofs."""
        marks = np.array([self.place(point) for point in points])
        placed = np.empty((0, 2))
        for mark in marks:
            others = marks[_distances(marks, mark[None]) > DOT]
            spots = (mark + AROUND)[(mark + AROUND > FIRST).all(axis=1) & (mark + AROUND < LAST).all(axis=1)]
            spots = spots[(_distances(spots, placed) >= APART) & (_distances(spots, self.roofs) >= DOT + 6)]
            length = np.hypot(*(spots - mark).T)
            apart = _distances(spots, others)
            best = np.argmin(length + 9 * np.maximum(0, 1.2 * length - apart) + 99 * (apart < DOT + 7))
            placed = np.vstack([placed, spots[best]])
        return placed

    def _mark(self, point: Point, at: tuple[float, float], chosen: bool) -> None:
        """A dot or, for the reader's own machine, a square, and its number."""
        x, y = self.place(point)
        color = ORANGE if chosen else INK
        size = DOT + 2 * chosen
        part = 1 - 9 / np.hypot(at[0] - x, at[1] - y)  # the line ends before the number
        self.lines([(x, y, x + part * (at[0] - x), y + part * (at[1] - y))], color, 1.2)
        if point.run is self.own:
            self.boxes([Box(x - size, y - size, 2 * size, 2 * size)], color, PAPER, 1.8)
        else:
            self.curve(x + size / 2 * np.cos(ANGLES), y + size / 2 * np.sin(ANGLES), color, size)
        self.write(*at, str(point.number), 15 if chosen else 13, color, "bold", "middle")

    def _draw_legend(self) -> None:
        """Explain dots, squares and the blue line, below the heads of the list and its lines."""
        x, y = LIST
        for at, text in (RATE - 6, "TFLOP/s"), (RATIO + 2, "library takes"), (OWN, "yours" * bool(self.others)):
            self.note(at, y - 24, text, "right")
        said = [
            f"dots: {self.recorded.adapter}, driver {self.recorded.driver},",
            f"recorded on {self.recorded.date}",
            f"blue: {self.machine.bandwidth / 1e3:g} TB/s, then {self.machine.tflops:.0f} TFLOP/s",
            f"squares: your machine, {self.own.adapter}"[:52] if self.own else "",
        ]
        self.column(x, y + ROW * len(STEPS) + 6, 20, said, 13, GRAY)

    def _list(self, step: int) -> None:
        """All steps with what was measured: TFLOP/s, and how many times as long the library takes."""
        x, y = LIST
        for i, ladder_step in enumerate(STEPS, 1):
            at = y + ROW * (i - 1)
            look = (ORANGE, "bold") if i == step else (INK, "normal")
            point = self.points.get(i)
            other = self.others.get(i)
            self.bold(x + 18, at, f"{i}", 14, look[0], "right")
            self.write(x + 28, at, ladder_step.name, 14, *look)
            columns = {
                RATE: _brief(point.tflops) if point else "–",
                RATIO: f"{point.ratio:.2f} ×" if point and point.ratio else "–",
                OWN: _brief(other.tflops) if other else "",
            }
            for right, text in columns.items():
                self.write(right, at, text, 14, *look, "right")


def _distances(places: Array, others: Array) -> Array:
    """From each place (P, 2) to the nearest of the others (Q, 2)."""
    return np.hypot(*(places[:, None] - others[None]).transpose(2, 0, 1)).min(axis=1, initial=np.inf)


def _brief(value: float) -> str:
    """Two or three digits, and never an exponent."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 4}f}"
