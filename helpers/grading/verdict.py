"""What a test says about a learner's work."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

NOT_ATTEMPTED, NO_COMPILE, RIGHT = "not attempted", "does not compile", "right"
WRONG, UNSAFE = "wrong", "unsafe"  # unsafe: the numbers are right, but by luck


@dataclass(frozen=True)
class Verdict:
    """What one test says: its name, one of the five outcomes, and the reason; `drawing` shows a wrong output."""

    test: str
    outcome: str
    detail: str = ""
    drawing: str = ""

    def __repr__(self) -> str:
        return f"{self.test:<34}{self.outcome}{': ' if self.detail else ''}{self.detail}"

    def adding(self, more: str) -> "Verdict":
        """The same verdict with one more reason."""
        return replace(self, detail=f"{self.detail}; {more}")


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

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        """What a notebook shows: the verdicts and the first, which is the smallest, of the wrong outputs."""
        drawings = [verdict.drawing for verdict in self if verdict.drawing]
        return {"text/plain": "\n\n".join([repr(self), *drawings[:1]])}


def require_number(answer: object) -> None:
    """Raise TypeError unless a reader's answer is a number."""
    if not isinstance(answer, Real) or isinstance(answer, bool):
        raise TypeError(f"answer = {answer!r} is a {type(answer).__name__}: it must be a number")
