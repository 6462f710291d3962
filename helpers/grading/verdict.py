"""The verdict of a test on a learner's work: a record of outcome and reason, of which `words` makes sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from helpers.grading import words
from helpers.grading.change import Repair
from helpers.grading.comparison import Compared
from helpers.grading.drawing import Drawn
from helpers.grading.reasons import NamedMistake, Reason, covers, line_of
from helpers.grading.words.letters import capitalized as capitalized
from wgsl.output import in_lines

NOT_ATTEMPTED, NO_COMPILE, RIGHT = "not attempted", "does not compile", "right"
WRONG, UNSAFE = "wrong", "unsafe"  # unsafe: the numbers are right, but by luck
NOT_YET = "not yet"  # right and safe, but without what the puzzle is about; or our simulator cannot run it


class MessageAlone(Exception):
    """An error that is not the program's: IPython shows its message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Verdict:
    """The verdict of one test: its name, one of the six outcomes, and the reason.

    `drawn` is what shows what is wrong, and `mistake` the known mistake that does the same, where one is recognized.
    `evidence` is what a picture is drawn from: the `ReadSets` of the first wrong number, or a `Race`. `sizes` are those
    of a drawn problem, in the place of a test, by their names. `repair` says where one change makes the text right.
    """

    test: str
    outcome: str
    reason: Reason | None = None
    drawn: Drawn | None = None
    mistake: NamedMistake | None = None
    evidence: object = field(default=None, compare=False)
    sizes: tuple[tuple[str, int | str], ...] = ()
    repair: Repair | None = None

    @property
    def line(self) -> int | None:
        """The line of the text that the reason names first, or None."""
        return line_of(self.reason)

    def covers(self, other: "Verdict") -> bool:
        """Return whether who has read this verdict's reason has read that of another one, too."""
        if other.repair not in (None, self.repair):
            return False
        return other.mistake in (None, self.mistake) and covers(self.reason, other.reason)

    # --- In words -------------------------------------------------------------------------------------------------

    @property
    def detail(self) -> str:
        """The reason in words."""
        return words.detail(self)

    @property
    def sentence(self) -> str:
        """The outcome with its reason in words."""
        return words.outcome(self)

    @property
    def drawing(self) -> str:
        """The drawing as text."""
        return words.drawing(self.drawn)

    def __repr__(self) -> str:
        return words.row(self)

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Print what a notebook shows."""
        printer.text(in_lines(repr(self)))


class Grades(tuple[Verdict, ...]):
    """All verdicts on one kernel, and how many of the tests it passes."""

    @classmethod
    def alike(
        cls, tests: Sequence[str], outcome: str, reason: Reason | None = None, drawn: Drawn | None = None
    ) -> "Grades":
        """Return the same outcome in every test, with the reason and the drawing in the first."""
        first, *others = tests
        return cls([Verdict(first, outcome, reason, drawn), *(Verdict(test, outcome) for test in others)])

    @property
    def passed(self) -> int:
        """The number of tests that are right."""
        return sum(verdict.outcome == RIGHT for verdict in self)

    @property
    def as_ours(self) -> bool:
        """True where all tests are right, and the kernel has the official one's counts in all of them."""
        return self.passed == len(self) and all(isinstance(v.reason, Compared) and v.reason.as_ours for v in self)

    @property
    def fail_alike(self) -> bool:
        """True where no test is right, and the first one has the reason of all."""
        first = self[0]
        return first.outcome != RIGHT and all(v.outcome == first.outcome and first.covers(v) for v in self)

    def is_repeated(self, place: int) -> bool:
        """Return whether a verdict that is not right has a reason that one before it has."""
        verdict = self[place]
        if verdict.reason is None or verdict.outcome == RIGHT:
            return False
        return any(before.covers(verdict) for before in self[:place])

    # --- In words -------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return words.report(self)

    def __str__(self) -> str:
        return words.report_with_drawings(self)

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Print what a notebook shows; for a tuple, IPython takes no text from `_repr_mimebundle_`."""
        printer.text(str(self))
