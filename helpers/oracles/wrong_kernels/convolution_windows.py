"""Wrong kernels of the convolution's versions with windows in registers, forward and input gradient."""

from dataclasses import replace

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import NUMBERS, OVERLAP, RACE, READ, UNWRITTEN, WRITE, WrongKernel

# The smallest problem that shows a mistake: rows are not columns, no tile is full, and 8 columns of outputs are two
# quads, in NARROW one and a half.
LAYER = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, (1, 2))
NARROW = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, 1)
RELU, TANH = replace(LAYER, activation="relu"), replace(LAYER, activation="tanh")

PAST = RACE + OVERLAP + WRITE + NUMBERS  # a pixel past the end of a row is another one, or behind the tensor

TWO = {"CHANNELS": 2}  # of a thread
FORWARD, WINDOWS = "conv2d/4_register_windows", "conv2d_grad_input/6_register_windows"
SPLIT = "conv2d_grad_input/7_split_channels"

WRONG_KERNELS = (
    # --- conv2d -------------------------------------------------------------------------------------------
    WrongKernel(FORWARD, "bias forgotten", LAYER, "vec4f(bias[co])", "vec4f()"),
    WrongKernel(FORWARD, "filter flipped", LAYER, "* TAPS + k]", "* TAPS + TAPS - 1u - k]"),
    WrongKernel(FORWARD, "padding added", LAYER, "+ y - PADDING_H", "+ y + PADDING_H"),
    WrongKernel(FORWARD, "one padding for both axes", LAYER, "+ x - PADDING_W", "+ x - PADDING_H"),
    WrongKernel(FORWARD, "padding read as data", LAYER, "select(0.0, input[at], inside)", "input[at]"),
    WrongKernel(FORWARD, "last channel left out", LAYER, "ci < IN_CHANNELS; ci", "ci + 1u < IN_CHANNELS; ci"),
    WrongKernel(
        FORWARD, "the same channel each time", LAYER, "sums[i - SUMS] = sums[i]", "sums[i] = sums[i]", constants=TWO
    ),
    WrongKernel(FORWARD, "activation forgotten", RELU, "activate(sums[i / 4u][i % 4u])", "sums[i / 4u][i % 4u]"),
    WrongKernel(FORWARD, "activation of each channel's sum", RELU, "= sum;", "= vec4f(activate(sum.x), sum.yzw);"),
    WrongKernel(FORWARD, "no series near 0", TANH, "series, abs(t) < 0.1", "series, abs(t) < 0.9"),
    WrongKernel(FORWARD, "no guard for columns", NARROW, " && ow < OUT_W) {", ") {", PAST),
    WrongKernel(FORWARD, "no guard for images", LAYER, "if (n >= BATCH)", "if (false)", READ + WRITE),
    # --- grad_input ---------------------------------------------------------------------------------------
    WrongKernel(WINDOWS, "filter not flipped", LAYER, "* TAPS + TAPS - 1u - k]", "* TAPS + k]"),
    WrongKernel(WINDOWS, "padding subtracted", LAYER, "+ PADDING_H - (", "- PADDING_H - ("),
    WrongKernel(WINDOWS, "one padding for both axes", LAYER, "+ PADDING_W - (", "+ PADDING_H - ("),
    WrongKernel(WINDOWS, "outside read as data", LAYER, "select(0.0, grad_output[at], inside)", "grad_output[at]"),
    WrongKernel(WINDOWS, "last channel left out", LAYER, "co < OUT_CHANNELS; co", "co + 1u < OUT_CHANNELS; co"),
    WrongKernel(WINDOWS, "no guard for columns", LAYER, " && iw < IN_W) {", ") {", PAST),
    WrongKernel(WINDOWS, "no guard for images", LAYER, "if (n >= BATCH)", "if (false)", READ + WRITE),
    WrongKernel(SPLIT, "no barrier before the slices are added", LAYER, "workgroupBarrier();  // all", "// all", RACE),
    WrongKernel(SPLIT, "last slice left out", LAYER, "i < SLICES; i", "i < SLICES - 1u; i"),
    WrongKernel(SPLIT, "every slice adds all channels", LAYER, "var co = slice;", "var co = 0u;"),
    WrongKernel(SPLIT, "filter not flipped", LAYER, "weight[last - k]", "weight[last + 1u - TAPS + k]"),
    WrongKernel(SPLIT, "window from the start of its quad", LAYER, "SKIPPED + k % KERNEL_W", "k % KERNEL_W"),
    WrongKernel(SPLIT, "outside read as data", LAYER, "select(vec4f(), grad_output[at], inside)", "grad_output[at]"),
    WrongKernel(SPLIT, "no guard for channels", LAYER, "ci < IN_CHANNELS && iw", "iw", RACE + WRITE + NUMBERS),
    WrongKernel(SPLIT, "columns past the end", LAYER, " && iw < IN_W) {", ") {", PAST),
    WrongKernel(
        SPLIT,
        "first channel only",
        LAYER,
        "let ci = first_ci + c;  ",
        "let ci = first_ci;  ",
        RACE + OVERLAP + UNWRITTEN + NUMBERS,
    ),
)
