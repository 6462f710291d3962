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
# the list of steps
LIST = (474, 66)  # where it begins
ROW = 24.5  # the height of a line
RATE = LIST[0] + 204  # where its columns end
RATIO = LIST[0] + 284
YOURS = LIST[0] + 352
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

    `recorded` is a run on a real GPU, `yours` one on the reader's own machine, drawn as squares, if there is one.
    """

    def __init__(self, recorded: Recorded, yours: Recorded | None = None) -> None:
        super().__init__(466)
        if not recorded.points:
            raise ValueError(f"{recorded.adapter}: no step of the ladder is recorded")
        self.recorded = recorded
        self.yours = yours
        self.machine = recorded.machine
        points = list(recorded.points)
        if yours:
            points += yours.nearest
        self.points = {point.number: point for point in points if point.run is recorded}
        self.your_points = {point.number: point for point in points if point.run is yours}
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
        sentence = f"Step {step}, {chosen.name}: {number(round(chosen.intensity, 1))} operations for each byte loaded"
        if step in self.points:
            sentence += f", {100 * self.points[step].share:.0f} % of the recorded GPU's arithmetic"
        if not chosen.limit:
            return f"{sentence}."
        return f"{sentence}. What limited {chosen.before}: {chosen.limit}. {chosen.why}"

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
        intensities = np.sort([self.machine.ridge, *np.geomspace(start, 2.0 ** INTENSITIES[-1], 99)])
        speeds = np.minimum(self.machine.tflops, intensities * self.machine.bandwidth / 1e3)
        return np.stack([self.x(intensities), self.y(speeds)], 1)

    def place(self, point: Point) -> tuple[float, float]:
        """The place of a step's point."""
        return float(self.x(point.step.intensity)), float(self.y(point.tflops))

    def _placed(self, points: Sequence[Point]) -> Array:
        """The places of the numbers: near their points, best nearer to them than to any other, and off the roofs."""
        marks = np.array([self.place(point) for point in points])
        placed = np.empty((0, 2))
        for mark in marks:
            others = marks[_distances(marks, mark[None]) > DOT]
            spots = mark + AROUND
            is_inside = (spots > FIRST).all(axis=1) & (spots < LAST).all(axis=1)
            spots = spots[is_inside]
            has_room = (_distances(spots, placed) >= APART) & (_distances(spots, self.roofs) >= DOT + 6)
            spots = spots[has_room]
            length = np.hypot(*(spots - mark).T)
            apart = _distances(spots, others)
            penalty = 9 * np.maximum(0, 1.2 * length - apart) + np.where(apart < DOT + 7, 99, 0)
            best = np.argmin(length + penalty)
            placed = np.vstack([placed, spots[best]])
        return placed

    def _mark(self, point: Point, place: tuple[float, float], is_chosen: bool) -> None:
        """A dot or, for the reader's own machine, a square, and its number at a place."""
        x, y = self.place(point)
        number_x, number_y = place
        color, size, letters = (ORANGE, DOT + 2, 15) if is_chosen else (INK, DOT, 13)
        part = 1 - 9 / np.hypot(number_x - x, number_y - y)  # the line ends before the number
        self.lines([(x, y, x + part * (number_x - x), y + part * (number_y - y))], color, 1.2)
        if point.run is self.yours:
            self.boxes([Box(x - size, y - size, 2 * size, 2 * size)], color, PAPER, 1.8)
        else:
            self.curve(x + size / 2 * np.cos(ANGLES), y + size / 2 * np.sin(ANGLES), color, size)
        self.write(number_x, number_y, str(point.number), letters, color, "bold", "middle")

    def _draw_legend(self) -> None:
        """Explain dots, squares and the blue line, below the heads of the list and its lines."""
        x, y = LIST
        self.note(RATE - 6, y - 24, "TFLOP/s", "right")
        self.note(RATIO + 2, y - 24, "library takes", "right")
        if self.your_points:
            self.note(YOURS, y - 24, "yours", "right")
        lines = [
            f"dots: {self.recorded.adapter}, driver {self.recorded.driver},",
            f"recorded on {self.recorded.date}",
            f"blue: {self.machine.bandwidth / 1e3:g} TB/s, then {self.machine.tflops:.0f} TFLOP/s",
        ]
        if self.yours:
            lines.append(f"squares: your machine, {self.yours.adapter}"[:52])
        self.column(x, y + ROW * len(STEPS) + 6, 20, lines, 13, GRAY)

    def _list(self, step: int) -> None:
        """All steps with what was measured: TFLOP/s, and how many times as long the library takes."""
        x, y = LIST
        for i, ladder_step in enumerate(STEPS, 1):
            line = y + ROW * (i - 1)
            color, weight = (ORANGE, "bold") if i == step else (INK, "normal")
            point = self.points.get(i)
            yours = self.your_points.get(i)
            self.bold(x + 18, line, f"{i}", 14, color, "right")
            self.write(x + 28, line, ladder_step.name, 14, color, weight)
            columns = {
                RATE: _brief(point.tflops) if point else "–",
                RATIO: f"{point.ratio:.2f} ×" if point and point.ratio else "–",
                YOURS: _brief(yours.tflops) if yours else "",
            }
            for right, text in columns.items():
                self.write(right, line, text, 14, color, weight, "right")


def _distances(places: Array, others: Array) -> Array:
    """From each place (P, 2) to the nearest of the others (Q, 2)."""
    return np.hypot(*(places[:, None] - others[None]).transpose(2, 0, 1)).min(axis=1, initial=np.inf)


def _brief(value: float) -> str:
    """Two or three digits, and never an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 0.1:
        return f"{value:.2f}"
    return f"{value:.4f}"
