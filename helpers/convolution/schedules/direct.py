"""The versions that serve every convolution: any stride, padding and dilation along each axis, and groups."""

from math import ceil, prod

from helpers.convolution.schedules.layer import layer, with_activation
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING
from helpers.gpu.operation import Schedule, Step, flat, nested_loops, one_step, tree_reduction
from helpers.wgsl import Kernel

MOST_IMAGES = 4  # of a thread: more of them leave too few threads for most layers
MANY_THREADS = 65_536  # so many keep a GPU busy
MOST_TAPS = 9  # weights of a filter that a workgroup adds up: a sum in a register each
ENOUGH = 2112  # workgroups that keep a large GPU busy: two rounds of the 8 that each of 132 multiprocessors can hold


def forward(s: ConvShape, kernel: Kernel) -> Schedule:
    """One thread for the same output in some images."""
    loops = nested_loops(s.weight[1], s.kernel_h, s.kernel_w)
    return with_activation(s, _by_images(s, kernel, prod(s.output[1:]), loops))


def grad_input(s: ConvShape, kernel: Kernel) -> Schedule:
    """One thread for the same pixel in some images."""
    loops = nested_loops(s.out_channels // s.groups, s.kernel_h, s.kernel_w)
    return _by_images(s, kernel, prod(s.input[1:]), loops)


def _by_images(s: ConvShape, kernel: Kernel, elements: int, iterations: int) -> Schedule:
    """One thread for each element of a block of images, which is as large as it can be while a GPU stays busy."""
    fits = max(1, min(MOST_IMAGES, s.batch, s.batch * elements // MANY_THREADS))
    images = dict(kernel.constants).get("IMAGES", fits)
    schedule = one_step(flat(ceil(s.batch / images) * elements), iterations)
    return schedule._replace(constants={**layer(s), "IMAGES": images})


def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    """Some workgroups share the long sums of some weights of a filter; a second pass adds what each of them found."""
    given = dict(kernel.constants)
    weights, count = s.kernel_h * s.kernel_w, s.batch * s.out_h * s.out_w
    threads = kernel.value("THREADS")
    taps = given.get("TAPS", ceil(weights / ceil(weights / min(MOST_TAPS, threads))))
    filters = prod(s.weight[:2]) * ceil(weights / taps)
    most = min(ceil(count / threads), MAX_BINDING // (4 * prod(s.weight)))
    parts = given.get("PARTS", max(1, min(most, ceil(ENOUGH / filters))))
    steps = (
        Step(flat(filters * parts, 1), tree_reduction(ceil(count / parts), threads), "sum_slices"),
        Step(flat(prod(s.weight)), nested_loops(parts), "sum_parts"),
    )
    problem = f"{kernel.name}: TAPS = {taps}: a thread writes each sum, so it may be at most THREADS = {threads}"
    scratch, constants = {"parts": 4 * prod(s.weight) * parts}, {**layer(s), "TAPS": taps, "PARTS": parts}
    return Schedule(steps, scratch, constants, problem if taps > threads else None)
