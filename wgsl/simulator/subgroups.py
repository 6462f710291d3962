"""Subgroups in a run: what their functions give to those of their threads that call them together.

The invocations of a workgroup form subgroups in the order of their local_invocation_index; the last one may be smaller.
A value from a thread that does not call the function, or that does not exist, is not defined. The run goes on with a
number in its place, and notes where that was: another run with another number shows whether the results depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from wgsl.arguments import as_int, check_size
from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.unwatched import Unwatched
from wgsl.simulator.watch import Watch
from wgsl.subgroup_facts import UndefinedLane
from wgsl.types.program import Part
from wgsl.types.subgroups import LARGEST, QUAD, SubgroupCall

USUAL, LEAST = 32, 4  # threads of a subgroup
SIZES = (4, 8, 16, 32, 64, 128)
FOUR = 4  # words of a ballot, of 32 bits each


def checked_size(size: int) -> int:
    """The size of a subgroup, if an adapter can have it."""
    size = as_int(size)
    check_size("subgroup_size", size, LEAST, LARGEST)
    if size & (size - 1):
        raise ValueError(f"subgroup_size = {size}: it must be a power of two from {LEAST} to {LARGEST}")
    return size


class Fill(NamedTuple):
    """The bits to put in place of what is not defined, in the function at an offset of the text."""

    at: int
    bits: int


class _Rows:
    """A row for each subgroup that has some of these invocations, and in it a column for each of its threads."""

    def __init__(self, lanes: Lanes) -> None:
        dispatch = lanes.dispatch
        groups, local = np.divmod(lanes.index, dispatch.threads)
        number, self.column = np.divmod(local, dispatch.subgroup_size)
        number = groups * dispatch.subgroups_per_group + number
        starts = np.diff(number, prepend=-1) != 0  # invocations come in rising order
        self.row = np.cumsum(starts) - 1
        width = min(dispatch.subgroup_size, dispatch.threads)
        self.active = self.table(np.ones(lanes.count, bool), width, False)
        self.first = self.column[starts]  # the first thread of each that takes part

    def table(self, values: np.ndarray, width: int, other: object) -> np.ndarray:
        """The values in their rows, and another one where no invocation takes part."""
        made = np.full((self.row[-1] + 1, width), other, values.dtype)
        made[self.row, self.column] = values
        return made

    def filled(self, values: np.ndarray, other: object) -> np.ndarray:
        """The same, as wide as the subgroups are."""
        return self.table(values, self.active.shape[1], other)


# --- Functions of all values of a subgroup ------------------------------------------------------------------------


def _least(dtype: np.dtype) -> object:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _most(dtype: np.dtype) -> object:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


REDUCED: dict[str, tuple[np.ufunc, Callable[[np.dtype], object]]] = {  # with what changes nothing
    "Add": (np.add, lambda _: 0),
    "Mul": (np.multiply, lambda _: 1),
    "Min": (np.minimum, _most),
    "Max": (np.maximum, _least),
    "And": (np.bitwise_and, lambda dtype: ~dtype.type(0)),
    "Or": (np.bitwise_or, lambda _: 0),
    "Xor": (np.bitwise_xor, lambda _: 0),
    "All": (np.logical_and, lambda _: True),
    "Any": (np.logical_or, lambda _: False),
}


def _reduced(kind: str, values: np.ndarray, rows: _Rows) -> np.ndarray:
    """Each subgroup's sum, product, ... in each of its invocations."""
    function, neutral = REDUCED[kind]
    table = rows.filled(values, neutral(values.dtype))
    return function.reduce(table, axis=1, dtype=values.dtype)[rows.row]


def _scanned(kind: str, values: np.ndarray, rows: _Rows) -> np.ndarray:
    """The sum or product of those up to each invocation, itself included or not."""
    which, kind = kind[: len("Inclusive")], kind[len("Inclusive") :]
    function, neutral = REDUCED[kind]
    table = rows.filled(values, neutral(values.dtype))
    if which == "Exclusive":
        table = np.roll(table, 1, axis=1)
        table[:, 0] = neutral(values.dtype)
    return function.accumulate(table, axis=1, dtype=values.dtype)[rows.row, rows.column]


def _ballot(values: np.ndarray, rows: _Rows) -> tuple[np.ndarray, ...]:
    """A bit for each invocation that says true, in four words."""
    bits = np.zeros((rows.row[-1] + 1, LARGEST), np.uint8)
    bits[rows.row, rows.column] = values
    words = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)
    return tuple(words[rows.row, i] for i in range(FOUR))


# --- Functions that take the value of another invocation ----------------------------------------------------------

SOURCES: dict[str, Callable[..., np.ndarray]] = {  # of the invocation's own number, and of the argument
    "subgroupBroadcast": lambda own, argument: np.broadcast_to(argument, own.shape),
    "subgroupShuffle": lambda own, argument: np.broadcast_to(argument, own.shape),
    "subgroupShuffleXor": lambda own, argument: own ^ argument,
    "subgroupShuffleUp": lambda own, argument: own - argument,
    "subgroupShuffleDown": lambda own, argument: own + argument,
    "quadBroadcast": lambda own, argument: own // QUAD * QUAD + argument,
    "quadSwapX": lambda own: own ^ 1,
    "quadSwapY": lambda own: own ^ 2,
    "quadSwapDiagonal": lambda own: own ^ 3,
}


class Subgroups:
    """Computes the functions of subgroups; `undefined` says where a value was not defined, by the offset."""

    def __init__(self, watch: Watch | Unwatched, fill: Fill | None = None) -> None:
        self._watch = watch
        self._fill = fill
        self.undefined: dict[int, Callable[[], UndefinedLane]] = {}
        self.lanes: dict[int, np.ndarray] = {}  # of them
        self._last: tuple[Lanes, _Rows] | None = None

    def call(self, part: SubgroupCall, arguments: Sequence[Sequence[np.ndarray]], lanes: Lanes) -> tuple:
        """The leaves of a function's result, of the leaves of its arguments."""
        rows = self._rows(lanes)
        leaves = [lanes.expanded(leaf) for leaf in arguments[0]] if arguments else []
        kind = part.name.removeprefix("subgroup")
        if part.name in SOURCES:
            number = [leaf[0].astype(np.int64) for leaf in arguments[1:]]
            return self._taken(part, leaves, SOURCES[part.name](rows.column, *number), rows, lanes)
        if kind == "Elect":
            return (rows.column == rows.first[rows.row],)
        if kind == "Ballot":
            return _ballot(leaves[0], rows)
        if kind == "BroadcastFirst":
            return tuple(rows.filled(leaf, 0)[rows.row, rows.first[rows.row]] for leaf in leaves)
        function = _reduced if kind in REDUCED else _scanned
        results = [function(kind, leaf, rows) for leaf in leaves]
        return tuple(self._marked(part, *pair, rows) for pair in zip(results, leaves, strict=True))

    def _rows(self, lanes: Lanes) -> _Rows:
        if self._last is None or self._last[0] is not lanes:
            self._last = lanes, _Rows(lanes)
        return self._last[1]

    def _marked(self, part: Part, result: np.ndarray, values: np.ndarray, rows: _Rows) -> np.ndarray:
        """A result in which NaN has the mark of its birth: here, or in the thread that it came from."""
        if result.dtype != np.float32 or not np.isnan(result).any():
            return result
        table = rows.filled(values, 0)
        worst = np.argmax(np.isnan(table) * 2 + np.isinf(table), axis=1)
        source = np.take_along_axis(table, worst[:, None], axis=1)[rows.row, 0]
        return self._watch.births.marked(part, result, (source,))

    def _taken(
        self, part: SubgroupCall, leaves: Sequence[np.ndarray], source: np.ndarray, rows: _Rows, lanes: Lanes
    ) -> tuple[np.ndarray, ...]:
        """The values of other invocations of each one's subgroup."""
        width = rows.active.shape[1]
        inside = (source >= 0) & (source < width)
        column = np.where(inside, source, 0)
        defined = inside & rows.active[rows.row, column]
        bits = np.zeros(1, np.uint32)
        if not defined.all():
            self._note(part, int(np.argmin(defined)), source, defined, lanes)
            if self._fill and self._fill.at == part.at:
                bits[0] = self._fill.bits
        taken = (rows.filled(leaf, 0)[rows.row, column] for leaf in leaves)
        return tuple(np.where(defined, leaf, bits.view(leaf.dtype)[0]) for leaf in taken)

    def _note(self, part: SubgroupCall, i: int, source: np.ndarray, defined: np.ndarray, lanes: Lanes) -> None:
        if not self._watch.sees:
            return
        if part.at not in self.undefined:
            self.undefined[part.at] = partial(self._facts, part, int(lanes.index[i]), int(source[i]), lanes.dispatch)
            self.lanes[part.at] = np.zeros(lanes.dispatch.lanes, bool)
        self.lanes[part.at][lanes.index[~defined]] = True

    def _facts(self, part: SubgroupCall, lane: int, source: int, dispatch: Dispatch) -> UndefinedLane:
        local = int(dispatch.local_index[lane])
        first = local - local % dispatch.subgroup_size
        size = min(dispatch.subgroup_size, dispatch.threads - first)
        return UndefinedLane(self._watch.who(lane), self._watch.source(part), source, size)
