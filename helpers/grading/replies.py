"""The reasons of verdicts on answers, on lines of Python, and on faults that are found or planted: records of facts."""

from dataclasses import dataclass

from helpers.grading.reasons import Reason
from wgsl.simulator.findings import Finding

# --- Answers ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoAnswer(Reason):
    """A matrix in which no cell is marked yet."""


@dataclass(frozen=True)
class Reply(Reason):
    """The reply to a wrong answer: that to a likely `mistake`, or the advice for all others (None)."""

    text: str
    mistake: object = None


@dataclass(frozen=True)
class PartlyRight(Reason):
    """Several numbers of which some are right: True for each of these."""

    right: tuple[bool, ...]
    advice: str


@dataclass(frozen=True)
class CellsOff(Reason):
    """Marked cells of which some are wrong or missing, without saying which."""

    too_many: int
    left_out: int
    advice: str


@dataclass(frozen=True)
class LongAnswer(Reason):
    """An answer with more letters than are read, and an example."""

    letters: int
    example: str


@dataclass(frozen=True)
class UnknownCell(Reason):
    """An answer that names a cell that the matrix does not have, as Python shows it."""

    shown: str
    first: str
    last: str
    example: str


# --- Lines of Python ----------------------------------------------------------------------------------------------

Values = tuple[tuple[str, object], ...]  # each with its name


@dataclass(frozen=True)
class Refusal:
    """The reason why lines are refused, or cannot be computed: a kind of `words.python_lines`, and the facts."""

    kind: str
    facts: Values = ()


@dataclass(frozen=True)
class LinesRefused(Reason):
    """Lines that are refused, or that cannot be computed: why, and the place, if it has one."""

    refusal: Refusal
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class WrongValue(Reason):
    """A value that is wrong, and how many values of the test are; `names` have values there."""

    answer: str
    value: object
    right: object
    names: Values
    wrong: int
    size: int


@dataclass(frozen=True)
class NoValue(Reason):
    """A value that cannot be computed: the place, and why, and how many values of the test are wrong."""

    error: LinesRefused
    names: Values
    wrong: int
    size: int

    @property
    def line(self) -> int | None:
        """The line that cannot be computed."""
        return self.error.line


@dataclass(frozen=True)
class OfTheExercise(Reason):
    """A sentence of the exercise itself, where an answer alone is neither right nor wrong."""

    text: str


@dataclass(frozen=True)
class TooManyCalls(Reason):
    """Right values, made with more calls of some functions than the exercise asks for."""

    asked: str
    names: str
    calls: int
    ours: int


# --- A fault to find ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoLineYet(Reason):
    """No line is named yet."""


@dataclass(frozen=True)
class NoSuchLine(Reason):
    """A line that the listing does not have."""

    shown: str
    first: int
    last: int


@dataclass(frozen=True)
class FaultHere(Reason):
    """The line with the fault, and what leads to its correction; one that was `tried` does not correct it."""

    line: int
    cure: str
    tried: bool = False


@dataclass(frozen=True)
class FaultElsewhere(Reason):
    """A line without the fault, and the question that leads to the right one."""

    line: int
    question: str


@dataclass(frozen=True)
class BlockLost(Reason):
    """A line that opens or closes a block, which the text in its place does not."""

    line: int
    code: str
    opens: bool


@dataclass(frozen=True)
class AllTestsPass(Reason):
    """A corrected kernel that passes every test."""


@dataclass(frozen=True)
class CompilerStopped(Reason):
    """A corrected kernel that does not compile, because of the learner's `lines`.

    The compiler stopped in these, or in another line of the text (`elsewhere`), or names no line.
    """

    lines: int
    in_them: bool
    elsewhere: bool


@dataclass(frozen=True)
class CorrectionEndless(Reason):
    """A loop that does not end since the correction, in the learner's lines or not; `first` is the first of these."""

    first: int
    in_them: bool


# --- A fault to plant ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NothingPlanted(Reason):
    """No piece of the kernel is named yet."""


@dataclass(frozen=True)
class Seen:
    """A run of a kernel with a planted fault: how many numbers are wrong of how many, and the first finding."""

    wrong: int
    size: int
    finding: Finding | None


@dataclass(frozen=True)
class SeenByTest(Reason):
    """A planted fault that the lesson's test shows, and what leads on."""

    test: str
    seen: Seen
    asked: str


@dataclass(frozen=True)
class SeenBySimulatorAlone(Reason):
    """A planted fault with which all numbers of the lesson's test are right."""

    finding: Finding


@dataclass(frozen=True)
class MissedByTest(Reason):
    """A planted fault that the lesson's test misses, and the case in which it is seen."""

    test: str
    case: str
    seen: Seen


@dataclass(frozen=True)
class NoFaultSeen(Reason):
    """An edit that changes no result in any of the cases tried."""

    cases: int


@dataclass(frozen=True)
class SeenByCount(Reason):
    """A planted fault that leaves all numbers right, and makes a count of the lesson's test larger: ours and yours."""

    test: str
    count: str
    ours: int
    yours: int


@dataclass(frozen=True)
class NotCostly(Reason):
    """An edit that leaves all numbers right, and a count nearly as it is: ours and yours, and what leads on."""

    test: str
    count: str
    ours: int
    yours: int
    asked: str
