"""Wrong kernels that look right: all versions of all operations, each with one mistake that has a name.

Every kind of mistake that is made in practice is here, and every barrier is missing once. The tests show that the
checker rejects each row for exactly the reasons that it states, and accepts the right kernel on the same problem.
"""

from helpers.oracles.wrong_kernels import (
    convolution,
    convolution_direct,
    convolution_tiles,
    convolution_weights,
    convolution_windows,
    convolution_winograd,
    gemm,
    gemm_backward,
    gemm_tiles,
    software_and_bias,
    summation,
)
from helpers.oracles.wrong_kernels.row import WrongKernel

WRONG_KERNELS: tuple[WrongKernel, ...] = (
    *convolution.WRONG_KERNELS,
    *convolution_direct.WRONG_KERNELS,
    *convolution_tiles.WRONG_KERNELS,
    *convolution_weights.WRONG_KERNELS,
    *convolution_windows.WRONG_KERNELS,
    *convolution_winograd.WRONG_KERNELS,
    *summation.WRONG_KERNELS,
    *gemm.WRONG_KERNELS,
    *gemm_backward.WRONG_KERNELS,
    *gemm_tiles.WRONG_KERNELS,
    *software_and_bias.WRONG_KERNELS,
)
