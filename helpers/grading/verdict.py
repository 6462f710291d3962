"""What a test says about a learner's work."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wgsl.output import in_lines

NOT_ATTEMPTED, NO_COMPILE, RIGHT = "not attempted", "does not compile", "right"
WRONG, UNSAFE = "wrong", "unsafe"  # unsafe: the numbers are right, but by luck
NOT_YET = "not yet"  # right and safe, but without what the puzzle is about; or our simulator cannot run it

OURS = "; ours: "  # precedes the counts of the official kernel, where they differ
MANY = 10  # tests
AS_OURS = "with the same loads, stores and barriers as our kernel, "


class MessageAlone(Exception):
    """An error that is not the program's: IPython shows its message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Verdict:
    """What one test says: its name, one of the six outcomes, and the reason; `drawing` shows what is wrong.

    `evidence` is what a picture is drawn from: the `ReadSets` of the first wrong number, or a `Race`.
    """

    test: str
    outcome: str
    detail: str = ""
    drawing: str = ""
    evidence: object = field(default=None, compare=False)

    def named(self, mistake: str, question: str) -> "Verdict":
        """With what a known mistake does, and the question that leads to the cure, before the rest."""
        start, but, rest = self.detail.partition(", but ") if self.outcome == NOT_YET else ("", "", self.detail)
        what = f"{start}{but}its counts are" if start else "this is"
        does = "happens" if self.outcome == UNSAFE else "comes out"
        return replace(self, detail=f"{what} what {does} when {mistake}: {question} {capitalized(rest)}")

    @property
    def said(self) -> str:
        """The outcome with its reason."""
        return f"{self.outcome}{': ' * bool(self.detail)}{self.detail}"

    def __repr__(self) -> str:
        return f"{self.test:<33} {self.said}"

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """What a notebook shows."""
        printer.text(in_lines(repr(self)))


class Grades(tuple[Verdict, ...]):
    """All verdicts on one kernel, and how many of the tests it passes."""

    @classmethod
    def alike(cls, tests: Sequence[str], outcome: str, detail: str = "", drawing: str = "") -> "Grades":
        """The same outcome in every test, with the reason and the drawing in the first."""
        first, *others = tests
        return cls([Verdict(first, outcome, detail, drawing), *(Verdict(test, outcome) for test in others)])

    @property
    def passed(self) -> int:
        """How many tests say right."""
        return sum(verdict.outcome == RIGHT for verdict in self)

    @property
    def as_ours(self) -> bool:
        """Whether all tests are right, and the kernel has the official one's counts in all of them."""
        return all(verdict.outcome == RIGHT and verdict.detail and OURS not in verdict.detail for verdict in self)

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), f"{AS_OURS * self.as_ours}{self.passed} of {len(self)} tests pass"])

    def _lines(self) -> list[str]:
        """One line for each test, or for all of many that say the same; a reason that several share is said once."""
        lines, first = [], self[0]
        alike = (verdict.outcome == first.outcome and ends_with(first.detail, verdict.detail) for verdict in self)
        if len(self) > MANY and first.outcome != RIGHT and all(alike):
            return [repr(replace(first, test=f"all {len(self)} tests"))]
        for i, verdict in enumerate(self):
            said = verdict.detail and any(ends_with(before.detail, verdict.detail) for before in self[:i])
            lines.append(repr(replace(verdict, detail="the same") if said and verdict.outcome != RIGHT else verdict))
        return lines

    def __str__(self) -> str:
        """The verdicts, and below them the place of a compile error or the smallest wrong output."""
        return "\n\n".join([in_lines(repr(self)), *(verdict.drawing for verdict in self if verdict.drawing)])

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """What a notebook shows; for a tuple, IPython takes no text from `_repr_mimebundle_`."""
        printer.text(str(self))


def capitalized(sentence: str) -> str:
    """With a capital at the start, and all else as it is."""
    return sentence[:1].upper() + sentence[1:]


def ends_with(text: str, end: str) -> bool:
    """Whether a text ends with another one, which may be a sentence of its own there."""
    return text.lower().endswith(end.lower())
