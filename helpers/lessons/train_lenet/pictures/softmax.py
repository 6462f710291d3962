"""Ten logits, the probabilities that the softmax makes of them, and the gradient of the loss for each logit."""

import numpy as np

from helpers.operations.network.reference import cross_entropy, softmax
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, WIDTH, Box, Picture, number
from helpers.pictures.parts import Bars

MOST = 5  # the largest logit
LEFT = 150  # CSS pixels: where the bars begin
ROWS = {  # where a row of bars begins, and how high it is
    "logits": (44, 112),
    "probabilities": (200, 62),
    "gradient": (306, 84),
}


class SoftmaxPicture(Picture):
    """Bars for the logits, which can be dragged, and for what follows from them, a column for each class."""

    def __init__(self) -> None:
        super().__init__(418)
        notes = ("drag the bars", ""), ("the softmax:", "all add up to 1"), ("of the loss,", "for each logit")
        for (row, (top, _)), lines in zip(ROWS.items(), notes, strict=True):
            self.bold(MARGIN, top + 22, row, 15, ORANGE if row == "gradient" else INK)
            self.column(MARGIN, top + 42, 16, lines, 13, GRAY)
        self.stands_still()

    def draw(self, right: int, logits: np.ndarray) -> str:
        """Draw and say what follows from these logits, where `right` is the right class."""
        shares = softmax(logits)
        losses, (gradient,) = cross_entropy(logits[None], np.array([right]))
        self.bold(LEFT, 14, f"the right class is {right}, the loss is {losses[0]:.2f}", 15, BLUE)
        self._bars("logits", logits, -MOST, MOST).drag_bars("logits")
        self._bars("probabilities", shares, 0, 1)
        self._bars("gradient", gradient, -1, 1, ORANGE)
        most = max(set(range(len(logits))) - {right}, key=lambda c: gradient[c])
        return (
            f"The right class, {right}, has the probability {shares[right]:.2f}: the loss is {losses[0]:.2f}, and the "
            f"gradient of its logit is {number(round(gradient[right], 2))}. Of the others, logit {most} has the "
            f"largest gradient, {gradient[most]:.2f}."
        )

    def _bars(self, row: str, values: np.ndarray, low: float, high: float, color=INK) -> Bars:
        top, height = ROWS[row]
        box = Box(LEFT, top, WIDTH - MARGIN - LEFT, height)
        return Bars(self, values, box, low, high, range(len(values)) if row != "probabilities" else (), color=color)
