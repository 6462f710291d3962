"""The input gradient in small steps, each a puzzle of lesson 03, and the whole kernel, with steps or a blank page."""

import numpy as np

from helpers.convolution.exercises.cases import plane, puzzle, random_cases
from helpers.convolution.exercises.weight_gradient import UPSTREAM
from helpers.convolution.shapes import ConvShape
from helpers.grading.puzzle import Case

Array = np.ndarray

WEIGHT = [[2, 0, -1], [1, 3, 0], [-2, 1, 1]]  # as in the lesson
WINDOWS = {  # each test adds one thing to those before it; in the last, no two sizes are equal, and there are quarters
    "pixel_5x5": ConvShape(1, 1, 5, 5, 1, 3, 3),
    "pixel_tall_filter": ConvShape(1, 1, 6, 5, 1, 4, 2),
    "pixel_many_pixels": ConvShape(1, 1, 13, 18, 1, 4, 5),
}
LESSONS = {"weight": np.float32(WEIGHT)[None, None], "grad_output": np.float32(UPSTREAM)[None, None]}
PADDED = {
    "padding_1": ConvShape(1, 1, 3, 3, 1, 3, 3, padding=1),
    "padding_of_rows": ConvShape(1, 1, 4, 6, 1, 4, 3, padding=(2, 0)),
    "padding_rectangle": ConvShape(1, 1, 9, 12, 1, 6, 4, padding=(3, 1)),
}
STRIDED = {
    "stride_2": ConvShape(1, 1, 5, 5, 1, 3, 3, stride=2),
    "stride_padding": ConvShape(1, 1, 7, 8, 1, 5, 5, stride=2, padding=(0, 1)),  # rows reach oH + 1, and stay below H
    "stride_3": ConvShape(1, 1, 11, 13, 1, 4, 5, stride=3, padding=(1, 2)),
}
GATHERS = {
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding=(1, 0)),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(0, 1)),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 8, 11, 12, 7, 3, 4, 2, (0, 1)),
}
PLANES = {  # their uniform words
    "pixel_stride": "H W kH kW S Ph Pw oH oW",
    "pixel_padding": "H W kH kW Ph Pw oH oW",
    "pixel_window": "H W kH kW oH oW",
}
_gathers = random_cases("grad_input", GATHERS, 7)
_window_cases = random_cases("grad_input", WINDOWS, 31, PLANES["pixel_window"], {"pixel_5x5": LESSONS})
_padding_cases = random_cases("grad_input", PADDED, 32, PLANES["pixel_padding"])
_stride_cases = random_cases("grad_input", STRIDED, 33, PLANES["pixel_stride"])


def on_a_plane(puzzle: str, weight: Array, grad_output: Array) -> Case:
    """A filter (kH, kW) and an upstream gradient (oH, oW), at stride 1 without padding, as one of PLANES takes them."""
    (kH, kW), (oH, oW) = weight.shape, grad_output.shape
    s, tensors = ConvShape(1, 1, oH + kH - 1, oW + kW - 1, 1, kH, kW), {"grad_output": grad_output, "weight": weight}
    return plane("plane", "grad_input", s, PLANES[puzzle], {name: it[None, None] for name, it in tensors.items()})


PUZZLES = (
    puzzle("pixel_window", "ih iw", _window_cases, "pixel", "pixel_many_pixels"),
    puzzle("pixel_padding", "ih iw", _padding_cases, "pixel", "padding_rectangle"),
    puzzle("pixel_stride", "ih iw", _stride_cases, "pixel", "stride_3"),
    puzzle("strided_grad_input", "n ci ih iw", _gathers, "pixel", "gather_channels"),
    puzzle("conv2d_grad_input", "n ci ih iw", _gathers, "pixel", "gather_channels"),
)
