"""Exercises in which the learner finds the wrong line of a kernel, and corrects it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from helpers.grading.judge import judged
from helpers.grading.prediction import AnswerError
from helpers.grading.puzzle import Puzzle
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.output import FENCED, in_lines
from helpers.wgsl import Kernel, Listing

LINE_FOUND = "line found"  # the outcome between wrong and right: the line is the one, and it is not corrected yet


@dataclass(frozen=True, kw_only=True)
class Fault(Puzzle):
    """A kernel with one wrong line: a puzzle that starts from the wrong kernel, and is solved by any right one.

    `kernel` is the right one; in the wrong one, `old` is replaced by `new`. `question` leads to the line, and
    `cure` from the line to its correction.
    """

    kernel: Kernel
    old: str
    new: str
    question: str
    cure: str

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
        """The wrong kernel from its bindings on, with the line numbers that messages name, too."""
        lines = self.faulty.source.rstrip().split("\n")
        first = next(i for i, line in enumerate(lines) if line.startswith("@group"))
        return Listing("\n".join(lines[first:]), first + 1)

    @cached_property
    def lines(self) -> range:
        """The numbers of the wrong lines; where one is missing, those above and below its place."""
        wrong, right = (kernel.source.split("\n") for kernel in (self.faulty, self.kernel))
        above, below = _equal(wrong, right), _equal(wrong[::-1], right[::-1])
        first, last = above + 1, len(wrong) - below
        return range(first, last + 1) if first <= last else range(last, first + 1)

    @cached_property
    def symptom(self) -> Grades:
        """What the tests say of the wrong kernel.

        It is tried in this process: its faults are known, and none of them keeps a loop from ending.
        """
        return judged(self, self.faulty.source)

    def corrected(self, line: int, correction: str) -> str:
        """The wrong kernel with the learner's text in place of one line."""
        lines = self.faulty.source.split("\n")
        lines[line - 1] = correction
        return "\n".join(lines)

    def judge(self, line: int | None, correction: str, grade: Callable[[str], Grades]) -> "FaultReport":
        """What to say to a line and its correction; `grade` tries a whole kernel.

        Raises AnswerError, a TypeError, where the line is no whole number or the correction no text.
        """
        if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
            raise AnswerError(f"line = {line!r} is a {type(line).__name__}: it must be the number of a line")
        if not isinstance(correction, str):
            kind = type(correction).__name__
            raise AnswerError(f"correction = {correction!r} is a {kind}: it must be the corrected line, in quotes")
        if line is None:
            return self._said(NOT_ATTEMPTED, "write the number of the wrong line in place of None")
        numbers = range(self.listing.first_line, self.listing.first_line + self.listing.text.count("\n") + 1)
        if line not in numbers:
            return self._said(WRONG, f"there is no line {line}; the listing has lines {numbers[0]} to {numbers[-1]}")
        text = self.corrected(line, correction)
        if not correction.strip() or self.unchanged(text):
            return self._of_line(line)
        return self._of_correction(line, grade(text))

    def _of_line(self, line: int) -> "FaultReport":
        """The answer where the line is not corrected yet."""
        if line in self.lines:
            place = f"line {line}{', or beside it' * (len(self.lines) > 1)}"
            return self._said(LINE_FOUND, f"the fault is in {place}; now correct it: {self.cure}")
        return self._said(WRONG, f"the fault is not in line {line}: {self.question}")

    def _of_correction(self, line: int, grades: Grades) -> "FaultReport":
        """The answer where a corrected kernel was tried; any right one is right, whatever line was changed."""
        outcomes = {verdict.outcome for verdict in grades}
        if outcomes == {RIGHT}:
            return self._said(RIGHT, "your kernel passes every test", grades)
        if NO_COMPILE in outcomes:
            return self._said(NO_COMPILE, "look at the place in your line that is shown below", grades)
        outcome = WRONG if WRONG in outcomes else UNSAFE
        if line in self.lines:
            return self._said(outcome, f"the fault is in line {line}, but not corrected: {self.cure}", grades)
        return self._said(outcome, f"the fault is not in line {line}: {self.question}", grades)

    def _said(self, outcome: str, detail: str, grades: Grades | None = None) -> "FaultReport":
        return FaultReport(self, Verdict(self.name, outcome, detail), grades)


@dataclass(frozen=True)
class FaultReport:
    """The verdict on a line and its correction, above what the tests say and the wrong kernel's listing.

    `grades` are those of the corrected kernel; None where no correction was tried.
    """

    fault: Fault
    verdict: Verdict
    grades: Grades | None = None

    @property
    def outcome(self) -> str:
        """One of the outcomes of a test, or "line found"."""
        return self.verdict.outcome

    @property
    def detail(self) -> str:
        """The reason, and what to look at next."""
        return self.verdict.detail

    @property
    def _tests(self) -> tuple[str, str]:
        """Whose tests are shown, and what they say."""
        if self.grades is None:
            return "The tests say of the kernel below:", in_lines(repr(self.fault.symptom), FENCED)
        drawings = [verdict.drawing for verdict in self.grades if verdict.drawing]
        return "The tests say of your corrected kernel:", "\n\n".join([in_lines(repr(self.grades), FENCED), *drawings])

    def __repr__(self) -> str:
        return "\n\n".join([in_lines(repr(self.verdict)), *self._tests, repr(self.fault.listing)])

    def _repr_markdown_(self) -> str:
        """What a notebook shows: the same, with the listing in color."""
        whose, said = self._tests
        verdict = f"```text\n{in_lines(repr(self.verdict), FENCED)}\n```"
        return "\n\n".join([verdict, whose, f"```text\n{said}\n```", self.fault.listing._repr_markdown_()])


def _equal(some: list[str], others: list[str]) -> int:
    """How many lines at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))
