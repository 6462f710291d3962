"""Exercises in which the learner finds the wrong line of a kernel, and corrects it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from helpers.grading import grader
from helpers.grading.grader import ENDLESS
from helpers.grading.prediction import AnswerError, number_in
from helpers.grading.puzzle import Puzzle
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict
from wgsl import Kernel, Listing, without_comments
from wgsl.output import FENCED, in_lines

TryKernel = Callable[[str], Grades]
LINE_FOUND = "line found"  # the outcome between wrong and right: the line is the one, and it is not corrected yet


@dataclass(frozen=True, kw_only=True)
class Fault(Puzzle):
    """A kernel with one wrong line: a puzzle that starts from the wrong kernel, and is solved by any right one.

    `kernel` is the right one; in the wrong one, `old` is replaced by `new`, in one line. `question` leads to the line,
    and `cure` from the line to its correction.
    """

    kernel: Kernel
    old: str
    new: str
    question: str
    cure: str
    mistakes = ()  # none is named; the exercise is to find one

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
        """What the learner starts from."""
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
    def symptom(self) -> Grades:
        """What the tests say about the wrong kernel, which is not the learner's.

        It is tried in this process: its faults are known, and none of them keeps a loop from ending.
        """
        return Grades(map(_reworded, grader.grade(self, self.faulty.source)))

    def corrected(self, line: int, correction: str) -> str:
        """The wrong kernel with the learner's text in place of one line."""
        lines = self.faulty.source.split("\n")
        lines[line - 1] = correction
        return "\n".join(lines)

    def grade(self, line: int | None, correction: str, try_kernel: TryKernel) -> "FaultReport":
        """What to say to a line and its correction.

        Raises AnswerError, a TypeError, where the line is not a whole number or the correction is not text.
        """
        _check_kinds(line, correction)
        if line is None:
            return self._said(NOT_ATTEMPTED, "write the number of the wrong line in place of None")
        numbers = range(self.listing.first_line, self.listing.first_line + self.listing.text.count("\n") + 1)
        if line not in numbers:
            listed = f"the listing has lines {numbers[0]} to {numbers[-1]}"
            return self._said(WRONG, f"there is no line {line!s:.100}; {listed}")
        text = self.corrected(line, correction)
        if not correction.strip() or self.unchanged(text):
            advice = f"the fault is in line {line}; now correct it: {self.cure}"
            return self._said(LINE_FOUND, advice) if line == self.line else self._said(WRONG, self._elsewhere(line))
        if reason := self._block_lost(line, correction):
            return self._said(NO_COMPILE, reason)
        grades, added = try_kernel(text), correction.count("\n")
        outcome, detail = self._judge(range(line, line + added + 1), grades)
        return self._said(outcome, detail, grades=grades, added=added)

    def _elsewhere(self, line: int) -> str:
        return f"the fault is not in line {line}: {self.question}"

    def _block_lost(self, line: int, correction: str) -> str:
        """Why no kernel with this correction compiles, where a line goes that opens or closes a block; or nothing."""
        code = without_comments(self.faulty.source).split("\n")[line - 1].strip()
        depth, mine = (text.count("{") - text.count("}") for text in (code, without_comments(correction)))
        if depth == 0 or (depth - mine) * depth <= 0:
            return ""
        what = f"line {line}, `{code}`, which {'opens' if depth > 0 else 'closes'} a block, and yours does not"
        return f"your text replaces {what}"

    def _judge(self, mine: range, grades: Grades) -> tuple[str, str]:
        """Outcome and answer where a corrected kernel is tried; any right one is right, whatever line was changed.

        `mine` are the numbers of the learner's lines in its text.
        """
        outcomes, line = {verdict.outcome for verdict in grades}, mine[0]
        if outcomes == {RIGHT}:
            return RIGHT, "your kernel passes every test"
        if NO_COMPILE in outcomes:
            return NO_COMPILE, _stopped(grades[0], mine)
        outcome = WRONG if WRONG in outcomes else UNSAFE
        if grades[0].detail.startswith(ENDLESS):
            return outcome, _endless(grades[0], mine)
        if line == self.line:
            return outcome, f"the fault is in line {line}, but not corrected: {self.cure}"
        return outcome, self._elsewhere(line)

    def _said(self, outcome: str, detail: str, **tried: object) -> "FaultReport":
        return FaultReport(self.name, outcome, detail, fault=self, **tried)


@dataclass(frozen=True, repr=False)
class FaultReport(Verdict):
    """The verdict on a line and its correction, above what the tests say and the wrong kernel's listing.

    `grades` are those of the corrected kernel, None where no correction was tried, and `added` is by how many lines it
    is longer.
    """

    fault: Fault = field(kw_only=True)
    grades: Grades | None = None
    added: int = 0

    @property
    def _tests(self) -> tuple[str, str]:
        """Whose tests are shown, and what they say."""
        if self.grades is None:
            return "What the tests say about the kernel below:", in_lines(repr(self.fault.symptom), FENCED)
        shifted = f" (its lines below yours are numbered {self.added} higher)" if self.added else ""
        drawings = [verdict.drawing for verdict in self.grades if verdict.drawing]
        said = "\n\n".join([in_lines(repr(self.grades), FENCED), *drawings])
        return f"What the tests say about your corrected kernel{shifted}:", said

    def __repr__(self) -> str:
        return "\n\n".join([in_lines(super().__repr__()), *self._tests, repr(self.fault.listing)])

    def _repr_markdown_(self) -> str:
        """What a notebook shows: the same, with the listing in color."""
        whose, said = self._tests
        verdict = f"```text\n{in_lines(super().__repr__(), FENCED)}\n```"
        return "\n\n".join([verdict, whose, f"```text\n{said}\n```", self.fault.listing._repr_markdown_()])


def _check_kinds(line: object, correction: object) -> None:
    """Raise AnswerError where the line is neither a whole number nor None, or the correction is not text."""
    if isinstance(line, str) and number_in(line):
        raise AnswerError(f"line = {line!r:.100} is text: write it without quotes, as {number_in(line):.100}")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
        raise AnswerError(f"line = {line!r:.100} is a {type(line).__name__}: it must be the number of a line")
    if not isinstance(correction, str):
        kind = type(correction).__name__
        raise AnswerError(f"correction = {correction!r:.100} is a {kind}: it must be the corrected line, in quotes")


def _reworded(verdict: Verdict) -> Verdict:
    """A verdict on the wrong kernel in words for someone who did not write it, and without counts beside ours."""
    detail = re.sub("; they come from .*", "", verdict.detail.replace("yours is", "it returns"))
    return replace(verdict, detail=detail * (verdict.outcome != RIGHT))


def _line(verdict: Verdict) -> int | None:
    """The line that a reason names first, if any."""
    place = re.search(r"line (\d+)", verdict.detail)
    return place and int(place[1])


def _stopped(verdict: Verdict, mine: range) -> str:
    """Where to look in a text that compiled before the learner's lines were in it."""
    yours = "your lines" if len(mine) > 1 else "your line"
    if _line(verdict) in mine:
        return f"look at the place in {yours} that is shown below"
    stopped = (
        "the compiler stopped at the place below; the cause is"
        if _line(verdict)
        else "the reason is below, and its cause is"
    )
    return f"{stopped} in {yours}"


def _endless(verdict: Verdict, mine: range) -> str:
    """Whose loop does not end."""
    if _line(verdict) in mine:
        return "your loop does not end; see below why"
    return f"with your text in line {mine[0]}, a loop does not end; see below which one"
