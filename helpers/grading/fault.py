"""Exercises in which the learner finds the wrong line of a kernel, and corrects it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from helpers.grading import grader
from helpers.grading.prediction import AnswerError, number_in
from helpers.grading.puzzle import Puzzle
from helpers.grading.reasons import EndlessLoop, Reason, WrongNumbers
from helpers.grading.replies import (
    AllTestsPass,
    BlockLost,
    CompilerStopped,
    CorrectionEndless,
    FaultElsewhere,
    FaultHere,
    NoLineYet,
    NoSuchLine,
)
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict
from wgsl import Kernel, Listing, without_comments
from wgsl.output import FENCED, in_lines

TryKernel = Callable[[str], Grades]
LINE_FOUND = "line found"  # the outcome between wrong and right: the line is the one, and it is not corrected yet


@dataclass(frozen=True, kw_only=True)
class Fault(Puzzle):
    """A kernel with one wrong line: a puzzle that starts from the wrong kernel, and is solved by any right one.

    `kernel` is the right one; in the wrong one, `old` is replaced by `new`, in one line. `question` leads to the line,
    and `cure` from the line to its correction. `also` is a piece of another line that may be corrected instead.
    """

    kernel: Kernel
    old: str
    new: str
    question: str
    cure: str
    also: str = ""
    mistakes = ()  # none is named; the exercise is to find one,
    tells_place = False  # and its line

    @cached_property
    def official(self) -> Kernel:
        """The right kernel."""
        return self.kernel

    @cached_property
    def faulty(self) -> Kernel:
        """The kernel that the learner sees."""
        return replace(self.kernel.edit(self.old, self.new), name="this kernel")

    @property
    def skeleton(self) -> str:
        """The text from which the learner starts."""
        return self.faulty.source

    @cached_property
    def listing(self) -> Listing:
        """The wrong kernel from its bindings or its first section on, with the line numbers that messages name, too."""
        source = self.faulty.source.rstrip()
        first = re.search(r"^(// --- |@group)", source, re.MULTILINE).start()
        return Listing(source[first:], source.count("\n", 0, first) + 1)

    @cached_property
    def line(self) -> int:
        """The number of the wrong line."""
        wrong, right = (kernel.source.split("\n") for kernel in (self.faulty, self.kernel))
        return next(i for i, lines in enumerate(zip(wrong, right, strict=True), 1) if len({*lines}) > 1)

    @cached_property
    def lines(self) -> set[int]:
        """The numbers of the lines of which each may be corrected."""
        numbered = enumerate(self.faulty.source.split("\n"), 1)
        return {self.line, *(number for number, text in numbered if self.also and self.also in text)}

    @cached_property
    def symptom(self) -> Grades:
        """The verdicts on the wrong kernel, which is not the learner's.

        It is tried in this process: its faults are known, and none of them keeps a loop from ending.
        """
        return Grades(map(_of_another_kernel, grader.grade(self, self.faulty.source)))

    def corrected(self, line: int, correction: str) -> str:
        """The wrong kernel with the learner's text in place of one line."""
        lines = self.faulty.source.split("\n")
        lines[line - 1] = correction
        return "\n".join(lines)

    def grade(self, line: int | None, correction: str, try_kernel: TryKernel) -> "FaultReport":
        """Return the verdict on a line and its correction.

        Raises AnswerError, a TypeError, where the line is not a whole number or the correction is not text.
        """
        _check_kinds(line, correction)
        if line is None:
            return self._report(NOT_ATTEMPTED, NoLineYet())
        numbers = range(self.listing.first_line, self.listing.first_line + self.listing.text.count("\n") + 1)
        if line not in numbers:
            return self._report(WRONG, NoSuchLine(f"{line!s:.100}", numbers[0], numbers[-1]))
        text = self.corrected(line, correction)
        if not correction.strip() or self.unchanged(text):
            if line in self.lines:
                return self._report(LINE_FOUND, FaultHere(line, self.cure))
            return self._report(WRONG, FaultElsewhere(line, self.question))
        if reason := self._block_lost(line, correction):
            return self._report(NO_COMPILE, reason)
        grades = try_kernel(text)
        added = correction.count("\n")
        outcome, reason = self._judge(range(line, line + added + 1), grades)
        return self._report(outcome, reason, grades=grades, added=added)

    def _block_lost(self, line: int, correction: str) -> BlockLost | None:
        """Return the line that opens or closes a block, where no kernel without it compiles; else None."""
        code = without_comments(self.faulty.source).split("\n")[line - 1].strip()
        depth = _depth(code)
        corrected_depth = _depth(without_comments(correction))
        if depth == 0 or (depth - corrected_depth) * depth <= 0:
            return None
        return BlockLost(line, code, opens=depth > 0)

    def _judge(self, numbers: range, grades: Grades) -> tuple[str, Reason]:
        """Return outcome and reason where a corrected kernel is tried; any right one is right, whatever was changed.

        `numbers` are those of the learner's lines in its text.
        """
        outcomes = {verdict.outcome for verdict in grades}
        line = numbers[0]
        if outcomes == {RIGHT}:
            return RIGHT, AllTestsPass()
        if NO_COMPILE in outcomes:
            return NO_COMPILE, _compiler_stopped(grades[0], numbers)
        outcome = WRONG if WRONG in outcomes else UNSAFE
        if isinstance(grades[0].reason, EndlessLoop):
            return outcome, CorrectionEndless(line, in_them=grades[0].line in numbers)
        if line in self.lines:
            return outcome, FaultHere(line, self.cure, tried=True)
        return outcome, FaultElsewhere(line, self.question)

    def _report(self, outcome: str, reason: Reason, **tried: object) -> "FaultReport":
        return FaultReport(self.name, outcome, reason, fault=self, **tried)


@dataclass(frozen=True, repr=False)
class FaultReport(Verdict):
    """The verdict on a line and its correction, above the tests' verdicts and the wrong kernel's listing.

    `grades` are those of the corrected kernel, None where no correction was tried, and `added` is by how many lines it
    is longer.
    """

    fault: Fault = field(kw_only=True)
    grades: Grades | None = None
    added: int = 0

    @property
    def _tests(self) -> tuple[str, str]:
        """The heading of the tests' verdicts, and the verdicts."""
        if self.grades is None:
            return "What the tests say about the kernel below:", in_lines(repr(self.fault.symptom), FENCED)
        shifted = f" (its lines below yours are numbered {self.added} higher)" if self.added else ""
        drawings = [verdict.drawing for verdict in self.grades if verdict.drawn]
        verdicts = "\n\n".join([in_lines(repr(self.grades), FENCED), *drawings])
        return f"What the tests say about your corrected kernel{shifted}:", verdicts

    def __repr__(self) -> str:
        return "\n\n".join([in_lines(super().__repr__()), *self._tests, repr(self.fault.listing)])

    def _repr_markdown_(self) -> str:
        """Return what a notebook shows: the same, with the listing in color."""
        heading, verdicts = self._tests
        verdict = f"```text\n{in_lines(super().__repr__(), FENCED)}\n```"
        return "\n\n".join([verdict, heading, f"```text\n{verdicts}\n```", self.fault.listing._repr_markdown_()])


def _depth(code: str) -> int:
    """Return by how many blocks the code after a text is deeper than that before it."""
    return code.count("{") - code.count("}")


def _check_kinds(line: object, correction: object) -> None:
    """Raise AnswerError where the line is neither a whole number nor None, or the correction is not text."""
    if isinstance(line, str) and number_in(line):
        raise AnswerError(f"line = {line!r:.100} is text: write it without quotes, as {number_in(line):.100}")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
        raise AnswerError(f"line = {line!r:.100} is a {type(line).__name__}: it must be the number of a line")
    if not isinstance(correction, str):
        kind = type(correction).__name__
        raise AnswerError(f"correction = {correction!r:.100} is a {kind}: it must be the corrected line, in quotes")


def _of_another_kernel(verdict: Verdict) -> Verdict:
    """Return a verdict on the wrong kernel for someone who did not write it, without counts beside ours."""
    if verdict.outcome == RIGHT:
        return replace(verdict, reason=None)
    if isinstance(verdict.reason, WrongNumbers):
        return replace(verdict, reason=replace(verdict.reason, blame=None, by_reader=False))
    return verdict


def _compiler_stopped(verdict: Verdict, numbers: range) -> CompilerStopped:
    """Return where a text no longer compiles that compiled before the learner's lines were in it."""
    return CompilerStopped(len(numbers), in_them=verdict.line in numbers, elsewhere=verdict.line is not None)
