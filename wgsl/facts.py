"""Facts of what was found in a run, or before it, for the sentences of `wgsl.words`; a "thread" is an invocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

READS, WRITES = "reads", "writes"


class Thread(NamedTuple):
    """A thread by its local_invocation_index, and its workgroup where that is not known already."""

    index: int
    workgroup: tuple[int, int, int] | None = None


class Line(NamedTuple):
    """A line of the text, or a piece of it: the number of the line, and the code."""

    number: int
    code: str


class MemoryWord(NamedTuple):
    """A variable, or an element of it: `index` is None in what is no array, and `path` is for arrays of arrays."""

    variable: str
    index: int | None = None
    path: tuple[int, ...] = ()


# --- Indices --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutOfRange:
    """An index past an array.

    `source` is the access as it is written, `array` what is indexed there, with `size` elements. Such an access is
    `dropped`, or goes to the last element. `in_loop` says that the text has a loop.
    """

    thread: Thread
    access: str
    source: str
    variable: str | None
    index: int
    array: str
    size: int
    dropped: bool
    in_loop: bool

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The thread of the first case."""
        return (self.thread,)


@dataclass(frozen=True)
class IndexOverflow:
    """An index that left the range of its type on the way, and wrapped around; it may have come `below_zero`."""

    thread: Thread
    source: str
    variable: str | None
    index: int
    below_zero: bool

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The thread of the first case."""
        return (self.thread,)


# --- Two accesses ---------------------------------------------------------------------------------------------


class AtAWord:
    """The base of what is found at a word of memory."""

    word: MemoryWord

    @property
    def variable(self) -> str:
        """The variable of the word."""
        return self.word.variable

    @property
    def index(self) -> int | None:
        """The index of the word in its array."""
        return self.word.index


@dataclass(frozen=True)
class Race(AtAWord):
    """Two accesses to one word, or to components of one vector (`of_vector`), that nothing orders.

    `wrote` says of each of the `threads` whether it writes; `other_line` is that of the second one, None where it is
    the same. `no_barrier_helps` where both write it in one step, or in two workgroups; `no_place_for_barrier`: tried.
    """

    threads: tuple[Thread, Thread]
    wrote: tuple[bool, bool]
    word: MemoryWord
    other_line: Line | None
    space: str
    same_workgroup: bool
    no_barrier_helps: bool
    no_place_for_barrier: bool = False
    of_vector: bool = False

    @property
    def access(self) -> str | None:
        """The access of the first thread; None where both write in the same line at once."""
        if all(self.wrote) and self.other_line is None and self.no_barrier_helps:
            return None
        return WRITES if self.wrote[0] else READS


@dataclass(frozen=True)
class Overlap(AtAWord):
    """Two writes of one value to one word, which nothing orders."""

    threads: tuple[Thread, Thread]
    word: MemoryWord
    same_workgroup: bool

    access = None


@dataclass(frozen=True)
class LostUpdate(AtAWord):
    """A word that a thread reads and then stores, where another one may write in between; None is the store's line."""

    threads: tuple[Thread, Thread]
    word: MemoryWord
    read_in: Line | None
    written_in: Line | None

    access = WRITES


@dataclass(frozen=True)
class Uninitialized(AtAWord):
    """A word of workgroup memory that a thread reads, and that no thread has written."""

    thread: Thread
    word: MemoryWord

    access = READS

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The thread of the first case."""
        return (self.thread,)


# --- Barriers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MissedBarrier:
    """A barrier that `arrived` of the threads of a workgroup of this `size` reach, and another one does not.

    That one is kept from it by an "if", a "switch" or a "loop" around the barrier, or by a "return", a "break" or a
    "continue" before it; "" is a part of a condition.
    """

    barrier: str
    arrived: int
    size: int
    missing: Thread
    kept_by: str

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The first thread that does not come."""
        return (self.missing,)


class Differs(NamedTuple):
    """A reason why a value may differ between the threads of a workgroup.

    The `kind` is "input" (the parameter `name` holds the builtin `of`), "atomic", "storage", "workgroup" or "private";
    "subgroup" and "thread" are what the function `name` gives to a subgroup and to one of its threads.
    """

    kind: str
    name: str = ""
    of: str = ""


@dataclass(frozen=True)
class Unproven:
    """A barrier that cannot be proven to be reached by all threads of a workgroup together.

    `steps` lead from what decides who comes to what `differs`. A function of subgroups is one for the threads of a
    `group`, the "subgroup"; where they come, its `argument` cannot be proven to be the same for all of them.
    """

    barrier: str
    steps: tuple[Line, ...]
    differs: Differs
    group: str = "workgroup"
    argument: str = ""


@dataclass(frozen=True)
class Aliased:
    """A call in which a function reaches a variable in two ways, and writes it."""

    function: str
    variable: str


@dataclass(frozen=True)
class PointerParameter:
    """A parameter that is a pointer to storage, workgroup or uniform memory."""

    space: str
    parameter: str


# --- Loops ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Endless:
    """A loop in which a thread has used up its `iterations`, `here` of them in this loop.

    Its end depends on the variables in `unmoved`, which did not change; or on `always`, a condition that holds because
    a u32 is never below 0. Nothing leaves one that is `closed`.
    """

    iterations: int
    here: int
    unmoved: tuple[str, ...] = ()
    always: str = ""
    closed: bool = False

    @property
    def may_end(self) -> bool:
        """True where no loop alone is to blame: all of them may end."""
        has_cause = bool(self.unmoved or self.always or self.closed)
        return not has_cause and not self.mostly_here

    @property
    def mostly_here(self) -> bool:
        """True where more than half of the iterations are those of this loop."""
        return self.here > self.iterations // 2


@dataclass(frozen=True)
class Waiting:
    """A loop that ends only when another thread changes an atomic variable."""

    variable: str

    may_end = False


@dataclass(frozen=True)
class WorkUsedUp:
    """A run that was stopped after so many statements, with up to so many threads each."""

    statements: int
    most_threads: int

    may_end = True


class SettledComparisons(NamedTuple):
    """Comparisons that are settled before the run, as they are written: all of them hold, or none does."""

    codes: tuple[str, ...]
    hold: bool


# --- Numbers --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unwritten:
    """An output of which `count` of its `size` numbers are never written; `index` is the first of them.

    The `parts` of a texture are its texels.
    """

    variable: str
    count: int
    size: int
    index: int
    parts: str = "numbers"


@dataclass(frozen=True)
class NotANumber:
    """An operation that gives NaN of operands that are none; `stored_in` is None where it is the same line."""

    source: str
    stored_in: Line | None


Facts = (
    OutOfRange | IndexOverflow | Race | Overlap | LostUpdate | Uninitialized | MissedBarrier | Unproven | Aliased
    | PointerParameter | Endless | Waiting | WorkUsedUp | Unwritten | NotANumber
)  # fmt: skip


# --- What to write in a text that is refused ------------------------------------------------------------------


class Mark(NamedTuple):
    """A place to draw carets at, from an offset on, and another line to show; `at` is None where there is no place."""

    at: int | None
    length: int = 1
    other: int | None = None


class Edit(NamedTuple):
    """A piece of a text, ``text[at:end]``, and what to write in its place."""

    at: int
    end: int
    text: str


@dataclass(frozen=True)
class Suggestion:
    """The reason why a text is refused, and what to write instead.

    The `kind` is a key of `wgsl.words.suggestions`, and the `facts` are what its sentence needs. Without a `mark`, the
    place is that of the refusal. The `edits` are what its cure changes; there are none where it only explains.
    """

    kind: str
    facts: Mapping[str, object] = field(default_factory=dict)
    mark: Mark | None = None
    edits: tuple[Edit, ...] = ()


class Origin(NamedTuple):
    """A declaration as it is written, with its name and its line; `line` is None where the reader does not see it."""

    name: str
    line: int | None
    declaration: str


class Described(NamedTuple):
    """A value as it is written, its type, and the declaration that gives it the type, if there is one."""

    text: str
    type: object
    origin: Origin | None = None


class Write(NamedTuple):
    """Texts to write, each for a piece of an expression."""

    texts: tuple[str, ...]


class WriteUnsigned(NamedTuple):
    """Declarations, or one value, to write as u32; `leave_out` says that a call of `i32` is left out there."""

    texts: tuple[str, ...]
    leave_out: bool


class DeclareF32(NamedTuple):
    """A declaration that makes a variable an f32."""

    name: str
    declaration: str


Cure = Write | WriteUnsigned | DeclareF32


class Misfit(NamedTuple):
    """A value that does not fit its place, and what to write; `no_type` is a type that cannot hold such a number."""

    value: Described
    cure: str | None
    no_type: object = None


class NoCondition(NamedTuple):
    """A value that is not true or false, and the zero to compare it with, if it is a number."""

    value: Described
    zero: str | None
