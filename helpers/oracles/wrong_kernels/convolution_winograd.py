"""Wrong kernels of the convolution's versions that use Winograd's method."""

from dataclasses import replace

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import RACE, WrongKernel

# The smallest problems that show a mistake: images whose tiles reach past them, and sums of two steps of 8.
OUT_9, IN_9 = ConvShape(1, 2, 3, 5, 9, 3, 3, 1, (1, 0)), ConvShape(1, 9, 3, 6, 2, 3, 3, 1, (1, 0))
RELU = replace(IN_9, activation="relu")
TILES_18 = ConvShape(2, 2, 11, 11, 3, 3, 3, 1, (1, 0))

FORWARD, INPUT, WEIGHT = "conv2d/3_winograd", "conv2d_grad_input/5_winograd", "conv2d_grad_weight/4_winograd"

PLACED, USED = "workgroupBarrier();  // both tiles are in place", "workgroupBarrier();  // no thread still reads them"
STAGED, WRITTEN = (
    "workgroupBarrier();  // one tile of each thread",
    "workgroupBarrier();  // no thread still reads it\n",
)
STEPS_16 = {"TILE_K": 16}  # so many tiles are transformed at a time
TWO_PARTS = {**STEPS_16, "PARTS": 2}
BARRIERS = {
    "after the loads": "both tiles are in place",
    "after the products": "no thread still reads them",
    "before the columns": "all six",
    "before the writes": "all weights",
}


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
    WrongKernel(FORWARD, "activation forgotten", RELU, "= activate(pre);", "= pre;"),
    WrongKernel(FORWARD, "activation before the bias", RELU, "pixels[i] + bias", "activate(pixels[i]) + bias"),
    *_images(INPUT, OUT_9),
    WrongKernel(INPUT, "filter not flipped", OUT_9, "9u + 8u - tap", "9u + tap"),
    # --- grad_weight --------------------------------------------------------------------------------------
    *(
        WrongKernel(WEIGHT, f"no barrier {name}", TILES_18, f"workgroupBarrier();  // {comment}", "// ", RACE, STEPS_16)
        for name, comment in BARRIERS.items()
    ),
    WrongKernel(
        WEIGHT, "last part left out", TILES_18, "part < PARTS; part", "part + 1u < PARTS; part", constants=TWO_PARTS
    ),
)
