"""How far sums in float32 are from the exact ones, over their length, on two logarithmic axes."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from helpers.checks.tolerance import ROUNDING
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, WIDTH, Box, Picture
from helpers.pictures.charts import CROSS, DIAMOND, PLUS, SQUARE, TRIANGLE, Axes, draw_sign, spread

LEFT, RIGHT, TOP, BOTTOM = 84, 590, 62, 410  # CSS pixels
KEY, NAMES = RIGHT + 38, RIGHT + 52  # where each line's mark is shown again, and its name begins
LOWEST, HIGHEST = -9, -2  # powers of ten of the relative error
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BAND = "#f3ddd0"  # below the chosen line, so that another one that lies on it is seen

# What tells the lines apart without their colors: dashes, and a mark.
STYLES = (None, SQUARE), ((10, 4), TRIANGLE), ((3, 3), DIAMOND), ((6, 3), PLUS), ((5, 8), CROSS)


class Order(NamedTuple):
    """The measured relative errors of one order of summation, and their bounds as numbers of roundings, or None."""

    errors: np.ndarray
    roundings: np.ndarray | None


class ErrorPicture(Picture):
    """Measured relative errors of up to five orders of summation; one of them stands out, with its bound.

    `lengths` are powers of two, and `orders` has the errors and roundings of each order at each length.
    """

    def __init__(self, lengths: np.ndarray, orders: Mapping[str, Order]) -> None:
        super().__init__(452)
        self.lengths, self.orders = lengths, orders
        box, ends = Box(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP), np.log2(lengths[[0, -1]])
        axes = self.axes = Axes(self, box, ends, (LOWEST, HIGHEST))
        self.x = axes.x(np.log2(lengths))
        self.title(22, "relative error of a sum in float32")
        powers = range(LOWEST, HIGHEST + 1)
        axes.rows({power: f"10{str(power).translate(SUPERSCRIPT)}" for power in powers}, 10, 14)
        axes.columns({np.log2(n): f"{n:,}" for n in lengths.tolist()[:: -1 - len(lengths) // 8]})
        self.write(WIDTH - MARGIN, BOTTOM + 16, "numbers in the sum", 13, GRAY, align="right")
        self.stands_still()

    def draw(self, order: int) -> str:
        """Let one order stand out, below the others, and draw its bound."""
        heights = [self._y(measured.errors) for measured in self.orders.values()]
        name, chosen = list(self.orders.items())[order]
        if chosen.roundings is not None:
            bound = self._y(chosen.roundings * ROUNDING)
            self.curve(self.x, bound, ORANGE, 1.4)
            self.bold(self.x[0] + 4, bound[0] - 34, "bound", 14, ORANGE)
        self.curve(self.x, heights[order], BAND, 13)
        self.curve(self.x, heights[order], ORANGE, 3)
        for i, y in enumerate(heights):
            if i != order:
                self.curve(self.x, y, BLUE, 1.6, STYLES[i][0])
            self._marks(i, order, zip(self.x, y, strict=True))
        self._label(order, [float(y[-1]) for y in heights])
        return self._sentence(name, chosen)

    def _marks(self, i: int, order: int, points: Iterable[tuple[float, float]]) -> None:
        """Draw the mark of one order at some points."""
        draw_sign(self, STYLES[i][1], points, *((5.5, ORANGE, 2) if i == order else (4, BLUE, 1.4)))

    def _y(self, error: float | np.ndarray) -> float | np.ndarray:
        """The height of an error; those below the axis lie on it."""
        with np.errstate(divide="ignore"):
            return self.axes.y(np.log10(error))

    def _label(self, order: int, ends: list[float]) -> None:
        """Write each name beside its mark, and lead to it from the right end of its line."""
        for i, (name, y) in enumerate(zip(self.orders, spread(ends, 22), strict=True)):
            self.lines([(RIGHT + 8, ends[i], KEY - 10, y)], GRAY, 0.8)
            self._marks(i, order, [(KEY, y)])
            self.write(NAMES, y, name, 14, *((ORANGE, "bold") if i == order else (BLUE,)))

    def _sentence(self, name: str, chosen: Order) -> str:
        if chosen.roundings is None:
            same = [other for other, order in self.orders.items() if np.array_equal(order.errors, chosen.errors)]
            same.remove(name)
            alike = " and ".join(same) or "no other order"
            return f"{name}: no bound can be given, as a compiler may simplify it. Its line is that of {alike}."
        bound = f"for {self.lengths[-1]:,} numbers, the bound is {int(chosen.roundings[-1]):,} rounding errors"
        below = "Yes" if (chosen.errors <= chosen.roundings * ROUNDING).all() else "No"
        return f"{name}: {bound} of the whole sum. Are all measured errors below their bounds? {below}."
