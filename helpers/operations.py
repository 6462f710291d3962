"""All operations by the name of their folder in `kernels`; a new subject adds its own here."""

import helpers.convolution.operations
import helpers.gemm.operations
import helpers.network.operations
import helpers.summation.operations
from helpers.gpu.operation import Operation, Shape

OPERATIONS: dict[str, Operation] = (
    helpers.convolution.operations.OPERATIONS
    | helpers.summation.operations.OPERATIONS
    | helpers.gemm.operations.OPERATIONS
    | helpers.network.operations.OPERATIONS
)


def explain_choice(operation: str, shape: Shape) -> str:
    """Which version of an operation runs for a shape on this adapter where no `kernel=` is given, and why.

    Parameters
    ----------
    operation : str
        The name of a public function, which is that of its folder in `kernels`, like conv2d_grad_weight.
    shape : ConvShape, GemmShape or another
        The sizes of the problem.

    Raises
    ------
    ValueError
        There is no such operation.
    GpuError
        No version can run here.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"operation = {operation!r}: it must be one of {', '.join(OPERATIONS)}")
    return OPERATIONS[operation].explain_choice(shape)
