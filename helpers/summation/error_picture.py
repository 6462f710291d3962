"""How far sums in float32 are from the exact ones, over their length, on two logarithmic axes."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from helpers.checks.tolerance import ROUNDING
from helpers.pictures.canvas import BLUE, GRAY, LINE, ORANGE, WIDTH, Picture, Word
from helpers.pictures.parts import MARGIN

LEFT, RIGHT, TOP, BOTTOM = 84, 590, 62, 410  # CSS pixels
KEY, NAMES = RIGHT + 38, RIGHT + 52  # where each line's mark is shown again, and its name begins
LOWEST, HIGHEST = -9, -2  # powers of ten of the relative error
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

BAND = "#f3ddd0"  # below the chosen line, so that another one that lies on it is seen

# What tells the lines apart without their colors: dashes, and a mark of straight lines, about 2 wide around (0, 0).
SQUARE = (-1, -1, 1, -1), (1, -1, 1, 1), (1, 1, -1, 1), (-1, 1, -1, -1)
TRIANGLE = (-1.1, 1, 1.1, 1), (1.1, 1, 0, -1.2), (0, -1.2, -1.1, 1)
DIAMOND = (-1.3, 0, 0, -1.3), (0, -1.3, 1.3, 0), (1.3, 0, 0, 1.3), (0, 1.3, -1.3, 0)
PLUS = (-1.3, 0, 1.3, 0), (0, -1.3, 0, 1.3)
CROSS = (-1.2, -1.2, 1.2, 1.2), (-1.2, 1.2, 1.2, -1.2)
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
        self.x = np.interp(np.log2(lengths), np.log2(lengths[[0, -1]]), (LEFT, RIGHT))
        self.starts()
        self.write(MARGIN, 22, "relative error of a sum in float32", 17, weight="bold")
        heights = {power: self._y(10.0**power) for power in range(LOWEST, HIGHEST + 1)}
        self.lines(((LEFT, y, RIGHT, y) for y in heights.values()), LINE, 0.8)
        names = [Word(LEFT - 10, y, f"10{str(p).translate(SUPERSCRIPT)}", 14, "right") for p, y in heights.items()]
        places = [*zip(self.x, lengths.tolist(), strict=True)][:: -1 - len(lengths) // 8]
        names += [Word(x, BOTTOM + 16, f"{n:,}", 13) for x, n in places]
        self.words(names, GRAY)
        self.write(WIDTH - MARGIN, BOTTOM + 16, "numbers in the sum", 13, GRAY, align="right")
        self.stands_still()

    def show(self, order: int) -> "ErrorPicture":
        """Let one order stand out, below the others, and draw its bound."""
        self.starts()
        heights = [self._y(measured.errors) for measured in self.orders.values()]
        name, chosen = list(self.orders.items())[order]
        if chosen.roundings is not None:
            bound = self._y(chosen.roundings * ROUNDING)
            self.curve(self.x, bound, ORANGE, 1.4)
            self.write(self.x[0] + 4, bound[0] - 34, "bound", 14, ORANGE, "bold")
        self.curve(self.x, heights[order], BAND, 13)
        self.curve(self.x, heights[order], ORANGE, 3)
        for i, y in enumerate(heights):
            if i != order:
                self.curve(self.x, y, BLUE, 1.6, STYLES[i][0])
            self._marks(i, i == order, zip(self.x, y, strict=True))
        self._label(order, [float(y[-1]) for y in heights])
        self.sentence = self._sentence(name, chosen)
        return self

    def _marks(self, i: int, chosen: bool, points: Iterable[tuple[float, float]]) -> None:
        """Draw the mark of one order at some points."""
        size = 5.5 if chosen else 4
        ends = [(x, y, x, y) + size * np.array(end) for x, y in points for end in STYLES[i][1]]
        self.lines(ends, ORANGE if chosen else BLUE, 2 if chosen else 1.4)

    def _y(self, error: float | np.ndarray) -> float | np.ndarray:
        """The height of an error; those below the axis lie on it."""
        with np.errstate(divide="ignore"):
            return np.interp(np.log10(error), (LOWEST, HIGHEST), (BOTTOM, TOP))

    def _label(self, order: int, ends: list[float]) -> None:
        """Write each name beside its mark, and lead to it from the right end of its line."""
        last = -np.inf
        for i in np.argsort(ends, kind="stable"):
            last = max(ends[i], last + 22)
            color, weight = (ORANGE, "bold") if i == order else (BLUE, "normal")
            self.lines([(RIGHT + 8, ends[i], KEY - 10, last)], GRAY, 0.8)
            self._marks(i, i == order, [(KEY, last)])
            self.write(NAMES, last, list(self.orders)[i], 14, color, weight)

    def _sentence(self, name: str, chosen: Order) -> str:
        if chosen.roundings is None:
            same = [other for other, order in self.orders.items() if np.array_equal(order.errors, chosen.errors)]
            same.remove(name)
            alike = " and ".join(same) or "no other order"
            return f"{name}: no bound can be given, as a compiler may simplify it. Its line is that of {alike}."
        bound = f"for {self.lengths[-1]:,} numbers, the bound is {int(chosen.roundings[-1]):,} rounding errors"
        below = "Yes" if (chosen.errors <= chosen.roundings * ROUNDING).all() else "No"
        return f"{name}: {bound} of the whole sum. Are all measured errors below their bounds? {below}."
