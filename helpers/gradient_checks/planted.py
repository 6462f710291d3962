"""Lesson 02: an edit of the official kernel that is a fault, and that the numbers of the lesson's hard case miss."""

from collections.abc import Iterator

import numpy as np

from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import drawn, operation_of, simulated
from helpers.gradient_checks.wrong_kernels import WEIGHT_1
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.kernels import load
from wgsl import Kernel, WgslError
from wgsl.simulator.findings import Finding

HARD = ConvShape(4, 7, 19, 18, 8, 5, 6, stride=2, padding=(1, 3))  # as in the lesson: all sizes differ
OTHERS = {  # what shows most of the faults that it misses
    "stride 1 and another batch": ConvShape(2, 3, 6, 9, 5, 4, 2, stride=1, padding=(2, 0)),
    "stride 3 and more padding": ConvShape(5, 2, 11, 8, 3, 2, 4, stride=3, padding=(3, 2)),
    "more channels than before": ConvShape(3, 10, 5, 4, 9, 3, 2, stride=2, padding=(0, 1)),
}
MOST_ITERATIONS = 2_000  # of a thread: the right kernel needs 360


def plant(name: str, old: str | None = None, new: str = "") -> Verdict:
    """What to say of an edit of `1_thread_per_weight`; it is simulated, so that it may do what it likes.

    Raises AnswerError, a TypeError, where `old` or `new` is no text, or `old` does not occur exactly once.
    """
    if old is None:
        return Verdict(name, NOT_ATTEMPTED, "write a piece of the kernel in place of None, and what replaces it")
    official = load(*WEIGHT_1.split("/"))
    try:
        kernel = official.edit(old, new)
        hard, findings = _wrong(kernel, HARD)
    except WgslError as error:
        return Verdict(name, NO_COMPILE, str(error))
    except (TypeError, ValueError) as error:
        raise AnswerError(str(error)) from None
    if hard or any(found.kind == "endless loop" for found in findings):
        how = f"{hard:,} of its numbers are wrong" if hard else "a thread does not end"
        return Verdict(
            name, WRONG, f"the hard case shows it, as {how}; which of its numbers could your edit write down?"
        )
    if findings:
        return Verdict(name, RIGHT, f"all its numbers are right, and only the simulator sees it: {findings[0].message}")
    return Verdict(name, *next(_elsewhere(kernel)))


def _elsewhere(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """What to say of a kernel that is right in the hard case."""
    for how, shape in OTHERS.items():
        wrong, findings = _wrong(kernel, shape)
        if wrong or findings:
            seen = f"{wrong} of {np.prod(shape.weight)} numbers are wrong" if wrong else findings[0].message
            yield RIGHT, f"the hard case misses it; with {how}, {seen}"
    yield WRONG, "the kernel is as right as before, in four cases; what does your edit change?"


def _wrong(kernel: Kernel, shape: ConvShape) -> tuple[int, list[Finding]]:
    """How many numbers are wrong, and what the simulator finds."""
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    (got,), traces = simulated(kernel, shape, tensors, max_steps=MOST_ITERATIONS)
    (want,) = operation.right(shape, tensors)
    return int((got != want).sum()), [found for trace in traces for found in trace.findings]
