"""The sentences of grading, made of records at the end: nothing reads them again.

`texts`, `runs`, `answers` and `python_lines` have a function for each kind of reason, `drawings` has the text pictures.
What is called from elsewhere is in this file.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from helpers.grading import reasons, replies
from helpers.grading.change import Repair
from helpers.grading.drawing import Drawn
from helpers.grading.words import answers, drawings, python_lines, read_sets, repairs, runs, texts
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
    sizes: tuple[tuple[str, int | str], ...]
    evidence: object
    repair: Repair | None


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


def detail(verdict: Verdict) -> str:
    """Return the reason in words, cut where it is long."""
    text = paragraphs(verdict.reason, verdict.mistake, runs.on_a_drawn_problem(verdict.sizes))
    leads = _leads(verdict)
    if leads and text[-1][-1] not in ".?":
        text[-1] += "."
    return cut(" ".join(text + leads), LONGEST)


def _leads(verdict: Verdict) -> list[str]:
    """Return what leads to the cause, where no known mistake is named."""
    return repairs.sentences(verdict.repair) if verdict.repair else _where_several_fit(verdict)


def _where_several_fit(verdict: Verdict) -> list[str]:
    """Return what was read, and a question, where more than one known mistake comes out like this."""
    if getattr(verdict.reason, "several", False) and verdict.evidence is not None:
        return [f"{read_sets.sentence(verdict.evidence)} {WHICH_LINE}"]
    return []


def paragraphs(
    reason: reasons.Reason | None, mistake: reasons.NamedMistake | None = None, problem: str = ""
) -> list[str]:
    """Return a reason in words, after the name and the question of a known mistake; a question ends a paragraph.

    The `problem`, if it was drawn, stands before the numbers.
    """
    if reason is None:
        return []
    if mistake is not None:
        return _named(reason, mistake, problem)
    if isinstance(reason, reasons.WrongNumbers) and reason.slip is not None:
        return [*paragraphs(reason.slip), capitalized(problem + runs.wrong_numbers(reason))]
    return [problem + SENTENCES[type(reason)](reason)]


def lines(verdict: Verdict) -> list[str]:
    """Return what is wrong, where, and the question that leads on, each as a sentence for a line of its own."""
    reason = verdict.reason
    if reason is None:
        return []
    problem = runs.on_a_drawn_problem(verdict.sizes)
    what, *others = _what_and_where(reason)
    parts = [problem + what, *others]
    if verdict.mistake is not None:
        parts += _cause_and_question(reason, verdict.mistake)
    elif isinstance(reason, reasons.WrongNumbers) and reason.slip is not None:
        parts += paragraphs(reason.slip)
    parts += _leads(verdict)
    return [cut(capitalized(part), LONGEST) for part in parts]


def _what_and_where(reason: reasons.Reason) -> list[str]:
    """Return what is wrong, and where, without a question."""
    if isinstance(reason, reasons.WrongNumbers):
        return runs.wrong_numbers_in_parts(reason)
    if isinstance(reason, reasons.Unsafe):
        return runs.unsafe_in_parts(reason)
    if isinstance(reason, reasons.WithoutSkill | replies.TooManyCalls):
        return [*runs.without_skill_in_parts(reason)]
    return [SENTENCES[type(reason)](reason)]


def _cause_and_question(reason: reasons.Reason, mistake: reasons.NamedMistake) -> list[str]:
    """Return the known mistake, and its question; an exercise's own sentence tells the cause itself."""
    if isinstance(reason, replies.OfTheExercise):
        return [mistake.question]
    if isinstance(reason, reasons.WithoutSkill | replies.TooManyCalls):
        return [f"its counts are what comes out when {mistake.name}:", mistake.question]
    return [f"{_fits(reason)} when {mistake.name}:", mistake.question]


def _fits(reason: reasons.Reason) -> str:
    """Return how a known mistake is named as what fits a reason."""
    does = "happens" if isinstance(reason, reasons.Unsafe | reasons.UsesBefore) else "comes out"
    return f"this is what {does}"


def _named(reason: reasons.Reason, mistake: reasons.NamedMistake, problem: str) -> list[str]:
    """Return the mistake's name and question before the reason; an exercise's own sentence tells the cause itself."""
    if isinstance(reason, replies.OfTheExercise):
        return [mistake.question, capitalized(reason.text)]
    if isinstance(reason, reasons.WithoutSkill | replies.TooManyCalls):
        right, rest = runs.without_skill_in_parts(reason)
        opening = f"{right}, but its counts are what comes out"
        return [f"{opening} when {mistake.name}: {mistake.question}", capitalized(rest)]
    first, *others = paragraphs(reason, problem=problem)
    return [f"{_fits(reason)} when {mistake.name}: {mistake.question}", capitalized(first), *others]


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


def last_outcome(passed: int, tests: int) -> str:
    """Return what a text was judged when its tests ran last."""
    outcome = "right" if passed == tests else "not right yet"
    return f"yours: {outcome}, {passed} of {tests} tests"


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
