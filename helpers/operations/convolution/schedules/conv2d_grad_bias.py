"""The schedules of the versions of conv2d_grad_bias."""

from math import ceil

from helpers.operations.convolution.schedules.shared import MANY_WORKGROUPS
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, Step, flat, nested_loops, one_step, tree_reduction
from wgsl import Kernel
from wgsl.specialize import chosen


def thread_per_channel(s: ConvShape, kernel: Kernel) -> Schedule:
    """One thread for each channel."""
    return one_step(flat(s.out_channels), nested_loops(s.batch, s.out_h * s.out_w))


def workgroup_per_channel(s: ConvShape, kernel: Kernel) -> Schedule:
    """One workgroup for each channel."""
    terms = s.batch * s.out_h * s.out_w
    iterations = tree_reduction(terms, kernel.value("THREADS"))
    return one_step((s.out_channels, 1, 1), iterations)


def two_passes(s: ConvShape, kernel: Kernel) -> Schedule:
    """Many workgroups sum slices of each channel, and then one adds up their sums."""
    threads = kernel.value("THREADS")
    loads = kernel.value("LOADS")
    pixels = s.out_h * s.out_w
    count = s.batch * pixels
    block = threads * loads  # numbers that a workgroup loads at once
    all_blocks = ceil(count / block) * s.out_channels
    blocks = max(1, all_blocks // MANY_WORKGROUPS)  # of a slice
    (slice_,) = chosen(kernel, SLICE=blocks * block)
    slices = ceil(count / slice_)
    loops = nested_loops(slice_ // block) + nested_loops(loads - 1)
    steps = (
        Step((slices, s.out_channels, 1), loops + tree_reduction(0, threads), "sum_slices"),
        Step((s.out_channels, 1, 1), tree_reduction(slices, threads), "sum_parts"),
    )
    scratch = {"parts": 4 * s.out_channels * slices}
    constants = {"OUT_CHANNELS": s.out_channels, "PIXELS": pixels, "COUNT": count, "SLICE": slice_}
    return Schedule(steps, scratch, constants)
