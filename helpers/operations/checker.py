"""The checker: is a kernel right, for these sizes, in every run and on every adapter?

It is simulated first, on whole numbers (which leave no room for rounding) and on random ones. What the simulator finds
and which numbers are wrong depends on no adapter and on no run. Only where nothing is wrong is the kernel run on the
adapter, too, so that no endless loop reaches a GPU. What was in the outputs before must not matter: it is -infinity at
one time and infinity at another, so that not even 0 times it, or the larger of it and the right number, is right.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.checks.report import CheckError, Report
from helpers.operations.activations import SMOOTH
from helpers.operations.gemm.shapes import GemmShape, bias_alone
from helpers.operations.harness import (
    EXTREMES,
    LARGE,
    Tensors,
    conv_bias_alone,
    drawn,
    huge,
    launched,
    normal,
    operation_of,
    reports,
    simulated,
    tiny,
    whole,
    wide,
)
from helpers.operations.operation import Shape
from wgsl import Kernel
from wgsl.output import in_lines

LARGEST = 2**22  # numbers in all tensors together
WRONG_NUMBERS, ON_THE_ADAPTER, ENDLESS = "wrong numbers", "wrong on this adapter", "endless loop"
WITHOUT_A_RESULT = {ENDLESS, "data race"}


class Given(NamedTuple):
    """The data for a kernel: the tensors of a shape, what follows them in memory, and what is in the outputs before.

    `name` says what they are, and how far the outputs may be off.
    """

    name: str
    shape: Shape
    tensors: Tensors
    guard: float
    before: float


class Reason(NamedTuple):
    """One reason why a kernel is wrong.

    `kind` is "wrong numbers", a kind of the simulator's findings, or "wrong on this adapter"; `place` is the output, or
    line and column of the text.
    """

    kind: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}: {self.message}"


@dataclass(frozen=True, repr=False)
class Checked:
    """The result of the check: true if the kernel is right; when shown, one line for each reason why it is not."""

    kernel: Kernel
    shape: Shape
    reasons: tuple[Reason, ...]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of the reasons."""
        return frozenset(reason.kind for reason in self.reasons)

    def __bool__(self) -> bool:
        return not self.reasons

    def __repr__(self) -> str:
        said = "right" if self else "wrong"
        return "\n".join([f"{self.kernel.name}: {said} for {self.shape}", *map(str, self.reasons)])

    def __str__(self) -> str:
        """The same in lines of the width of a notebook."""
        return in_lines(repr(self))

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Print what a notebook shows."""
        printer.text(str(self))


def check(kernel: Kernel, shape: Shape) -> Checked:
    """Try a version of an operation, as it is or edited, on one problem, and say everything that is wrong with it.

    Parameters
    ----------
    kernel : Kernel
        From `helpers.load`, with its `edit` where you want to try a mistake.
    shape : ConvShape, GemmShape, SumShape, or one of helpers.operations.network.shapes
        The sizes of the problem. A layer's activation is also tried between the ends of float32.

    Raises
    ------
    WgslError, UnsupportedWgsl
        The kernel does not compile, or cannot be simulated; nothing is run.
    ValueError
        The problem is too large to be simulated, or the version does not take it.
    GpuError
        The adapter cannot run it.
    """
    first: dict[tuple[str, str], Reason] = {}  # of each kind and place
    for reason in reasons(kernel, shape):
        first.setdefault((reason.kind, reason.place), reason)
    return Checked(kernel, shape, tuple(first.values()))


def reasons(kernel: Kernel, shape: Shape) -> Iterator[Reason]:
    """The reasons of `check` as they are found, some of them more than once: the first one is enough for a verdict.

    Raises what `check` raises.
    """
    numbers = sum(prod(shape.of(name)) for name in operation_of(kernel).tensors)
    if numbers > LARGEST:
        raise ValueError(f"shape = {shape}: it has {numbers:,} numbers; at most {LARGEST:,} are simulated")
    reason = None
    for reason in _simulated(kernel, shape):
        yield reason
    if not reason:
        yield from _launched(kernel, shape)


def given(kernel: Kernel, shape: Shape) -> Iterator[Given]:
    """Everything that a kernel is tried on.

    A smooth activation is curved near 0, and its ends are flat: it is tried on both. All else is a sum of products, and
    right at one scale where it is right at another; only mistakes are not. A softmax has both kinds of scale.
    """
    operation, rounded = operation_of(kernel), "and off by more than rounding"
    yield Given("whole numbers", shape, drawn(operation, shape, whole), LARGE, -np.inf)
    activation = shape.activation if "bias" in operation.tensors else "none"  # what adds no bias applies none
    if activation in SMOOTH:
        yield Given(f"random numbers, {rounded}", shape, drawn(operation, shape, normal), np.nan, np.inf)
        alone = (bias_alone if isinstance(shape, GemmShape) else conv_bias_alone)(EXTREMES, activation)
        yield Given(f"numbers up to the ends of float32, {rounded}", *alone, np.nan, np.nan)
    else:
        if "logits" in operation.tensors:
            yield Given(f"numbers in the tens, {rounded}", shape, drawn(operation, shape, wide), np.nan, np.inf)
        yield Given(f"huge numbers, {rounded}", shape, drawn(operation, shape, huge), np.nan, np.inf)
        yield Given(f"tiny numbers, {rounded}", shape, drawn(operation, shape, tiny), np.nan, np.nan)


def _simulated(kernel: Kernel, shape: Shape) -> Iterator[Reason]:
    """The reasons that a simulated run shows."""
    for case in given(kernel, shape):
        most = _iterations(kernel, case.shape)
        outputs, traces = simulated(kernel, case.shape, case.tensors, before=case.before, max_steps=most)
        findings = [finding for trace in traces for finding in trace.findings]
        kinds = {finding.kind for finding in findings}
        if ENDLESS not in kinds:
            yield from _wrong(WRONG_NUMBERS, case, reports(kernel, case.shape, case.tensors, outputs))
        yield from (Reason(f.kind, f"line {f.line}, column {f.column}", f.message) for f in findings)
        if kinds & WITHOUT_A_RESULT:
            return  # the numbers mean nothing, and nor would others


def _iterations(kernel: Kernel, shape: Shape) -> int:
    """The number of loop iterations that a thread may make: several times what a right kernel needs."""
    schedule = operation_of(kernel).versions[kernel.version](shape, kernel)
    if schedule.refused:
        raise ValueError(schedule.refused)
    return 500 + 4 * max(step.iterations for step in schedule.steps)


def _launched(kernel: Kernel, shape: Shape) -> Iterator[Reason]:
    """The reasons that the adapter shows with a kernel that is right in a simulated run."""
    for case in given(kernel, shape):
        try:
            outputs = launched(kernel, case.shape, case.tensors, case.guard, case.before)
        except CheckError as error:
            yield Reason(ON_THE_ADAPTER, "past the end", str(error))
        else:
            yield from _wrong(ON_THE_ADAPTER, case, reports(kernel, case.shape, case.tensors, outputs))


def _wrong(kind: str, case: Given, judged: Iterable[Report]) -> Iterator[Reason]:
    """The wrong outputs, each with its first wrong number."""
    for report in judged:
        if not report:
            index, got, want = report.mismatches[0]
            count = f"{report.wrong:,} of {report.count:,} numbers {'is' if report.wrong == 1 else 'are'} wrong"
            first = f"number [{', '.join(map(str, index))}] is {got:.9g}, but must be {want:.9g}"
            yield Reason(kind, report.name, f"{first}; {count}, computed from {case.name}")
