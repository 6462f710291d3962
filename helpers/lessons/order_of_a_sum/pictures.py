"""Pictures of appendix E: ones that one thread loses, four numbers in any order, and how far sums are off."""

from collections.abc import Mapping

import numpy as np

from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.pictures.turn_button import turn_button
from helpers.lessons.shared.sums import ADDENDS, EXACT
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture
from helpers.pictures.charts import DIAMOND, SQUARE, TRIANGLE, Axes, draw_sign, part
from helpers.pictures.parts import Grid

# --- Ones ---------------------------------------------------------------------------------------------------------

BLOCK = EXACT // 4
MOST = 12
THREADS = 256
BAR = Box(196, 34, 0, 26)  # where bars begin
WIDE = 500 / MOST  # CSS pixels of a block
# whole numbers on each side, and a cell of one
NEAR = 4
CELL = (89, 32)


class OnesPicture(Picture):
    """The sums that one thread and a tree make of many ones, and the whole numbers near their count that are float32.

    `returned` is what a GPU, `on`, made of 2^24 - 8 and 16 ones in one thread.
    """

    def __init__(self, returned: float, on: str) -> None:
        super().__init__(234)
        self.on = f"adapter: {on}", f"{EXACT - 8:,} + 1 + 1 + ... + 1, 16 times, in one thread on {on}: {returned:,.0f}"

    def draw(self, blocks: int, near: int) -> str:
        """Add up this many blocks of ones, and point at a whole number near their count."""
        ones = blocks * BLOCK
        # First only the adapter: where it stops, one finds out.
        self.write(MARGIN, 112, self.on[ones > EXACT], 13, BLUE)
        self.title(18, f"{ones:,} ones, added in float32")
        totals = {"one thread": min(ones, EXACT), f"tree of {THREADS} threads": ones}
        for row, (name, total) in enumerate(totals.items()):
            bar = BAR._replace(y=BAR.y + 33 * row, width=WIDE * blocks)
            self.bold(MARGIN, bar.middle[1], name, 15)
            self.boxes([bar], GRAY, dashes=(3, 3))
            self.tinted([bar._replace(width=WIDE * total / BLOCK)], ORANGE, 2, 0.4)
            self.bold(bar.right + 8, bar.middle[1], f"{total:,}", 15, ORANGE)
        pointed = ones - NEAR + near
        rounded = self._draw_numbers(ones, near)
        made = "is a float32 number" if rounded == pointed else f"is none: a sum of {pointed:,} becomes {rounded:,}"
        alone, _ = totals.values()
        return f"Of {ones:,} ones, one thread makes {alone:,}, and the tree {ones:,}. {pointed:,} {made}."

    def _draw_numbers(self, ones: int, near: int) -> int:
        """The whole numbers around `ones`, of which some are float32 numbers; returns what one of them becomes."""
        whole = np.arange(ones - NEAR, ones + NEAR + 1)
        floats = whole.astype(np.float32).astype(int)
        self.bold(MARGIN, 138, "which whole numbers are float32 numbers? The others are dashed", 15)
        grid = Grid(self, np.where(floats == whole, whole, np.nan)[None], MARGIN, 154, CELL, numbers=False)
        grid.touch("whole numbers", "near")
        for color, there in (INK, floats == whole), (GRAY, floats != whole):
            self.label((grid.boxes[i] for i in np.flatnonzero(there)), (f"{n:,}" for n in whole[there]), 13, color)
        grid.frame([(0, near)], BLUE)
        if floats[near] != whole[near]:
            start, end = (grid.boxes[i].middle[0] for i in (near, floats[near] - whole[0]))
            below = grid.bottom + 20
            self.lines([(start, grid.bottom + 3, start, below), (start, below, end, below)], BLUE, 2)
            self.arrow((end, below), (end, grid.bottom + 3), BLUE, 2)
            self.write((start + end) / 2, below + 13, "is rounded to", 13, BLUE, align="middle")
        return int(floats[near])


# --- Four numbers -------------------------------------------------------------------------------------------------

# of the list, the box of total 0
BUTTON = (204, 34)
TURN = Box(270, 92, 100, 40)
LIST = Box(722, 62, 60, 34)


def written(total: int) -> str:
    """A whole number with a real minus sign."""
    return f"{total:,}".replace("-", "\N{MINUS SIGN}")


class FourPicture(Picture):
    """Four threads, each of which adds a number: one clicks whose turn is next, and a list keeps all totals."""

    def __init__(self) -> None:
        super().__init__(230)
        self.found: set[int] = set()  # totals
        self.title(18, "click whose turn is next")
        self.bold(TURN.x, 62, "total in memory", 15)
        self.bold(LIST.x, 42, "totals found", 15)
        self.stands_still()

    def draw(self, order: int) -> str:
        """Show one of all beginnings of orders: who has added, and the total after each turn."""
        every = indices.calls()
        turns = every[order]
        totals = indices.added(every[order])
        if len(turns) == 4:
            self.found.add(totals[-1])
        boxes = [TURN._replace(x=TURN.x + 108 * turn) for turn in range(len(turns))]
        self.tinted(boxes, ORANGE, 2)
        self.label(boxes, map(written, totals), 14)
        self.label(boxes, (f"+ {written(ADDENDS[thread])}" for thread in turns), 13, GRAY, down=36)
        for thread in range(4):
            place = Box(MARGIN, 46 + 44 * thread, *BUTTON)
            turn_button(self, thread, place, f": {written(ADDENDS[thread])}", turns, every)
        places = [LIST._replace(y=LIST.y + 44 * total) for total in range(3)]
        self.boxes(places, dashes=(3, 3))
        found = [places[total] for total in sorted(self.found)]
        self.tinted(found, ORANGE, 2)
        self.label(found, sorted(self.found), 15)
        said = f"Thread {', then thread '.join(map(str, turns))}" if turns else "Nobody"
        end = "" if len(turns) < 4 else ", as it should be" if totals[-1] == 2 else ", and it should be 2"
        return f"{said} has added. The total is {written([0, *totals][-1])}{end}."


# --- How far sums are off -----------------------------------------------------------------------------------------

# the box of the lines; powers of ten
CHART = Box(140, 46, 400, 280)
LOWEST = -8
HIGHEST = -5
STYLES = {"one thread": (SQUARE, None), "tree": (TRIANGLE, (10, 4)), "Kahan's sum": (DIAMOND, (3, 3))}


class ErrorPicture(Picture):
    """The errors of three orders over the length of a list, as parts of the total, on two logarithmic axes.

    `errors` has for each order, by name, one for each power of two from `first` on.
    """

    def __init__(self, errors: Mapping[str, np.ndarray], first: int) -> None:
        super().__init__(358)
        powers = first + np.arange(len(errors["tree"]))
        axes = self.axes = Axes(self, CHART, powers[[0, -1]], (LOWEST, HIGHEST))
        self.first = first
        self.heights = {name: axes.y(np.log10(each)) for name, each in errors.items()}
        self.errors = errors
        self.title(18, "error of a sum in float32, as a part of the total")
        axes.rows({power: part(10.0**power).replace(" part", "") for power in range(LOWEST, HIGHEST + 1)})
        axes.columns({power: f"{2**power:,}" for power in powers[::2].tolist()})
        for name, (sign, dashes) in STYLES.items():
            self.curve(axes.x(powers), self.heights[name], BLUE, 2, dashes)
            draw_sign(self, sign, zip(axes.x(powers), self.heights[name], strict=True), 4, BLUE, 1.4)
        self.stands_still()

    def draw(self, power: int) -> str:
        """Move to lists of 2**power numbers."""
        x = self.axes.x(power)
        at = power - self.first
        said = []
        self.lines([(x, CHART.y, x, CHART.bottom)], ORANGE, 1.4, (3, 3))
        self.bold(592, 64, f"{2**power:,} numbers", 16, ORANGE)
        for row, (name, (sign, _)) in enumerate(STYLES.items()):
            y = 120 + 76 * row
            off = part(self.errors[name][at])
            draw_sign(self, sign, [(x, self.heights[name][at]), (600, y)], 6, ORANGE)
            self.bold(620, y, name, 15)
            self.write(620, y + 22, f"off by {off}", 14, ORANGE)
            said.append(f"{name} by {off}")
        return f"Of {2**power:,} numbers, the sum is off: {', '.join(said)}."
