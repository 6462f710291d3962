"""Wrong kernels of the layer's versions for software adapters, and of the bias gradient in two passes."""

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels.row import RACE, READ, WrongKernel

# The smallest problems that show a mistake: no tile is full, and a sum has two steps of 4.
LAYER, OWN_B = GemmShape(3, 8, 12, 2, "relu"), GemmShape(3, 8, 12, 2, "relu", b_per_item=True)
CHANNELS = ConvShape(2, 1, 3, 4, 3, 1, 1)
SLICES = ConvShape(1, 1, 33, 64, 1, 1, 1)  # a slice and a part of one

FORWARD, BACKWARD = "gemm_bias_act/6_registers_only", "gemm_bias_act_backward/4_registers_only"
BIAS = "conv2d_grad_bias/3_two_passes"

SUMMED = "workgroupBarrier();  // the sums that this step reads"

WRONG_KERNELS = (
    WrongKernel(FORWARD, "last step of k left out", LAYER, "k < K; k", "k + 4u < K; k"),
    WrongKernel(FORWARD, "every item reads item 0's b", OWN_B, "item * B_STRIDE + ", ""),
    WrongKernel(FORWARD, "reads past the last row of a", LAYER, "min(m0 + row, M - 1u)", "m0 + row", READ),
    # --- The backward pass --------------------------------------------------------------------------------
    WrongKernel(BACKWARD, "b not transposed for d_a", LAYER, "right = transposed(right);", ""),
    WrongKernel(BACKWARD, "steps past the last row count in d_b", LAYER, "|| m < D_B_ROWS", "|| true"),
    WrongKernel(BACKWARD, "last row counted again in d_bias", LAYER, ", row + i < ALL_ROWS)", ", true)"),
    # --- grad_bias ----------------------------------------------------------------------------------------
    WrongKernel(BIAS, "no barrier in the tree", CHANNELS, SUMMED, "// the sums", RACE),
    WrongKernel(BIAS, "slices past the end", CHANNELS, "min(first + SLICE, COUNT)", "first + SLICE", READ),
    WrongKernel(BIAS, "last part left out", SLICES, "i < SLICES; i", "i + 1u < SLICES; i"),
)
