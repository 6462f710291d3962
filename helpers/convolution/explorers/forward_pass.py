"""The forward pass: the window of an output, what depends on a number, a digit's edges, and the matrix of windows."""

from math import prod

import numpy as np

from helpers.convolution import operations
from helpers.convolution.explorers.sizes import ANY_OUTPUT, START, any_sizes_explorer, index_explorer
from helpers.convolution.pictures.forward import (
    ContributionPicture,
    DependencePicture,
    EdgesPicture,
    WindowPicture,
)
from helpers.convolution.pictures.matrix import MatrixPicture
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Trials
from helpers.widgets.explorer import Explorer, below


def forward(input: np.ndarray, weight: np.ndarray, steps: Trials | None = None) -> Explorer:
    """Sliders oh and ow over an image (1, 1, H, W) and a filter (1, 1, kH, kW), with letters for pixels and weights.

    `steps` are what to try instead of what is suggested.
    """
    shape = _one_pair(input, weight)
    output = operations.conv2d(input, weight)
    picture = WindowPicture(shape, input, weight, output, np.zeros(1), letters=True)
    bottom, right = shape.out_h - 1, shape.out_w - 1
    suggested = {
        f"Point at output [0,{right}]: which pixels make it?": {"oh": 0, "ow": right},
        "Drag the frame in the input to the bottom left corner.": {"oh": bottom, "ow": 0},
        "Press play, and watch the filter reach the last output.": {"oh": bottom, "ow": right},
    }
    steps = suggested if steps is None else steps
    return index_explorer(picture, play=("oh", "ow"), front=(), steps=steps, oh=shape.out_h, ow=shape.out_w)


def contributions(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """A convolution to point at: an output shows its window, a weight its pixels, a pixel the outputs that it reaches.

    `input` is (1, 1, H, W), `weight` (1, 1, kH, kW). The sliders say which tensor (0 input, 1 weight, 2 output), and
    the row and the column in it.
    """
    shape = _one_pair(input, weight)
    picture = ContributionPicture(shape, input, weight, operations.conv2d(input, weight))
    sizes = [grid.values.shape for grid in picture.grids]
    rules = {
        "tensor": below(3),
        "row": lambda values: (0, sizes[values["tensor"]][0] - 1),
        "column": lambda values: (0, sizes[values["tensor"]][1] - 1),
    }
    return Explorer(picture.show, rules, {"tensor": 2, "row": 0, "column": 0}, front=())


def _one_pair(input: np.ndarray, weight: np.ndarray, stride: int = 1, padding: int = 0) -> ConvShape:
    """The sizes of one image and one pair of channels; refuses more."""
    for name, array in (("input", input), ("weight", weight)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must have one channel, (1, 1, ., .)")
    return ConvShape(*input.shape, 1, *weight.shape[2:], stride, padding)


def any_forward(seed: int = 0, steps: Trials | None = None, **values: int) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers."""
    suggested = {
        "Set stride to 2: how many outputs remain?": {"stride": 2},
        "Set padding to 1, then point at the top row of the output.": {"padding": 1, "oh": 0},
        "Set co to 1, another filter: what stays the same?": {"co": 1},
    }
    front, steps = ("stride", "padding", "n", "co"), suggested if steps is None else steps
    return any_sizes_explorer(_random_window, ANY_OUTPUT, START | values, seed, front, steps)


def _random_window(shape: ConvShape, random: np.random.Generator) -> WindowPicture:
    input = random.integers(0, 5, shape.input).astype(np.float32)
    weight = random.choice([-2, -1, 1, 2, 3], shape.weight).astype(np.float32)  # no zeros, which look like nothing
    bias = random.choice([-1, 1, 2], shape.out_channels).astype(np.float32)
    output = operations.conv2d(input, weight, bias, shape.stride, shape.padding, shape.dilation, shape.groups)
    return WindowPicture(shape, input, weight, output, bias)


def outputs_of_weight(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """Sliders over the weights of a filter (1, 1, kH, kW), and stride and padding: which outputs does one reach?"""
    return _dependence("weight", input, weight, kh=weight.shape[2], kw=weight.shape[3])


def outputs_of_pixel(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """Sliders over the pixels of an image (1, 1, H, W), and stride and padding: which outputs does one reach?"""
    return _dependence("pixel", input, weight, ih=input.shape[2], iw=input.shape[3])


def _dependence(kind: str, input: np.ndarray, weight: np.ndarray, **limits: int) -> Explorer:
    """Raise one "weight" or one "pixel" by 1, and show how the outputs change."""

    def draw(stride: int, padding: int, **place: int) -> Picture:
        shape = _one_pair(input, weight, stride, padding)
        output = operations.conv2d(input, weight, None, stride, padding)
        tensors = {"pixel": input.copy(), "weight": weight.copy()}
        tensors[kind][0, 0, *place.values()] += 1
        raised = operations.conv2d(*tensors.values(), None, stride, padding)
        return DependencePicture(shape, input, weight, output).show(kind, *place.values(), raised)

    rules = {name: below(limit) for name, limit in limits.items()}
    rules |= {"stride": lambda v: (1, 3), "padding": lambda v: (0, 1)}
    return Explorer(draw, rules, {**dict.fromkeys(limits, 0), "stride": 1, "padding": 0})


EDGES = {  # filters that turn a digit into something that the eye knows
    "the pixel itself": [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
    "one to the left": [[0, 0, 0], [0, 0, 1], [0, 0, 0]],
    "blur": [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
    "horizontal edges": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "vertical edges": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "outline": [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
}


def edges() -> Explorer:
    """Sliders for a digit, a filter of EDGES, stride, padding, and the output at which to look."""
    pictures: dict[tuple[int, ...], EdgesPicture] = {}

    def draw(digit, filter, stride, padding, oh, ow) -> Picture:
        chosen = digit, filter, stride, padding
        if chosen not in pictures:
            pictures.clear()
            pictures[chosen] = _edges(*chosen)
        return pictures[chosen].show(oh, ow)

    rules = {
        "digit": below(10),
        "filter": below(len(EDGES)),
        "stride": lambda v: (1, 3),
        "padding": lambda v: (0, 2),
        "oh": lambda v: (0, (25 + 2 * v["padding"]) // v["stride"]),
        "ow": lambda v: (0, (25 + 2 * v["padding"]) // v["stride"]),
    }
    start = {"digit": 3, "filter": 3, "stride": 1, "padding": 0, "oh": 4, "ow": 12}
    return Explorer(draw, rules, start, front=("digit", "filter", "stride", "padding"))


def _edges(digit: int, filter: int, stride: int, padding: int) -> EdgesPicture:
    name, numbers = list(EDGES.items())[filter]
    input, weight = digits.conv1_input(1, first=digit), np.array(numbers, np.float32)[None, None]
    output = operations.conv2d(input, weight, None, stride, padding)
    return EdgesPicture(_one_pair(input, weight, stride, padding), input, weight, output, name)


def one_product(input: np.ndarray, weight: np.ndarray, windows: np.ndarray, product: np.ndarray) -> Explorer:
    """Sliders over the matrix of windows of an image (1, Ci, H, W), and over the filters (Co, Ci, kH, kW).

    `windows` is (oH*oW, Ci*kH*kW), and `product` (oH*oW, Co) what the GPU returned for its product with the filters.
    """
    shape = ConvShape(*input.shape, len(weight), *weight.shape[2:])
    if windows.shape != (rows_columns := (shape.out_h * shape.out_w, prod(weight.shape[1:]))):
        raise ValueError(f"windows has shape {windows.shape}: input and weight need {rows_columns}")
    picture = MatrixPicture(shape, input, weight, operations.conv2d(input, weight), windows, product)
    return index_explorer(picture, play=("row",), row=len(windows), column=windows.shape[1], co=len(weight))
