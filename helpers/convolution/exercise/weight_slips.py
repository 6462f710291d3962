"""Lesson 02: the mistakes that learners make in the weight gradient, as edits of the official kernel."""

from helpers.convolution.exercise.slips import divided, unguarded
from helpers.grading.puzzle import Slip

GRAD_AT, INPUT_AT = "((b * params.K + k) * out_h", "((b * params.C + c) * params.H"
SIZES = "let out_h = params.H - params.F + 1u;  // *\n  let out_w = params.W - params.F + 1u;"
DECODED = "let {} = idx / (params.F * params.F) % params.{};  // *\n  let {} = idx / (params.F * params.F * params.{});"
OFFSET, FLIPPED = "oh + fh) * params.W + ow + fw", "oh + params.F - 1u - fh) * params.W + ow + params.F - 1u - fw"
GRAD_ROW = "let grad_at = ((b * params.K + k) * out_h + oh) * out_w + ow"
OFFSETS = f"""{GRAD_ROW};  // *
        let input_at =  // *
          ((b * params.C + c)"""
LOOPS = "oh < out_h; oh++) {  // *\n      for (var ow = 0u; ow < out_w;"
EACH = "input[((b * params.C + c) * params.H + oh + i / params.F) * params.W + ow + i % params.F]"
LIMIT = "idx >= params.K * params.C * params.F * params.F"
ASKED = "which {0} of the input did the weight in {0} f{1} = 1 multiply for the output in {0} o{1} = 0?"
SUBTRACTED = (
    Slip("fh and fw are subtracted from oh and ow", OFFSET, "oh - fh) * params.W + ow - fw", ASKED.format("row", "h")),
    Slip("fh is subtracted from oh", OFFSET, "oh - fh) * params.W + ow + fw", ASKED.format("row", "h")),
    Slip("fw is subtracted from ow", OFFSET, "oh + fh) * params.W + ow - fw", ASKED.format("column", "w")),
    Slip(
        "fh and fw are subtracted from oh and ow, and places outside of the input are skipped",
        f"{OFFSET};",
        "oh - fh) * params.W + ow - fw; if (oh < fh || ow < fw) { continue; }",
        ASKED.format("row", "h"),
    ),
)

WEIGHT_SLIPS = (
    Slip(
        "only the first image of the batch is added up",
        "b < params.batch",
        "b < 1u",
        "which loop is missing, or ends too early?",
    ),
    Slip(
        "the filter is flipped",
        OFFSET,
        FLIPPED,
        "which row of the input did the weight in row fh = 0 multiply for the output in row oh = 0?",
    ),
    *SUBTRACTED,
    Slip(
        "b is left out in grad_output's offset",
        GRAD_AT,
        "(k * out_h",
        "at which offset of grad_output does the second image begin?",
    ),
    Slip(
        "b is left out in the input's offset",
        INPUT_AT,
        "(c * params.H",
        "at which offset of the input does the second image begin?",
    ),
    Slip(
        "W stands in the place of H in the input's offset",
        "c) * params.H",
        "c) * params.W",
        "how many rows of the input come before those of channel c = 1?",
    ),
    Slip(
        "H stands in the place of W in the input's offset",
        "oh + fh) * params.W",
        "oh + fh) * params.H",
        "how many numbers of the input come before the beginning of row 1?",
    ),
    Slip(
        "the + 1 is missing in out_h and out_w",
        SIZES,
        SIZES.replace(" + 1u", ""),
        "at how many positions does a filter with 3 x 3 weights fit into an image with 3 x 3 pixels?",
    ),
    Slip(
        "the + 1 is missing in out_h",
        "params.H - params.F + 1u",
        "params.H - params.F",
        "at how many positions does a filter with 3 rows fit into an image with 3 rows?",
    ),
    Slip(
        "the + 1 is missing in out_w",
        "params.W - params.F + 1u",
        "params.W - params.F",
        "at how many positions does a filter with 3 columns fit into an image with 3 columns?",
    ),
    Slip(
        "fh and fw are swapped",
        OFFSET,
        "oh + fw) * params.W + ow + fh",
        "which of the two moves the window down, and which moves it to the right?",
    ),
    Slip(
        "C stands in the place of K in grad_output's offset",
        "b * params.K + k",
        "b * params.C + k",
        "how many channels does one image of grad_output have?",
    ),
    Slip(
        "K stands in the place of C in the input's offset",
        "b * params.C + c",
        "b * params.K + c",
        "how many channels does one image of the input have?",
    ),
    Slip(
        "c and k are exchanged in both offsets",
        OFFSETS,
        OFFSETS.replace(" + c", " + k").replace("+ k)", "+ c)", 1),
        "which of k and c counts the channels of grad_output?",
    ),
    Slip(
        "c and k are decoded in the wrong order",
        DECODED.format("c", "C", "k", "C"),
        DECODED.format("k", "K", "c", "K"),
        "in the shape (K, C, F, F), which of k and c changes first when idx grows?",
    ),
    Slip(
        "C is left out where k is decoded",
        "(params.F * params.F * params.C)",
        "(params.F * params.F)",
        "if C is 2 and F is 3, which idx has the first weight of filter k = 1?",
    ),
    Slip(
        "the loops over oh and ow end at F",
        LOOPS,
        LOOPS.replace("out_h", "params.F").replace("out_w", "params.F"),
        "how many rows and columns does grad_output have?",
    ),
    Slip(
        "the loops run over the filter, and fh and fw say where grad_output is read",
        GRAD_ROW,
        "if (max(oh, ow) >= params.F) { continue; } let grad_at = ((b * params.K + k) * out_h + fh) * out_w + fw",
        "over which letters does the sum in the equation run?",
    ),
    Slip(
        "two loops over the filter stand inside of those over oh and ow",
        "sum += grad_output[grad_at] * input[input_at];",
        f"for (var i = 0u; i < params.F * params.F; i++) {{ sum += grad_output[grad_at] * {EACH}; }}",
        "each thread has one weight; how many pixels does that weight multiply for one output?",
    ),
    Slip(
        "the sum starts again with each image",
        "    for (var oh = 0u;",
        "    sum = 0.0;\n    for (var oh = 0u;",
        "how often does a thread set its sum to 0?",
    ),
    Slip(
        "each product replaces the sum",
        "sum += ",
        "sum = ",
        "what does += do with the old sum that = does not?",
    ),
    divided("images", "params.batch"),
    divided("outputs", "params.batch * out_h * out_w"),
    unguarded("a weight", LIMIT),
    Slip(
        "C is left out in the guard, so that the last weights are not computed",
        LIMIT,
        LIMIT.replace("params.C * ", ""),
        "how many weights does one filter have?",
    ),
)
