"""How conv2d_grad_weight's version for layers with few weights is dispatched: what a workgroup computes."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from helpers.convolution.schedules.implicit_gemm import layer
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.wgsl import MAX_THREADS, MAX_WORKGROUP_BYTES, Kernel


def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    constants = {**layer(s), **_tile(s), **dict(kernel.constants)}
    constants.setdefault("RUNS", 1)
    constants.setdefault("ROUND", 1)
    constants["SHARED"] = max(256, constants["ROUND"] * s.kernel_w * s.kernel_h * constants["SLOTS"] * constants["TEAMS"] * constants["CHANNELS"])
    sized = replace(kernel, constants=tuple(constants.items()))
    count = sized.value
    parts = count("PARTS")
    steps = [Step((parts, count("CO_BLOCKS"), count("CI_BLOCKS")), nested_loops(count("RUNS"), ceil(count("ROWS") / count("SLOTS"))), "sum_parts")]
    if parts > 1:
        steps.append(Step(flat(count("WEIGHTS"), 16), 0, "add_parts"))
    return Schedule(tuple(steps), {"parts": 4 * parts * count("WEIGHTS")}, constants)


def _tile(s):
    columns = 4 * ceil(ceil(s.out_w / ceil(s.out_w / 32)) / 4)
    f = max(1, min(s.out_channels, 480 // (columns * s.kernel_w)))
    rows = min(s.out_h, 24)
    slots = min(rows, max(1, 256 // s.kernel_h))
    return {"FILTERS": f, "TEAMS": 1, "CHANNELS": 1, "ROWS": rows, "COLUMNS": columns, "SLOTS": slots}
