"""Wrong kernels of the convolution's versions that use Winograd's method."""

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import RACE, WrongKernel

# The smallest problems that show a mistake: images whose tiles reach past them, and sums of two steps of 8.
OUT_9, IN_9 = ConvShape(1, 2, 3, 5, 9, 3, 3, 1, 1, 0), ConvShape(1, 9, 3, 6, 2, 3, 3, 1, 1, 0)
TILES_18 = ConvShape(2, 2, 11, 11, 3, 3, 3, 1, 1, 0)
PARTS = ConvShape(1, 1, 48, 48, 1, 3, 3, 1, 1, 1)  # 144 tiles, which two workgroups add up

FORWARD, INPUT, WEIGHT = "conv2d/3_winograd", "conv2d_grad_input/5_winograd", "conv2d_grad_weight/4_winograd"

PLACED, USED = "workgroupBarrier();  // both tiles are in place", "workgroupBarrier();  // no thread still reads them"
STAGED, WRITTEN = (
    "workgroupBarrier();  // one tile of each thread",
    "workgroupBarrier();  // no thread still reads it\n",
)


def _images(kernel: str, shape: ConvShape) -> tuple[WrongKernel, ...]:
    """Every barrier of the versions in which images come out, missing. Their matrices are in tests/test_winograd.py."""
    return (
        WrongKernel(kernel, "no barrier after the loads", shape, PLACED, "", RACE),
        WrongKernel(kernel, "no barrier after the products", shape, USED, "", RACE),
        WrongKernel(kernel, "no barrier before tiles change hands", shape, STAGED, "// one tile of each thread", RACE),
        WrongKernel(kernel, "no barrier after tiles changed hands", shape, WRITTEN, "\n", RACE),
    )


WRONG_KERNELS = (
    *_images(FORWARD, IN_9),
    WrongKernel(FORWARD, "bias forgotten", IN_9, " + bias[co]", ""),
    *_images(INPUT, OUT_9),
    WrongKernel(INPUT, "filter not flipped", OUT_9, "9u + 8u - tap", "9u + tap"),
    WrongKernel(INPUT, "last step of the channels left out", OUT_9, "k0 < K; k0", "k0 + TILE_K < K; k0"),
    WrongKernel(INPUT, "a filter of 3 reaches one row back", OUT_9, "PADDING_H - 2u", "PADDING_H - 1u"),
    # --- grad_weight --------------------------------------------------------------------------------------
    WrongKernel(WEIGHT, "no barrier after the loads", TILES_18, PLACED, "", RACE),
    WrongKernel(WEIGHT, "no barrier after the products", TILES_18, USED, "", RACE),
    WrongKernel(WEIGHT, "no barrier before the columns", TILES_18, "workgroupBarrier();  // all six", "// six", RACE),
    WrongKernel(
        WEIGHT, "no barrier before the writes", TILES_18, "workgroupBarrier();  // all weights", "// all", RACE
    ),
    WrongKernel(WEIGHT, "last part left out", PARTS, "part < PARTS; part++", "part + 1u < PARTS; part++"),
)
