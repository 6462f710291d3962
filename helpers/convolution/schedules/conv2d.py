"""How the versions of conv2d are dispatched."""

from math import prod

from helpers.convolution.schedules import shared
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import AdapterInfo
from helpers.gpu.operation import Schedule, flat, nested_loops, one_step
from helpers.wgsl import Kernel


@shared.simple_only
def thread_per_output(s: ConvShape, kernel: Kernel) -> Schedule:
    schedule = one_step(flat(prod(s.output)), nested_loops(s.in_channels, s.kernel_h, s.kernel_w))
    if s.activation == "none":
        return schedule
    rule = "it has none; choose another version"
    return schedule._replace(refused=f"{kernel.name}: activation = {s.activation!r}: {rule}")


def implicit_gemm(s: ConvShape, kernel: Kernel) -> Schedule:
    """Rows are output channels, columns output pixels, terms taps and input channels."""
    return shared.implicit_gemm(s, kernel, "output")


@shared.simple_only
def winograd(s: ConvShape, kernel: Kernel) -> Schedule:
    return shared.winograd(s, kernel, "output")


@shared.simple_only
def register_windows(s: ConvShape, kernel: Kernel, adapter: AdapterInfo) -> Schedule:
    """Tiles of outputs; the loop runs over input channels."""
    return shared.register_windows(s, kernel, "output", adapter)


def direct(s: ConvShape, kernel: Kernel) -> Schedule:
    """One thread for the same output in some images."""
    return shared.direct(s, kernel, "output")
