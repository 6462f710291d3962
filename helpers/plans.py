"""How each kernel is dispatched: its workgroups in x, y and z, and the most loop iterations of one thread."""

from math import ceil, prod

from helpers import gpu
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel

Plan = tuple[tuple[int, int, int], int]  # workgroups, and the most loop iterations of one thread


def flat(elements: int) -> tuple[int, int, int]:
    """Workgroups of 256 threads, one thread an element, in rows of at most 65,535 workgroups."""
    blocks = ceil(elements / 256)
    return min(blocks, gpu.MAX_WORKGROUPS), ceil(blocks / gpu.MAX_WORKGROUPS), 1


Loop = tuple[int, int]  # iterations of a thread that enters a loop, and of one that only waits for its neighbors


def loop(size: int, *inner: Loop) -> Loop:
    """Count a loop's iterations, those of the loops in its body included.

    The test that ends a loop is an iteration too. And where threads run in step, those that have left a loop still
    walk through the rest of its body, doing nothing: that costs one more iteration of every loop inside.
    """
    waiting = 1 + sum(idle for _, idle in inner)
    return size * (1 + sum(busy for busy, _ in inner)) + waiting, waiting


def tree(elements: int, threads: int) -> int:
    """Iterations of one thread that takes every `threads`-th element and then folds the partial sums.

    Raises ValueError where `threads` is no power of two: a fold in half would lose a sum.
    """
    if threads & (threads - 1):
        raise ValueError(f"THREADS = {threads}: it must be a power of two")
    return loop(ceil(elements / threads))[0] + loop(threads.bit_length() - 1)[0]


def thread_per_output(s: ConvShape, kernel: Kernel) -> Plan:
    return flat(prod(s.output)), loop(s.in_channels, loop(s.kernel_h, loop(s.kernel_w)))[0]


def thread_per_weight(s: ConvShape, kernel: Kernel) -> Plan:
    return flat(prod(s.weight)), loop(s.batch, loop(s.out_h, loop(s.out_w)))[0]


def workgroup_per_weight(s: ConvShape, kernel: Kernel) -> Plan:
    products = s.batch * s.out_h * s.out_w
    return (s.in_channels * s.kernel_w, s.kernel_h, s.out_channels), tree(products, kernel.value("THREADS"))


def gather(s: ConvShape, kernel: Kernel) -> Plan:
    return flat(prod(s.input)), loop(s.out_channels, loop(s.kernel_h, loop(s.kernel_w)))[0]


def shared_weights(s: ConvShape, kernel: Kernel) -> Plan:
    tile, chunk = kernel.value("TILE"), kernel.value("CHUNK")
    planes, taps = s.batch * s.in_channels, s.kernel_h * s.kernel_w
    layers = min(planes, gpu.MAX_WORKGROUPS)
    most = min(taps, chunk)
    chunks = loop(ceil(taps / chunk), loop(ceil(most / tile**2)), loop(most))
    loops, _ = loop(ceil(planes / layers), loop(s.out_channels, chunks))
    return (ceil(s.in_w / tile), ceil(s.in_h / tile), layers), loops


def thread_per_channel(s: ConvShape, kernel: Kernel) -> Plan:
    return flat(s.out_channels), loop(s.batch, loop(s.out_h * s.out_w))[0]


def workgroup_per_channel(s: ConvShape, kernel: Kernel) -> Plan:
    return (s.out_channels, 1, 1), tree(s.batch * s.out_h * s.out_w, kernel.value("THREADS"))
