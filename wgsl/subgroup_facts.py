"""Records of facts about subgroups: what is found in a run, and what runs with several sizes show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from wgsl.facts import Line, Thread


@dataclass(frozen=True)
class UndefinedLane:
    """A value that a thread takes from another one of its subgroup, and that is not defined, although it matters.

    `source` is the call as it is written, `number` the subgroup_invocation_id of that thread, and `size` the number of
    threads of the subgroup: the other one does not exist, or does not call the function at the same time.
    """

    thread: Thread
    source: str
    number: int
    size: int

    @property
    def exists(self) -> bool:
        """True where the subgroup has that thread."""
        return 0 <= self.number < self.size

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The thread of the first case."""
        return (self.thread,)


class DifferingWord(NamedTuple):
    """A number of an output that is `value` with one size of a subgroup, and `wanted` otherwise.

    `line` stores it last, if anything does.
    """

    variable: str
    index: int | None
    size: int
    wanted: float
    value: float
    line: Line | None


@dataclass(frozen=True)
class SubgroupSizes:
    """The sizes of a subgroup with which a kernel is `right`, and those with which its outputs are others.

    Where it is not `known` what is right, those are `right` whose outputs agree. The `lines` take the size of a
    subgroup for the number `taken`. The runs of some sizes have `findings`.
    """

    right: tuple[int, ...]
    wrong: tuple[int, ...]
    known: bool
    findings: tuple[int, ...]
    taken: int | None = None
    lines: tuple[Line, ...] = ()
    differing: DifferingWord | None = None
