"""The course of a run: every statement, and every access to storage and workgroup memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from wgsl.diagnostics import Lines
from wgsl.kernel import Kernel
from wgsl.output import in_lines
from wgsl.simulator.counts import Counts
from wgsl.simulator.findings import Finding
from wgsl.simulator.lanes import Dispatch, Lanes, axes
from wgsl.simulator.memory import as_bits
from wgsl.simulator.values import without_nan_marks
from wgsl.simulator.watched import WHO, Named, row_of
from wgsl.types.program import Variable

MOST = 2**20  # accesses and steps that are kept
MOST_ACTIVE = 2**26  # numbers of invocations that are kept with the steps: 512 MiB
ACCESS = np.dtype(
    [
        *WHO,
        ("space", "U9"),  # storage or workgroup
        ("binding", np.int32),  # -1 for workgroup memory
        ("variable", np.int16),  # a place in Trace.variables
        ("index", np.int32),  # the word, counted from the start of the variable; where it has f16, the half of a word
        ("write", np.bool_),
        ("value", np.uint32),  # the bits
    ]
)


class Step(NamedTuple):
    """One statement of a run: its line, and the invocations that ran it.

    An invocation's number is that of its workgroup (x fastest, then y, z) times the threads of a workgroup, plus its
    local_invocation_index.
    """

    line: int
    active: np.ndarray


class _Chunk(NamedTuple):
    """The accesses of some invocations to one word of a value each."""

    step: int
    at: int
    lanes: Lanes
    variable: Variable
    index: np.ndarray
    write: bool
    bits: np.ndarray


class _Kept(NamedTuple):
    """The values of a watched variable in some invocations after a statement."""

    step: int
    at: int
    lanes: Lanes
    leaves: Sequence[np.ndarray]


class Log:
    """The course of a run, in order, until `MOST` accesses, steps or numbers of `watched` variables have been kept."""

    def __init__(self, text: Lines, dispatch: Dispatch, watched: Mapping[Named, str]) -> None:
        self._text = text
        self._dispatch = dispatch
        self.watched = watched
        self._values: dict[Named, list[_Kept]] = {named: [] for named in watched}
        self._kept: Counter[type] = Counter()
        self._steps: list[tuple[int, np.ndarray]] = []
        self._active = 0  # numbers of invocations in them
        self._chunks: list[_Chunk] = []
        self.step_number = -1
        self.dropped = 0

    def step(self, at: int, lanes: Lanes) -> None:
        """These invocations run the statement at an offset."""
        self.step_number += 1
        if self.step_number < MOST and self._active <= MOST_ACTIVE:
            self._active += 0 if lanes.whole else lanes.count
            self._steps.append((at, lanes.index))

    def access(
        self, at: int, lanes: Lanes, variable: Variable, index: np.ndarray, write: bool, bits: np.ndarray
    ) -> None:
        """These invocations load or store one word each."""
        chunk = _Chunk(self.step_number, at, lanes, variable, index, write, bits)
        self._keep(chunk, self._chunks, lanes.count)

    def value(self, named: Named, at: int, lanes: Lanes, leaves: Sequence[np.ndarray]) -> None:
        """These invocations have given a watched variable a value of these leaves."""
        self._keep(_Kept(self.step_number, at, lanes, leaves), self._values[named], lanes.count * len(leaves))

    def _keep(self, chunk: _Chunk | _Kept, kept: list, numbers: int) -> None:
        """Add to what is kept of its kind, unless that becomes too much."""
        if self.dropped or self._kept[type(chunk)] + numbers > MOST:
            self.dropped += chunk.lanes.count
        else:
            self._kept[type(chunk)] += numbers
            kept.append(chunk)

    def steps_of_stores(self, lane: int, variable: Variable, word: int) -> set[int]:
        """Return the steps in which an invocation writes a word of a variable, counted from the variable's start."""
        steps = set()
        for chunk in self._chunks:
            if chunk.write and chunk.variable is variable:
                words = chunk.lanes.expanded(chunk.index)[chunk.lanes.index == lane]
                if (words == word).any():
                    steps.add(chunk.step)
        return steps

    def touched(self, variable: Variable, write: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return all loads or all stores of a variable: the invocation of each, and the word that it touches."""
        chunks = [chunk for chunk in self._chunks if chunk.write == write and chunk.variable is variable]
        none = [self._dispatch.none.index]
        words = [chunk.lanes.expanded(chunk.index) for chunk in chunks]
        return np.concatenate([chunk.lanes.index for chunk in chunks] or none), np.concatenate(words or none)

    def loads_before_stores(self, threads: int) -> int:
        """Return how many words of storage memory an invocation loads and then stores to workgroup memory at once.

        Between the load and its next store there, it loads nothing from workgroup memory.
        """
        stores_next = np.zeros(threads, bool)  # of each invocation: what it does next in workgroup memory
        count = 0
        for chunk in reversed(self._chunks):
            if chunk.variable.space == "workgroup":
                stores_next[chunk.lanes.index] = chunk.write
            elif not chunk.write:
                count += int(np.count_nonzero(stores_next[chunk.lanes.index]))
        return count

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that were touched, in this order."""
        return tuple(dict.fromkeys(chunk.variable for chunk in self._chunks))

    def steps(self) -> Sequence[Step]:
        """The statements that were run."""
        return [Step(self._text.place(at)[0], active) for at, active in self._steps]

    def accesses(self) -> np.ndarray:
        """The accesses as an array of `ACCESS`."""
        numbers = {variable: i for i, variable in enumerate(self.variables)}
        table = np.zeros(self._kept[_Chunk], ACCESS)
        for rows, chunk in self._filled(table, self._chunks):
            rows["space"] = chunk.variable.space
            rows["binding"] = chunk.variable.binding
            rows["variable"] = numbers[chunk.variable]
            rows["index"] = chunk.index
            rows["write"] = chunk.write
            rows["value"] = chunk.bits
        return table

    def values(self) -> dict[str, np.ndarray]:
        """Return the values of the watched variables, by name: for each an array of `row_of`."""
        return {name: self._table(named) for named, name in self.watched.items()}

    def _table(self, named: Named) -> np.ndarray:
        kept = self._values[named]
        table = np.zeros(sum(values.lanes.count for values in kept), row_of(named))
        for rows, values in self._filled(table, kept):
            words = [values.lanes.expanded(_bits(leaf)) for leaf in values.leaves]
            rows["value"] = np.stack(words, axis=1).reshape(rows["value"].shape)
        return table

    def _filled(self, table: np.ndarray, chunks: Iterable[_Chunk | _Kept]) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield each chunk with its rows of the table, their step, line, workgroup and invocation filled in."""
        first = 0
        for chunk in chunks:
            rows = table[first : first + chunk.lanes.count]
            first += chunk.lanes.count
            rows["step"] = chunk.step
            rows["line"] = self._text.place(chunk.at)[0]
            rows["workgroup"] = np.stack(axes(chunk.lanes.groups, self._dispatch.workgroups), axis=1)
            rows["invocation"] = self._dispatch.local_index[chunk.lanes.index]
            yield rows, chunk


# --- The whole ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trace:
    """The result of a simulated run, and all that was seen of it.

    `buffers` are the arrays afterwards, in the form in which `simulate` got them; `findings` is empty for a right
    kernel. `dropped` says how many accesses and values came after those that `accesses` and `watched` have; the
    findings and counts are about all.

    `watched[name]` is a structured array with the fields step, line, workgroup, invocation and value: after each
    statement that gives the variable a value, a row for each invocation that ran it, and for no other. `value` holds
    bits (uint32), n in a row for a vector, array or struct of n numbers: ``trace.watched["sum"]["value"].view(
    np.float32)`` are the numbers of an f32. The first statement is step 0; parameters of the entry point have step -1.
    """

    kernel: Kernel
    entry_point: str
    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    buffers: tuple[np.ndarray, ...] | Mapping[Hashable, np.ndarray]
    findings: tuple[Finding, ...]
    counts: Counts
    log: Log

    @cached_property
    def accesses(self) -> np.ndarray:
        """Every load and store of storage and workgroup memory, in order: an array of `ACCESS`."""
        return self.log.accesses()

    @cached_property
    def watched(self) -> Mapping[str, np.ndarray]:
        """By name, what each variable that `simulate` was to watch held, as the class describes it."""
        return self.log.values()

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Every statement that was run, in order; of a very long run, the first million or fewer."""
        return self.log.steps()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that `accesses` counts."""
        return tuple(variable.name for variable in self.log.variables)

    @property
    def dropped(self) -> int:
        """The number of accesses and values that are not kept in `accesses` and `watched`."""
        return self.log.dropped

    def __repr__(self) -> str:
        number = f"{len(self.findings) or 'no'} finding{'s' if len(self.findings) > 1 else ''}"
        watched = [f"watched {name}: {_shape(rows)}" for name, rows in self.watched.items()]
        return "\n".join([f"{self.kernel.name}: {number}", *map(str, self.findings), *watched])

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """Print what a notebook shows: `repr`, in lines that fit its output."""
        printer.text(in_lines(repr(self)))


def _shape(rows: np.ndarray) -> str:
    """Return the number of rows and their fields, in words."""
    numbers = f" ({rows['value'].shape[1]} numbers)" if rows["value"].ndim > 1 else ""
    return f"{len(rows):,} rows of {', '.join(rows.dtype.names)}{numbers}"


def _bits(leaf: np.ndarray) -> np.ndarray:
    """The bits of numbers, in which no NaN has a mark of where it was born."""
    return as_bits(without_nan_marks(leaf))
