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
    WrongKernel(
        FORWARD, "no guard for pixels", LAYER, "(co < OUT_CHANNELS && pixel < PIXELS)", "co < OUT_CHANNELS", PAST
    ),
    WrongKernel(FORWARD, "channels past the end", WHOLE_TAPS, " || ci < IN_CHANNELS) {", " || true) {", READ),
    WrongKernel(FORWARD, "last split lost", DEEP_IN, "split < SPLITS; split", "split + 1u < SPLITS; split"),
    WrongKernel(FORWARD, "activation forgotten", RELU, "activate(pre);\n      }", "pre;\n      }", constants=ALONE),
    WrongKernel(FORWARD, "activation before the bias", RELU, SUM, BEFORE, constants=ALONE),
    WrongKernel(FORWARD, "activation of the parts forgotten", DEEP_RELU, "activate(pre);\n}", "pre;\n}"),
    WrongKernel(FORWARD, "activation of each part", DEEP_RELU, PART, f"activate({PART})"),
    # --- grad_input ---------------------------------------------------------------------------------------
    *_steps(INPUT, LAYER, **ALONE),
    WrongKernel(INPUT, "outputs between those that are", STEPPED, " && w % STRIDE == 0u && kh", " && kh"),
    WrongKernel(INPUT, "no guard for pixels", LAYER, "(ci < IN_CHANNELS && pixel < PIXELS)", "ci < IN_CHANNELS", PAST),
    WrongKernel(INPUT, "last split lost", DEEP_OUT, "split < SPLITS; split", "split + 1u < SPLITS; split"),
    *_steps(RESIDUES, CLASSES, **WHOLE),
    WrongKernel(RESIDUES, "taps of another class", CLASSES, "class_w + STRIDE * right_of", "STRIDE * right_of"),
    WrongKernel(RESIDUES, "last piece lost", CLASSES, "piece < pieces; piece", "piece + 1u < pieces; piece"),
    # --- grad_weight --------------------------------------------------------------------------------------
    *_steps(WEIGHT, LAYER, **ALONE),
    WrongKernel(WEIGHT, "no barrier before the shares are added", LAYER, SHARES, "// all shares", RACE),
    WrongKernel(WEIGHT, "one padding for both axes", LAYER, "% KERNEL_W - PADDING_W", "% KERNEL_W - PADDING_H"),
    WrongKernel(WEIGHT, "channels past the end", LAYER, " || ci + c < IN_CHANNELS", " || true", RACE + WRITE + NUMBERS),
    WrongKernel(WEIGHT, "last split lost", LONG, "split < SPLITS; split", "split + 1u < SPLITS; split"),
)
