"""What expressions give: values, and places in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from helpers.simulator.lanes import Lanes
from helpers.simulator.types.program import Element, Index, Part, Root, Variable


class Value(NamedTuple):
    """The leaves of a value, each an array with one number for each invocation, or one for all.

    An integer may leave its range on the way and wrap around. `exact` has for each leaf what its numbers would be
    among all whole numbers (float64; NaN where nothing wrapped), or None if none of them wrapped; it is None as a
    whole where that is so for every leaf.
    """

    leaves: tuple[np.ndarray, ...]
    exact: tuple[np.ndarray | None, ...] | None = None

    def map(self, change) -> Value:
        """The value with a function of an array applied to each."""
        exact = self.exact and tuple(None if each is None else change(each) for each in self.exact)
        return Value(tuple(map(change, self.leaves)), exact)

    def exact_of(self, leaf: int) -> np.ndarray | None:
        """What one leaf would be among all whole numbers, where it left its range."""
        return self.exact[leaf] if self.exact else None


def value_of(leaves: Sequence[np.ndarray], exact: Sequence[np.ndarray | None]) -> Value:
    """A value of leaves, and of what they would be among all whole numbers."""
    return Value(tuple(leaves), tuple(exact) if any(each is not None for each in exact) else None)


class Place(NamedTuple):
    """Where in a variable a reference points: `offset` in words, for each invocation or for all.

    `outside` marks the invocations whose access is dropped: they are past the end of a runtime-sized array. `faults`
    are what its indices did wrong, to be reported if the place is read or written.
    """

    variable: Variable
    offset: int | np.ndarray
    outside: np.ndarray | None = None
    faults: tuple[Fault, ...] = ()

    def map(self, change) -> Place:
        """The place with a function of an array applied to each."""
        offset = self.offset if isinstance(self.offset, int) else change(self.offset)
        outside = None if self.outside is None else change(self.outside)
        faults = tuple(fault._replace(lanes=change(fault.lanes), index=change(fault.index)) for fault in self.faults)
        return Place(self.variable, offset, outside, faults)


class Fault(NamedTuple):
    """An index past an array, or one that wrapped around: which invocations (a mask), and their indices."""

    kind: str  # "out-of-range" or "index overflow"
    part: Element | Index
    lanes: np.ndarray
    index: np.ndarray
    count: int = 0
    dropped: bool = False  # such an access is dropped; otherwise it goes to the last element

    @property
    def array(self) -> Part:
        """What was indexed."""
        return self.part.base if isinstance(self.part, Element) else self.part.operand

    @property
    def at(self) -> int:
        """Where it stands: at the array's name, or at the index where that array is an element itself."""
        return self.part.at if isinstance(self.array, Root) else self.part.index.at


class Bound:
    """A value or place under a name: it fits the invocations that made it, and is spread out when others ask."""

    def __init__(self, lanes: Lanes, thing: Value | Place) -> None:
        self._lanes, self._thing = lanes, thing
        self._spread: Value | Place | None = None

    def take(self, lanes: Lanes) -> Value | Place:
        """What it is for some invocations."""
        if lanes is self._lanes:
            return self._thing
        if self._spread is None:
            self._spread = self._thing.map(self._lanes.spread)
        return self._spread.map(lanes.take)
