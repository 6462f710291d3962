"""The tolerance of a sum beside its real error and one of its terms, over its length."""

import numpy as np

from helpers.oracles import errors
from helpers.oracles.errors import POWERS, TRIALS
from helpers.oracles.pictures.error_chart import BOTTOM, RIGHT, TOP, ErrorChart, Line, part
from helpers.pictures.canvas import BLUE, INK, ORANGE, Box, tint
from helpers.summation.error_picture import DIAMOND, SQUARE, TRIANGLE


class TolerancePicture(ErrorChart):
    """Where the tolerance is larger than one term, the check is blind to a term that is missing."""

    def __init__(self) -> None:
        lengths, blind = 2 ** np.array(POWERS), errors.blind_from()
        lines = (
            Line("tolerance", errors.allowed(lengths), ORANGE, DIAMOND),
            Line("average term", 1 / lengths, INK, SQUARE, (9, 3)),
            Line("measured error", errors.measured(), BLUE, TRIANGLE, (3, 3)),
        )
        ticks = {power: f"{2**power:,}" for power in POWERS[::2]}
        super().__init__("tolerance of a float32 sum", "the sum", lines, -8, POWERS, ticks, "terms in the sum")
        x = float(self.x(np.log2(blind)))
        self.boxes([Box(x, TOP, RIGHT - x, BOTTOM - TOP)], face=tint(ORANGE, 0.1), line=0)
        self.lines([(x, TOP, x, BOTTOM)], ORANGE, 1.2)
        note = f"a missing term of average size can pass from {blind:,} terms on"
        self.write(RIGHT, TOP - 20, note, 13, ORANGE, align="right")
        self.stands_still()

    def show(self, j: int) -> "TolerancePicture":
        """Move to sums of 2**j terms."""
        self.starts()
        terms, (tolerance, _, error) = 2**j, (float(line.errors[j]) for line in self.plotted)
        count, lost = f"{terms:,} term{'s' * (terms > 1)}", int(tolerance * terms)
        values = part(tolerance), f"1 part in {terms:,}", part(error)
        self.point(j, f"at {count}", values)
        verdict = "smaller than one average term, so a sum that lacks one fails"
        if lost:
            verdict = f"as large as {lost} average terms, so a sum that lacks {lost} of them can pass"
        sizes = f"the tolerance is {values[0]} of the sum, and the largest error of {TRIALS} sums was {values[2]}"
        self.sentence = f"{count}: {sizes}. The tolerance is {verdict}."
        return self
