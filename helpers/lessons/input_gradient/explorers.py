"""Pictures with sliders of lesson 03: windows that drop, the flipped filter, and a test to improve."""

from functools import cache, lru_cache

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.input_gradient.faults import FAULTS, FaultsPicture
from helpers.lessons.shared.any_convolution import (
    any_input_gradient,  # noqa: F401
    computed,
)
from helpers.lessons.shared.pictures.input_gradient import InputGradientPicture
from helpers.lessons.shared.pictures.scatter import TENSORS, ScatterGatherPicture
from helpers.lessons.shared.sliders import Array, with_letters
from helpers.lessons.shared.small_image import IMAGE, UPSTREAM, WEIGHT
from helpers.operations.convolution import operations, reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.kernels import load
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Values, by_dragging, by_playing, by_pointing
from helpers.widgets.explorer import Explorer
from wgsl import Kernel

SMALL = ConvShape.between(IMAGE.shape, UPSTREAM.shape)


def input_gradient() -> Explorer:
    """Sliders ih and iw that slide lesson 03's filter over its gradient, with letters."""
    tensors = {"grad_output": UPSTREAM, "weight": WEIGHT}
    steps = {
        "Point at pixel [2,2] in grad_input: how many terms?": by_pointing({"ih": 2, "iw": 2}),
        "Drag the frame to the bottom right: how many are left?": by_dragging({"ih": 4, "iw": 4}),
        "Find the pixel to which only G·w00 adds.": {"ih": 0, "iw": 0},
    }
    return with_letters(computed(InputGradientPicture, SMALL, tensors, letters=True), 1, steps)


def scatter_and_gather() -> Explorer:
    """Lesson 03's gradient, at each number of which one can point, and windows that drop."""
    grad_input = operations.conv2d_grad_input(SMALL.input, WEIGHT, UPSTREAM)
    planes = WEIGHT[0, 0], UPSTREAM[0, 0], grad_input[0, 0]
    picture = ScatterGatherPicture(*planes, adapter_info().short)
    sides = 3, 3, 5  # of each tensor

    def side(values: Values) -> int:
        return sides[values["tensor"]]

    rules = {
        "tensor": 3,
        "row": side,
        "column": side,
        "dropped": 10,
    }
    steps = {
        "Point at M: what does it hit?": by_pointing({"tensor": 0, "row": 2, "column": 0}),
        "Point at the middle pixel.": by_pointing({"tensor": 2, "row": 2, "column": 2}),
        "Press play: windows drop.": by_playing({"dropped": 9}),
    }
    start = {"tensor": 2, "row": 1, "column": 1}
    choices = {"tensor": TENSORS}
    return Explorer(picture.show, rules, start, front=["dropped"], choices=choices, play="dropped", steps=steps)


def four_faults() -> Explorer:
    """A test of the input gradient, to be changed until it catches four planted faults; at first a blur at stride 2."""

    def draw(stride: int, padding_h: int, padding_w: int, channels: int, weight: Array, pixel: int = 0) -> Picture:
        padding = padding_h, padding_w
        shape = ConvShape(1, channels, 6, 6, channels, 3, 3, stride, padding)
        right, got = _results(shape, np.float32(weight).tobytes())
        return FaultsPicture(shape, weight, right, got, pixel)

    steps = {
        "Click a weight: which fault is caught now?": lambda v: "no flip" in draw(**v).caught,
        "Give rows and columns different paddings.": lambda v: v["padding_h"] != v["padding_w"],
        "Catch all four.": lambda v: len(draw(**v).caught) == len(FAULTS),
    }
    rules = {
        "stride": (1, 3),
        "padding_h": 3,
        "padding_w": 3,
        "channels": (1, 2),
    }
    start = {"stride": 2, "padding_h": 1, "padding_w": 1}
    blur = np.outer([1, 2, 1], [1, 2, 1])
    return Explorer(draw, rules, start, arrays={"weight": blur}, steps=steps)


@lru_cache(1)
def _results(shape: ConvShape, weight: bytes) -> tuple[Array, dict[str, Array]]:
    """The right gradient of a test, and that of each faulty kernel; a filter (3, 3) has a multiple for each channel."""
    multiples = np.arange(1, 5).reshape(2, 2)[: shape.out_channels, : shape.in_channels]
    one_filter = np.frombuffer(weight, np.float32).reshape(3, 3)
    filters = np.float32(np.multiply.outer(multiples, one_filter))
    random = np.random.default_rng(3)
    upstream = random.integers(-4, 5, shape.output).astype(np.float32)
    got = {}
    for fault, kernel in _faulty_kernels().items():
        got[fault] = operations.conv2d_grad_input(
            shape.input,
            filters,
            upstream,
            shape.stride,
            shape.padding,
            kernel=kernel,
        )
    right = reference.grad_input(upstream, filters, shape)
    return right, got


@cache
def _faulty_kernels() -> dict[str, Kernel]:
    """The kernel of lesson 03 with each of the faults planted."""
    gather = load("conv2d_grad_input", "1_gather")
    return {fault: gather.edit(old, new) for fault, (old, new) in FAULTS.items()}
