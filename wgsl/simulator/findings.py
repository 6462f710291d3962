"""What was found, one entry for each kind and place of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wgsl.diagnostics import Lines
from wgsl.simulator.lanes import Dispatch
from wgsl.syntax.tokens import without_comments
from wgsl.types.uniformity import NotPortable

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

    @property
    def quoted(self) -> str:
        """Its line, as a sentence begins with it."""
        return quoted_line(self.line, self.source_line)


@dataclass
class _Entry:
    message: Callable[[], str]  # called when the run is over
    other_at: int | None
    lanes: np.ndarray  # a mask of all invocations
    words: int  # of an output that no invocation wrote


class Collector:
    """Gathers findings while a program runs."""

    def __init__(self, text: Lines, dispatch: Dispatch) -> None:
        self._text, self._dispatch = text, dispatch
        self._entries: dict[tuple[str, int], _Entry] = {}

    def add(
        self, kind: str, at: int, lanes: np.ndarray, message: Callable[[], str], other_at: int | None = None,
        words: int = 0,
    ) -> None:  # fmt: skip
        """Note that these invocations (numbers) do something at this offset; the first time, in these words."""
        entry = self._entries.get((kind, at))
        if entry is None:
            no_one = np.zeros(self._dispatch.lanes, bool)
            entry = self._entries[kind, at] = _Entry(message, other_at, no_one, words)
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
            entry.message(),
            self._text.lines[line - 1].rstrip("\r"),
            tuple(self._dispatch.named(lane) for lane in np.flatnonzero(entry.lanes)[:SHOWN]),
            entry.words or int(entry.lanes.sum()),
            None if entry.other_at is None else self._text.place(entry.other_at)[0],
        )


# --- Messages -------------------------------------------------------------------------------------------------------

# The sentence of each finding: what happens, with the numbers of its first case, and what to look at.
#
# They say "thread", as the lessons do, where WGSL says "invocation".

QUOTED = 80  # characters of a line that are quoted


def thread_name(named: tuple[tuple[int, int, int], int], alone: bool) -> str:
    """A thread in words; with its workgroup, unless that is alone."""
    group, local = named
    return f"thread {local}" if alone else f"thread {local} of workgroup ({', '.join(map(str, group))})"


def quoted_line(number: int, text: str) -> str:
    """A line by its number and its code."""
    code = " ".join(text.partition("//")[0].split())
    return f"line {number}, `{code if len(code) <= QUOTED else code[:QUOTED] + '...'}`"


def causes(text: str) -> str:
    """What to look at where an index is past an array; at a loop's limit only where there is a loop."""
    loop = ", the loop's limit" if re.search(r"\b(?:for|while|loop)\b", without_comments(text)) else ""
    return f"; check the guard{loop} and the offsets"


def out_of_range(
    text: str, who: str, write: bool, source: str, index: int, name: str, count: int, dropped: bool
) -> str:
    """An index past an array."""
    verb = "writes" if write else "reads"
    has = f"{count:,} elements, numbered 0 to {count - 1:,}" if count != 1 else "only element 0"
    if dropped:
        here = "the write is dropped" if write else "it gets 0"
    else:
        here = "it overwrites the last element" if write else "it gets the last element"
    return f"{who} {verb} `{source}` with index {index:,}, but `{name}` has {has} (here {here}){causes(text)}"


def overflow(who: str, source: str, index: int) -> str:
    """An index that wrapped around."""
    return (
        f"the index of `{source}` left the range of its type on the way and wrapped around: {who} uses {index:,}; "
        f"below 0 a u32 wraps around to a large number, so that one comparison with the size finds both sides"
    )


def race(who: str, other: str, wrote: tuple[bool, bool], name: str, other_line: str, why: str) -> str:
    """Two accesses that nothing orders; the line of the other one is "" where it is the same."""
    mine, theirs = ("writes" if wrote[0] else "reads"), ("writes" if wrote[1] else "reads")
    if not other_line and all(wrote):
        return f"{who} and {other} write different values to {name} in the same line; give each its own element"
    return f"{who} {mine} {name}, which {other} {theirs} in {other_line or 'the same line'}, and {why}"


def not_portable(text: Lines, place: NotPortable) -> str:
    """A barrier in control flow that cannot be proven uniform: what decides who comes there, step by step."""
    if not place.doubt:
        return place.words
    *doubts, source = place.doubt.path()
    steps = [f"`{text.quoted(doubt.part)}` in line {text.place(doubt.part.at)[0]}" for doubt in doubts]
    name = getattr(place.part, "name", "workgroupUniformLoad")
    depends = ", that on ".join(dict.fromkeys(steps[:3]))
    return (
        f"WGSL cannot prove that all threads of a workgroup come to this `{name}` together, and browsers refuse it: "
        f"who comes depends on {depends}, and {source.words}; put it where all threads come, or decide by a value "
        "that is the same for all, such as one from a uniform, a `read` buffer or `workgroupUniformLoad`"
    )


def overlapping(who: str, other: str, name: str, same_group: bool) -> str:
    """Two writes of one value."""
    why = "" if same_group else ", and nothing orders two workgroups"
    cure = "give each its own elements, or let one thread write it"
    return f"{who} and {other} both write {name}, with the same value{why}; {cure}"


def unordered(space: str, same_group: bool, both_write: bool) -> str:
    """Why two accesses are not ordered, and what would help."""
    if both_write:
        return (
            "both write it, so that no barrier helps: give each total one thread, which adds up all that belongs to it"
        )
    if not same_group:
        return "nothing orders two workgroups: give each its own elements, or use an atomic or a second dispatch"
    barrier = "workgroupBarrier()" if space == "workgroup" else "storageBarrier()"
    return f"no {barrier} stands between the two"


def missed_barrier(name: str, arrived: int, threads: int, missing: str) -> str:
    """A barrier that some threads of a workgroup do not reach."""
    verb = "reaches" if arrived == 1 else "reach"
    return (
        f"only {arrived} of the {threads} threads of a workgroup {verb} {name}(), and {missing} does not, so that the "
        f"others may wait forever; take the barrier out of the `if` or the loop, and let no thread return above it"
    )


TOGETHER = "iterations in all its loops together"
NO_END = "the simulator has not come to the end of this"


def endless(iterations: int, own: int, unmoved: list[str], below_zero: str, closed: bool) -> str:
    """A loop in which a thread used up its budget, `own` of it there: `closed` is one that nothing leaves."""
    names = " and ".join(f"`{name}`" for name in unmoved)
    cause = f": {names}, on which its end depends, did not change in the last iteration" if names else ""
    if below_zero:
        cause = f": `{below_zero}` always holds, because a u32 is never below 0"
    if closed:
        cause = ": nothing in it ends it"
    if cause or own > iterations // 2:
        elsewhere = " in all its loops" * (own <= iterations // 2)
        return f"this loop is still running after {iterations:,} iterations of one thread{elsewhere}{cause}"
    here = f"{own:,} of them in this loop, which is not at its end"
    return f"one thread has made {iterations:,} {TOGETHER}, {here}; does each loop end, and is the work shared out?"


def too_long(how_far: str) -> str:
    """A run that used up its work."""
    return f"{NO_END}: {how_far}; does one thread do the work of many?"


def unwritten(name: str, count: int, of: int, first: int) -> str:
    """An output that is not written whole."""
    if count == of:
        return f"no thread writes to `{name}`"
    return f"{count:,} of the {of:,} numbers of `{name}` are never written, first number {first:,}"


def uninitialized(who: str, name: str) -> str:
    """Workgroup memory that is read first and written later, or never."""
    return (
        f"{who} reads {name}, which no thread has written yet: WGSL promises 0 there, but not every driver keeps the "
        f"promise (Mesa's lavapipe does not), and what an earlier kernel left may be there; store 0 "
        f"there yourself, with a `workgroupBarrier()` before another thread reads it"
    )


def not_a_number(source: str, stored_in: str) -> str:
    """NaN from finite numbers; the line that stores it is "" where it is the same."""
    stores = stored_in or "the same line"
    return f"`{source}` gives NaN (not a number) although no operand is NaN, and {stores} stores it"
