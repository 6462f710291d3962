"""Is a version right on the very layer that it is timed on?

On a small layer, random outputs are compared with the float64 reference, within the tolerance that is proven for
float32. That would take long on a large one. It gets whole numbers, on which float32 sums are exact in every order:
every output of every version must be NumPy's. Only a version that is not exact on whole numbers (Winograd's transforms
divide) may be off, but must be nearer to them than to any other whole numbers.
"""

from collections.abc import Sequence

import numpy as np

from helpers.bench.libraries import Numpy
from helpers.checks.report import compare
from helpers.gpu.operation import Operation, Shape
from helpers.gradient_checks import harness
from helpers.speed.layers import multiply_adds
from wgsl import Kernel

LARGE = 30_000_000  # multiply-adds from which on a layer gets whole numbers
NEAR = 0.499  # how far a version that rounds on whole numbers, too, may be off


class Check:
    """The check of all versions of one operation on one layer; `tensors` are the inputs that they are to be run on."""

    def __init__(self, operation: Operation, shape: Shape) -> None:
        self.operation, self.shape, self.right = operation, shape, None
        large, library = multiply_adds(operation.name, shape) > LARGE, Numpy()
        self.tensors = harness.drawn(operation, shape, harness.whole if large else harness.normal)
        if large and library.runs(operation.name, shape):
            right = library.call(operation.name, shape, self.tensors)()
            self.right = right if isinstance(right, tuple) else (right,)
        elif large:
            self.right = operation.right(shape, self.tensors)

    def require(self, kernel: Kernel, outputs: Sequence[np.ndarray]) -> str:
        """Say how the outputs of a version were found right. Raises CheckError where they are wrong."""
        if self.right is None:
            for report in harness.reports(kernel, self.shape, self.tensors, outputs):
                report.require()
            return "beside float64"
        rounds = kernel.version in self.operation.judges
        for name, got, want in zip(self.operation.outputs, outputs, self.right, strict=True):
            compare(name, got, want, NEAR * rounds).require()
        return "in whole numbers, nearly" if rounds else "in whole numbers, exactly"
