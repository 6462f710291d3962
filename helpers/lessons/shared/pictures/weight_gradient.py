"""A picture of a convolution's weight gradient: the upstream gradient laid over the input."""

from helpers.lessons.shared.pictures.groups import channel_words
from helpers.lessons.shared.pictures.sums import Place, SumPicture, contribute, rows_and_columns
from helpers.operations.convolution.indices import Tap
from helpers.pictures.touchable import Cell


class WeightGradientPicture(SumPicture):
    """The inputs that contribute to one weight: the upstream gradient laid over the input, and the sum that they make.

    Its tensors are `input` and `grad_output`; a kernel returned grad_weight (Co, Ci, kH, kW). `letters` names the
    input's pixels a, b, c, ... and the upstream gradients G, H, I, ... (room for 26 and 20).
    """

    left = "grad_output"
    over = "grad_output"
    result = "grad_weight"
    axis = "n"
    symbol = "dW"
    lettered = 266, 52  # to fit on the first screen of a lesson

    def _steps(self) -> tuple[Cell, Cell]:
        return self.shape.dilation, self.shape.stride

    def _location(self, taps: list[Tap]) -> str:
        return f": input {rows_and_columns(tap.at(self.right) for tap in taps)}"

    def _contributors(self, taps: list[Tap], target: str, place: Place) -> str:
        whose = "" if self.is_one_plane else f" of image {place['n']}"
        if self.shape.groups > 1:
            whose += f", {channel_words(self.shape, place['co'], place['ci'])},"
        pixels = contribute(len(taps), "pixel", whose)
        batch = self.shape.batch
        if not taps:
            return f"{pixels} to {target}: only padding lies there."
        places = rows_and_columns(tap.at(self.right) for tap in taps)
        if batch > 1:
            places += f" ({batch * len(taps)} in the whole batch)"
        return f"{pixels} to {target}: {places}."
