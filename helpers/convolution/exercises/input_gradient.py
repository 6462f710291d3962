"""Lesson 03: the input gradient."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Skill

GATHERS = {  # each test adds one thing to those before it
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding=(1, 0)),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(0, 1)),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 3, 6, 8, 5, 4, 5, 2, (1, 2)),
}


@cache
def _gather_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    return tuple(_gather_case(name, shape, random) for name, shape in GATHERS.items())


def _gather_case(name: str, s: ConvShape, random: np.random.Generator) -> Case:
    grad_output, weight = (
        random.choice([-3, -2, -1, 1, 2, 3], size).astype(np.float32) for size in (s.output, s.weight)
    )
    padding = s.padding_h, s.padding_w
    expected = reference.conv2d_grad_input(s.input, weight, grad_output, s.stride, padding)
    return Case(name, (grad_output, weight), expected, s.params(), (-(-expected.size // 256), 1, 1))


GRAD_INPUT = Puzzle(
    "conv2d_grad_input",
    "convolution",
    ("n", "ci", "ih", "iw"),
    tuple(GATHERS),
    _gather_cases,
    Skill.one_thread_for("pixel", "gather_channels"),
)


def _pixel_by_hand(weight: list, upstream: list, ih: int, iw: int) -> Question:
    """One pixel's gradient, worked out by hand from one filter and its upstream gradient."""
    filter, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (weight, upstream))
    size = 1, 1, *np.add(filter.shape[2:], grad_output.shape[2:]) - 1

    def gradient(filter: np.ndarray, upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_input(size, filter, upstream)[0, 0]

    right = gradient(filter, grad_output)
    mistakes = {
        right[i]: f"it is dX[{i[0]},{i[1]}]; which outputs have the pixel [{ih},{iw}] in their windows?"
        for i in np.ndindex(right.shape)
        if right[i] != right[ih, iw]
    }
    for mistake, wrong in {
        "the minus signs of the upstream gradient are lost": (filter, abs(grad_output)),
        "the filter is transposed": (filter.swapaxes(2, 3), grad_output),
        "the filter is not flipped: the first output multiplies this pixel by its last weight": (
            filter[:, :, ::-1, ::-1],
            grad_output,
        ),
    }.items():
        mistakes[gradient(*wrong)[ih, iw]] = f"you get this when {mistake}"
    return Question(right[ih, iw], mistakes, "each output has the pixel under another weight: which one?")


INPUT_QUESTIONS = {  # lesson 03
    "dX[1,1]": _pixel_by_hand([[3, 4], [2, -3]], [[1, -1], [3, 2]], ih=1, iw=1),
    "windows_with_stride": Question(
        4,
        {
            9: "this is right for stride 1; now a window begins only in every second row and column",
            2: "2 is right for the rows alone; multiply by the number for the columns",
            1: "a window of 3 rows begins in row 0, another one in row 2, and both have row 2 in them",
            6: "rows and columns count alike: both have stride 2",
        },
        "count the windows that have row 2 in them, then those with column 2, and multiply",
    ),
    "pixels_never_touched": Question(
        9 * 9 - 5 * 5,
        {
            5 * 5: "these are the pixels that are touched; how many are there in all?",
            0: "this is right for dilation 1; now a window that begins in an even row has weights in even rows only",
            4 * 4: "these are in an odd row and in an odd column; one of the two is enough",
            4 * 9: "these are the pixels of the odd rows; what about the odd columns of the even rows?",
            2 * 4 * 9: "the pixels in an odd row and in an odd column are counted twice",
            9 * 9 - 9 * 9 // 9: "9 is the number of outputs; each of them touches 9 pixels",
            9 * 9: "each output touches 9 pixels",
        },
        "in which rows do the windows begin, and how many rows further down do their weights lie?",
    ),
    "row_below_zero": Question(
        2**32 - 1,
        {
            -1: "an unsigned integer has no value below 0",
            0: "an unsigned integer does not stop at 0",
            2**32: "the largest u32 is 2**32 - 1",
            2**31 - 1: "this is the largest i32; row is unsigned",
            2**16 - 1: "a u32 has 32 bits",
        },
        "an unsigned integer that falls below 0 wraps around to the largest one",
    ),
    "faults_seen_by_the_easy_case": Question(
        0,
        {
            1: "a filter that is the same when flipped hides the first fault as well",
            4: "go through the faults one at a time: what does each one change if all sizes are equal?",
            2: "with stride 1 every number is a multiple of S, and with one channel co = ci = 0",
            3: "with stride 1 every number is a multiple of S, and with one channel co = ci = 0",
        },
        "go through the faults one at a time: what does each one change if all sizes are equal?",
    ),
    "loads_in_version_2": Question(
        512 + 512 / 256,
        {
            1024: "this is version 1, which loads two numbers for each product",
            512: "these are the loads of grad_output; the workgroup also has to load the weights",
            513: "the workgroup loads 32 * 16 = 512 weights, and 256 threads share them",
            528: "every channel of the output has 16 weights of its own, and 256 threads share them",
            544: "32 is Co; the 256 threads share Co * kH * kW = 512 weights",
            512 + 16 / 256: "16 weights are loaded for each of the 32 output channels",
        },
        "put T = 512, Co = 32, kH = kW = 4 and TILE = 16 into the cost lines of version 2",
    ),
    "barrier_before_the_load": Question(
        "no",
        {"yes": "the load runs only once then: could any thread still read old weights?"},
        "answer yes or no",
    ),
    "weights_that_pass": Question(
        4,
        {
            36: "36 is the number of weights",
            12: "a third of the rows passes, and in each of these a third of the columns",
            32: "32 is the number of weights that fail",
            9: "9 is S · S; one weight in 9 passes",
            1: "one weight in S · S = 9 passes, and there are 36",
        },
        "one row in S passes; what about the columns?",
    ),
}
