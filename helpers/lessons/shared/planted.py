"""Edits of official kernels that are faults, and that a lesson's test misses (lessons 02, 03, 04 and 06)."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.data import tables
from helpers.grading.prediction import AnswerError
from helpers.grading.reasons import Plain
from helpers.grading.replies import (
    MissedByTest,
    NoFaultSeen,
    NotCostly,
    NothingPlanted,
    Seen,
    SeenByCount,
    SeenBySimulatorAlone,
    SeenByTest,
)
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.operations.harness import Tensors, drawn, operation_of, simulated
from helpers.operations.kernels import load
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel, WgslError

MOST_ITERATIONS = 2_000  # of a thread: the right kernels need 360
ROWS = 2  # of workgroups, where a grid of several is tried
DEARER = 1.5  # times as large must a count be that shows a fault


class Planting(NamedTuple):
    """The kernel in which a fault is planted, the test that is to miss it, and what shows such faults.

    `asked` leads on where the test sees the fault; the tensor `ones` of the test is full of ones. Where the lesson
    lists one `part` of the kernel, only that part is edited. Where the test is `simulated`, it sees races, too.
    Where `in_rows` names a case, the workgroups of the test lie in two rows in it, as those of a large tensor do.
    Where a `count` is named, the fault is to leave all numbers right, and to make that count far larger.
    """

    kernel: str
    test: str
    shape: Shape
    others: Mapping[str, Shape]
    asked: str
    ones: str = ""
    part: int | None = None
    simulated: bool = False
    count: str = ""
    in_rows: str = ""

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

    def seen(self, kernel: Kernel, shape: Shape, rows: int = 1) -> Seen:
        """Return how many numbers are wrong, and what the simulator finds first, with these rows of a grid."""
        operation = operation_of(kernel)
        tensors = self._tensors(operation, shape)
        got, traces = simulated(kernel, shape, tensors, rows=rows, max_steps=MOST_ITERATIONS)
        wrong = 0
        size = 0
        for returned, right in zip(got, operation.right(shape, tensors), strict=True):
            wrong += int((returned != right).sum())
            size += returned.size
        findings = chain.from_iterable(trace.findings for trace in traces)
        return Seen(wrong, size, next(findings, None))

    def _tensors(self, operation: Operation, shape: Shape) -> Tensors:
        """Return what the kernel is given."""
        tensors = drawn(operation, shape)
        if self.ones and shape is self.shape:
            tensors[self.ones] = np.ones_like(tensors[self.ones])
        return tensors

    def counted(self, kernel: Kernel) -> int:
        """Return what the simulator counts in the test."""
        tensors = self._tensors(operation_of(kernel), self.shape)
        _, traces = simulated(kernel, self.shape, tensors, max_steps=MOST_ITERATIONS)
        return sum(trace.counts.total[self.count] for trace in traces)


NEEDED = {"kernel": str, "test": str, "asked": str}
OPTIONAL = {"ones": str, "part": int, "simulated": bool, "count": str, "in_rows": str}


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
    if planting.count:
        return _judged_by_count(name, planting, kernel, seen)
    if seen.wrong or (planting.simulated and seen.finding):
        return Verdict(name, WRONG, SeenByTest(planting.test, seen, planting.asked))
    if seen.finding:
        return Verdict(name, RIGHT, SeenBySimulatorAlone(seen.finding))
    for case, shape in planting.others.items():
        seen = planting.seen(kernel, shape)
        if seen.wrong or seen.finding:
            return Verdict(name, RIGHT, MissedByTest(planting.test, case, seen))
    if planting.in_rows:
        seen = planting.seen(kernel, planting.shape, ROWS)
        if seen.wrong or seen.finding:
            return Verdict(name, RIGHT, MissedByTest(planting.test, planting.in_rows, seen))
    return Verdict(name, WRONG, NoFaultSeen(1 + len(planting.others)))


def _judged_by_count(name: str, planting: Planting, kernel: Kernel, seen: Seen) -> Verdict:
    """Return the verdict on an edit that is to cost more, and to change no number in any of the cases."""
    if seen.wrong or seen.finding:
        return Verdict(name, WRONG, SeenByTest(planting.test, seen, planting.asked))
    for case, shape in planting.others.items():
        seen = planting.seen(kernel, shape)
        if seen.wrong or seen.finding:
            return Verdict(name, WRONG, SeenByTest(case, seen, planting.asked))
    ours = planting.counted(load(planting.kernel))
    yours = planting.counted(kernel)
    if yours >= DEARER * ours:
        return Verdict(name, RIGHT, SeenByCount(planting.test, planting.count, ours, yours))
    return Verdict(name, WRONG, NotCostly(planting.test, planting.count, ours, yours, planting.asked))
