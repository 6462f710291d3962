"""How a bias gradient is summed by many workgroups for each channel, and then by one."""

from math import ceil, prod

from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Schedule, Step, nested_loops, tree_reduction
from helpers.wgsl import Kernel

ENOUGH = 2112  # workgroups that keep a large GPU busy: two rounds of the 8 that each of 132 multiprocessors can hold


def two_passes(s: ConvShape, kernel: Kernel) -> Schedule:
    threads, loads = kernel.value("THREADS"), kernel.value("LOADS")
    pixels, count = s.out_h * s.out_w, s.batch * s.out_h * s.out_w
    block = threads * loads  # what a workgroup asks for at once
    blocks = max(1, ceil(count / block) * s.out_channels // ENOUGH)  # of a slice
    slice_ = dict(kernel.constants).get("SLICE", blocks * block)
    slices = ceil(count / slice_)
    rounds = nested_loops(slice_ // block) + nested_loops(loads - 1)
    steps = (
        Step((slices, s.out_channels, 1), rounds + tree_reduction(0, threads), "sum_slices"),
        Step((s.out_channels, 1, 1), tree_reduction(slices, threads), "sum_parts"),
    )
    constants = {"OUT_CHANNELS": s.out_channels, "PIXELS": pixels, "COUNT": count, "SLICE": slice_}
    return Schedule(steps, {"parts": 4 * prod((s.out_channels, slices))}, constants)
