"""What a simulated run did, step by step: who was active, what was read and written, and what memory held."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.simulator.findings.trace import Trace

SECTOR, BUNDLE = 8, 32  # words in a sector of storage memory, and neighbors that load together
ACTIVE, WAITING, DONE = "active", "waiting", "done"
COLLISIONS = {"data race": "Data race", "overlapping writes": "Overlapping writes"}
BARRIER = re.compile(r"\b(workgroupBarrier|storageBarrier|workgroupUniformLoad)\s*\(")
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Memory:
    """A storage buffer, or one workgroup's copy of a variable, as an array of `shape`; `group` is -1 for a buffer."""

    name: str
    shape: Shape
    group: int = -1

    @property
    def shared(self) -> bool:
        """Whether only one workgroup can use it."""
        return self.group >= 0

    def element(self, word: int) -> str:
        """What an element is called in the kernel's mathematics: grad_output[0,1,2,3]."""
        if word >= prod(self.shape):
            return f"{self.name}[{word}]"
        return f"{self.name}[{','.join(map(str, np.unravel_index(word, self.shape)))}]"


class Access(NamedTuple):
    """One thread's use of one word."""

    step: int
    line: int
    thread: int
    name: str
    group: int
    word: int
    write: bool
    value: float


class Collision(NamedTuple):
    """Two accesses to one word that nothing orders, the earlier one first, and what the simulator calls that."""

    first: Access
    second: Access
    kind: str


class Replay:
    """The steps of a trace within some lines, and the arrays to look at, each with its shape.

    Threads have the numbers of `Step.active`. Raises ValueError for an array that the run did not touch, or where its
    shape has too few elements, and for a run that was too long to be kept.
    """

    def __init__(self, trace: Trace, shapes: Mapping[str, Shape], lines: range) -> None:
        if trace.dropped:
            raise ValueError(f"{trace.dropped:,} accesses were not kept: step through a smaller problem")
        self.trace, self.accesses = trace, trace.accesses
        self.steps = [i for i, step in enumerate(trace.steps) if step.line in lines]
        if not self.steps:
            raise ValueError(f"lines = {lines}: the run comes through none of them")
        self.threads, self.groups = prod(trace.workgroup_size), prod(trace.workgroups)
        self.count = self.threads * self.groups
        x, y, _ = trace.workgroups
        home = self.accesses["workgroup"].astype(int) @ (1, x, x * y)
        self.who = home * self.threads + self.accesses["invocation"]
        self.home = np.where(self.accesses["space"] == "workgroup", home, -1)
        self.memories = [memory for name, shape in shapes.items() for memory in self._memories(name, tuple(shape))]
        self._last = np.full(self.count, -1)
        for i, step in enumerate(trace.steps):
            self._last[step.active] = i

    def _memories(self, name: str, shape: Shape) -> list[Memory]:
        if name not in self.trace.variables:
            raise ValueError(f"{name}: the run touched only {', '.join(self.trace.variables)}")
        of = self.accesses[self._is(name)]
        if of["index"].max() >= prod(shape):
            raise ValueError(f"{name} has shape {shape}: the run touched element {of['index'].max()}, beyond its end")
        groups = range(self.groups) if of["space"][0] == "workgroup" else [-1]
        return [Memory(name, shape, group) for group in groups]

    def _is(self, name: str) -> np.ndarray:
        return self.accesses["variable"] == self.trace.variables.index(name)

    # --- Threads ----------------------------------------------------------------------------------------------

    def states(self, step: int) -> np.ndarray:
        """Each thread's state in a step: one that runs again later is waiting."""
        states = np.where(self._last > step, WAITING, DONE)
        states[self.trace.steps[step].active] = ACTIVE
        return states

    def is_barrier(self, step: int) -> bool:
        """Whether a step is a barrier."""
        return self.trace.steps[step].line in self._barrier_lines

    @cached_property
    def _barrier_lines(self) -> dict[int, str]:
        """The lines with a barrier, and which one."""
        found = ((i, BARRIER.search(line)) for i, line in enumerate(self.trace.kernel.code.split("\n"), 1))
        return {i: match[1] for i, match in found if match}

    # --- Memory -----------------------------------------------------------------------------------------------

    def values(self, memory: Memory, step: int) -> tuple[np.ndarray, np.ndarray]:
        """What an array holds after a step, and which elements hold what the host or a thread put there.

        nan where nobody has seen the number that stood there first; the other elements hold WGSL's zeros.
        """
        values, at = self._first[memory].copy(), self._places[memory]
        done = at[(self.accesses["step"][at] <= step) & self.accesses["write"][at]]
        values[self.accesses["index"][done]] = self._numbers[done]
        put = np.full(len(values), not memory.shared)
        put[self.accesses["index"][done]] = True
        return values, put

    @cached_property
    def _places(self) -> dict[Memory, np.ndarray]:
        """Where the accesses to each array stand in the trace."""
        return {m: np.flatnonzero(self._is(m.name) & (self.home == m.group)) for m in self.memories}

    @cached_property
    def _first(self) -> dict[Memory, np.ndarray]:
        """What each array held at first, as far as the run shows it: what is written before it is read is unknown."""
        return {memory: self._first_of(memory) for memory in self.memories}

    def _first_of(self, memory: Memory) -> np.ndarray:
        values, at = np.zeros(prod(memory.shape)), self._places[memory]
        if memory.shared:
            return values  # WGSL clears workgroup memory
        buffer = self.trace.buffers[self.accesses["binding"][at[0]]].ravel()
        values[: len(buffer)] = buffer[: len(values)]
        words, first = np.unique(self.accesses["index"][at], return_index=True)
        first = at[first]
        values[words] = np.where(self.accesses["write"][first], np.nan, self._numbers[first])
        return values

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The value of each access as a number of its variable's type."""
        bits, numbers = self.accesses["value"], np.zeros(len(self.accesses))
        for name in self.trace.variables:
            of = self._is(name)
            numbers[of] = bits[of].view(self._dtype(name))
        return numbers

    def _dtype(self, name: str) -> str:
        declared = re.search(rf"\bvar\s*<[^>]*>\s*{name}\s*:([^;]*);", self.trace.kernel.code)
        kind = re.search(r"\b(?:vec\d)?([fiu])(?:32)?\b", declared[1])
        return f"{kind[1]}4" if kind else "f4"

    # --- Accesses ---------------------------------------------------------------------------------------------

    def during(self, step: int) -> list[Access]:
        """The accesses of a step, in order."""
        first, end = np.searchsorted(self.accesses["step"], [step, step + 1])
        return [self._access(i) for i in range(first, end)]

    def _access(self, i: int) -> Access:
        found = self.accesses[i]
        name, value = self.trace.variables[found["variable"]], float(self._numbers[i])
        step, line, word = int(found["step"]), int(found["line"]), int(found["index"])
        return Access(step, line, int(self.who[i]), name, int(self.home[i]), word, bool(found["write"]), value)

    def sectors(self, accesses: list[Access]) -> int:
        """How many sectors of storage memory are touched, counted for each 32 neighbors."""
        per_group = -(-self.threads // BUNDLE)
        bundles = ((*divmod(a.thread, self.threads), a) for a in accesses if a.group < 0)
        return len({(group * per_group + i // BUNDLE, a.name, a.word // SECTOR) for group, i, a in bundles})

    # --- Collisions -------------------------------------------------------------------------------------------

    def collision(self, step: int, thread: int) -> Collision | None:
        """Two accesses that collide in a step, `thread`'s own if there are such; None where nothing collides."""
        line = self.trace.steps[step].line
        findings = [f for f in self.trace.findings if f.kind in COLLISIONS and f.line == line]
        found = [
            Collision(first, second, finding.kind)
            for second, finding in product(self.during(step) if findings else (), findings)
            if (first := self._before(second, finding.other_line))
        ]
        return next((c for c in found if thread in (c.first.thread, c.second.thread)), next(iter(found), None))

    def _before(self, second: Access, line: int | None) -> Access | None:
        """The latest access by another thread, from a line, that nothing orders before this one; or None."""
        a = self.accesses
        same = self._is(second.name) & (self.home == second.group) & (a["index"] == second.word)
        same &= (a["line"] == line) & (self.who != second.thread) & (a["step"] <= second.step)
        same &= a["write"] | second.write
        return next((f for i in np.flatnonzero(same)[::-1] if not self._ordered(f := self._access(i), second)), None)

    def _ordered(self, first: Access, second: Access) -> bool:
        """Whether a barrier of their workgroup stands between two accesses."""
        if first.thread // self.threads != second.thread // self.threads:
            return False
        orders = "storageBarrier" if second.group < 0 else "workgroup"
        return any(
            self._barrier_lines.get(step.line, "").startswith(orders)
            and {first.thread, second.thread} <= {*step.active}
            for step in self.trace.steps[first.step + 1 : second.step]
        )
