"""What a test says about a learner's work."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

NOT_ATTEMPTED, NO_COMPILE, WRONG, RIGHT = "not attempted", "does not compile", "wrong", "right"


@dataclass(frozen=True)
class Verdict:
    """What one test says: its name, one of the four outcomes, and the reason."""

    test: str
    outcome: str
    detail: str = ""

    def __repr__(self) -> str:
        return f"{self.test:<34}{self.outcome}{': ' if self.detail else ''}{self.detail}"


class Grades(tuple[Verdict, ...]):
    """All verdicts on one kernel, and how many of the tests it passes."""

    @classmethod
    def alike(cls, tests: Sequence[str], outcome: str, detail: str = "") -> "Grades":
        """The same outcome in every test, with the reason in the first."""
        return cls(Verdict(test, outcome, "" if i else detail) for i, test in enumerate(tests))

    @property
    def passed(self) -> int:
        """How many tests say right."""
        return sum(verdict.outcome == RIGHT for verdict in self)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self), f"{self.passed} of {len(self)} tests pass"])


def require_number(answer: object) -> None:
    """Raise TypeError unless a reader's answer is a number."""
    if not isinstance(answer, Real) or isinstance(answer, bool):
        raise TypeError(f"answer = {answer!r} is a {type(answer).__name__}: it must be a number")
