"""The reasons of verdicts, as records of facts: one small kind each. `helpers.grading.words` makes sentences of them.

Most reasons are about a place in the learner's text: their `line` is the one that is named first, from 1, or None.
Every record is made of numbers, text, tuples and other records: it travels between processes (`transport`).
"""

from dataclasses import dataclass, replace

from wgsl import WgslError
from wgsl.facts import Line
from wgsl.simulator.findings import Finding

UNWRITTEN, NOT_PORTABLE = "unwritten output", "not portable"  # kinds of findings
BEFORE_NUMBERS = frozenset(  # they make numbers wrong, not the other way round
    {"non-uniform barrier", "data race", "lost update", "undefined lane"}
)
ONE_RESULT = frozenset({"overlapping writes"})  # in any order
STRAY_READS = frozenset({"out-of-range read", "index overflow"})
SAYS_ALL = frozenset({NOT_PORTABLE, "uninitialized read"})  # the finding says why right numbers are not enough


class Reason:
    """A reason of a verdict; each kind is a dataclass below."""


@dataclass(frozen=True)
class Plain(Reason):
    """A text that is not made here, such as a driver's message."""

    text: str


@dataclass(frozen=True)
class NamedMistake:
    """The name of a known mistake, and the question that leads to its cure."""

    name: str
    question: str


# --- A text that is not tried -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NotCompiled(Reason):
    """A text that does not compile: the place, if it has one, and why, as the compiler says it.

    `unread` is an input that no line names: what makes the text compile does not make it right.
    """

    why: str
    line: int | None = None
    column: int | None = None
    unread: str = ""


def not_compiled(error: WgslError) -> NotCompiled:
    """Return the reason of a text that is refused."""
    return NotCompiled(error.reason, error.line, error.column)


@dataclass(frozen=True)
class NotSimulated(Reason):
    """A text that the simulator does not run: a feature of the language that it lacks, or else why."""

    feature: str = ""
    why: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Undeclared(Reason):
    """A name that is declared nowhere, as a piece of the skeleton is missing: "" where that is a line of the task."""

    name: str
    line: int
    column: int
    missing: str


@dataclass(frozen=True)
class ExchangedBindings(Reason):
    """Bindings with each other's names, by their numbers, and one of the names."""

    numbers: tuple[int, ...]
    name: str


@dataclass(frozen=True)
class RenamedPass(Reason):
    """A pass that has another name than that by which it is run."""

    name: str
    wanted: str


@dataclass(frozen=True)
class MissingPass(Reason):
    """One of several passes that a text lacks."""

    passes: tuple[str, ...]
    missing: str


@dataclass(frozen=True)
class NotU32(Reason):
    """A member of the uniform's struct that has another type than u32."""

    line: int
    member: str
    type: str


@dataclass(frozen=True)
class ChangedBinding(Reason):
    """A binding of the skeleton that is not as it was."""

    binding: int


@dataclass(frozen=True)
class ExtraBinding(Reason):
    """A binding that the task does not have."""

    binding: int


@dataclass(frozen=True)
class OtherStage(Reason):
    """A function that is a shader of another stage, "vertex" or "fragment", which no dispatch runs."""

    line: int
    name: str
    stage: str


@dataclass(frozen=True)
class UnwantedSubgroups(Reason):
    """A text that enables subgroups, in this line, where the task does without them."""

    line: int


@dataclass(frozen=True)
class WrongBinding(Reason):
    """A binding that is not declared as the task says: its type, or for a struct how many u32 it has."""

    binding: int
    space: str
    type: str = ""
    members: int = 0


@dataclass(frozen=True)
class WorkgroupSize(Reason):
    """Workgroups of another size than the task's; `entry_point` is whose they are, where there are several passes."""

    size: tuple[int, ...]
    wanted: tuple[int, ...]
    entry_point: str = ""


@dataclass(frozen=True)
class NothingStored(Reason):
    """A text of which no line that can run stores to the output."""

    output: str
    entry_point: str


@dataclass(frozen=True)
class NothingRead(Reason):
    """A text of which no line reads anything of an input."""

    input: str


@dataclass(frozen=True)
class LongText(Reason):
    """A text with more letters than are read."""

    letters: int
    most: int


@dataclass(frozen=True)
class Stopped(Reason):
    """A process that was stopped: its "time" or "memory" was used up (the limit, in s or bytes), or a "crash"."""

    cause: str
    limit: float = 0


# --- A run --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Diagnosis:
    """A finding of the simulator; it comes without advice where a known mistake is named instead.

    `padded` says whether a test has a padding, which an index below 0 may be in. `guard` is a line below, which stops
    its thread only then.
    """

    finding: Finding
    with_advice: bool = True
    padded: bool = False
    guard: Line | None = None

    @property
    def line(self) -> int | None:
        """The line, except where that would be the declaration of an output that is not written."""
        return None if self.finding.kind == UNWRITTEN else self.finding.line


@dataclass(frozen=True)
class EndlessLoop(Reason):
    """A loop that may never end, in which test, where others have ended; those may have been run."""

    diagnosis: Diagnosis
    test: str = ""
    others_run: bool = False

    @property
    def line(self) -> int | None:
        """The line of the loop."""
        return self.diagnosis.line


@dataclass(frozen=True)
class Mismatch:
    """The count of wrong numbers in an output, and the place of the first one.

    `place` is the index on each axis by its name; a table's `column` has a name of its own. `pair` is the number there,
    None where nothing was written, and the right one; it is there where a reader sees both numbers drawn.
    """

    wrong: int
    size: int
    place: tuple[tuple[str, int], ...]
    column: str = ""
    pair: tuple[float | None, float] | None = None  # a tuple, in which a NaN equals itself


@dataclass(frozen=True)
class Blame:
    """The passes from which wrong numbers come, each tried among `others` of ours; none where each is right there."""

    passes: tuple[str, ...]
    others: int


@dataclass(frozen=True)
class SecondDeclaration(Reason):
    """A variable that a block declares again, and in which line the first one is read."""

    place: Line
    name: str
    in_loop: bool
    read_in: int

    @property
    def line(self) -> int:
        """The line of the second declaration."""
        return self.place.number


@dataclass(frozen=True)
class WrongNumbers(Reason):
    """An output with wrong numbers, and what explains it: a `slip` in the text, or else a diagnosis, if there is any.

    `replaced_in` is a line that stores an element more than once. `adapter` is where the numbers are wrong, though a
    simulated run is right. A kernel that is not `by_reader` was written by somebody else. Where `several` known
    mistakes make the same numbers, none is named.
    """

    mismatch: Mismatch
    blame: Blame | None = None
    replaced_in: Line | None = None
    slip: Reason | None = None
    diagnosis: Diagnosis | None = None
    adapter: str = ""
    by_reader: bool = True
    several: bool = False

    @property
    def diagnosis_first(self) -> bool:
        """True where the numbers are wrong because of what was found."""
        return self.diagnosis is not None and self.diagnosis.finding.kind in BEFORE_NUMBERS

    @property
    def line(self) -> int | None:
        """The line that explains the numbers."""
        if self.slip is not None and line_of(self.slip) is not None:
            return line_of(self.slip)
        if self.replaced_in is not None:
            return self.replaced_in.number
        return self.diagnosis.line if self.diagnosis else None


@dataclass(frozen=True)
class Unsafe(Reason):
    """Right numbers that are not safe; `as_in` is the test that shows the reason, where this one does not."""

    diagnosis: Diagnosis
    as_in: str = ""
    by_luck: bool = True

    @property
    def line(self) -> int | None:
        """The line of what was found."""
        return self.diagnosis.line


@dataclass(frozen=True)
class UsesBefore(Reason):
    """A result that is made of what is in a new buffer.

    The line `adds` to it, or uses it in another way; it may be one of several buffers, and be stored more than once.
    """

    place: Line
    adds: bool
    several_buffers: bool
    stored_again: bool

    @property
    def line(self) -> int:
        """The line that uses it."""
        return self.place.number


@dataclass(frozen=True)
class WithoutSkill(Reason):
    """Right numbers without what the puzzle asks for: counts in a test, each by its key, with the official kernel's.

    `stopped` is what ended the run of another test, `stopped_in`.
    """

    asked: str
    test: str
    counts: tuple[tuple[str, float, float], ...]
    stopped: Diagnosis | None = None
    stopped_in: str = ""


@dataclass(frozen=True)
class NotRun(Reason):
    """A kernel that compiles, and that this machine cannot run."""

    why: str


# --- Reading them -------------------------------------------------------------------------------------------------


def line_of(reason: Reason | None) -> int | None:
    """Return the line that a reason names first; None where it names none."""
    return getattr(reason, "line", None)


def covers(reason: Reason | None, other: Reason | None) -> bool:
    """Return whether who has read one reason has read the other one, too."""
    if isinstance(other, Unsafe):
        other = _without_opening(other)
    return other is None or other in (reason, _without_opening(reason))


def _without_opening(reason: Reason | None) -> Reason | None:
    """Return the reason that is left where the first thing that this one names is left out."""
    if isinstance(reason, Unsafe):
        return replace(reason, as_in="", by_luck=False)
    if isinstance(reason, WrongNumbers) and reason.slip is not None:
        return replace(reason, slip=None)
    if isinstance(reason, WrongNumbers) and reason.diagnosis_first:
        return replace(reason, diagnosis=None)
    return reason
