"""Loads, stores and atomics: what an access does to memory, once the watch has seen it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from wgsl.facts import NotANumber
from wgsl.simulator.lanes import Lanes
from wgsl.simulator.memory import OWN, Words, as_bits, as_numbers
from wgsl.simulator.values import Place, Value, without_nan_marks
from wgsl.simulator.watch import Watch
from wgsl.types import kinds
from wgsl.types.kinds import Scalar, Type
from wgsl.types.program import Part

# --- Atomic functions -----------------------------------------------------------------------------------------------

# The atomic functions: invocations that name the same word take turns, in the order of their numbers.

CHANGES = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMax": np.maximum,
    "atomicMin": np.minimum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
    "atomicLoad": lambda old: old,
    "atomicStore": lambda old, new: new,
    "atomicExchange": lambda old, new: new,
    "atomicCompareExchangeWeak": lambda old, expected, new: np.where(old == expected, new, old),
}


def exchanged(
    name: str, array: np.ndarray, where: np.ndarray, arguments: Sequence[np.ndarray], kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Run an atomic function on words of `array`, for the invocations that `kept` marks.

    Gives what each invocation found and what it left; the others find and leave 0.
    """
    before = np.zeros(len(where), array.dtype)
    after = np.zeros(len(where), array.dtype)
    if name == "atomicCompareExchangeWeak" and kept.all() and (where == where[0]).all():
        _compared(array[where[0] :], before, after, *arguments)
        return before, after
    for turn in turns(where, kept):
        old = array[where[turn]]
        new = CHANGES[name](old, *(argument[turn] for argument in arguments))
        array[where[turn]] = new
        before[turn] = old
        after[turn] = new
    return before, after


def _compared(word: np.ndarray, before: np.ndarray, after: np.ndarray, expected: np.ndarray, new: np.ndarray) -> None:
    """Let all compare and exchange one word: only those that find what they expect change it, mostly a few."""
    first = 0
    count = len(before)
    while first < count:
        hits = np.flatnonzero(expected[first:] == word[0])
        hit = first + int(hits[0]) if len(hits) else count
        before[first : hit + 1] = after[first:hit] = word[0]
        if hit < count:
            after[hit] = word[0] = new[hit]
        first = hit + 1


def turns(where: np.ndarray, kept: np.ndarray) -> Iterator[np.ndarray]:
    """The invocations, so divided that in no turn two of them name the same word."""
    chosen = np.flatnonzero(kept)
    order = chosen[np.argsort(where[chosen], kind="stable")]
    starts = np.flatnonzero(np.diff(where[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    turn = np.arange(len(order)) - np.repeat(starts, lengths)
    by_turn = order[np.argsort(turn, kind="stable")]
    yield from np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(order) else ()


WATCHED = ("storage", "workgroup")  # the address spaces whose accesses are counted, logged and checked


@cache
def leaves_of(type: Type) -> tuple[tuple[int, Scalar], ...]:
    """The numbers of a value, each with its offset in words."""
    return tuple(kinds.leaves(type))


class Access:
    """The memory of a run, as the program reads and writes it."""

    def __init__(self, words: Words, watch: Watch, wrapped: float | None = None) -> None:
        self._words = words
        self._watch = watch
        self._wrapped = wrapped  # what loads of f32 give whose index has wrapped around, in place of what is there

    def load(self, place: Place, type: Type, lanes: Lanes, part: Part) -> Value:
        """Return the value at a place; 0 past the end of a runtime-sized array."""
        variable = place.variable
        parts = leaves_of(type)
        leaves = [self._words.load(variable, place.offset + offset, lanes, scalar) for offset, scalar in parts]
        exact = None
        if self._watch.sees:
            offsets = [offset for offset, _ in parts]
            if variable.space in OWN:
                exact = self._words.exact(variable, [place.offset + offset for offset in offsets], lanes)
            if place.faults and self._wrapped is not None:
                place, leaves = self._without_wrapped(place, leaves)
            if place.faults:
                self._watch.faults(place.faults, lanes, write=False)
            if variable.space in WATCHED:
                self._watch.access(place, offsets, [as_bits(leaf) for leaf in leaves], lanes, part, False)
        if place.outside is not None:
            leaves = [np.where(place.outside, leaf.dtype.type(0), leaf) for leaf in leaves]
        return Value(tuple(leaves), exact)

    def _without_wrapped(self, place: Place, leaves: list[np.ndarray]) -> tuple[Place, list[np.ndarray]]:
        """Return a place without its wrapped indices, and the floats there, of which those at such an index are others.

        Where there are other numbers than floats, both are as they were.
        """
        if any(leaf.dtype != np.float32 for leaf in leaves):
            return place, leaves
        for fault in place.faults:
            if fault.kind == "index overflow":
                leaves = [np.where(fault.lanes, np.float32(self._wrapped), leaf) for leaf in leaves]
        others = tuple(fault for fault in place.faults if fault.kind != "index overflow")
        return place._replace(faults=others), leaves

    def store(self, place: Place, type: Type, value: Value, lanes: Lanes, part: Part) -> None:
        """Put a value at a place; past the end of a runtime-sized array it is dropped."""
        variable = place.variable
        parts = leaves_of(type)
        offsets = [offset for offset, _ in parts]
        bits = [as_bits(leaf) for leaf in value.leaves]
        if self._watch.sees:
            if place.faults:
                self._watch.faults(place.faults, lanes, write=True)
            if variable.space in OWN:
                self._words.keep_exact(variable, [place.offset + offset for offset in offsets], value.exact, lanes)
            if variable.space == "storage":
                bits = [self._without_nan_marks(*pair, lanes, part) for pair in zip(bits, value.leaves, strict=True)]
        place, bits, lanes = place.inside(bits, lanes)
        if not lanes.count:
            return
        if variable.space in WATCHED:
            self._watch.access(place, offsets, bits, lanes, part, True)
        for offset, word in zip(offsets, bits, strict=True):
            self._words.store(variable, place.offset + offset, lanes, word)

    def _without_nan_marks(self, bits: np.ndarray, leaf: np.ndarray, lanes: Lanes, part: Part) -> np.ndarray:
        """The bits that a buffer gets, where NaN is reported and loses its mark."""
        if leaf.dtype.kind != "f" or not np.isnan(leaf).any():
            return bits
        for born, mask in self._watch.births.find(leaf):
            facts = partial(NotANumber, self._watch.source(born), self._watch.other_line(part.at, born.at))
            self._watch.collector.add("not-a-number", born.at, lanes.where(mask).index, facts)
        return as_bits(without_nan_marks(leaf))

    def without_nan(self, leaf: np.ndarray, lanes: Lanes, part: Part) -> np.ndarray:
        """Numbers that are stored in a texture, where NaN is reported and loses its mark."""
        if not self._watch.sees:
            return leaf
        return self._without_nan_marks(as_bits(leaf), leaf, lanes, part).view(leaf.dtype)

    def atomic(
        self, name: str, place: Place, type: Type, arguments: list[np.ndarray], lanes: Lanes, part: Part
    ) -> Value:
        """Run an atomic function, one invocation after another; gives what each one found."""
        variable = place.variable
        _, scalar = leaves_of(type)[0]
        self._watch.faults(place.faults, lanes, name != "atomicLoad")
        where = lanes.expanded(self._words.places(variable, place.offset, lanes))
        outside = False if place.outside is None else place.outside
        kept = lanes.expanded(~np.asarray(outside))
        arguments = [lanes.expanded(argument) for argument in arguments]
        array = as_numbers(self._words.arrays[variable].reshape(-1), scalar)
        before, after = exchanged(name, array, where, arguments, kept)
        self._watch.atomic(variable, where, as_bits(after), lanes, kept, part)
        if name != "atomicStore":
            self._watch.access(place, [0], [as_bits(before)], lanes, part, False, atomic=True)
        if name != "atomicLoad":
            self._watch.access(place, [0], [as_bits(after)], lanes, part, True, atomic=True)
        if name == "atomicCompareExchangeWeak":
            return Value((before, before == arguments[0]))
        return Value((before,))
