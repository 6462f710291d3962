"""The versions that lessons 01 to 04 teach: their workgroups, and the most loop iterations of one thread."""

from math import ceil, prod

from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_WORKGROUPS
from helpers.gpu.operation import Schedule, flat, nested_loops, one_step, tree_reduction
from helpers.wgsl import Kernel


@simple_only
def thread_per_output(s: ConvShape, kernel: Kernel) -> Schedule:
    schedule = one_step(flat(prod(s.output)), nested_loops(s.in_channels, s.kernel_h, s.kernel_w))
    if s.activation == "none":
        return schedule
    rule = "it has none; choose another version"
    return schedule._replace(refused=f"{kernel.name}: activation = {s.activation!r}: {rule}")


@simple_only
def thread_per_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.weight)), nested_loops(s.batch, s.out_h, s.out_w))


@simple_only
def workgroup_per_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    products = s.batch * s.out_h * s.out_w
    workgroups = s.in_channels * s.kernel_w, s.kernel_h, s.out_channels
    return one_step(workgroups, tree_reduction(products, kernel.value("THREADS")))


@simple_only
def gather(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.input)), nested_loops(s.out_channels, s.kernel_h, s.kernel_w))


@simple_only
def shared_weights(s: ConvShape, kernel: Kernel) -> Schedule:
    tile, chunk = kernel.value("TILE"), kernel.value("CHUNK")
    planes, weights = s.batch * s.in_channels, s.kernel_h * s.kernel_w
    layers, loaded = min(planes, MAX_WORKGROUPS), min(weights, chunk)
    inner = ceil(loaded / tile**2) + loaded + 2  # the loads, then the products
    iterations = nested_loops(ceil(planes / layers), s.out_channels, ceil(weights / chunk), inner)
    return one_step((ceil(s.in_w / tile), ceil(s.in_h / tile), layers), iterations)


def thread_per_channel(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(s.out_channels), nested_loops(s.batch, s.out_h * s.out_w))


def workgroup_per_channel(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step((s.out_channels, 1, 1), tree_reduction(s.batch * s.out_h * s.out_w, kernel.value("THREADS")))
