"""The sentences of grading, made of records at the end: nothing reads them again.

`texts`, `runs`, `answers` and `python_lines` have a function for each kind of reason, `drawings` has the text pictures.
What is called from elsewhere is in this file.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from helpers.grading import reasons, replies
from helpers.grading.drawing import Drawn
from helpers.grading.words import answers, drawings, python_lines, runs, texts
from helpers.grading.words.letters import capitalized, cut
from wgsl.output import in_lines

SENTENCES: dict[type, Callable[[object], str]] = {
    **texts.SENTENCES,
    **runs.SENTENCES,
    **answers.SENTENCES,
    **python_lines.SENTENCES,
}
LONGEST = 700  # letters of a reason, as where a name has a thousand
TEST = 33  # columns for the name of a test
MANY = 10  # tests
THE_SAME = "the same"
WHICH_LINE = "More than one mistake comes out like this: which of your lines is it?"
AS_OURS = "with the same loads, stores and barriers as our kernel, "


class Verdict(Protocol):
    """The facts of a `helpers.grading.verdict.Verdict`."""

    test: str
    outcome: str
    reason: reasons.Reason | None
    drawn: Drawn | None
    mistake: reasons.NamedMistake | None
    evidence: object


class Grades(Protocol):
    """The facts of all verdicts, `helpers.grading.verdict.Grades`."""

    passed: int
    as_ours: bool
    fail_alike: bool

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Verdict]: ...
    def __getitem__(self, place: int) -> Verdict: ...
    def is_repeated(self, place: int) -> bool: ...


# --- One verdict --------------------------------------------------------------------------------------------------


def detail(verdict: Verdict, between: str = " ") -> str:
    """Return the reason in words, cut where it is long; what follows a question may begin a new line."""
    text = paragraphs(verdict.reason, verdict.mistake)
    if getattr(verdict.reason, "several", False) and verdict.evidence is not None:
        text.append(f"{verdict.evidence.sentence} {WHICH_LINE}")
    return cut(between.join(text), LONGEST)


def paragraphs(reason: reasons.Reason | None, mistake: reasons.NamedMistake | None = None) -> list[str]:
    """Return a reason in words, after the name and the question of a known mistake; a question ends a paragraph."""
    if reason is None:
        return []
    if mistake is not None:
        return _named(reason, mistake)
    if isinstance(reason, reasons.WrongNumbers) and reason.slip is not None:
        return [*paragraphs(reason.slip), capitalized(runs.wrong_numbers(reason))]
    return [SENTENCES[type(reason)](reason)]


def _named(reason: reasons.Reason, mistake: reasons.NamedMistake) -> list[str]:
    """Return the mistake's name and question before the reason; an exercise's own sentence tells the cause itself."""
    if isinstance(reason, replies.OfTheExercise):
        return [mistake.question, capitalized(reason.text)]
    if isinstance(reason, reasons.WithoutSkill | replies.TooManyCalls):
        right, rest = runs.without_skill_in_parts(reason)
        opening = f"{right}, but its counts are what comes out"
        return [f"{opening} when {mistake.name}: {mistake.question}", capitalized(rest)]
    does = "happens" if isinstance(reason, reasons.Unsafe | reasons.UsesBefore) else "comes out"
    first, *others = paragraphs(reason)
    return [f"this is what {does} when {mistake.name}: {mistake.question}", capitalized(first), *others]


def outcome(verdict: Verdict, the_same: bool = False) -> str:
    """Return the outcome with its reason, or with a note that it is the same as one above."""
    text = THE_SAME if the_same else detail(verdict)
    return f"{verdict.outcome}: {text}" if text else verdict.outcome


def row(verdict: Verdict, test: str = "", the_same: bool = False) -> str:
    """Return the line of a verdict in a report; it may stand for several tests."""
    return f"{test or verdict.test:<{TEST}} {outcome(verdict, the_same)}"


# --- All verdicts on a text ---------------------------------------------------------------------------------------


def report(grades: Grades) -> str:
    """Return the lines of all verdicts, and how many tests pass."""
    passed = f"{passed_of(grades)} tests pass"
    return "\n".join([*_rows(grades), f"{AS_OURS}{passed}" if grades.as_ours else passed])


def passed_of(grades: Grades) -> str:
    """Return how many tests pass of how many."""
    return f"{grades.passed} of {len(grades)}"


def _rows(grades: Grades) -> list[str]:
    """Return a line for each test, or one for all of many with the same reason; such a reason is written once."""
    if len(grades) > MANY and grades.fail_alike:
        return [row(grades[0], f"all {len(grades)} tests")]
    return [row(verdict, the_same=grades.is_repeated(place)) for place, verdict in enumerate(grades)]


def report_with_drawings(grades: Grades) -> str:
    """Return the report, and below it the place of a compile error or the smallest wrong output."""
    parts = [in_lines(report(grades))]
    parts += [drawing(verdict.drawn) for verdict in grades if verdict.drawn]
    return "\n\n".join(parts)


def drawing(drawn: Drawn | None) -> str:
    """Return a picture in text; nothing where there is none."""
    return drawings.SENTENCES[type(drawn)](drawn) if drawn else ""


# --- Others that show a reason --------------------------------------------------------------------------------------


def finding(diagnosis: reasons.Diagnosis) -> str:
    """Return what the simulator found, with its line before it."""
    return runs.diagnosis(diagnosis)


def stopped(reason: reasons.Stopped) -> str:
    """Return why a process was stopped, and what to look at."""
    return texts.stopped(reason)
