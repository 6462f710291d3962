"""Lesson 03: the mistakes that learners make in the input gradient, as edits of the official kernel."""

from collections.abc import Iterator

from helpers.convolution.exercise.slips import WITHOUT_CI, unguarded
from helpers.grading.puzzle import Slip

FORMULA, EQUATION = "i# + params.P# - k#", "i# = o# * S + k# - P#"  # of both axes: h or w in the place of #
STEP = """        let row = ih + params.Ph - kh;  // *
        let column = iw + params.Pw - kw;  // *
"""
DIVISIBLE = "if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *"
SMALL_ENOUGH = "if (oh >= params.oH || ow >= params.oW) { continue; }  // *"
TESTS = f"""{STEP}        {DIVISIBLE}
        let oh = row / params.S;  // *
        let ow = column / params.S;  // *
        {SMALL_ENOUGH}
"""
SIGNED = """        let row = i32(ih + params.Ph) - i32(kh);
        let column = i32(iw + params.Pw) - i32(kw);
        if (row % i32(params.S) != 0 || column % i32(params.S) != 0) { continue; }
        if (row / i32(params.S) >= i32(params.oH) || column / i32(params.S) >= i32(params.oW)) { continue; }
        let oh = u32(row / i32(params.S));
        let ow = u32(column / i32(params.S));
"""
PIXEL = """  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
"""
PLANE = """  let ci = index / (params.W * params.H) % params.Ci;  // *
  let n = index / (params.W * params.H * params.Ci);  // *
"""


def _step(mistake: str, row: str, column: str, question: str) -> Slip:
    """A wrong formula in the step that computes row and column."""
    return Slip(mistake, STEP, f"        let row = {row};\n        let column = {column};\n", question)


def _axes(mistake: str, formula: str, question: str) -> Iterator[Slip]:
    """The same wrong formula in rows and columns, in the rows alone, and in the columns alone."""
    for where, axes in (("rows and columns", "hw"), ("the rows", "h"), ("the columns", "w")):
        row, column = ((formula if axis in axes else FORMULA).replace("#", axis) for axis in "hw")
        yield _step(mistake.format(where), row, column, question.replace("#", axes[0]))


PLACES = (
    *_axes("the filter is not flipped in {}", "i# + k# - params.P#", f"what is {EQUATION}, solved for o# * S?"),
    *_axes(
        "{} have the formula of the forward pass",
        "i# * params.S + k# - params.P#",
        "which index is known there, and which one here?",
    ),
    *_axes(
        "the stride multiplies the pixel's index in {}",
        "i# * params.S + params.P# - k#",
        f"which index does it multiply in {EQUATION}?",
    ),
    *_axes(
        "the padding is subtracted in {}",
        "i# - params.P# - k#",
        f"which sign does P# have if you solve {EQUATION} for o# * S?",
    ),
    _step(
        "kh and kw are added instead of subtracted",
        "ih + params.Ph + kh",
        "iw + params.Pw + kw",
        "by how much does oh * S change if kh grows by 1 and the pixel stays the same?",
    ),
    _step("the padding is left out", "ih - kh", "iw - kw", "if Ph is 1, over which row does weight 0 of output 0 lie?"),
    _step(
        "Ph is used for the columns, too",
        "ih + params.Ph - kh",
        "iw + params.Ph - kw",
        "which member of params is the padding on the left and on the right?",
    ),
    _step(
        "kh and kw are swapped in step 5",
        "ih + params.Ph - kw",
        "iw + params.Pw - kh",
        "which of the two counts the rows of the filter?",
    ),
    Slip(
        "the weight's offset flips the filter a second time",
        "params.kH + kh) * params.kW + kw",
        "params.kH + params.kH - 1u - kh) * params.kW + params.kW - 1u - kw",
        "where does your kernel flip it already?",
    ),
)
SKIPPED = (
    Slip(
        "no weight is skipped where row or column is not a multiple of S",
        DIVISIBLE,
        "",
        "if S is 2, which output has row = 1?",
    ),
    Slip(
        "only the rows are tested for multiples of S",
        "|| column % params.S != 0u",
        "",
        "in which direction are there still holes?",
    ),
    Slip(
        "only the columns are tested for multiples of S",
        "row % params.S != 0u || ",
        "",
        "in which direction are there still holes?",
    ),
    Slip(
        "a weight is skipped only if neither row nor column is a multiple of S",
        "!= 0u || column",
        "!= 0u && column",
        "if S is 2, which output has row = 2 and column = 3?",
    ),
    Slip(
        "the loop over kw ends at the first hole",
        DIVISIBLE,
        DIVISIBLE.replace("continue", "break"),
        "how do you skip one round of a loop, and go on with the next?",
    ),
    Slip(
        "row and column are not divided by S",
        "row / params.S;  // *\n        let ow = column / params.S",
        "row;\n        let ow = column",
        "if S is 2, which output has row = 2?",
    ),
    Slip("outputs past the last one are not skipped", SMALL_ENOUGH, "", "how large may oh and ow be?"),
    Slip(
        "a weight is skipped only if both oh and ow are too large",
        "oh >= params.oH || ow",
        "oh >= params.oH && ow",
        "which output is in row 0 and column oW?",
    ),
    Slip(
        "the loop over kw ends at the first output that does not exist",
        SMALL_ENOUGH,
        SMALL_ENOUGH.replace("continue", "break"),
        "as kw grows, in which direction does ow move?",
    ),
    Slip(
        "the loop over kw ends at the first weight that has no output",
        TESTS,
        TESTS.replace("continue", "break"),
        "how do you skip one round of a loop, and go on with the next?",
    ),
    Slip(
        "oh = oH is not skipped", "oh >= params.oH", "oh > params.oH", "what is the number of the last row of outputs?"
    ),
    Slip(
        "ow = oW is not skipped",
        "ow >= params.oW",
        "ow > params.oW",
        "what is the number of the last column of outputs?",
    ),
    Slip(
        "oh and ow are compared with H and W",
        SMALL_ENOUGH,
        "if (oh >= params.H || ow >= params.W) { continue; }",
        "how many rows and columns does grad_output have?",
    ),
    Slip(
        "row and column are signed, and those below 0 are not skipped",
        TESTS,
        SIGNED,
        "if S is 2, which test skips row = -2?",
    ),
)
OFFSETS = (
    Slip(
        "H and W are swapped where the index is decoded",
        PIXEL,
        "  let iw = index % params.H;\n  let ih = index / params.H % params.W;\n",
        "how many pixels are in one row?",
    ),
    Slip(
        "ci and n are swapped where the index is decoded",
        PLANE,
        "  let n = index / (params.W * params.H) % params.N;\n  let ci = index / (params.W * params.H * params.N);\n",
        "from the first plane to the second, which of the two changes?",
    ),
    Slip(
        "co and ci are swapped in the weight's offset",
        "(co * params.Ci + ci)",
        "(ci * params.Co + co)",
        "in which order are the axes of weight?",
    ),
    *WITHOUT_CI,
    Slip(
        "kH and kW are swapped in the weight's offset",
        "params.kH + kh) * params.kW + kw",
        "params.kW + kh) * params.kH + kw",
        "how many weights are in one row of the filter?",
    ),
    Slip(
        "oH and oW are swapped in grad_output's offset",
        "params.oH + oh) * params.oW + ow",
        "params.oW + oh) * params.oH + ow",
        "how many numbers are in one row of grad_output?",
    ),
    Slip(
        "Ci stands in the place of Co in grad_output's offset",
        "n * params.Co + co",
        "n * params.Ci + co",
        "how many channels does grad_output have?",
    ),
    Slip(
        "every image takes the upstream gradient of image 0",
        "(n * params.Co + co)",
        "co",
        "which letter is missing in grad_output's offset?",
    ),
    Slip("only the first output channel is added up", "co < params.Co", "co < 1u", "which loop ends too early?"),
    Slip(
        "the sum keeps only its last product",
        "sum += grad_output",
        "sum = grad_output",
        "what becomes of the old sum when the next product comes?",
    ),
    Slip(
        "the sum is divided by the number of images",
        "= sum;",
        "= sum / f32(params.N);",
        "how does the gradient of image 0 change when a second image joins the batch?",
    ),
    unguarded("a pixel", "index >= params.N * params.Ci * params.H * params.W"),
)

INPUT_SLIPS = (*PLACES, *SKIPPED, *OFFSETS)
