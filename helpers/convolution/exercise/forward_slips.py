"""Lesson 01: the mistakes that learners make in the forward pass, as edits of the official kernel."""

from helpers.convolution.exercise.slips import WEIGHT_AT, WITHOUT_CI, unguarded
from helpers.grading.puzzle import Slip

SIZE = "2u * params.P - params.k{0}) / params.S + 1u"
INPUT_ROW, INPUT_COLUMN = "ih = oh * params.S + kh - params.P", "iw = ow * params.S + kw - params.P"
BOTH = f"{INPUT_ROW};  // *\n        let {INPUT_COLUMN}"
SKIP = "if (ih >= params.H || iw >= params.W) { continue; }"
BOTH_SIZES = f"{SIZE.format('H')};  // *\n  let oW = (params.W + {SIZE.format('W')}"

FORWARD_SLIPS = (
    Slip(
        "the bias is left out",
        "sum = bias[co]",
        "sum = 0.0",
        "if all weights are 0, what is each output of channel co?",
    ),
    Slip(
        "the filter is flipped",
        WEIGHT_AT,
        "((co * params.Ci + ci) * params.kH + params.kH - 1u - kh) * params.kW + params.kW - 1u - kw",
        "which weight lies over the first pixel of a window?",
    ),
    Slip(
        "kh and kw are swapped in the weight's offset",
        "kH + kh) * params.kW + kw",
        "kH + kw) * params.kW + kh",
        "in the shape (Co, Ci, kH, kW), which of kh and kw changes first from one weight to the next?",
    ),
    Slip(
        "H stands in the place of W in the input's offset",
        "+ ih) * params.W",
        "+ ih) * params.H",
        "how many numbers of the input come before the beginning of row 1?",
    ),
    Slip(
        "W stands in the place of H in the input's offset",
        "ci) * params.H + ih",
        "ci) * params.W + ih",
        "how many rows of the input come before those of channel ci = 1?",
    ),
    Slip(
        "the + 1 is missing in oH and oW",
        BOTH_SIZES,
        BOTH_SIZES.replace(" + 1u", ""),
        "at how many positions does a filter with 3 x 3 weights fit into an image with 3 x 3 pixels?",
    ),
    Slip(
        "the + 1 is missing in oH",
        SIZE.format("H"),
        SIZE.format("H").removesuffix(" + 1u"),
        "at how many positions does a filter with 3 rows fit into an image with 3 rows?",
    ),
    Slip(
        "the + 1 is missing in oW",
        SIZE.format("W"),
        SIZE.format("W").removesuffix(" + 1u"),
        "at how many positions does a filter with 3 columns fit into an image with 3 columns?",
    ),
    Slip(
        "the padding is counted only once in oH and oW",
        BOTH_SIZES,
        BOTH_SIZES.replace("2u * ", ""),
        "with padding 1, how many rows does an image with 4 rows have together with its padding?",
    ),
    Slip(
        "H stands in the place of W in oW",
        "(params.W + 2u",
        "(params.H + 2u",
        "which size of the image says how far the filter can move to the right?",
    ),
    Slip(
        "the padding is added in ih and iw",
        BOTH,
        BOTH.replace("- params.P", "+ params.P"),
        "with padding 1, where does the window of the output at oh = 0, ow = 0 begin?",
    ),
    Slip(
        "the padding is left out in ih and iw",
        BOTH,
        BOTH.replace(" - params.P", ""),
        "with padding 1, where does the window of the output at oh = 0, ow = 0 begin?",
    ),
    Slip(
        "the padding is left out in ih",
        INPUT_ROW,
        INPUT_ROW.removesuffix(" - params.P"),
        "with padding 1, in which row does the window of the output at oh = 0 begin?",
    ),
    Slip(
        "the padding is left out in iw",
        INPUT_COLUMN,
        INPUT_COLUMN.removesuffix(" - params.P"),
        "with padding 1, in which column does the window of the output at ow = 0 begin?",
    ),
    Slip(
        "the padding is not skipped",
        SKIP,
        "",
        "which value does the u32 ih have one row above the image, and how can you recognize it?",
    ),
    Slip(
        "a position in the padding ends the whole thread",
        SKIP,
        SKIP.replace("continue", "return"),
        "what does the thread still have to do after such a position?",
    ),
    Slip(
        "a position in the padding ends the loop",
        SKIP,
        SKIP.replace("continue", "break"),
        "if the first weight of a row lies over the padding, where do the next ones lie?",
    ),
    Slip(
        "only the columns of the padding are skipped",
        "ih >= params.H || iw",
        "iw",
        "at which edges of the image does your test let a position in the padding pass?",
    ),
    Slip(
        "only the rows of the padding are skipped",
        "ih >= params.H || iw >= params.W",
        "ih >= params.H",
        "at which edges of the image does your test let a position in the padding pass?",
    ),
    Slip(
        "H and W are exchanged in the test for the padding",
        "ih >= params.H || iw >= params.W",
        "ih >= params.W || iw >= params.H",
        "which of ih and iw counts the rows of the input?",
    ),
    Slip(
        "the stride is left out in ih and iw",
        BOTH,
        BOTH.replace(" * params.S", ""),
        "how far does the window move from one output to the next?",
    ),
    Slip(
        "the stride is left out in ih",
        INPUT_ROW,
        INPUT_ROW.replace(" * params.S", ""),
        "how many rows does the window move down from oh = 0 to oh = 1?",
    ),
    Slip(
        "the stride is left out in iw",
        INPUT_COLUMN,
        INPUT_COLUMN.replace(" * params.S", ""),
        "how many columns does the window move to the right from ow = 0 to ow = 1?",
    ),
    Slip(
        "each product replaces the sum",
        "sum += ",
        "sum = ",
        "what does += do with the old sum that = does not?",
    ),
    Slip(
        "oh and ow are decoded in the wrong order",
        "let ow = index % oW;  // *\n  let oh = index / oW % oH;",
        "let oh = index % oH;  // *\n  let ow = index / oH % oW;",
        "from thread 0 to thread 1, which of oh and ow changes?",
    ),
    Slip(
        "co goes on growing from one image to the next, or the threads of the second image return",
        "(oW * oH) % params.Co",
        "(oW * oH)",
        "with 3 channels of 4 outputs each, on which n and co does your thread 12 work?",
    ),
    Slip(
        "only the first input channel is added up",
        "ci < params.Ci",
        "ci < 1u",
        "which loop is missing, or ends too early?",
    ),
    Slip(
        "the bias is added once for each input channel",
        "sum += ",
        "sum += select(0.0, bias[co], ci > 0u && kh + kw == 0u) + ",
        "how often does an output contain its bias?",
    ),
    Slip(
        "co and ci are swapped in the weight's offset",
        "co * params.Ci + ci",
        "ci * params.Co + co",
        "in the shape (Co, Ci, kH, kW), how many weights come before those of filter co = 1?",
    ),
    Slip(
        "Co stands in the place of Ci in the weight's offset",
        "co * params.Ci + ci",
        "co * params.Co + ci",
        "how many channels does one filter have?",
    ),
    *WITHOUT_CI,
    Slip(
        "Co stands in the place of Ci in the input's offset",
        "n * params.Ci + ci",
        "n * params.Co + ci",
        "how many channels does one image of the input have?",
    ),
    Slip(
        "every image of the batch gets the output of the first",
        "(n * params.Ci + ci)",
        "ci",
        "at which offset of the input does the second image begin?",
    ),
    unguarded("an output", "index >= params.N * params.Co * oH * oW"),
)
