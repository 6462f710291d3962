"""The results of expressions: values, and places in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from wgsl.arithmetic import operators
from wgsl.simulator.lanes import Lanes
from wgsl.types.kinds import Size
from wgsl.types.program import Element, Index, Part, Root, Variable


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
        exact = self.exact and tuple(None if array is None else change(array) for array in self.exact)
        return Value(tuple(map(change, self.leaves)), exact)

    def exact_of(self, leaf: int) -> np.ndarray | None:
        """Return what one leaf would be among all whole numbers; None where it did not leave its range."""
        return self.exact[leaf] if self.exact else None


def value_of(leaves: Sequence[np.ndarray], exact: Sequence[np.ndarray | None]) -> Value:
    """A value of leaves, and of what they would be among all whole numbers."""
    return Value(tuple(leaves), tuple(exact) if any(array is not None for array in exact) else None)


class Place(NamedTuple):
    """A place in a variable, to which a reference points: `offset` in words, for each invocation or for all.

    Offsets are whole, but in a variable with numbers of 16 bits they may be halves.

    `outside` marks the invocations whose access is dropped: they are past the end of a runtime-sized array. `faults`
    are what its indices did wrong, to be reported if the place is read or written.
    """

    variable: Variable
    offset: Size | np.ndarray
    outside: np.ndarray | None = None
    faults: tuple[Fault, ...] = ()

    def map(self, change) -> Place:
        """The place with a function of an array applied to each."""
        offset = change(self.offset) if isinstance(self.offset, np.ndarray) else self.offset
        outside = None if self.outside is None else change(self.outside)
        return Place(self.variable, offset, outside, tuple(fault.map(change) for fault in self.faults))

    def inside(self, bits: list[np.ndarray], lanes: Lanes) -> tuple[Place, list[np.ndarray], Lanes]:
        """An access with these words, without the invocations that are past the end of an array."""
        if self.outside is None:
            return self, bits, lanes
        chosen = ~np.asarray(self.outside)

        def inside(values: Size | np.ndarray) -> Size | np.ndarray:
            return values if np.ndim(values) == 0 or chosen.ndim == 0 else values[chosen]

        place = self._replace(offset=inside(self.offset), outside=None)
        return place, [inside(word) for word in bits], lanes.where(chosen)


class Fault(NamedTuple):
    """An index past an array, or one that wrapped around: a mask of the invocations, and their indices."""

    kind: str  # "out-of-range" or "index overflow"
    part: Element | Index
    lanes: np.ndarray
    index: np.ndarray
    count: int = 0
    dropped: bool = False  # such an access is dropped; otherwise it goes to the last element
    exact: np.ndarray | None = None  # of an index that wrapped around, what it would be

    def map(self, change) -> Fault:
        """The fault with a function of an array applied to each."""
        exact = None if self.exact is None else change(self.exact)
        return self._replace(lanes=change(self.lanes), index=change(self.index), exact=exact)

    @property
    def array(self) -> Part:
        """The array or vector that was indexed."""
        return self.part.base if isinstance(self.part, Element) else self.part.operand

    @property
    def at(self) -> int:
        """Its place in the text: the array's name, or the index where that array is an element itself."""
        return self.part.at if isinstance(self.array, Root) else self.part.index.at


class NamedValue:
    """A value or place under a name: it fits the invocations that made it, and is spread out when others ask."""

    def __init__(self, lanes: Lanes, thing: Value | Place) -> None:
        self._lanes = lanes
        self._thing = thing
        self._spread: Value | Place | None = None

    def take(self, lanes: Lanes) -> Value | Place:
        """Return the value or place as it is for some invocations."""
        if lanes is self._lanes:
            return self._thing
        if self._spread is None:
            self._spread = self._thing.map(self._lanes.spread)
        return self._spread.map(lanes.take)


# --- Integers that left their range ---------------------------------------------------------------------------------

# What integers would be that left their range: kept beside them from the wrap to the index that uses them.
#
# A wrap is not a mistake as such: kernels let `ih + padding - kh` fall below 0 on purpose, as a guard catches the huge
# number that results. So the true whole number goes along (in float64; NaN where nothing wrapped), and what an index
# shows is whether it is used although it differs. Where a later operation undoes the wrap, as in ``i - 1u + 1u``, or
# the wrapped number leads to the right result, as in ``(i - 1u) % 256u``, nothing is kept.

WHOLE = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": lambda x, y: np.where(y == 0, x, np.trunc(x / np.where(y == 0, 1, y))),
    "%": lambda x, y: np.where(y == 0, 0, np.mod(x, np.where(y == 0, 1, y))),
}
CHOOSING = ("min", "max", "clamp", "select")  # the functions whose result is one of their arguments
Exact = np.ndarray | None


def _true(values: np.ndarray, exact: Exact) -> np.ndarray:
    """The true whole numbers."""
    plain = values.astype(np.float64)
    return plain if exact is None else np.where(np.isnan(exact), plain, exact)


def _kept(whole: np.ndarray, result: np.ndarray) -> Exact:
    """The true whole numbers where they differ from the result; None where none does."""
    differ = whole != result
    return np.where(differ, whole, np.nan) if differ.any() else None


def exact_binary(
    operator: str, left: np.ndarray, right: np.ndarray, left_exact: Exact, right_exact: Exact, result: np.ndarray
) -> Exact:
    """Return what the result of an operator would be among all whole numbers; None where nothing wrapped.

    Operators on bits mean the wrapped number, so that they keep nothing.
    """
    if result.dtype.kind not in "iu" or operator not in WHOLE:
        return None
    untouched = left_exact is None and right_exact is None
    if untouched and (operator in "/%" or not operators.wrapped(operator, left, right, result)):
        return None
    whole = WHOLE[operator](_true(left, left_exact), _true(right, right_exact))
    if operator == "%" and result.dtype.kind == "u":  # the last bits are right, however large the number became
        whole = np.where(right & (right - 1) == 0, result, whole)
    return _kept(whole, result)


def exact_unary(operator: str, operand: np.ndarray, exact: Exact) -> Exact:
    """Return what a negated number would be among all whole numbers; None where nothing wrapped."""
    if operator != "-" or operand.dtype.kind not in "iu":
        return None
    zero = operand.dtype.type(0)
    return exact_binary("-", zero, operand, None, exact, operators.binary("-", zero, operand))


def exact_converted(operand: np.ndarray, exact: Exact, result: np.ndarray) -> Exact:
    """Return what a number would be that became another kind of integer; None where nothing wrapped."""
    if operand.dtype.kind not in "iu" or result.dtype.kind not in "iu" or operand.dtype == result.dtype:
        return exact if result.dtype == operand.dtype else None
    return _kept(_true(operand, exact), result)


def exact_chosen(name: str, leaves: Sequence[np.ndarray], arguments: Sequence[Value]) -> Value:
    """The result of a function whose arguments had left their range."""
    unwrapped = all(value.exact is None for value in arguments)
    if unwrapped or name not in CHOOSING or leaves[0].dtype.kind not in "iu":
        return Value(tuple(leaves))
    return value_of(leaves, [_chosen(leaf, i, arguments) for i, leaf in enumerate(leaves)])


def _chosen(leaf: np.ndarray, i: int, arguments: Sequence[Value]) -> Exact:
    """Return what a leaf of the result would be: the same as the argument that equals it."""
    kept = np.full(leaf.shape, np.nan)
    for value in arguments:
        j = i % len(value.leaves)  # a scalar serves every component
        exact = value.exact_of(j)
        if exact is not None:
            kept = np.where((value.leaves[j] == leaf) & ~np.isnan(exact), exact, kept)
    return None if np.isnan(kept).all() else kept


# --- Where a NaN was born -------------------------------------------------------------------------------------------

# Where a NaN was born: its payload says so.
#
# IEEE 754 leaves 22 bits of a NaN free (9 of an f16), and arithmetic keeps them. A NaN that an operation makes of
# numbers gets the number of that operation as its payload, so that the store that writes it, wherever it is, can name
# its birth. Past the largest payload, the last operation that has one stands for all that follow.


class Marks(NamedTuple):
    """The bits of a NaN of a float type: the unsigned integers that hold them, the usual NaN, and what is free."""

    word: type[np.unsignedinteger]
    quiet: int
    payload: int

    def bits(self, values: np.ndarray) -> np.ndarray:
        """A copy of the bits of some numbers."""
        return np.array(values).view(self.word)


MARKS = {
    np.dtype(np.float32): Marks(np.uint32, 0x7FC00000, 0x003FFFFF),
    np.dtype(np.float16): Marks(np.uint16, 0x7E00, 0x01FF),
}


class Births:
    """The operations that gave NaN, numbered from 1.

    Where no input of a run is infinite, every new NaN comes from finite numbers. Where one is, a NaN counts only if the
    operands of its operation are finite.
    """

    def __init__(self, finite_inputs: bool) -> None:
        self._finite_inputs = finite_inputs
        self._parts: list[Part] = []
        self._numbers: dict[int, int] = {}

    def marked(self, part: Part, result: np.ndarray, operands: Sequence[np.ndarray]) -> np.ndarray:
        """The result of an operation with every NaN marked by its birth: here, or in the operand it came from.

        The operands are of the result's type.
        """
        bad = np.isnan(result)
        if not bad.any():
            return result
        word, quiet, payload = marks = MARKS[result.dtype]
        bits = marks.bits(result)
        born = bad.copy()
        for operand in operands:
            inherited = bad & np.isnan(operand)
            np.copyto(bits, operand.view(word) & word(quiet | payload), where=inherited)
            born &= ~np.isnan(operand)
            if not self._finite_inputs:
                born &= np.isfinite(operand)
        np.copyto(bits, word(quiet), where=bad & ~born & ((bits & word(payload)) == 0))
        if born.any():
            np.copyto(bits, word(quiet | min(self._number(part), payload)), where=born)
        return bits.view(result.dtype)

    def _number(self, part: Part) -> int:
        if part.at not in self._numbers:
            self._parts.append(part)
            self._numbers[part.at] = len(self._parts)
        return self._numbers[part.at]

    def find(self, values: np.ndarray) -> Iterator[tuple[Part, np.ndarray]]:
        """The births of the NaN among some floats, each with a mask of its NaN."""
        word, _, payload = MARKS[values.dtype]
        numbers = np.where(np.isnan(values), values.view(word) & word(payload), 0)
        for number in np.unique(numbers):
            if 0 < number <= len(self._parts):
                yield self._parts[number - 1], numbers == number


def with_marks(result: np.ndarray, operand: np.ndarray) -> np.ndarray:
    """Floats that were converted from another float type, in which each NaN has the mark that it had."""
    bad = np.isnan(operand)
    if not bad.any():
        return result
    before, after = MARKS[operand.dtype], MARKS[result.dtype]
    numbers = np.minimum((operand.view(before.word) & before.word(before.payload)).astype(np.uint32), after.payload)
    bits = after.bits(result)
    np.copyto(bits, numbers.astype(after.word) | after.word(after.quiet), where=bad)
    return bits.view(result.dtype)


def without_nan_marks(values: np.ndarray) -> np.ndarray:
    """Numbers in which every NaN is the usual one."""
    if values.dtype not in MARKS or not np.isnan(values).any():
        return values
    marks = MARKS[values.dtype]
    bits = marks.bits(values)
    np.copyto(bits, marks.word(marks.quiet), where=np.isnan(values))
    return bits.view(values.dtype)
