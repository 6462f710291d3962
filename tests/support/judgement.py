"""What the checker says of a mutant, on problems that show the most."""

from collections.abc import Iterator
from unittest.mock import patch

from support.mutants import Mutant

from helpers.convolution.schedules import teaching
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.gpu import operation
from helpers.gpu.operation import Shape
from helpers.oracles.checker import reasons
from helpers.oracles.harness import operation_of
from helpers.summation.shapes import SumShape
from helpers.wgsl import Kernel, UnsupportedWgsl, WgslError

NO_COMPILE, REFUSED = "does not compile", "refused by the launcher"
# The kernels are `small`: their tiles have 4 x 4 threads, and 20 weights are held at once.
CONVOLUTIONS = (  # no two sizes are equal in all of them
    ConvShape(2, 3, 7, 9, 4, 3, 2, 2, (1, 2)),  # rows are not columns, and no two numbers of channels are equal
    ConvShape(2, 3, 5, 7, 4, 3, 2, 1, (1, 2)),  # stride 1
    ConvShape(1, 2, 8, 7, 2, 7, 6),  # more weights than threads, and than are held at once
    ConvShape(2, 1, 17, 18, 3, 1, 1),  # more products than 256 threads
    ConvShape(2, 3, 6, 5, 2, 2, 3, 3, (3, 1)),  # padding and stride larger than the filter
)
LAYERS = (
    GemmShape(5, 7, 9, 3, "relu"),  # no tile is full
    GemmShape(5, 7, 9, 3, "relu", True),  # a b for each item
    GemmShape(5, 7, 9, 3, "relu", False, True),  # a d_b for each item
    GemmShape(5, 7, 9, 3, "relu", True, True),  # both
    GemmShape(2, 3, 300),  # more columns than 256 threads
    GemmShape(9, 3, 4),  # more rows than two tiles
    GemmShape(3, 13, 5, 2, "relu"),  # more terms than columns
    *(GemmShape(3, 5, 6, 2, activation) for activation in ACTIVATIONS),
)
SUMS = tuple(map(SumShape, (700, 1, 257, 5_000)))
CASES: dict[str, tuple[Shape, ...]] = {  # of an operation, or of one version
    "sum": SUMS,
    "sum/3_two_passes": (*SUMS, SumShape(65_537)),  # more than 256 workgroups of 256 threads
    "gemm_bias_act": LAYERS,
    "gemm_bias_act_backward": LAYERS,
}
# More workgroups than a row of a dispatch holds, if that were 2 instead of 65,535.
IN_ROWS: dict[str, Shape] = {
    "conv2d_grad_bias": ConvShape(1, 1, 2, 1, 1500, 1, 1),
    "gemm_bias_act": GemmShape(5, 7, 37, 9),
    "gemm_bias_act_backward": GemmShape(5, 20, 37, 9),
}
MANY = ConvShape(3, 6, 9, 11, 20, 3, 4)


def judged(mutant: Mutant) -> str:
    """What rejects it: "wrong numbers", a kind of finding, "does not compile" ...; "" if nothing does."""
    kernel, name = mutant.changed, operation_of(mutant.kernel).name
    try:
        return next(filter(None, _said(kernel, name)), "")
    except UnsupportedWgsl:
        raise  # no mutant may be counted that was not judged
    except WgslError:
        return NO_COMPILE
    except ValueError as error:
        if "it must be a power of two" in str(error):  # the number of threads of a tree
            return REFUSED
        raise


def _said(kernel: Kernel, name: str) -> Iterator[str]:
    """What each problem says."""
    for shape in CASES.get(kernel.name) or CASES.get(name, CONVOLUTIONS):
        yield _kind(kernel, shape)
    if name != "sum":
        with patch.object(operation, "MAX_WORKGROUPS", 2), patch.object(teaching, "MAX_WORKGROUPS", 2):
            yield _kind(kernel, IN_ROWS.get(name, MANY))


def _kind(kernel: Kernel, shape: Shape) -> str:
    """The first reason that one problem gives, or nothing."""
    return next((reason.kind for reason in reasons(kernel, shape)), "")
