"""What a test says about a learner's work."""

from dataclasses import dataclass

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

    @property
    def passed(self) -> int:
        """How many tests say right."""
        return sum(verdict.outcome == RIGHT for verdict in self)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self), f"{self.passed} of {len(self)} tests pass"])
