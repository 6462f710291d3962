"""Beside each word of a memory: which invocations touched it last, and whether a barrier has separated them since.

Two accesses race where they are by two invocations, at least one is a write, and nothing orders them. A barrier orders
the accesses of one workgroup: those before it (a smaller epoch) come before those after it. Nothing orders two
workgroups. So a word needs to remember only few of its accesses: the last write, the last read, another read by
another invocation between the same barriers, and the last read by another workgroup.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helpers.simulator.lanes import Lanes


@dataclass
class Conflicts:
    """Accesses of one statement that race with earlier ones, or with each other.

    `mine` and `other` are invocations, `where` the words, `other_at` the offset in the text of the other access;
    `other_wrote` says what that one was; `alike` where both wrote the same value.
    """

    mine: np.ndarray
    other: np.ndarray
    where: np.ndarray
    other_at: np.ndarray
    other_wrote: np.ndarray
    alike: np.ndarray


class Touch:
    """For each word one access: by whom, in which epoch, from which place of the text."""

    def __init__(self, words: int) -> None:
        self.lane = np.full(words, -1, np.int32)
        self.epoch = np.zeros(words, np.int32)
        self.at = np.zeros(words, np.int32)

    def set(self, where: np.ndarray, lane: np.ndarray, epoch: np.ndarray, at: np.ndarray | int) -> None:
        """Remember accesses; of several to one word, the last one."""
        self.lane[where], self.epoch[where], self.at[where] = lane, epoch, at

    def copy_from(self, other: Touch, where: np.ndarray) -> None:
        """Remember what another one remembers of some words."""
        self.set(where, other.lane[where], other.epoch[where], other.at[where])


class Shadow:
    """The accesses to the words of one variable that later ones may race with."""

    def __init__(self, words: int, groups: np.ndarray) -> None:
        self._groups = groups  # of each invocation
        self._value = np.zeros(words, np.uint32)
        self._write, self._read, self._second, self._foreign = (Touch(words) for _ in range(4))

    def read(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int) -> list[Conflicts]:
        """Note reads, one for each invocation; gives those that race with an earlier write."""
        found = self._against(self._write, where, lanes, epoch)
        self._note_readers(where, lanes, epoch, at)
        return found

    def write(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int, bits: np.ndarray) -> list[Conflicts]:
        """Note writes, one for each invocation; gives those that race with an earlier access or with each other."""
        found = self._against(self._write, where, lanes, epoch, bits)
        for reads in (self._read, self._second, self._foreign):
            found += self._against(reads, where, lanes, epoch)
        self._write.set(where, lanes.index, epoch, at)
        self._value[where] = bits
        if (self._write.lane[where] != lanes.index).any():
            found.append(_within(where, lanes, at, bits))
        return found

    def _against(
        self, touch: Touch, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, bits: np.ndarray | None = None
    ) -> list[Conflicts]:
        other = touch.lane[where]
        suspects = (other >= 0) & (other != lanes.index)
        if not np.count_nonzero(suspects):
            return []
        suspects &= (touch.epoch[where] == epoch) | (self._groups[other] != lanes.groups)
        if not np.count_nonzero(suspects):
            return []
        where, alike = where[suspects], np.zeros(int(suspects.sum()), bool)
        if bits is not None:
            alike = self._value[where] == bits[suspects]
        wrote = np.full(len(where), touch is self._write)
        return [Conflicts(lanes.index[suspects], other[suspects], where, touch.at[where], wrote, alike)]

    def _note_readers(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int) -> None:
        before = self._read.lane[where]
        known = before >= 0
        foreign = known & (self._groups[before] != lanes.groups)
        same = known & ~foreign & (self._read.epoch[where] == epoch)
        self._foreign.copy_from(self._read, where[foreign])
        self._second.copy_from(self._read, where[same & (before != lanes.index)])
        self._read.set(where, lanes.index, epoch, at)
        last = self._read.lane[where]
        if (others := last != lanes.index).any():  # several invocations read one word
            near = others & (self._groups[last] == lanes.groups)
            self._second.set(where[near], lanes.index[near], epoch[near], at)
            far = others & ~near
            self._foreign.set(where[far], lanes.index[far], epoch[far], at)


def _within(where: np.ndarray, lanes: Lanes, at: int, bits: np.ndarray) -> Conflicts:
    """The writes of one statement to the same words."""
    order = np.argsort(where, kind="stable")
    twice = np.flatnonzero(where[order][1:] == where[order][:-1])
    mine, other = order[twice + 1], order[twice]
    wrote, place = np.ones(len(mine), bool), np.full(len(mine), at)
    return Conflicts(lanes.index[mine], lanes.index[other], where[mine], place, wrote, bits[mine] == bits[other])
