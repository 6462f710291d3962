"""A simulated run, event by event: who was active, what was read and written, and what memory held."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from helpers.pictures.canvas import number
from helpers.widgets.stepper.text import functions, line_of
from wgsl.simulator.trace import Trace
from wgsl.simulator.watched import Named, numbers_of
from wgsl.syntax.tree import Call, walk
from wgsl.types.kinds import BOOL, leaves

Array = np.ndarray

MOST_NUMBERS = 4  # of a variable that are shown
WORD = 2**32  # above the largest u32
SECTOR = 8  # words in a sector of storage memory
IN_A_ROW = 12  # the most elements of a vector in one row; longer ones have a sector in each row
KINDS = {"i32": "i4", "u32": "u4"}
ACTIVE = "active"
WAITING = "waiting"
DONE = "done"
BARRIERS = ("workgroupBarrier", "storageBarrier", "workgroupUniformLoad")
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Memory:
    """A storage buffer, or one workgroup's copy of a variable, as an array of `shape`; `group` is -1 for a buffer."""

    name: str
    shape: Shape
    group: int = -1

    @property
    def shared(self) -> bool:
        """True where it belongs to one workgroup."""
        return self.group >= 0

    @property
    def note(self) -> str:
        """Its shape, and the workgroup where each one has its own."""
        sizes = " × ".join(map(str, self.shape))
        return f"{sizes}, group {self.group}" if self.group > 0 else sizes

    @property
    def planes(self) -> tuple[int, int, int]:
        """Planes, rows and columns in which it is drawn; a vector is a row, or rows of one sector each."""
        if len(self.shape) > 1:
            return max(prod(self.shape[:-2]), 1), *self.shape[-2:]
        (size,) = self.shape
        if size <= IN_A_ROW:
            return 1, 1, size
        return 1, ceil(size / SECTOR), SECTOR

    def holds(self, access: "Access") -> bool:
        """Return whether an access is to this array."""
        return (access.name, access.group) == (self.name, self.group)

    def element(self, word: int) -> str:
        """An element by its indices: grad_output[0,1,2,3]."""
        indices = np.unravel_index(word, self.shape)
        return f"{self.name}[{','.join(map(str, indices))}]"


class Access(NamedTuple):
    """One thread's use of one word."""

    name: str
    thread: int
    group: int
    word: int
    write: bool
    value: float


@dataclass(frozen=True, eq=False)
class Variable:
    """A watched variable: the values that it got, each with the step of the trace, and the thread that has it."""

    name: str
    steps: Array  # (n,)
    who: Array  # (n,)
    values: Array  # (n, numbers)
    is_bool: bool

    @property
    def scalar(self) -> bool:
        """True where a value is one number."""
        return self.values.shape[1] == 1

    def text(self, value: Array) -> str:
        """A value (numbers,) as it is shown."""
        texts = [self.number(component) for component in value[:MOST_NUMBERS]]
        if self.scalar:
            return texts[0]
        if len(value) > MOST_NUMBERS:
            texts.append("…")
        return f"({', '.join(texts)})"

    def number(self, value: float) -> str:
        """One number of a value: a whole one with all its digits, as an index is compared by all of them."""
        if self.is_bool:
            return "true" if value else "false"
        is_whole = np.isfinite(value) and value % 1 == 0 and abs(value) < WORD
        if is_whole:
            return f"{int(value)}".replace("-", "\N{MINUS SIGN}")
        return number(value)


class Held(NamedTuple):
    """The value of a variable as text, "" where it has none yet, and whether this event gave it the value."""

    text: str
    new: bool


@dataclass
class Event:
    """A line that some threads run: the step of the trace, and its accesses, a range of places in `Trace.accesses`.

    With what it calls, it lasts `until` a step, after the steps until `since`, which belong to the event before it.
    """

    step: int
    line: int
    active: frozenset[int]
    accesses: range
    after_call: bool = False  # what a statement does when the function that it called has returned
    since: int = -1
    until: int = -1


class Replay:
    """The events of a run on some `lines`, and the arrays to look at, each with its shape.

    An event on a line that calls a function includes what the function does, unless it has such lines, too. Threads
    have the numbers of `Step.active`. Raises ValueError for an array that the run did not touch, for a shape with too
    few elements, and for a run that was too long to be kept.
    """

    def __init__(self, trace: Trace, shapes: Mapping[str, Shape], lines: Collection[int]) -> None:
        if trace.dropped:
            raise ValueError(f"{trace.dropped:,} accesses were not kept: step through a smaller problem")
        self.trace = trace
        self.accesses = trace.accesses
        self.threads = prod(trace.workgroup_size)
        self.groups = prod(trace.workgroups)
        self.count = self.threads * self.groups
        x, y, _ = trace.workgroups
        self._strides = 1, x, x * y
        self.who = self._threads_of(self.accesses)
        home = self.who // self.threads
        self.home = np.where(self.accesses["space"] == "workgroup", home, -1)
        self._functions = functions(trace.kernel)
        self._last = np.full(self.count, -1)  # the last step of each thread
        for i, step in enumerate(trace.steps):
            self._last[step.active] = i
        self.memories = []
        for name, shape in shapes.items():
            self.memories += self._memories(name, tuple(shape))
        self.events = self._events(lines)
        for before, event in pairwise(self.events):
            event.since = before.until
        self.variables = [self._variable(named, name) for named, name in trace.log.watched.items()]
        if not self.events:
            raise ValueError("the run comes through none of the lines that are to be shown")

    def _memories(self, name: str, shape: Shape) -> list[Memory]:
        if name not in self.trace.variables:
            raise ValueError(f"{name}: the run touched only {', '.join(self.trace.variables)}")
        accesses = self.accesses[self._is(name)]
        last = accesses["index"].max()
        if last >= prod(shape):
            raise ValueError(f"{name} has shape {shape}: the run touched element {last}, beyond its end")
        groups = range(self.groups) if accesses["space"][0] == "workgroup" else [-1]
        return [Memory(name, shape, group) for group in groups]

    def _threads_of(self, rows: Array) -> Array:
        """The thread of each row."""
        return rows["workgroup"].astype(int) @ self._strides * self.threads + rows["invocation"]

    def _is(self, name: str) -> Array:
        return self.accesses["variable"] == self.trace.variables.index(name)

    # --- Events ----------------------------------------------------------------------------------------------

    def _events(self, lines: Collection[int]) -> list[Event]:
        shown_functions = {self._function(line) for line in lines} - {None}
        events: list[Event] = []
        current = None  # the event to which calls belong
        for event in self._statements():
            goes_on = event.after_call and current and event.line == current.line
            if goes_on or self._function(event.line) not in shown_functions:
                if current:
                    current.accesses = range(current.accesses.start, event.accesses.stop)
                    current.until = event.until
            elif event.line in lines:
                events.append(event)
                current = event
            else:
                current = None
        return events

    def _statements(self) -> Iterator[Event]:
        """The steps of the trace; after a call, the rest of the statement that called is an event of its own."""
        lines = self.accesses["line"].tolist()
        start = 0
        ends = np.searchsorted(self.accesses["step"], range(len(self.trace.steps)), "right").tolist()
        for i, (step, end) in enumerate(zip(self.trace.steps, ends, strict=True)):
            function = self._function(step.line)
            first_call = start
            while first_call < end and self._function(lines[first_call]) == function:
                first_call += 1
            yield Event(i, step.line, frozenset(step.active.tolist()), range(start, first_call), until=i)
            for line, places in groupby(range(first_call, end), lines.__getitem__):
                first, *others = places
                after_call = range(first, first + 1 + len(others))
                yield Event(i, line, frozenset(self.who[after_call].tolist()), after_call, after_call=True, until=i)
            start = end

    def _function(self, line: int) -> range | None:
        return next((part for part in self._functions if line in part), None)

    def states(self, event: Event) -> list[str]:
        """Each thread's state: one that runs again later is waiting."""
        states = np.where(self._last > event.step, WAITING, DONE)
        states[list(event.active)] = ACTIVE
        return states.tolist()

    def is_barrier(self, event: Event) -> bool:
        """Return whether the threads do nothing but wait for each other."""
        return event.line in self._barriers and not event.accesses

    @cached_property
    def _barriers(self) -> set[int]:
        """The lines with a barrier."""
        kernel = self.trace.kernel
        callees = (call.callee for call in walk(kernel.module) if isinstance(call, Call))
        return {line_of(kernel, callee.at) for callee in callees if callee.name in BARRIERS}

    # --- Variables --------------------------------------------------------------------------------------------

    def _variable(self, named: Named, name: str) -> Variable:
        rows = self.trace.watched[name]
        return Variable(
            name, rows["step"], self._threads_of(rows), numbers_of(named, rows["value"]), named.type == BOOL
        )

    def held(self, variable: Variable, event: Event, thread: int) -> Held:
        """The value of a thread's variable after an event."""
        so_far = np.flatnonzero((variable.who == thread) & (variable.steps <= event.until))
        if not len(so_far):
            return Held("", False)
        last = so_far[-1]
        is_new = bool(variable.steps[last] > event.since)
        return Held(variable.text(variable.values[last]), is_new)

    # --- Memory -----------------------------------------------------------------------------------------------

    def values(self, memory: Memory, event: Event) -> tuple[Array, Array]:
        """The values of an array after an event, and which elements hold what the host or a thread put there.

        nan where nobody has seen the number that stood there first; the other elements hold WGSL's zeros.
        """
        at = np.flatnonzero(self._is(memory.name) & (self.home == memory.group))
        values = self._first(memory, at)
        done = at[(at < event.accesses.stop) & self.accesses["write"][at]]
        values[self.accesses["index"][done]] = self._numbers[done]
        put = np.full(len(values), not memory.shared)
        put[self.accesses["index"][done]] = True
        return values, put

    def _first(self, memory: Memory, at: Array) -> Array:
        """The values of an array before its accesses `at`: what is written before it is read is unknown."""
        values = np.zeros(prod(memory.shape))
        if memory.shared:
            return values  # WGSL clears workgroup memory
        buffer = self.trace.buffers[self.accesses["binding"][at[0]]].ravel()
        values[: len(buffer)] = buffer[: len(values)]
        words, first = np.unique(self.accesses["index"][at], return_index=True)
        first = at[first]
        values[words] = np.where(self.accesses["write"][first], np.nan, self._numbers[first])
        return values

    @cached_property
    def _numbers(self) -> Array:
        """The value of each access as a number of its variable's type."""
        bits = self.accesses["value"]
        numbers = np.zeros(len(self.accesses))
        for i, variable in enumerate(self.trace.log.variables):
            of_variable = self.accesses["variable"] == i
            _, first = next(leaves(variable.type))
            numbers[of_variable] = bits[of_variable].view(KINDS.get(first.name, "f4"))
        return numbers

    def writes(self, memory: Memory) -> tuple[Array, Array]:
        """The places in `accesses` at which an array is written, and which of its elements."""
        at = np.flatnonzero(self._is(memory.name) & (self.home == memory.group) & self.accesses["write"])
        return at, self.accesses["index"][at]

    def during(self, event: Event) -> list[Access]:
        """The accesses of an event, in order."""
        rows = slice(event.accesses.start, event.accesses.stop)
        accesses = self.accesses[rows]
        names = [self.trace.variables[i] for i in accesses["variable"]]
        threads = self.who[rows].tolist()
        groups = self.home[rows].tolist()
        words = accesses["index"].tolist()
        writes = accesses["write"].tolist()
        numbers = self._numbers[rows].tolist()
        return list(map(Access, names, threads, groups, words, writes, numbers))
