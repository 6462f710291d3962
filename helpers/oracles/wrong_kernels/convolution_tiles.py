"""Wrong kernels of the convolution's versions that compute a matrix product in tiles."""

from dataclasses import replace

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import NUMBERS, OVERLAP, RACE, READ, WRITE, WrongKernel

# The smallest problems that show a mistake: no tile is full, rows are not columns, and a sum has two steps of 8.
LAYER = ConvShape(1, 3, 2, 3, 3, 3, 2, 1, (1, 2))
RELU = replace(LAYER, activation="relu")
STEPPED = ConvShape(1, 2, 4, 5, 2, 3, 2, 2, (1, 0))
WHOLE_TAPS = ConvShape(1, 7, 3, 2, 1, 1, 2)  # each step has a single tap, filled up to 8 channels
DEEP_IN, DEEP_OUT = ConvShape(1, 9, 2, 2, 1, 1, 2), ConvShape(1, 1, 2, 2, 9, 1, 2)  # three parts of a sum
DEEP_RELU = replace(DEEP_IN, activation="relu")
LONG = ConvShape(1, 1, 5, 5, 1, 1, 1)  # likewise
CLASSES = ConvShape(1, 2, 4, 3, 9, 2, 3, 2, (1, 0))  # two steps or more for each class of pixels
GROUPS = ConvShape(1, 4, 5, 6, 4, 3, 2, (1, 2), (1, 2), (2, 3), 2)  # no two steps along an axis are equal
# Likewise, and each step has a single tap of its 7 channels, filled up to 8.
SPREAD = ConvShape(1, 14, 4, 3, 2, 2, 2, (2, 1), (1, 0), (1, 2), 2)
SPREAD_BACK = ConvShape(1, 2, 4, 4, 14, 2, 2, (2, 1), (1, 0), (1, 2), 2)

FORWARD, INPUT = "conv2d/2_implicit_gemm", "conv2d_grad_input/3_implicit_gemm"
RESIDUES, WEIGHT = "conv2d_grad_input/4_residue_classes", "conv2d_grad_weight/3_split_k"

PLACED, USED = "workgroupBarrier();  // the tiles are complete", "workgroupBarrier();  // no thread still reads them"
SHARES = "workgroupBarrier();  // all shares are written"
SUM, BEFORE = "bias_co + sums[2u * i + j / 4u][j % 4u]", "bias_co + activate(sums[2u * i + j / 4u][j % 4u])"
PART = "parts[split * OUTPUTS + index]"
PAST = RACE + OVERLAP + WRITE + NUMBERS
# All steps of a sum are in one workgroup; so small a layer would share them.
ALONE, WHOLE = {"SPLITS": 1}, {"PIECES": 1}


def _steps(kernel: str, shape: ConvShape, **constants: int) -> tuple[WrongKernel, ...]:
    """The barriers around a product, missing."""
    return tuple(
        WrongKernel(kernel, f"no barrier after the {name}", shape, barrier, "", RACE, constants)
        for name, barrier in (("loads", PLACED), ("products", USED))
    )


WRONG_KERNELS = (
    # --- conv2d -------------------------------------------------------------------------------------------
    *_steps(FORWARD, LAYER, **ALONE),
    WrongKernel(FORWARD, "taps of a row counted by columns", LAYER, "k / RUN % KERNEL_W", "k / RUN % KERNEL_H"),
    WrongKernel(FORWARD, "no guard for pixels", LAYER, "(m < GROUP_OUT && pixel < PIXELS)", "m < GROUP_OUT", PAST),
    WrongKernel(FORWARD, "channels past the end", WHOLE_TAPS, " || ci < GROUP_IN) {", " || true) {", READ),
    WrongKernel(FORWARD, "dilation forgotten", GROUPS, "+ kw * DILATION_W", "+ kw", constants=ALONE),
    WrongKernel(FORWARD, "dilation of a tap forgotten", SPREAD, "tap % KERNEL_W * DILATION_W", "tap % KERNEL_W"),
    WrongKernel(FORWARD, "one stride for both axes", GROUPS, "% OUT_W * STRIDE_W", "% OUT_W * STRIDE_H"),
    WrongKernel(FORWARD, "pixels of the first group", GROUPS, " + group * GROUP_IN) * PLANE", ") * PLANE"),
    WrongKernel(FORWARD, "weights of the first group", GROUPS, "tile.group * GROUP_QUADS", "0u", constants=ALONE),
    WrongKernel(FORWARD, "last split lost", DEEP_IN, "split < SPLITS; split", "split + 1u < SPLITS; split"),
    WrongKernel(FORWARD, "activation forgotten", RELU, "activate(pre);\n      }", "pre;\n      }", constants=ALONE),
    WrongKernel(FORWARD, "activation before the bias", RELU, SUM, BEFORE, constants=ALONE),
    WrongKernel(FORWARD, "activation of the parts forgotten", DEEP_RELU, "activate(pre);\n}", "pre;\n}"),
    WrongKernel(FORWARD, "activation of each part", DEEP_RELU, PART, f"activate({PART})"),
    # --- grad_input ---------------------------------------------------------------------------------------
    *_steps(INPUT, LAYER, **ALONE),
    WrongKernel(
        INPUT, "outputs between those that are", STEPPED, " && w % STRIDE_W == 0u;\n      next", ";\n      next"
    ),
    WrongKernel(INPUT, "no guard for pixels", LAYER, "(m < GROUP_IN && pixel < PIXELS)", "m < GROUP_IN", PAST),
    WrongKernel(INPUT, "dilation of the other axis", GROUPS, "kh * DILATION_H", "kh * DILATION_W", constants=ALONE),
    WrongKernel(
        INPUT,
        "stride of the other axis",
        SPREAD_BACK,
        "w % STRIDE_W == 0u;\n    inside",
        "w % STRIDE_H == 0u;\n    inside",
    ),
    WrongKernel(INPUT, "outputs of the first group", GROUPS, " + group * GROUP_OUT) * PLANE", ") * PLANE"),
    WrongKernel(INPUT, "filters of the first group", GROUPS, "(group * GROUP_OUT + co)", "co", constants=ALONE),
    WrongKernel(INPUT, "last split lost", DEEP_OUT, "split < SPLITS; split", "split + 1u < SPLITS; split"),
    *_steps(RESIDUES, CLASSES, **WHOLE),
    WrongKernel(RESIDUES, "taps of another class", CLASSES, "class_w + STRIDE * right_of", "STRIDE * right_of"),
    WrongKernel(RESIDUES, "last piece lost", CLASSES, "piece < pieces; piece", "piece + 1u < pieces; piece"),
    # --- grad_weight --------------------------------------------------------------------------------------
    *_steps(WEIGHT, LAYER, **ALONE),
    WrongKernel(WEIGHT, "no barrier before the shares are added", LAYER, SHARES, "// all shares", RACE),
    WrongKernel(WEIGHT, "one padding for both axes", LAYER, "DILATION_W - PADDING_W", "DILATION_W - PADDING_H"),
    WrongKernel(WEIGHT, "dilation forgotten", GROUPS, "tap / KERNEL_W * DILATION_H", "tap / KERNEL_W"),
    WrongKernel(
        WEIGHT, "outputs of the first group", GROUPS, " + group * GROUP_OUT;\n  let position", ";\n  let position"
    ),
    WrongKernel(WEIGHT, "pixels of the first group", GROUPS, " + group * GROUP_IN;", ";"),
    WrongKernel(WEIGHT, "channels past the end", LAYER, " || ci + c < GROUP_IN", " || true", RACE + WRITE + NUMBERS),
    WrongKernel(WEIGHT, "last split lost", LONG, "split < SPLITS; split", "split + 1u < SPLITS; split"),
)
