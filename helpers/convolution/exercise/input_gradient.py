"""Lesson 03: the input gradient."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Slip

GATHERS = {  # each test adds one thing to those before it
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding_h=1),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding_w=1),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 3, 6, 8, 5, 4, 5, 2, 1, 2),
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


GATHER_STEP = """        let row = ih + params.Ph - kh;  // *
        let column = iw + params.Pw - kw;  // *
"""
GATHER_SIGNED = """        let row = i32(ih + params.Ph) - i32(kh);
        let column = i32(iw + params.Pw) - i32(kw);
        if (row % i32(params.S) != 0 || column % i32(params.S) != 0) { continue; }
        if (row / i32(params.S) >= i32(params.oH) || column / i32(params.S) >= i32(params.oW)) { continue; }
        let oh = u32(row / i32(params.S));
        let ow = u32(column / i32(params.S));
"""
DIVISIBLE = "if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *"
SMALL_ENOUGH = "if (oh >= params.oH || ow >= params.oW) { continue; }  // *"
GATHER_TESTS = f"""{GATHER_STEP}        {DIVISIBLE}
        let oh = row / params.S;  // *
        let ow = column / params.S;  // *
        {SMALL_ENOUGH}
"""
GATHER_DECODED = """  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
"""


def _places(row: str, column: str) -> str:
    """The step of the kernel that computes row and column, with other formulas."""
    return f"        let row = {row};\n        let column = {column};\n"


GRAD_INPUT = Puzzle(
    "conv2d_grad_input",
    "convolution",
    ("n", "ci", "ih", "iw"),
    tuple(GATHERS),
    _gather_cases,
    (
        Slip(
            "the filter is not flipped: row is ih + kh - Ph",
            GATHER_STEP,
            _places("ih + kh - params.Ph", "iw + kw - params.Pw"),
        ),
        Slip(
            "the filter is not flipped in the rows: row is ih + kh - Ph", "ih + params.Ph - kh", "ih + kh - params.Ph"
        ),
        Slip(
            "the filter is not flipped in the columns: column is iw + kw - Pw",
            "iw + params.Pw - kw",
            "iw + kw - params.Pw",
        ),
        Slip(
            "row and column have the formula of the forward pass, ih * S + kh - Ph",
            GATHER_STEP,
            _places("ih * params.S + kh - params.Ph", "iw * params.S + kw - params.Pw"),
        ),
        Slip(
            "row has the formula of the forward pass, ih * S + kh - Ph",
            "ih + params.Ph - kh",
            "ih * params.S + kh - params.Ph",
        ),
        Slip(
            "column has the formula of the forward pass, iw * S + kw - Pw",
            "iw + params.Pw - kw",
            "iw * params.S + kw - params.Pw",
        ),
        Slip(
            "ih and iw are multiplied by S in step 5 (the stride belongs to oh and ow)",
            GATHER_STEP,
            _places("ih * params.S + params.Ph - kh", "iw * params.S + params.Pw - kw"),
        ),
        Slip("ih is multiplied by S in row", "ih + params.Ph - kh", "ih * params.S + params.Ph - kh"),
        Slip("iw is multiplied by S in column", "iw + params.Pw - kw", "iw * params.S + params.Pw - kw"),
        Slip(
            "kh and kw are added instead of subtracted",
            GATHER_STEP,
            _places("ih + params.Ph + kh", "iw + params.Pw + kw"),
        ),
        Slip("the padding is left out", GATHER_STEP, _places("ih - kh", "iw - kw")),
        Slip(
            "the padding is subtracted instead of added",
            GATHER_STEP,
            _places("ih - params.Ph - kh", "iw - params.Pw - kw"),
        ),
        Slip("Ph is subtracted instead of added", "ih + params.Ph - kh", "ih - params.Ph - kh"),
        Slip("Pw is subtracted instead of added", "iw + params.Pw - kw", "iw - params.Pw - kw"),
        Slip("Ph is used for the columns, too", "iw + params.Pw - kw", "iw + params.Ph - kw"),
        Slip("kh and kw are swapped in step 5", GATHER_STEP, _places("ih + params.Ph - kw", "iw + params.Pw - kh")),
        Slip(
            "the filter is flipped twice: the subtraction of kh and kw is the flip",
            "params.kH + kh) * params.kW + kw",
            "params.kH + params.kH - 1u - kh) * params.kW + params.kW - 1u - kw",
        ),
        Slip("no weight is skipped where row or column is not a multiple of S", DIVISIBLE, ""),
        Slip("only the rows are tested for multiples of S", "|| column % params.S != 0u", ""),
        Slip("only the columns are tested for multiples of S", "row % params.S != 0u || ", ""),
        Slip(
            "a weight is skipped only if neither row nor column is a multiple of S (write ||)",
            "!= 0u || column",
            "!= 0u && column",
        ),
        Slip(
            "the loop over kw ends at the first hole (write continue, not break)",
            DIVISIBLE,
            DIVISIBLE.replace("continue", "break"),
        ),
        Slip(
            "row and column are not divided by S",
            "row / params.S;  // *\n        let ow = column / params.S",
            "row;\n        let ow = column",
        ),
        Slip("outputs past the last one are not skipped", SMALL_ENOUGH, ""),
        Slip(
            "a weight is skipped only if both oh and ow are too large (write ||)",
            "oh >= params.oH || ow",
            "oh >= params.oH && ow",
        ),
        Slip(
            "the loop over kw ends at the first output that does not exist (write continue, not break)",
            SMALL_ENOUGH,
            SMALL_ENOUGH.replace("continue", "break"),
        ),
        Slip("oh = oH is not skipped (write >=)", "oh >= params.oH", "oh > params.oH"),
        Slip("ow = oW is not skipped (write >=)", "ow >= params.oW", "ow > params.oW"),
        Slip(
            "oh and ow are compared with H and W", SMALL_ENOUGH, "if (oh >= params.H || ow >= params.W) { continue; }"
        ),
        Slip("row and column are signed, and those below 0 are not skipped", GATHER_TESTS, GATHER_SIGNED),
        Slip(
            "H and W are swapped where the index is decoded",
            GATHER_DECODED,
            "  let iw = index % params.H;\n  let ih = index / params.H % params.W;\n",
        ),
        Slip(
            "ci and n are swapped where the index is decoded",
            "(params.W * params.H) % params.Ci;",
            "(params.W * params.H) / params.N;",
        ),
        Slip("co and ci are swapped in the weight's offset", "(co * params.Ci + ci)", "(ci * params.Co + co)"),
        Slip(
            "kH and kW are swapped in the weight's offset",
            "params.kH + kh) * params.kW + kw",
            "params.kW + kh) * params.kH + kw",
        ),
        Slip(
            "oH and oW are swapped in grad_output's offset",
            "params.oH + oh) * params.oW + ow",
            "params.oW + oh) * params.oH + ow",
        ),
        Slip("Ci stands in the place of Co in grad_output's offset", "n * params.Co + co", "n * params.Ci + co"),
        Slip("every image takes the upstream gradient of image 0", "(n * params.Co + co)", "co"),
        Slip("only the first output channel is added up", "co < params.Co", "co < 1u"),
        Slip("the sum keeps only its last product (write +=)", "sum += grad_output", "sum = grad_output"),
    ),
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
