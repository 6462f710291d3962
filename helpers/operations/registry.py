"""All operations by the name of their folder in `kernels`; a new subject adds its own here."""

from helpers.operations.convolution import operations as convolution
from helpers.operations.gemm import operations as gemm
from helpers.operations.network import operations as network
from helpers.operations.operation import Operation, Shape
from helpers.operations.summation import operations as summation

OPERATIONS: dict[str, Operation] = convolution.OPERATIONS | summation.OPERATIONS | gemm.OPERATIONS | network.OPERATIONS


def explain_choice(operation: str, shape: Shape) -> str:
    """Name the version that runs for a shape on this adapter where a call has no `kernel=`, and say why.

    Parameters
    ----------
    operation : str
        The name of a public function, which is that of its folder in `kernels`, like conv2d_grad_weight.
    shape : ConvShape, GemmShape or another
        The sizes of the problem.

    Raises
    ------
    TypeError, ValueError
        There is no such operation, or the shape is that of another one.
    GpuError
        No version can run here.
    """
    if operation not in list(OPERATIONS):  # in a list, as what cannot be hashed is refused, too
        raise ValueError(f"operation = {operation!r}: it must be one of {', '.join(OPERATIONS)}")
    kind = type(OPERATIONS[operation].examples[0])
    if not isinstance(shape, kind):
        raise TypeError(f"shape is a {type(shape).__name__}: {operation} takes a {kind.__name__}")
    return OPERATIONS[operation].explain_choice(shape)
