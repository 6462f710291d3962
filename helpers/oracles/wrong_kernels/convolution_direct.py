"""Wrong kernels of the versions that serve every convolution."""

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import NUMBERS, RACE, READ, WRITE, WrongKernel

# No two steps along an axis are equal; two groups with two filters each over two channels; an odd number of images.
LAYER = ConvShape(3, 4, 5, 7, 4, 3, 2, (2, 1), (1, 2), (1, 3), 2)
UNEQUAL = ConvShape(1, 2, 5, 6, 4, 2, 3, (1, 2), (0, 1), (2, 1), 2)  # a group has one channel, and two filters

FORWARD, INPUT, WEIGHT = "conv2d/5_direct", "conv2d_grad_input/8_direct", "conv2d_grad_weight/7_direct"
TWO, SMALL = {"IMAGES": 2}, {"THREADS": 4, "PARTS": 5, "TAPS": 4}
IN_TREE = "workgroupBarrier();  // the sums that this step reads are written"
AFTER_TREE = "workgroupBarrier();  // the last step's sums are written"

WRONG_KERNELS = (
    WrongKernel(FORWARD, "dilation forgotten", LAYER, "kw * DILATION_W", "kw", constants=TWO),
    WrongKernel(FORWARD, "one stride for both axes", LAYER, "ow * STRIDE_W", "ow * STRIDE_H", constants=TWO),
    WrongKernel(FORWARD, "all filters read the first group", LAYER, "co / GROUP_OUT * GROUP_IN", "0u", constants=TWO),
    WrongKernel(FORWARD, "group found by its channels", UNEQUAL, "co / GROUP_OUT", "co / GROUP_IN", READ + NUMBERS),
    WrongKernel(FORWARD, "images past the last one", LAYER, "BATCH % IMAGES == 0u || ", "true || ", READ + WRITE, TWO),
    # --- grad_input -------------------------------------------------------------------------------------------
    WrongKernel(INPUT, "dilation forgotten", LAYER, "kw * DILATION_W", "kw", constants=TWO),
    WrongKernel(INPUT, "stride divides badly", LAYER, "row % STRIDE_H != 0u || ", "", constants=TWO),
    WrongKernel(INPUT, "filters of all groups", LAYER, "co < first + GROUP_OUT", "co < OUT_CHANNELS", constants=TWO),
    WrongKernel(INPUT, "images past the last one", LAYER, "BATCH % IMAGES == 0u || ", "true || ", READ + WRITE, TWO),
    # --- grad_weight ------------------------------------------------------------------------------------------
    WrongKernel(WEIGHT, "no barrier in the tree", LAYER, IN_TREE, "", RACE, SMALL),
    WrongKernel(WEIGHT, "no barrier after the tree", LAYER, AFTER_TREE, "", RACE, SMALL),
    WrongKernel(WEIGHT, "dilation forgotten", LAYER, "tap % KERNEL_W * DILATION_W", "tap % KERNEL_W", constants=SMALL),
    WrongKernel(WEIGHT, "channels of the first group", LAYER, "co / GROUP_OUT * GROUP_IN + ci", "ci", constants=SMALL),
    WrongKernel(WEIGHT, "last part left out", LAYER, "part < PARTS; part", "part + 1u < PARTS; part", constants=SMALL),
    WrongKernel(
        WEIGHT,
        "slice past the end",
        LAYER,
        "min((part + 1u) * SLICE, COUNT)",
        "(part + 1u) * SLICE",
        READ,
        SMALL,
    ),
)
