"""What was found, one entry for each kind and place of the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helpers.compile_errors.text import Text
from helpers.simulator.lanes import Dispatch

SHOWN = 8  # invocations that a finding names


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong at one place of the text.

    `line` and `column` count from 1. `other_line` is, for a race, the line of the earlier access; `invocations` are up
    to eight of those that did it, each as (workgroup_id, local_invocation_index), of `count` in all.
    """

    kind: str
    line: int
    column: int
    message: str
    source_line: str
    invocations: tuple[tuple[tuple[int, int, int], int], ...]
    count: int
    other_line: int | None = None

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.kind}: {self.message}"


@dataclass
class _Entry:
    message: Callable[[], str]  # asked for when the run is over
    other_at: int | None
    lanes: np.ndarray  # a mask of all invocations
    words: int = 0  # of an output that no invocation wrote


class Collector:
    """Gathers findings while a program runs."""

    def __init__(self, text: Text, dispatch: Dispatch) -> None:
        self._text, self._dispatch = text, dispatch
        self._entries: dict[tuple[str, int], _Entry] = {}

    def add(
        self, kind: str, at: int, lanes: np.ndarray, message: Callable[[], str], other_at: int | None = None
    ) -> None:
        """Note that these invocations (numbers) do something at this offset; the first time, in these words."""
        entry = self._entries.get((kind, at))
        if entry is None:
            entry = self._entries[kind, at] = _Entry(message, other_at, self._no_one())
        entry.lanes[lanes] = True

    def add_to_all(self, kind: str, at: int, count: int, message: str) -> None:
        """Note something that no invocation did: `count` words are concerned."""
        self._entries[kind, at] = _Entry(lambda: message, None, self._no_one(), count)

    def _no_one(self) -> np.ndarray:
        return np.zeros(self._dispatch.lanes, bool)

    def line(self, at: int) -> int:
        """The line of an offset."""
        return self._text.place(at)[0]

    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the text."""
        return tuple(self._finding(*key, entry) for key, entry in sorted(self._entries.items(), key=lambda e: e[0][1]))

    def _finding(self, kind: str, at: int, entry: _Entry) -> Finding:
        line, column = self._text.place(at)
        return Finding(
            kind,
            line,
            column,
            entry.message(),
            self._text.lines[line - 1].rstrip("\r"),
            tuple(self._dispatch.named(lane) for lane in np.flatnonzero(entry.lanes)[:SHOWN]),
            entry.words or int(entry.lanes.sum()),
            None if entry.other_at is None else self.line(entry.other_at),
        )
