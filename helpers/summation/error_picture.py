"""How far sums in float32 are from the exact ones, over their length, on two logarithmic axes."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from helpers.grading.tolerance import ROUNDING
from helpers.pictures.canvas import BLUE, GRAY, LINE, ORANGE, Box, Picture, Word, tint
from helpers.pictures.parts import MARGIN

LEFT, RIGHT, TOP, BOTTOM = 84, 640, 62, 410  # CSS pixels
LOWEST, HIGHEST = -9, -2  # powers of ten of the relative error
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Order(NamedTuple):
    """The measured relative errors of one order of summation, and their bounds as numbers of roundings, or None."""

    errors: np.ndarray
    roundings: np.ndarray | None


class ErrorPicture(Picture):
    """Measured relative errors of several orders of summation; one of them stands out, with its bound.

    `lengths` are powers of two, and `orders` has the errors and roundings of each order at each length.
    """

    def __init__(self, lengths: np.ndarray, orders: Mapping[str, Order]) -> None:
        super().__init__(452)
        self.lengths, self.orders = lengths, orders
        self.x = np.interp(np.log2(lengths), np.log2(lengths[[0, -1]]), (LEFT, RIGHT))
        self.starts()
        self.write(MARGIN, 22, "relative error of a sum in float32", 17, weight="bold")
        powers = range(LOWEST, HIGHEST + 1)
        self.lines(((LEFT, y, RIGHT, y) for y in map(self._y, (10.0**power for power in powers))), LINE, 0.8)
        names = [Word(LEFT - 10, self._y(10.0**p), f"10{str(p).translate(SUPERSCRIPT)}", 14, "right") for p in powers]
        every = slice(None, None, -1 - len(lengths) // 8)
        names += [
            Word(x, BOTTOM + 16, f"{n:,}", 13) for x, n in zip(self.x[every], lengths[every].tolist(), strict=True)
        ]
        self.words(names, GRAY)
        self.write(RIGHT + 200 - MARGIN, BOTTOM + 16, "numbers in the sum", 13, GRAY, align="right")
        self.stands_still()

    def show(self, order: int) -> "ErrorPicture":
        """Let one order stand out, and draw its bound."""
        self.starts()
        for i, each in enumerate(self.orders.values()):
            if i != order:
                self.curve(self.x, self._y(each.errors), BLUE, 1.2)
        name, chosen = list(self.orders.items())[order]
        height = self._y(chosen.errors)
        self.curve(self.x, height, ORANGE, 3)
        self.boxes((Box(x - 4, y - 4, 8, 8) for x, y in zip(self.x, height, strict=True)), ORANGE, tint(ORANGE, 0.6))
        if chosen.roundings is not None:
            bound = self._y(chosen.roundings * ROUNDING)
            ends = zip(self.x, bound, self.x[1:], bound[1:], strict=False)
            self.lines(ends, ORANGE, 1.8, (6, 4))
            self.write(self.x[0] + 4, bound[0] - 34, "bound", 14, ORANGE, "bold")
        self._label(order)
        self.sentence = self._sentence(name, chosen)
        return self

    def _y(self, error: float | np.ndarray) -> float | np.ndarray:
        """The height of an error; those below the axis lie on it."""
        with np.errstate(divide="ignore"):
            power = np.clip(np.log10(error), LOWEST, HIGHEST)
        return np.interp(power, (LOWEST, HIGHEST), (BOTTOM, TOP))

    def _label(self, order: int) -> None:
        """Write each name at the right end of its curve, far enough from the one above."""
        ends = [float(self._y(each.errors[-1])) for each in self.orders.values()]
        last = -np.inf
        for i in np.argsort(ends, kind="stable"):
            last = max(ends[i], last + 21)
            color, weight = (ORANGE, "bold") if i == order else (BLUE, "normal")
            self.write(RIGHT + 12, last, list(self.orders)[i], 14, color, weight)

    def _sentence(self, name: str, chosen: Order) -> str:
        if chosen.roundings is None:
            return f"{name}: no bound can be given, as a compiler may simplify it."
        most, longest = int(chosen.roundings[-1]), int(self.lengths[-1])
        below = bool((chosen.errors <= chosen.roundings * ROUNDING).all())
        bound = f"for {longest:,} numbers, the bound is {most:,} rounding errors of the whole sum"
        return f"{name}: {bound}. Are all measured errors below their bounds? {'Yes' if below else 'No'}."
