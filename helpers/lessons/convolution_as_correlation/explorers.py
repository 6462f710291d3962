"""Pictures with sliders of lesson 01: a window, a filter of one's own, and who contributes to whom."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from helpers.data import digits
from helpers.gpu import adapter_info
from helpers.lessons.convolution_as_correlation.filter_picture import OwnFilterPicture
from helpers.lessons.convolution_as_correlation.pictures import ContributionPicture
from helpers.lessons.shared.any_convolution import any_forward  # noqa: F401
from helpers.lessons.shared.pictures.forward import WindowPicture
from helpers.lessons.shared.sliders import Array, with_letters
from helpers.operations.convolution import operations
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Values, by_dragging, by_playing, by_pointing
from helpers.widgets.explorer import Explorer


def forward(input: Array, weight: Array) -> Explorer:
    """Sliders oh and ow over an image (1, 1, H, W) and a filter (1, 1, kH, kW), with letters for pixels and weights."""
    shape, output = convolved(input, weight)
    bottom = shape.out_h - 1
    right = shape.out_w - 1
    steps = {
        f"Point at output [0,{right}]: which pixels make it?": by_pointing({"oh": 0, "ow": right}),
        "Drag the frame in the input to the bottom left corner.": by_dragging({"oh": bottom, "ow": 0}),
        "Press play, and watch the filter reach the last output.": by_playing({"oh": bottom, "ow": right}),
    }
    return with_letters(WindowPicture(shape, {"input": input, "weight": weight}, output, letters=True), 0, steps)


def convolved(input: Array, weight: Array) -> tuple[ConvShape, Array]:
    """The sizes of one image and one pair of channels, and the output; refuses more."""
    for name, array in (("input", input), ("weight", weight)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape(*input.shape, 1, *weight.shape[2:]), operations.conv2d(input, weight)


def contributions(input: Array, weight: Array) -> Explorer:
    """A convolution to point at: an output shows its window, a weight its pixels, a pixel the outputs that it reaches.

    `input` is (1, 1, H, W), `weight` (1, 1, kH, kW). The sliders say which tensor (0 input, 1 weight, 2 output), and
    the row and the column in it.
    """
    shape, output = convolved(input, weight)
    picture = ContributionPicture(shape, input, weight, output)
    sizes = [grid.values.shape for grid in picture.grids]
    rules = {"tensor": 3, "row": lambda v: sizes[v["tensor"]][0], "column": lambda v: sizes[v["tensor"]][1]}
    row = input.shape[2] // 2
    column = input.shape[3] // 2
    steps = {
        "Point at a weight: how many outputs does it reach?": by_pointing({"tensor": 1}),
        f"Point at the pixel [{row},{column}]: how many?": by_pointing({"tensor": 0, "row": row, "column": column}),
        "Point at the pixel [0,0]: which weight multiplies it?": by_pointing({"tensor": 0, "row": 0, "column": 0}),
    }
    choices = {"tensor": picture.tensors}
    return Explorer(picture.show, rules, {"tensor": 2}, front=(), choices=choices, steps=steps)


def own_filter(
    weight: Array | None = None, convolve: Callable[[Array, Array], Array] = operations.conv2d, whose: str = ""
) -> Explorer:
    """A 7 and nine weights to click, from -2 to 2: make a filter that finds one of its strokes.

    `weight` (3, 3) are the weights at first: without them, the one in the middle is 1, and all others are 0. `convolve`
    takes an input and a weight, and returns the output; `whose` names its kernel.
    """
    digit = digits.conv1_input(1, first=7)

    @lru_cache(1)
    def picture(weight: bytes) -> OwnFilterPicture:
        filter = np.frombuffer(weight, np.float32).reshape(1, 1, 3, 3)
        return OwnFilterPicture(digit, filter, convolve(digit, filter), whose or adapter_info().short)

    def draw(oh: int, ow: int, weight: Array) -> Picture:
        return picture(np.float32(weight).tobytes()).show(oh, ow)

    def finds_level_stroke(values: Values) -> bool:
        return draw(**values).finds_level_stroke

    def is_at_large_output(values: Values) -> bool:
        return [values["oh"], values["ow"]] in draw(**values).large_outputs

    start = np.diag([0.0, 1, 0]) if weight is None else np.asarray(weight, float)
    steps = {
        "Click a weight: what changes?": lambda v: (v["weight"] != start).any(),
        "Find the horizontal stroke, and almost nothing else.": finds_level_stroke,
        "Drag the frame to a blue edge.": by_dragging(is_at_large_output),
    }
    places = {"oh": 26, "ow": 26}
    return Explorer(draw, places, {"oh": 6, "ow": 14}, arrays={"weight": start}, front=(), steps=steps)
