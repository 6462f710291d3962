"""Edits of official kernels that are faults, and that the numbers of a lesson's test miss (lessons 02 and 06)."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.data import tables
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.operations.harness import drawn, operation_of, simulated
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
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


NEEDED = {"kernel": str, "test": str, "asked": str}
OPTIONAL = {"ones": str, "part": int}


def read(file: Path, **shapes: tuple[Shape, Mapping[str, Shape]]) -> dict[str, Planting]:
    """Return the exercises of a lesson's ``planted.toml`` by their names, each with the shapes on which it is tried.

    They are that of the lesson's test, and others in words, which show what it misses.
    """
    tables_by_name = tables.read(file, NEEDED, OPTIONAL)
    return {
        name: Planting(**table, shape=shapes[name][0], others=shapes[name][1]) for name, table in tables_by_name.items()
    }


def plant(name: str, planting: Planting, old: str | None = None, new: str = "") -> Verdict:
    """What to say of an edit of an official kernel; it is simulated, so that it may do what it likes.

    Raises AnswerError, a TypeError, where `old` or `new` is no text, or `old` does not occur exactly once.
    """
    if old is None:
        return Verdict(name, NOT_ATTEMPTED, "write a piece of the kernel in place of None, and what replaces it")
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
