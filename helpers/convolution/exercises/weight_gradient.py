"""The weight gradient in small steps, each a puzzle of lesson 02, and the whole kernel from a blank page."""

import numpy as np

from helpers.convolution.exercises.cases import index_cases, puzzle, random_cases
from helpers.convolution.shapes import ConvShape

IMAGE = [[2, 0, 1, 3, 1], [1, 4, 2, 0, 2], [0, 1, 3, 1, 4], [2, 2, 0, 1, 0], [1, 3, 1, 2, 1]]  # as in the lesson
UPSTREAM = [[1, -1, 2], [0, 3, -1], [2, 1, 0]]
WINDOWS = {
    "window_5x5": ConvShape(1, 1, 5, 5, 1, 3, 3),
    "window_rectangle": ConvShape(1, 1, 8, 11, 1, 3, 5),
    "window_many_weights": ConvShape(1, 1, 17, 20, 1, 8, 9),
}
LESSONS = {"input": np.float32(IMAGE)[None, None], "grad_output": np.float32(UPSTREAM)[None, None]}
PADDED = {  # from here on, each test adds one thing to those before it; in the last, no two sizes are equal
    "padding_1": ConvShape(1, 1, 4, 4, 1, 3, 3, padding=1),
    "padding_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=1),
    "padding_rectangle": ConvShape(1, 1, 8, 11, 1, 6, 7, stride=2, padding=(3, 1)),
}
LAYERS = {
    "strided_tiny": ConvShape(1, 1, 4, 4, 1, 2, 2),
    "strided_stride": ConvShape(1, 1, 6, 7, 1, 2, 2, stride=2),
    "strided_padding": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(1, 2)),
    "strided_channels": ConvShape(1, 2, 5, 7, 3, 4, 3, stride=2, padding=(2, 1)),
    "strided_everything": ConvShape(2, 7, 9, 11, 8, 5, 6, stride=3, padding=(1, 2)),
}
_window_cases = random_cases("grad_weight", WINDOWS, 11, "H W oH oW", {"window_5x5": LESSONS})
_padding_cases = random_cases("grad_weight", PADDED, 12, "H W kH kW S Ph Pw oH oW")

STEPS = (
    puzzle("weight_index", "index co,ci,kh,kw", index_cases("index_wide_filter"), "index", "index_wide_filter"),
    puzzle("weight_window", "kh kw", _window_cases, "weight", "window_rectangle"),
    puzzle("weight_padding", "kh kw", _padding_cases, "weight", "padding_rectangle"),
)
STRIDED = puzzle(
    "strided_grad_weight", "co ci kh kw", random_cases("grad_weight", LAYERS, 13), "weight", "strided_channels"
)
