"""Lesson 03's questions, and the last test of its puzzle: what is said is what is computed."""

import numpy as np

import helpers
from helpers.convolution import indices
from helpers.convolution.exercises import GATHERS, INPUT_QUESTIONS
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import launched

SHARED = helpers.load("conv2d_grad_input", "2_shared_weights")


def test_the_answers_are_what_is_computed():
    right = {name: question.right for name, question in INPUT_QUESTIONS.items()}
    windows = ConvShape(1, 1, 7, 9, 1, 3, 3, 2)
    assert right["windows_with_stride"] == len(indices.contributions_to_pixel(windows, 2, 2))
    assert right["row_below_zero"] == int(np.array(-1).astype(np.uint32))
    inside = ConvShape(1, 1, 40, 40, 1, 6, 6, 3)
    assert {len(indices.contributions_to_pixel(inside, 20 + i, 20 + j)) for i, j in np.ndindex(3, 3)} == {
        right["weights_that_pass"]
    }
    filter, upstream = (np.array(m, np.float32)[None, None] for m in ([[3, 4], [2, -3]], [[1, -1], [3, 2]]))
    assert right["dX[1,1]"] == helpers.conv2d_grad_input((1, 1, 3, 3), filter, upstream)[0, 0, 1, 1]


def test_version_2_loads_as_often_as_its_cost_line_says():
    """Each thread counts its loads of global memory, on one full tile of which each pixel lies in 16 windows."""
    shape = ConvShape(1, 1, 16, 16, 32, 4, 4, padding=3)
    tensors = {name: np.ones(shape.of(name), np.float32) for name in ("grad_output", "weight")}
    counting = SHARED.edit("sum += shared_weights[i] *", "sum += 1.0 + 0.0 *").edit(
        "shared_weights[i] = weight[", "sum += 1.0; shared_weights[i] = weight["
    )
    (loads,) = launched(counting, shape, tensors)
    assert loads.mean() == INPUT_QUESTIONS["loads_in_version_2"].right


def test_the_last_test_of_the_puzzle_sees_every_known_mistake():
    """Its sizes differ where a mistake may confuse them, and its kernel reaches past both ends of the output."""
    shape = GATHERS["gather_everything"]
    for one, other in ("in_h", "in_w"), ("kernel_h", "kernel_w"), ("out_h", "out_w"), ("padding_h", "padding_w"):
        assert getattr(shape, one) != getattr(shape, other)
    assert len({shape.batch, shape.in_channels, shape.out_channels}) == 3
    for axis in "hw":
        size, padding, weights, outputs = (getattr(shape, f"{n}_{axis}") for n in ("in", "padding", "kernel", "out"))
        assert padding - (weights - 1) <= -shape.stride_h
        assert (size - 1 + padding) // shape.stride_h >= outputs
