"""The roofline: how fast each step of the ladder is, over how many operations it makes for each byte it loads."""

from collections.abc import Sequence
from math import floor, log10

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, PAPER, Box, Picture, Word, number
from helpers.pictures.parts import MARGIN
from helpers.speed.ladder import STEPS
from helpers.speed.machine import MACHINES, Machine
from helpers.speed.recorded import Point, Recorded

LEFT, RIGHT, TOP, BOTTOM = 62, 452, 66, 372  # CSS pixels: the axes
LIST, ROW = (474, 66), 24.5  # where the list of steps begins, and a line of it
RATE, RATIO, OWN = LIST[0] + 204, LIST[0] + 276, LIST[0] + 352  # where its columns end
HIGHEST = 2.3  # the power of ten at the top: 200 TFLOP/s
RADIUS, APART = 10, 23  # of a number's circle, and from one to the next
INTENSITIES = range(-3, 8)  # powers of two: operations per byte
AROUND = [(0, 0), *((x * APART, y * APART) for d in (1, 2, 3) for x in range(-d, d + 1) for y in (-d, 0, d))]


class RooflinePicture(Picture):
    """Every step of the ladder as a numbered point under the roofs of the recorded GPU.

    `recorded` is a run on a real GPU, `own` one on the reader's own machine, drawn as squares; own may be missing.
    """

    def __init__(self, recorded: Recorded, own: Recorded | None = None) -> None:
        super().__init__(466)
        self.recorded, self.own = recorded, own
        self.points = recorded.points
        self.others = own.nearest if own else []
        if not self.points:
            raise ValueError(f"{recorded.adapter}: no step of the ladder is recorded")
        rates = [point.tflops for point in (*self.points, *self.others)]
        self.lowest = floor(log10(min(rates)))
        self.machine: Machine | None = MACHINES.get(recorded.adapter)

    def show(self, step: int) -> "RooflinePicture":
        """Point at one step, by its number."""
        if self.starts():
            self._draw_axes()
            self._draw_roofs()
            self._draw_legend()
            self.stands_still()
        every = [*self.points, *self.others]
        marks = list(
            zip(every, self._placed(every), [False] * len(self.points) + [True] * len(self.others), strict=True)
        )
        for point, at, _ in marks:
            self._lead(point, at, point.number == step)
        for point, at, own in marks:
            self._mark(point, at, own, point.number == step)
        self._list(step)
        chosen = STEPS[step - 1]
        self.write(MARGIN, BOTTOM + 48, f"{step}  {chosen.path}, on {chosen.layer}", 14, ORANGE, "bold")
        self.write(MARGIN, BOTTOM + 72, f"new: {chosen.idea}", 14)
        self.sentence = self._say(step)
        return self

    def x(self, intensity: float | np.ndarray) -> float | np.ndarray:
        """The place of some operations per byte."""
        return np.interp(np.log2(intensity), (INTENSITIES[0], INTENSITIES[-1]), (LEFT, RIGHT))

    def y(self, tflops: float | np.ndarray) -> float | np.ndarray:
        """The height of a speed."""
        return np.interp(np.log10(tflops), (self.lowest, HIGHEST), (BOTTOM, TOP))

    def _draw_axes(self) -> None:
        self.write(MARGIN, 20, "speed, in TFLOP/s, over operations per byte loaded", 17, weight="bold")
        heights = {self.y(10.0**power): f"{10.0**power:,g}" for power in range(self.lowest, 3)}
        self.lines(((LEFT, y, RIGHT, y) for y in heights), LINE, 0.8)
        self.words((Word(LEFT - 8, y, text, 13, "right") for y, text in heights.items()), GRAY)
        ticks = {self.x(2.0**power): _power(power) for power in INTENSITIES if power % 2}
        self.lines(((x, TOP, x, BOTTOM) for x in ticks), LINE, 0.8)
        self.words((Word(x, BOTTOM + 14, text, 13) for x, text in ticks.items()), GRAY)

    def _draw_roofs(self) -> None:
        """What the recorded GPU's memory and arithmetic allow."""
        if self.machine is None:
            return
        peak, ridge = self.machine.tflops, self.machine.ridge
        start = max(2.0 ** INTENSITIES[0], 10.0**self.lowest / self.machine.bandwidth * 1e3)
        ends = np.array([start, ridge, 2.0 ** INTENSITIES[-1]])
        self.curve(self.x(ends), self.y(np.minimum(peak, ends * self.machine.bandwidth / 1e3)), BLUE, 3)

    def _placed(self, points: Sequence[Point]) -> list[tuple[float, float]]:
        """Where the numbers stand: at their points or, where another one is there, as near as there is room."""
        placed: list[tuple[float, float]] = []
        for point in points:
            x, y = float(self.x(point.step.intensity)), float(self.y(point.tflops))
            around = sorted(AROUND, key=lambda by: by[0] ** 2 + by[1] ** 2)
            spots = [(x + dx, y + dy) for dx, dy in around if LEFT < x + dx < RIGHT and TOP - 4 < y + dy < BOTTOM]
            free = (at for at in spots if all(np.hypot(at[0] - p[0], at[1] - p[1]) >= APART - 1 for p in placed))
            placed.append(next(free, (x, y)))
        return placed

    def _lead(self, point: Point, at: tuple[float, float], chosen: bool) -> None:
        """The true place of a number that stands beside it."""
        x, y = float(self.x(point.step.intensity)), float(self.y(point.tflops))
        if np.hypot(at[0] - x, at[1] - y) > 1:
            color = ORANGE if chosen else INK
            self.lines([(x, y, *at)], color, 1.2)
            self.boxes([Box(x - 3, y - 3, 6, 6)], color, color)

    def _mark(self, point: Point, at: tuple[float, float], own: bool, chosen: bool) -> None:
        color, line = (ORANGE, 3) if chosen else (INK, 1.8)
        if own:
            self.boxes([Box(at[0] - 9, at[1] - 9, 18, 18)], color, PAPER, line)
        else:
            angles = np.linspace(0, 2 * np.pi, 33)
            for radius in range(1, RADIUS, 2):  # paper below the number
                self.curve(at[0] + radius * np.cos(angles), at[1] + radius * np.sin(angles), PAPER, 3)
            self.curve(at[0] + RADIUS * np.cos(angles), at[1] + RADIUS * np.sin(angles), color, line)
        self.write(*at, str(point.number), 12.5, color, "bold", "middle")

    def _draw_legend(self) -> None:
        """What circles, squares and the blue line are, below the heads of the list and its lines."""
        x, y = LIST
        heads = (RATE, "TFLOP/s"), (RATIO + 24, "library : this"), (OWN, "yours" * bool(self.others))
        for at, text in heads:
            self.write(at, y - 24, text, 13, GRAY, align="right")
        said = [
            f"circles: {self.recorded.adapter}, driver {self.recorded.driver},",
            f"recorded on {self.recorded.date}",
        ]
        if self.machine:
            said.append(f"blue: {self.machine.bandwidth / 1e3:g} TB/s, then {self.machine.tflops:.0f} TFLOP/s")
        if self.own:
            said.append(f"squares: your machine, {self.own.adapter}"[:52])
        self.words((Word(x, y + ROW * len(STEPS) + 6 + 20 * i, line, 13, "left") for i, line in enumerate(said)), GRAY)

    def _list(self, step: int) -> None:
        """All steps with what was measured: TFLOP/s, and how many times as long the library takes."""
        x, y = LIST
        found, others = ({point.number: point for point in points} for points in (self.points, self.others))
        for i, each in enumerate(STEPS, 1):
            at, point = y + ROW * (i - 1), found.get(i)
            look = (ORANGE, "bold") if i == step else (INK, "normal")
            self.write(x + 18, at, f"{i}", 14, look[0], "bold", "right")
            self.write(x + 28, at, each.name, 14, *look)
            self.write(RATE, at, _brief(point.tflops) if point else "–", 14, *look, "right")
            self.write(RATIO, at, f"{point.ratio:.2f}" if point and point.ratio else "–", 14, *look, "right")
            if i in others:
                self.write(OWN, at, _brief(others[i].tflops), 14, *look, "right")

    def _say(self, step: int) -> str:
        chosen, found = STEPS[step - 1], {point.number: point for point in self.points}
        before = f" What limited {chosen.before}: {chosen.limit}. {chosen.why}" if chosen.limit else ""
        said = f"Step {step}, {chosen.name}: {number(round(chosen.intensity, 1))} operations for each byte loaded"
        if step not in found or not self.machine:
            return f"{said}.{before}"
        share = 100 * found[step].tflops / self.machine.tflops
        return f"{said}, {share:.0f} % of the recorded GPU's arithmetic.{before}"


def _power(power: int) -> str:
    return f"{2**power}" if power >= 0 else f"1/{2**-power}"


def _brief(value: float) -> str:
    """Two or three digits, and never an exponent."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 4}f}"
