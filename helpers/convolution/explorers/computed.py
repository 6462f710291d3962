"""The pictures of sums, with what the GPU makes of their tensors."""

from collections.abc import Mapping

import numpy as np

from helpers.convolution.operations import OPERATIONS
from helpers.convolution.pictures.sums import SumPicture
from helpers.convolution.shapes import ConvShape

BY_RESULT = {operation.outputs[0]: operation for operation in OPERATIONS.values()}


def computed(
    kind: type[SumPicture], shape: ConvShape, tensors: Mapping[str, np.ndarray], letters: bool = False
) -> SumPicture:
    """A picture of these tensors, beside what the GPU makes of them."""
    (returned,) = BY_RESULT[kind.result].compute(shape, None, **tensors)
    return kind(shape, tensors, returned, letters)
