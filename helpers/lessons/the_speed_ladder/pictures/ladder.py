"""The ladder: each step under the roofs of a GPU, the recorded ones as measured, the reader's own as counted."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from helpers.bench.recorded import Recorded
from helpers.lessons.the_speed_ladder.ladder_steps import Rung
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, PAPER, Box, Picture, number
from helpers.pictures.charts import Axes
from helpers.pictures.parts import Area

# CSS pixels: the axes
CHART = Box(46, 54, 330, 300)
# the list of steps
LIST_LEFT = 400
LIST_TOP = 58
ROW = 25  # the height of a line
LOADS = LIST_LEFT + 196  # where its columns end
READS = LIST_LEFT + 254
SHARE = LIST_LEFT + 338
LIBRARY = LIST_LEFT + 400
DOT = 4  # half a mark's width
INTENSITIES = range(-3, 7)  # powers of two: operations for each byte
HIGHEST = 70  # TFLOP/s


class LadderPicture(Picture):
    """Every rung as a mark under the roofs of the recorded GPU, and in a list with its counts."""

    def __init__(self, recorded: Recorded, rungs: Sequence[Rung]) -> None:
        super().__init__(440)
        self.machine = recorded.machine
        self.rungs = rungs
        self.axes = Axes(self, CHART, (INTENSITIES[0], INTENSITIES[-1]), (0, HIGHEST))
        self._draw_axes()
        self.curve(*self.roof, BLUE, 3)
        self._draw_heads(recorded)
        self.stands_still()

    def draw(self, step: int) -> str:
        """Point at one rung, by its number."""
        chosen = self.rungs[step - 1]
        for i, rung in enumerate(self.rungs, 1):
            if rung is not chosen:
                self._mark(i, rung, INK)
            self._list(i, rung, rung is chosen)
        self._mark(step, chosen, ORANGE)  # on top of the others
        lines = Box(LIST_LEFT, LIST_TOP - ROW / 2, LIBRARY - LIST_LEFT, ROW * len(self.rungs))
        Area(self, np.zeros((len(self.rungs), 1)), lines).touch("the steps", "step", start=1)
        self.bold(MARGIN, CHART.bottom + 64, chosen.words, 14, ORANGE)
        return f"{step}, {chosen.name} ({chosen.words}): {chosen.sentence}"

    @property
    def roof(self) -> tuple[np.ndarray, np.ndarray]:
        """Places along what the recorded GPU's memory and arithmetic allow."""
        least, most = 2.0 ** INTENSITIES[0], 2.0 ** INTENSITIES[-1]
        intensities = np.sort([self.machine.ridge, *np.geomspace(least, most, 99)])
        speeds = np.minimum(self.machine.tflops, intensities * self.machine.bandwidth / 1e3)
        return self.axes.x(np.log2(intensities)), self.axes.y(speeds)

    def place(self, rung: Rung) -> tuple[float, float]:
        """The place of a rung's mark."""
        speed = rung.share * self.machine.tflops
        return float(self.axes.x(np.log2(rung.intensity))), float(self.axes.y(speed))

    def _draw_axes(self) -> None:
        self.title(20, "the steps under the roofs of the hardware")
        self.note(MARGIN, CHART.y - 14, "TFLOP/s")
        self.note((CHART.x + CHART.right) / 2, CHART.bottom + 34, "operations for each byte loaded", "middle")
        self.axes.rows({speed: str(speed) for speed in range(0, HIGHEST + 1, 10)})
        odd = [power for power in INTENSITIES if power % 2]
        self.axes.columns({power: str(Fraction(2) ** power) for power in odd}, 14, 0.8)

    def _draw_heads(self, recorded: Recorded) -> None:
        """The heads of the list, and below it what dots, squares and the blue line are."""
        above = LIST_TOP - 22
        self.note(LOADS - 40, above - 16, "for each multiply-add")
        heads = {LOADS: "loads", READS: "reads", SHARE: "arithmetic", LIBRARY: "library"}
        for right, name in heads.items():
            self.note(right, above, name, "right")
        below = LIST_TOP + ROW * len(self.rungs) + 12
        lines = [
            f"dots: {recorded.adapter}, driver {recorded.driver}, {recorded.date}",
            "library: cuBLAS in float32, how many times as fast",
            "squares: counted, at most this part of the arithmetic",
            f"blue: {self.machine.bandwidth / 1e3:g} TB/s, then {self.machine.tflops:.0f} TFLOP/s in float32",
        ]
        self.column(LIST_LEFT, below, 19, lines, 13, GRAY)

    def _mark(self, step: int, rung: Rung, color: str) -> None:
        """A dot, or a square where nothing was measured, with its number beside it."""
        x, y = self.place(rung)
        size = DOT + 2 if color == ORANGE else DOT
        mark = Box(x - size, y - size, 2 * size, 2 * size)
        if rung.measured:
            angles = np.linspace(0, 2 * np.pi, 25)
            self.curve(x + size / 2 * np.cos(angles), y + size / 2 * np.sin(angles), color, size)
        else:
            self.boxes([mark], color, PAPER, 1.8)
        self.write(x + self._side(rung) * 15, y, str(step), 13, color, "bold", "middle")

    def _side(self, rung: Rung) -> int:
        """The side of its mark on which a number stands: by turns, where marks stand above each other."""
        above_each_other = [other for other in self.rungs if other.intensity == rung.intensity]
        order = sorted(above_each_other, key=lambda other: other.share)
        return -1 if order.index(rung) % 2 else 1

    def _list(self, step: int, rung: Rung, is_chosen: bool) -> None:
        """The line of a rung: what it loads and reads, the part of the arithmetic, and the library beside it."""
        y = LIST_TOP + ROW * (step - 1)
        color, weight = (ORANGE, "bold") if is_chosen else (INK, "normal")
        self.bold(LIST_LEFT + 18, y, str(step), 14, color, "right")
        self.write(LIST_LEFT + 26, y, rung.name, 14, color, weight)
        digits = 1 if rung.share < 0.1 else 0
        columns = {
            LOADS: number(round(rung.loads, 3)),
            READS: number(round(rung.reads, 3)) if rung.reads else "–",
            SHARE: f"{'' if rung.measured else '≤ '}{100 * rung.share:.{digits}f} %",
            LIBRARY: f"{rung.library:.2g} ×" if rung.library else "",
        }
        for right, text in columns.items():
            self.write(right, y, text, 14, color, weight, "right")
