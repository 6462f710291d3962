"""Pictures of a convolution: the window of an output, and the numbers that belong to one of its numbers."""

import numpy as np

from helpers.lessons.shared.pictures.groups import channel_words
from helpers.lessons.shared.pictures.sums import Place, SumPicture, contribute, rows_and_columns
from helpers.operations.convolution.indices import Tap
from helpers.pictures.touchable import Cell

Array = np.ndarray


class WindowPicture(SumPicture):
    """One output with the pixels and weights that make it: the filter laid over the input, and the sum of the products.

    Its tensors are `input` and `weight`. `letters` names the input's pixels a, b, c, ... (room for 26) and the
    weights w00, w01, ...
    """

    left = "weight"
    over = "weight"
    result = "output"
    axis = "ci"
    symbol = "output"

    def _summed_indices(self, place: Place) -> range:
        return range(self.shape.weight[1])

    def _steps(self) -> tuple[Cell, Cell]:
        return self.shape.stride, self.shape.dilation

    def _contributors(self, taps: list[Tap], target: str, place: Place) -> str:
        whose = "" if self.is_one_plane else f" of {channel_words(self.shape, place['co'], place['ci'])}"
        pixels = contribute(len(taps), "pixel", whose)
        where = f": {rows_and_columns(tap.at(self.right) for tap in taps)}" if taps else ", only padding"
        return f"{pixels} to {target}{where}."


# --- Three views of one convolution ---------------------------------------------------------------------------
