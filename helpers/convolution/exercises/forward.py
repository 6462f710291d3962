"""The forward pass in small steps, each a puzzle of lesson 01, the whole kernel, and the same from a blank page."""

from functools import cache

import numpy as np

from helpers.convolution.exercises.cases import index_cases, plane, puzzle, random_cases
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.puzzle import Case

Array = np.ndarray

IMAGE = [[2, 0, 1, 3, 1], [1, 4, 2, 0, 2], [0, 1, 3, 1, 4], [2, 2, 0, 1, 0]]  # as in the lesson
FILTER = [[1, -1, 2], [0, 3, -2]]
WINDOWS = {  # from here on, each test adds one thing to those before it; in the last, no two sizes are equal
    "window_4x5": ConvShape(1, 1, 4, 5, 1, 2, 3),
    "window_tall_filter": ConvShape(1, 1, 7, 6, 1, 4, 2),
    "window_many_outputs": ConvShape(1, 1, 13, 17, 1, 3, 4),
}
LESSONS = {"input": np.float32(IMAGE)[None, None], "weight": np.float32(FILTER)[None, None]}
PADDED = {
    "padding_of_one": ConvShape(1, 1, 3, 4, 1, 3, 3, padding=1),
    "padding_and_stride": ConvShape(1, 1, 6, 7, 1, 2, 3, stride=2, padding=1),
    "padding_everything": ConvShape(1, 1, 16, 13, 1, 5, 4, stride=2, padding=(1, 3)),
}
LAYERS = {
    "layer_tiny": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "layer_stride": ConvShape(1, 1, 6, 7, 1, 2, 2, stride=2),
    "layer_padding": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(1, 2)),
    "layer_channels": ConvShape(1, 2, 5, 7, 3, 4, 3, stride=2, padding=(2, 1)),
    "layer_everything": ConvShape(2, 7, 12, 13, 9, 4, 3, stride=3, padding=(1, 2)),
}
WHOLE = {  # one output, then one difficulty after the other, and last a layer of LeNet
    "conv2d_one_output": ConvShape(1, 1, 3, 3, 1, 3, 3),
    "conv2d_rectangle": ConvShape(1, 1, 4, 6, 1, 2, 3),
    "conv2d_padding": ConvShape(1, 1, 4, 3, 1, 3, 2, padding=1),
    "conv2d_stride": ConvShape(1, 1, 6, 9, 1, 2, 3, stride=2),
    "conv2d_channels_and_batch": ConvShape(7, 4, 9, 11, 8, 2, 3, stride=2, padding=1),
    "conv2d_lenet_conv1": ConvShape(1, 1, 28, 28, 6, 5, 5),
}
PLANES = {"output_padding": "H W kH kW S Ph Pw oH oW", "output_window": "W kH kW oH oW"}  # their uniform words


@cache
def _whole_cases() -> tuple[Case, ...]:
    digit = {"conv2d_lenet_conv1": {"input": digits.conv1_input(1, first=3)}}
    return random_cases("output", WHOLE, 1, "N Ci H W Co kH kW S Ph", digit, "conv2d_channels_and_batch")()


def on_a_plane(puzzle: str, image: Array, weight: Array) -> Case:
    """An image (H, W) and a filter (kH, kW), at stride 1 and without padding, as one of PLANES takes them."""
    tensors = {"input": image[None, None], "weight": weight[None, None], "bias": np.zeros(1, np.float32)}
    return plane("plane", "output", ConvShape(1, 1, *image.shape, 1, *weight.shape), PLANES[puzzle], tensors)


PUZZLES = (
    puzzle(
        "output_window",
        "oh ow",
        random_cases("output", WINDOWS, 21, PLANES["output_window"], {"window_4x5": LESSONS}),
        "output",
        "window_many_outputs",
    ),
    puzzle(
        "output_padding",
        "oh ow",
        random_cases("output", PADDED, 22, PLANES["output_padding"]),
        "output",
        "padding_everything",
    ),
    puzzle("output_index", "index column", index_cases("index_wide_output"), "index", "index_wide_output"),
    puzzle("strided_conv2d", "n co oh ow", random_cases("output", LAYERS, 23), "output", "layer_channels"),
    puzzle("conv2d", "n co oh ow", _whole_cases, "output", "conv2d_stride"),
)
