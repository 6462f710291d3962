"""Pictures with sliders of lesson 02: a weight's window, and the thread that owns it."""

from math import prod

import numpy as np

from helpers.lessons.shared.any_convolution import (
    any_weight_gradient,  # noqa: F401
    computed,
)
from helpers.lessons.shared.pictures.weight_gradient import WeightGradientPicture
from helpers.lessons.shared.sliders import over_threads
from helpers.lessons.shared.small_image import IMAGE, UPSTREAM
from helpers.lessons.weight_gradient.pictures import ThreadsPicture
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import WIDTH, Picture
from helpers.widgets.controls import by_dragging, by_pointing
from helpers.widgets.explorer import Explorer

SMALL_CASE = IMAGE, UPSTREAM


WIDER = np.array([[1, -1, 2, 0], [0, 3, -1, 1], [2, 1, 0, -2], [1, 0, -1, 2]], np.float32)[None, None]


LENET_CONV1 = ConvShape(1, 1, 28, 28, 6, 5, 5)


def weight_gradient(width: int = WIDTH) -> Explorer:
    """Sliders kh and kw over lesson 02's image and its gradient, with letters, for a filter of 3 x 3 or 2 x 2.

    A page that knows the width of its screen may ask for another width of the picture.
    """
    pictures = {}
    for upstream in (UPSTREAM, WIDER):
        shape = ConvShape.between(IMAGE.shape, upstream.shape)
        tensors = {"grad_output": upstream, "input": IMAGE}
        pictures[shape.kernel_h] = computed(WeightGradientPicture, shape, tensors, letters=True, width=width)

    def draw(filter: int, kh: int, kw: int, product: int = 0) -> Picture:
        return pictures[filter].show(kh, kw, product=product)

    steps = {
        "Point at the answer at the bottom right.": by_pointing({"kh": 2, "kw": 2}),
        "Drag the frame to the top right.": by_dragging({"kh": 0, "kw": 2}),
        "Set filter to 2: what changes?": {"filter": 2},
    }
    rules = {"filter": (2, 3), "kh": lambda v: v["filter"], "kw": lambda v: v["filter"]}
    return Explorer(draw, rules, {"filter": 3}, play=("kh", "kw"), front=["filter"], steps=steps)


def threads() -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    steps = {
        "Find thread 99: which weight is its own?": {"thread": 99},
        "Point at a thread that owns no weight.": by_pointing(lambda v: v["thread"] >= prod(LENET_CONV1.weight)),
    }
    return over_threads(ThreadsPicture(LENET_CONV1), front=(), steps=steps)
