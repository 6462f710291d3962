"""A puzzle: WGSL that the learner writes, the cases that judge it, and the mistakes that can be named."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np

from helpers.gpu import GpuError
from helpers.gpu.passes import pipeline
from helpers.grading.report import Report, compare
from helpers.grading.sandbox import UNTOUCHED, Run, run_guarded
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.wgsl import Kernel, Listing, WgslError

LEARNERS_LINE = "// *"  # ends the lines of an official kernel that the learner is to write
DRAWN = 64  # numbers of an output that fit into a message
GUARD = 4099.0  # stands behind every input, so that a read past its end shows in the result


@dataclass(frozen=True)
class Case:
    """One test: what the kernel is given, and the exact answer.

    `inputs` are float32 arrays at bindings 0, 1, ...; the output follows, in the shape of `expected`; then `params`,
    the u32 words of the uniform, if there are any. The answer may be off by `tolerance`.
    """

    name: str
    inputs: tuple[np.ndarray, ...]
    expected: np.ndarray
    params: tuple[int, ...] = ()
    workgroups: tuple[int, int, int] = (1, 1, 1)
    tolerance: float | np.ndarray = 0.0


@dataclass(frozen=True)
class Slip:
    """A known mistake: the official text with `old` replaced by `new`, and the clause "when ..." that names it."""

    mistake: str
    old: str
    new: str


@dataclass(frozen=True)
class Puzzle:
    """An official kernel, of which the learner writes the marked lines, and what judges their text.

    `axes` are the letters of the output's axes; `cases` makes the tests, the smallest first. The official text is in
    ``puzzles/<name>.wgsl`` beside the subject's `exercise.py`, whose `__file__` is `home`.
    """

    name: str
    home: str
    axes: tuple[str, ...]
    tests: tuple[str, ...]
    cases: Callable[[], Sequence[Case]]
    slips: tuple[Slip, ...] = ()

    @cached_property
    def official(self) -> Kernel:
        """The official kernel, with its header and its marks."""
        path = Path(self.home).with_name("puzzles") / f"{self.name}.wgsl"
        return Kernel(path.read_text(encoding="utf-8"), self.name)

    @cached_property
    def _lines(self) -> list[str]:
        """The official kernel without its header: the lines from the first one that is code."""
        lines = self.official.source.rstrip().split("\n")
        return lines[next(i for i, line in enumerate(lines) if line and not line.startswith("//")) :]

    @property
    def skeleton(self) -> str:
        """What the learner starts from."""
        return "\n".join(line for line in self._lines if not line.endswith(LEARNERS_LINE))

    @property
    def solution(self) -> Listing:
        """The official kernel as it is shown."""
        return Listing("\n".join(line.removesuffix(LEARNERS_LINE).rstrip() for line in self._lines), 1)

    def unchanged(self, source: str) -> bool:
        """Whether a text differs from the skeleton in nothing but comments and blanks."""
        return Kernel(source).code.split() == Kernel(self.skeleton).code.split()

    def not_attempted(self) -> Grades:
        """The verdicts on the skeleton."""
        return Grades.alike(self.tests, NOT_ATTEMPTED)

    # --- In the process apart ---------------------------------------------------------------------------------

    def grade_here(self, source: str) -> Grades:
        """Grade a text in this process."""
        kernel = Kernel(source)
        if problem := self._problem(kernel):
            return Grades.alike(self.tests, NO_COMPILE, problem)
        cases = self.cases()
        answers = [self._answer(kernel, case) for case in cases]
        verdicts = [self._verdict(case, answer) for case, answer in zip(cases, answers, strict=True)]
        return Grades(self._explained(verdicts, list(zip(cases, answers, strict=True))))

    def _problem(self, kernel: Kernel) -> str:
        """Why a text cannot be run in the official kernel's place, or nothing."""
        wanted = self.official.threads("main")
        try:
            pipeline(kernel, "main")
            if kernel.bindings != self.official.bindings:
                raise WgslError(f"its bindings differ from the skeleton's {len(self.official.bindings)}; copy those")
            if kernel.threads("main") != wanted:
                raise WgslError(f"its workgroups have {kernel.threads('main')} threads; there must be {wanted}")
        except WgslError as error:
            return re.sub("^your kernel(?: does not compile)?[,:] ", "", str(error))
        return ""

    def _answer(self, kernel: Kernel, case: Case) -> Run | GpuError:
        """What a kernel computes for a case."""
        try:
            return run_guarded(kernel, case.inputs, case.expected.shape, case.params, case.workgroups, GUARD)
        except GpuError as error:
            return error

    def _verdict(self, case: Case, answer: Run | GpuError) -> Verdict:
        if isinstance(answer, GpuError):
            return Verdict(case.name, WRONG, str(answer))
        report = compare(self.name, answer.output, case.expected, case.tolerance)
        found = f"each number is right, but {answer.unsafe}" if answer.unsafe else ""
        if report.ok:
            return Verdict(case.name, UNSAFE if found else RIGHT, found)
        drawing = self._drawing(case, answer.output)
        return Verdict(case.name, WRONG, answer.unsafe or self._first_mismatch(report), drawing)

    def _first_mismatch(self, report: Report) -> str:
        index, got, want = report.mismatches[0]
        yours = f"yours is {got:g}"
        if got == UNTOUCHED:
            yours = "nothing was written"
        elif got == np.float32(UNTOUCHED + np.float32(want)):
            yours = "yours was added to the number that was there before (write =, not +=)"
        place = ", ".join(f"{letter} = {i}" for letter, i in zip(self.axes, index, strict=True))
        return f"{report.wrong} of {prod(report.shape)} numbers; first at {place}: {yours}, right is {want:g}"

    def _explained(self, verdicts: list[Verdict], runs: list[tuple[Case, Run]]) -> list[Verdict]:
        """The verdicts, with the known mistake that gives the same numbers in every test."""
        wrong = [i for i, verdict in enumerate(verdicts) if verdict.drawing]
        for slip in self.slips if wrong else ():
            kernel = self.official.edit(slip.old, slip.new)
            same = (self._same(kernel, *run) for run in runs if isinstance(run[1], Run))
            if all(same):
                verdicts[wrong[0]] = verdicts[wrong[0]].adding(
                    f"these are the numbers that you get when {slip.mistake}"
                )
                break
        return verdicts

    def _same(self, kernel: Kernel, case: Case, answer: Run) -> bool:
        other = self._answer(kernel, case)
        return isinstance(other, Run) and np.array_equal(other.output, answer.output, equal_nan=True)

    def _drawing(self, case: Case, got: np.ndarray) -> str:
        """The right and the given output beside each other, where there is room."""
        if case.expected.size > DRAWN:
            return f"{case.name}: the output has {case.expected.size:,} numbers, too many to show."
        rows = [row.reshape(-1, row.shape[-1]) for row in (case.expected, got)] if case.expected.ndim else []
        texts = [[" ".join(f"{number(v):>6}" for v in line) for line in matrix] for matrix in rows]
        width = max(len(line) for line in texts[0])
        lines = [f"  {'right':<{width}}   yours"]
        lines += [f"  {right:<{width}}   {yours}" for right, yours in zip(*texts, strict=True)]
        return "\n".join([f"{case.name}, output of shape {case.expected.shape}:", *lines])


def number(value: float) -> str:
    """A number as a message shows it: a dot where nothing was written."""
    return "." if value == UNTOUCHED else f"{value:g}"
