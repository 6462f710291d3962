"""The schedules of the versions of conv2d."""

from functools import partial
from math import prod

from helpers.operations.convolution.schedules import shared
from helpers.operations.convolution.schedules.shared import simple_rule, takes
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, flat, nested_loops, one_step
from wgsl import Kernel


def activation_rule(s: ConvShape) -> str:
    """Outputs as they are."""
    if s.activation == "none":
        return ""
    return f"activation = {s.activation!r}: it has none; choose another version"


@takes(simple_rule, activation_rule)
def thread_per_output(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.output)), nested_loops(s.in_channels, s.kernel_h, s.kernel_w))


# Rows are output channels, columns output pixels, terms taps and input channels.
implicit_gemm = partial(shared.implicit_gemm, result="output")
winograd = partial(shared.winograd, result="output")
# Tiles of outputs; the loop runs over input channels.
register_windows = partial(shared.register_windows, result="output")
# One thread for the same output in some images.
direct = partial(shared.direct, result="output")
