"""The roofline: how fast each step of the ladder is, over how many operations it makes for each byte it loads."""

from collections.abc import Sequence
from fractions import Fraction
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
LIST_LEFT = 474
LIST_TOP = 66
ROW = 24.5  # the height of a line
RATE = LIST_LEFT + 204  # where its columns end
RATIO = LIST_LEFT + 284
YOURS = LIST_LEFT + 352
HIGHEST = 2.0  # the power of ten at the top: 100 TFLOP/s
DOT = 4  # half a mark's width
APART = 19  # from a number to the next one
INTENSITIES = range(-3, 7)  # powers of two: operations per byte
# the corners between which numbers stand
FIRST = (LEFT + 8, TOP)
LAST = (RIGHT, BOTTOM - 8)
ANGLES = np.linspace(0, 2 * np.pi, 25)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1)  # closed: the last point is the first one
AROUND = np.concatenate([radius * CIRCLE[:-1] for radius in range(17, 160, 5)])  # from a point to places for its number


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
        for point, place in self.placed:
            if point.number != step:
                self._mark(point, place, False)
        for point, place in self.placed:
            if point.number == step:  # on top of the others
                self._mark(point, place, True)
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
        odd = [power for power in INTENSITIES if power % 2]
        self.axes.columns({power: str(Fraction(2) ** power) for power in odd}, 14, 0.8)

    @cached_property
    def roofs(self) -> Array:
        """Points (R, 2) along what the recorded GPU's memory and arithmetic allow."""
        at_the_bottom = 10.0**self.lowest / self.machine.bandwidth * 1e3
        start = max(2.0 ** INTENSITIES[0], at_the_bottom)
        end = 2.0 ** INTENSITIES[-1]
        intensities = np.sort([self.machine.ridge, *np.geomspace(start, end, 99)])
        of_memory = intensities * self.machine.bandwidth / 1e3
        speeds = np.minimum(self.machine.tflops, of_memory)
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
            spots = self._free_spots(mark, placed)
            length = _distances(spots, mark[None])
            apart = _distances(spots, others)
            nearer_to_another = 9 * np.maximum(0, 1.2 * length - apart)
            on_another = np.where(apart < DOT + 7, 99, 0)
            best = np.argmin(length + nearer_to_another + on_another)
            placed = np.vstack([placed, spots[best]])
        return placed

    def _free_spots(self, mark: Array, placed: Array) -> Array:
        """The places (P, 2) around a mark that are inside the axes, off the roofs, and apart from `placed` numbers."""
        spots = mark + AROUND
        is_inside = (spots > FIRST).all(axis=1) & (spots < LAST).all(axis=1)
        spots = spots[is_inside]
        off_numbers = _distances(spots, placed) >= APART
        off_roofs = _distances(spots, self.roofs) >= DOT + 6
        return spots[off_numbers & off_roofs]

    def _mark(self, point: Point, place: tuple[float, float], is_chosen: bool) -> None:
        """A dot or, for the reader's own machine, a square, and its number at a place."""
        x, y = self.place(point)
        number_x, number_y = place
        color = INK
        size = DOT
        letters = 13
        if is_chosen:
            color = ORANGE
            size = DOT + 2
            letters = 15
        across = number_x - x
        down = number_y - y
        part = 1 - 9 / np.hypot(across, down)  # the line ends before the number
        self.lines([(x, y, x + part * across, y + part * down)], color, 1.2)
        if point.run is self.yours:
            self.boxes([Box(x - size, y - size, 2 * size, 2 * size)], color, PAPER, 1.8)
        else:
            circle = (x, y) + size / 2 * CIRCLE
            self.curve(*circle.T, color, size)
        self.write(number_x, number_y, str(point.number), letters, color, "bold", "middle")

    def _draw_legend(self) -> None:
        """Explain dots, squares and the blue line, below the heads of the list and its lines."""
        above = LIST_TOP - 24
        self.note(RATE - 6, above, "TFLOP/s", "right")
        self.note(RATIO + 2, above, "library takes", "right")
        if self.your_points:
            self.note(YOURS, above, "yours", "right")
        lines = [
            f"dots: {self.recorded.adapter}, driver {self.recorded.driver},",
            f"recorded on {self.recorded.date}",
            f"blue: {self.machine.bandwidth / 1e3:g} TB/s, then {self.machine.tflops:.0f} TFLOP/s",
        ]
        if self.yours:
            lines.append(f"squares: your machine, {self.yours.adapter}"[:52])
        below = LIST_TOP + ROW * len(STEPS) + 6
        self.column(LIST_LEFT, below, 20, lines, 13, GRAY)

    def _list(self, step: int) -> None:
        """All steps with what was measured: TFLOP/s, and how many times as long the library takes."""
        for i, ladder_step in enumerate(STEPS, 1):
            y = LIST_TOP + ROW * (i - 1)
            color, weight = (ORANGE, "bold") if i == step else (INK, "normal")
            self.bold(LIST_LEFT + 18, y, f"{i}", 14, color, "right")
            self.write(LIST_LEFT + 28, y, ladder_step.name, 14, color, weight)
            for right, text in self._measured(i).items():
                self.write(right, y, text, 14, color, weight, "right")

    def _measured(self, step: int) -> dict[float, str]:
        """The numbers of a step in the list, by the x where each ends."""
        columns = {RATE: "–", RATIO: "–", YOURS: ""}
        point = self.points.get(step)
        if point:
            columns[RATE] = _brief(point.tflops)
            if point.ratio:
                columns[RATIO] = f"{point.ratio:.2f} ×"
        yours = self.your_points.get(step)
        if yours:
            columns[YOURS] = _brief(yours.tflops)
        return columns


def _distances(places: Array, others: Array) -> Array:
    """The distances (P,) from each place (P, 2) to the nearest of the others (Q, 2)."""
    between = places[:, None] - others[None]  # (P, Q, 2)
    lengths = np.hypot(between[..., 0], between[..., 1])
    return lengths.min(axis=1, initial=np.inf)


def _brief(value: float) -> str:
    """Two or three digits, and never an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 0.1:
        return f"{value:.2f}"
    return f"{value:.4f}"
