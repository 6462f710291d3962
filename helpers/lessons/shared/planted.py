"""Edits of official kernels that are faults, and that a lesson's test misses (lessons 02, 03 and 06)."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.data import tables
from helpers.grading.prediction import AnswerError
from helpers.grading.reasons import Plain
from helpers.grading.replies import MissedByTest, NoFaultSeen, NothingPlanted, Seen, SeenBySimulatorAlone, SeenByTest
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.operations.harness import drawn, operation_of, simulated
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
from wgsl import Kernel, WgslError

MOST_ITERATIONS = 2_000  # of a thread: the right kernels need 360


class Planting(NamedTuple):
    """The kernel in which a fault is planted, the test that is to miss it, and what shows such faults.

    `asked` leads on where the test sees the fault; the tensor `ones` of the test is full of ones. Where the lesson
    lists one `part` of the kernel, only that part is edited. Where the test is `simulated`, it sees races, too.
    """

    kernel: str
    test: str
    shape: Shape
    others: Mapping[str, Shape]
    asked: str
    ones: str = ""
    part: int | None = None
    simulated: bool = False

    def edited(self, old: str, new: str) -> Kernel:
        """The kernel with one piece replaced; ValueError where it does not occur exactly once in what is listed."""
        kernel = load(self.kernel)
        if not self.part:
            return kernel.edit(old, new)
        listed = Kernel(kernel.part(self.part).text, f"part {self.part}")
        edited = listed.edit(old, new)
        return kernel.edit(listed.source, edited.source)

    def kernel_has(self, piece: str) -> bool:
        """Return True where this piece of text can be replaced: it occurs exactly once in what is listed."""
        kernel = load(self.kernel)
        listed = kernel.part(self.part).text if self.part else kernel.source
        return listed.count(piece) == 1

    def seen(self, kernel: Kernel, shape: Shape) -> Seen:
        """Return how many numbers are wrong, and the first thing that the simulator finds."""
        operation = operation_of(kernel)
        tensors = drawn(operation, shape)
        if self.ones and shape is self.shape:
            tensors[self.ones] = np.ones_like(tensors[self.ones])
        got, traces = simulated(kernel, shape, tensors, max_steps=MOST_ITERATIONS)
        wrong = 0
        size = 0
        for returned, right in zip(got, operation.right(shape, tensors), strict=True):
            wrong += int((returned != right).sum())
            size += returned.size
        findings = chain.from_iterable(trace.findings for trace in traces)
        return Seen(wrong, size, next(findings, None))


NEEDED = {"kernel": str, "test": str, "asked": str}
OPTIONAL = {"ones": str, "part": int, "simulated": bool}


def read(file: Path, **shapes: tuple[Shape, Mapping[str, Shape]]) -> dict[str, Planting]:
    """Return the exercises of a lesson's ``planted.toml`` by their names, each with the shapes on which it is tried.

    They are that of the lesson's test, and others in words, which show what it misses.
    """
    plantings = {}
    for name, table in tables.read(file, NEEDED, OPTIONAL).items():
        shape, others = shapes[name]
        plantings[name] = Planting(**table, shape=shape, others=others)
    return plantings


def plant(name: str, planting: Planting, old: str | None = None, new: str = "") -> Verdict:
    """Return the verdict on an edit of an official kernel; it is simulated, so that it may do what it likes.

    Raises AnswerError, a TypeError, where `old` or `new` is no text, or `old` does not occur exactly once.
    """
    if old is None:
        return Verdict(name, NOT_ATTEMPTED, NothingPlanted())
    try:
        kernel = planting.edited(old, new)
        seen = planting.seen(kernel, planting.shape)
    except WgslError as error:
        return Verdict(name, NO_COMPILE, Plain(str(error)))
    except (TypeError, ValueError) as error:
        raise AnswerError(str(error)) from None
    if seen.wrong or (planting.simulated and seen.finding):
        return Verdict(name, WRONG, SeenByTest(planting.test, seen, planting.asked))
    if seen.finding:
        return Verdict(name, RIGHT, SeenBySimulatorAlone(seen.finding))
    for case, shape in planting.others.items():
        seen = planting.seen(kernel, shape)
        if seen.wrong or seen.finding:
            return Verdict(name, RIGHT, MissedByTest(planting.test, case, seen))
    return Verdict(name, WRONG, NoFaultSeen(1 + len(planting.others)))
