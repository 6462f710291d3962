"""Updates that are lost: a thread reads an atomic and stores to it, and another thread may write it in between."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from wgsl.simulator.lanes import Lanes
from wgsl.simulator.memory import Touch
from wgsl.types.dependence import Dependence, guarded
from wgsl.types.program import AtomicCall, Binding, Call, Evaluate, Function, Variable
from wgsl.types.usage import reached, usage


@lru_cache(maxsize=64)
def updating_stores(entry: Function) -> dict[int, bool]:
    """Return the calls of `atomicStore`, by id, that depend on a read of the same variable.

    It is True where the stored value depends on it, and False where only the conditions around the store do: then an
    update is lost where another value is overwritten, unless it has been read by what writes, too, as a lock is.
    """
    stores = {}
    for function in reached(entry):
        for statement, around in guarded(function.body):
            match statement:
                case Evaluate(value=AtomicCall(name="atomicStore") as store):
                    origin = usage(function).origin(store.reference)
                    reads = Dependence(function.body, partial(_reads, function, origin))
                    if reads.reaches((store.arguments, around)):
                        stores[id(store)] = reads.reaches(store.arguments)
    return stores


def _reads(function: Function, origin: Variable | Binding, part: object) -> bool:
    """Return True for a part of a function that reads an atomic variable."""
    match part:
        case AtomicCall(name=name, reference=reference):
            return name != "atomicStore" and usage(function).origin(reference) is origin
        case Call(function=called):
            return origin in usage(called).loaded
    return False


class Lost(NamedTuple):
    """Updates that may be lost: who stores, where it has read; who writes in between, and where; and the words."""

    at: int
    lane: np.ndarray
    read_at: np.ndarray
    other_lane: np.ndarray
    other_at: np.ndarray
    where: np.ndarray


class Updates:
    """The atomic accesses to the words of one variable: the last read of each invocation, and each word's last write.

    `pairs` are the last updates: who has read a word and then stored what depends on it.
    """

    def __init__(self, words: int, groups: np.ndarray, stores: dict[int, bool]) -> None:
        self._groups = groups  # of each invocation
        self._stores = stores
        self._value = np.zeros(words, np.uint32)
        self._writes, self._pairs = Touch(words), Touch(words)
        self._word = np.full(len(groups), -1, np.int64)
        self._epoch = np.zeros(len(groups), np.int32)
        self._at = np.zeros(len(groups), np.int32)
        self._only_read = np.zeros(len(groups), bool)

    def read(self, part: AtomicCall, where: np.ndarray, lanes: Lanes, epoch: np.ndarray) -> None:
        """Note reads, one of each invocation."""
        self._word[lanes.index] = where
        self._epoch[lanes.index] = epoch
        self._at[lanes.index] = part.at
        self._only_read[lanes.index] = part.name == "atomicLoad"

    def write(
        self, part: AtomicCall, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, bits: np.ndarray
    ) -> Iterator[Lost]:
        """Note writes, one of each invocation; gives the updates that may be lost by them, or by earlier ones."""
        lane = lanes.index
        yield from self._hit(where, lanes, epoch, part.at)
        if id(part) in self._stores:
            by_value = self._stores[id(part)]
            pair = self._word[lane] == where
            other = self._writes.lane[where]
            between = pair & self._unordered(lanes, other, self._writes.epoch[where] >= self._epoch[lane])
            between &= by_value | (self._only_read[lane] & (self._value[where] != bits))
            yield self._lost(part.at, lane, other, self._writes.at[where], where, between)
            yield self._together(part.at, where, lane, pair, bits, by_value)
            if by_value:
                self._pairs.set(where[pair], lane[pair], epoch[pair], part.at)
        self._writes.set(where, lane, epoch, part.at)
        self._value[where] = bits

    def _unordered(self, lanes: Lanes, other: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return where another invocation did something, and no barrier separates it; in one workgroup, if `near`."""
        return (other >= 0) & (other != lanes.index) & (near | (self._groups[other] != lanes.groups))

    def _hit(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int) -> Iterator[Lost]:
        """Yield the earlier updates between whose read and store these writes may fall."""
        updater = self._pairs.lane[where]
        hit = self._unordered(lanes, updater, self._pairs.epoch[where] == epoch)
        for store_at in np.unique(self._pairs.at[where[hit]]):
            chosen = hit & (self._pairs.at[where] == store_at)
            places = np.full(len(where), at)
            yield self._lost(int(store_at), updater, lanes.index, places, where, chosen)

    def _together(
        self, at: int, where: np.ndarray, lane: np.ndarray, pair: np.ndarray, bits: np.ndarray, by_value: bool
    ) -> Lost:
        """Return the updates of one statement to the same words."""
        order = np.argsort(where, kind="stable")
        twice = np.flatnonzero(where[order][1:] == where[order][:-1])
        first, second = order[twice], order[twice + 1]
        chosen = pair[second] & (by_value | (self._only_read[lane[second]] & (bits[first] != bits[second])))
        return self._lost(at, lane[second], lane[first], np.full(len(first), at), where[second], chosen)

    def _lost(
        self, at: int, lane: np.ndarray, other: np.ndarray, other_at: np.ndarray, where: np.ndarray, chosen: np.ndarray
    ) -> Lost:
        lane = lane[chosen]
        return Lost(at, lane, self._at[lane], other[chosen], other_at[chosen], where[chosen])
