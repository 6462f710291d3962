"""Edits of official kernels that are faults, and that the numbers of a lesson's test miss (lessons 02 and 06)."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Shape
from helpers.gradient_checks.harness import drawn, operation_of, simulated
from helpers.gradient_checks.wrong_kernels import WEIGHT_1
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.kernels import load
from wgsl import Kernel, WgslError

MOST_ITERATIONS = 2_000  # of a thread: the right kernels need 360


class Planting(NamedTuple):
    """The kernel in which a fault is planted, the test that is to miss it, and what shows such faults.

    `asked` leads on where the test sees the fault; the tensor `ones` of the test is full of ones. Where the lesson
    lists one `part` of the kernel, only that part is edited.
    """

    kernel: str
    test: str
    shape: Shape
    others: Mapping[str, Shape]
    asked: str
    ones: str = ""
    part: int | None = None

    def edited(self, old: str, new: str) -> Kernel:
        """The kernel with one piece replaced; ValueError where it does not occur exactly once in what is listed."""
        kernel = load(self.kernel)
        listed = Kernel(kernel.part(self.part).text, f"part {self.part}") if self.part else kernel
        return kernel.edit(listed.source, listed.edit(old, new).source)

    def seen(self, kernel: Kernel, shape: Shape) -> tuple[str, str]:
        """How many numbers are wrong, and the first thing that the simulator finds, each empty where nothing is."""
        operation = operation_of(kernel)
        tensors = drawn(operation, shape)
        if self.ones and shape is self.shape:
            tensors[self.ones] = np.ones_like(tensors[self.ones])
        got, traces = simulated(kernel, shape, tensors, max_steps=MOST_ITERATIONS)
        pairs = [*zip(got, operation.right(shape, tensors), strict=True)]
        wrong, size = sum(int((one != other).sum()) for one, other in pairs), sum(one.size for one, _ in pairs)
        found = next((f.message for trace in traces for f in trace.findings), "")
        return f"{wrong:,} of {size:,} numbers are wrong" * bool(wrong), found


PLANTED = {
    "fault_that_the_hard_case_misses": Planting(
        WEIGHT_1,
        "the hard case",
        ConvShape(4, 7, 19, 18, 8, 5, 6, stride=2, padding=(1, 3)),  # as in the lesson: all sizes differ
        {
            "stride 1 and a batch of 2": ConvShape(2, 3, 6, 9, 5, 4, 2, stride=1, padding=(2, 0)),
            "stride 3 and more channels": ConvShape(5, 10, 11, 8, 9, 2, 4, stride=3, padding=(3, 2)),
        },
        "which of its sizes could be written down in the kernel?",
    ),
    "fault_that_ones_miss": Planting(
        "gemm_bias_act_backward/2_tiled",
        "the test with ones",
        GemmShape(16, 16, 16, activation="relu"),
        {"random numbers and other sizes": GemmShape(19, 37, 21, activation="relu")},
        "if all numbers of a are 1, which tile looks the same whether it is transposed or not?",
        "a",
        part=5,
    ),
}


def plant(name: str, old: str | None = None, new: str = "") -> Verdict:
    """What to say of an edit of an official kernel; it is simulated, so that it may do what it likes.

    Raises AnswerError, a TypeError, where `old` or `new` is no text, or `old` does not occur exactly once.
    """
    if old is None:
        return Verdict(name, NOT_ATTEMPTED, "write a piece of the kernel in place of None, and what replaces it")
    planting = PLANTED[name]
    try:
        kernel = planting.edited(old, new)
        wrong, found = planting.seen(kernel, planting.shape)
    except WgslError as error:
        return Verdict(name, NO_COMPILE, str(error))
    except (TypeError, ValueError) as error:
        raise AnswerError(str(error)) from None
    if wrong:
        return Verdict(name, WRONG, f"{planting.test} shows it: {wrong}; {planting.asked}")
    if found:
        return Verdict(name, RIGHT, f"all its numbers are right, and only the simulator sees it: {found}")
    for how, shape in planting.others.items():
        if seen := next(filter(None, planting.seen(kernel, shape)), ""):
            return Verdict(name, RIGHT, f"{planting.test} misses it; with {how}, {seen}")
    cases = 1 + len(planting.others)
    return Verdict(name, WRONG, f"the kernel is as right as before, in {cases} cases; what does your edit change?")
