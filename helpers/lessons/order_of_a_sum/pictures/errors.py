"""The errors of three orders of a sum, over the length of the list."""

from collections.abc import Mapping

import numpy as np

from helpers.pictures.canvas import BLUE, ORANGE, Box, Picture
from helpers.pictures.charts import DIAMOND, SQUARE, TRIANGLE, Axes, draw_sign, part

CHART = Box(140, 46, 400, 280)  # CSS pixels: the lines
# powers of ten
LOWEST = -8
HIGHEST = -5
STYLES = {  # the sign on a line, and its dashes
    "one thread": (SQUARE, None),
    "tree": (TRIANGLE, (10, 4)),
    "Kahan's sum": (DIAMOND, (3, 3)),
}


class ErrorPicture(Picture):
    """The errors of three orders over the length of a list, as parts of the total, on two logarithmic axes.

    `errors` has for each order, by name, one for each power of two from `first` on.
    """

    def __init__(self, errors: Mapping[str, np.ndarray], first: int) -> None:
        super().__init__(358)
        self.errors = errors
        self.first = first
        powers = first + np.arange(len(errors["tree"]))
        self.axes = Axes(self, CHART, (powers[0], powers[-1]), (LOWEST, HIGHEST))
        self.heights = {name: self.axes.y(np.log10(values)) for name, values in errors.items()}
        self.title(18, "error of a sum in float32, as a part of the total")
        ticks = {power: part(10.0**power) for power in range(LOWEST, HIGHEST + 1)}
        self.axes.rows({power: text.replace(" part", "") for power, text in ticks.items()})
        self.axes.columns({power: f"{2**power:,}" for power in powers[::2].tolist()})
        x = self.axes.x(powers)
        for name, (sign, dashes) in STYLES.items():
            y = self.heights[name]
            self.curve(x, y, BLUE, 2, dashes)
            draw_sign(self, sign, zip(x, y, strict=True), 4, BLUE, 1.4)
        self.stands_still()

    def draw(self, power: int) -> str:
        """Move to lists of 2**power numbers."""
        x = self.axes.x(power)
        place = power - self.first
        self.lines([(x, CHART.y, x, CHART.bottom)], ORANGE, 1.4, (3, 3))
        self.bold(592, 64, f"{2**power:,} numbers", 16, ORANGE)
        parts = []
        for row, (name, (sign, _)) in enumerate(STYLES.items()):
            y = 120 + 76 * row
            error = part(self.errors[name][place])
            on_its_line = (x, self.heights[name][place])
            in_the_list = (600, y)
            draw_sign(self, sign, [on_its_line, in_the_list], 6, ORANGE)
            self.bold(620, y, name, 15)
            self.write(620, y + 22, f"off by {error}", 14, ORANGE)
            parts.append(f"{name} by {error}")
        return f"Of {2**power:,} numbers, the sum is off: {', '.join(parts)}."
