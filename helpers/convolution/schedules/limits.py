"""Versions with one stride, no dilation and one group refuse all other layers by name."""

from collections.abc import Callable
from functools import wraps

from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Schedule
from helpers.wgsl import Kernel

ScheduleFunction = Callable[[ConvShape, Kernel], Schedule]


def is_simple(s: ConvShape) -> bool:
    """Has a convolution one stride for both axes, no dilation and one group?"""
    return not _beyond(s)


def simple_only(schedule: ScheduleFunction) -> ScheduleFunction:
    """The schedule of a version whose kernel takes only simple convolutions: it refuses all others by name."""

    @wraps(schedule)
    def limited(s: ConvShape, kernel: Kernel) -> Schedule:
        beyond = _beyond(s)
        if beyond:
            return Schedule((), refused=f"{kernel.name}: {beyond}: choose another version")
        return schedule(s, kernel)

    return limited


def _beyond(s: ConvShape) -> str:
    """The first thing that makes a convolution more than a simple one, and the rule that it breaks; or ""."""
    if s.stride_h != s.stride_w:
        return f"stride = {s.stride}: it takes one stride for both axes"
    if s.dilation != (1, 1):
        return f"dilation = {s.dilation}: it takes no dilation, which is (1, 1)"
    return f"groups = {s.groups}: it takes one group" if s.groups > 1 else ""
