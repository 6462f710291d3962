"""Findings of a run, one for each kind and place of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wgsl.diagnostics import Lines
from wgsl.facts import Facts, Thread
from wgsl.simulator.lanes import Dispatch
from wgsl.words import findings as words
from wgsl.words.findings import quoted_line as quoted_line  # for what quotes a line of a text

LOOP = re.compile(r"\b(?:for|while|loop)\b")
SHOWN = 8  # invocations that a finding names
KINDS = (
    "out-of-range read", "out-of-range write", "index overflow", "data race", "overlapping writes",
    "lost update", "uninitialized read", "non-uniform barrier", "endless loop", "unwritten output", "not-a-number",
    "undefined lane", "not portable",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong at one place of the text.

    `line` and `column` count from 1, and `facts` say what happens in the first case. `other_line` is, for a race, the
    line of the earlier access; `invocations` are up to eight of those that did it, each as (workgroup_id,
    local_invocation_index), of `count` in all. `passes` are the entry points that show it, where several were run.
    """

    kind: str
    line: int
    column: int
    facts: Facts
    source_line: str
    invocations: tuple[tuple[tuple[int, int, int], int], ...]
    count: int
    other_line: int | None = None
    passes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.kind}: {self.message}"

    # --- In words ---------------------------------------------------------------------------------------------

    @property
    def message(self) -> str:
        """A sentence about what happens, with the numbers of the first case, and what to look at."""
        return words.message(self.facts, self.passes)

    @property
    def event(self) -> str:
        """The same, without what to look at where an index is past an array."""
        return words.message(self.facts, self.passes, with_advice=False)

    @property
    def stopped(self) -> str:
        """Of an endless loop, where the run was stopped, in one clause."""
        return words.stopped(self.facts)

    @property
    def quoted(self) -> str:
        """Its line, as a sentence begins with it."""
        return words.quoted_line(self.line, self.source_line)

    # --- Facts: each is None, or empty, where a finding of this kind has none -----------------------------------

    @property
    def variable(self) -> str | None:
        """The variable that is read or written."""
        return getattr(self.facts, "variable", None)

    @property
    def access(self) -> str | None:
        """The first of the `threads` "reads" or "writes" the variable; None where two do the same."""
        return getattr(self.facts, "access", None)

    @property
    def index(self) -> int | None:
        """The index of the element; of an output, the first number that is not written."""
        return getattr(self.facts, "index", None)

    @property
    def size(self) -> int | None:
        """The number of elements of the array, of numbers of an output, or of threads of a workgroup."""
        return getattr(self.facts, "size", None)

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The threads of the first case: of a race, both."""
        return getattr(self.facts, "threads", ())

    @property
    def barrier(self) -> str | None:
        """The barrier's name."""
        return getattr(self.facts, "barrier", None)

    @property
    def may_end(self) -> bool:
        """True where a thread was stopped, and no loop alone is to blame: all of them may end."""
        return getattr(self.facts, "may_end", False)


@dataclass
class _Entry:
    facts: Callable[[], Facts]  # called when the run is over
    other_at: int | None
    lanes: np.ndarray  # a mask of all invocations
    numbers: int  # of an output that no invocation wrote


class Collector:
    """Gathers findings while a program runs."""

    def __init__(self, text: Lines, dispatch: Dispatch) -> None:
        self._text = text
        self._dispatch = dispatch
        self._entries: dict[tuple[str, int], _Entry] = {}

    def add(
        self, kind: str, at: int, lanes: np.ndarray, facts: Callable[[], Facts], other_at: int | None = None,
        numbers: int = 0,
    ) -> None:  # fmt: skip
        """Note that these invocations (numbers) do something at this offset; the facts are those of the first time."""
        entry = self._entries.get((kind, at))
        if entry is None:
            no_one = np.zeros(self._dispatch.lanes, bool)
            entry = self._entries[kind, at] = _Entry(facts, other_at, no_one, numbers)
        entry.lanes[lanes] = True

    def __contains__(self, key: tuple[str, int]) -> bool:
        return key in self._entries

    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the text."""
        return tuple(self._finding(*key, entry) for key, entry in sorted(self._entries.items(), key=lambda e: e[0][1]))

    def _finding(self, kind: str, at: int, entry: _Entry) -> Finding:
        line, column = self._text.place(at)
        return Finding(
            kind,
            line,
            column,
            entry.facts(),
            self._text.lines[line - 1].rstrip("\r"),
            tuple(self._dispatch.named(lane) for lane in np.flatnonzero(entry.lanes)[:SHOWN]),
            entry.numbers or int(entry.lanes.sum()),
            None if entry.other_at is None else self._text.place(entry.other_at)[0],
        )
