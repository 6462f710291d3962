"""The words of all variables. A word is four bytes, and each number of a value has one.

A variable with numbers of 16 bits has two places for each word: an f16 is in one of them, any other number in the first
of two, with all of its bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from wgsl.arithmetic.operators import DTYPES
from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.work import too_large
from wgsl.types import kinds
from wgsl.types.conversions import scalar_of
from wgsl.types.kinds import BOOL, F16, HALF, Array, Scalar, Size, Struct, Type, leaves, parts, words
from wgsl.types.program import Variable

HALF_BITS = np.uint32(16)
OWN = ("function", "private")  # the address spaces in which each invocation has its own copy


class Words:
    """The memory of a run: one array of words for each variable.

    A storage or uniform buffer is there once, workgroup memory once for each workgroup, other variables once for each
    invocation; the array's axes are (words,), (workgroups, words) and (words, invocations). Where a variable has two
    places for each word, these count instead.
    """

    def __init__(self, dispatch: Dispatch, room: int) -> None:
        self._dispatch = dispatch
        self._room = room  # bytes that are left when all variables are made
        self.arrays: dict[Variable, np.ndarray] = {}
        self._exact: dict[Variable, np.ndarray] = {}
        self._halved: set[Variable] = set()  # the variables with two places for each word
        self.images: dict[Variable, object] = {}  # the textures, of which `textures` knows more

    def bind(self, variable: Variable, buffer: np.ndarray) -> None:
        """Give a binding a copy of a buffer."""
        bits = buffer.reshape(-1).copy()
        if has_halves(variable.type):
            self._halved.add(variable)
            self.arrays[variable] = parted(variable.type, bits)
        else:
            self.arrays[variable] = bits.view(np.uint32)

    def lend(self, variable: Variable, buffer: np.ndarray) -> None:
        """Give a binding a buffer itself, which changes with it; see `give_back`."""
        self.arrays[variable] = buffer
        if has_halves(variable.type):
            self.bind(variable, buffer)

    def give_back(self, variable: Variable, buffer: np.ndarray) -> None:
        """Change a buffer that was lent, where it has not changed yet."""
        if variable in self._halved:
            buffer[:] = self.buffer(variable).view(buffer.dtype)

    def buffer(self, variable: Variable) -> np.ndarray:
        """The bits of a binding, as a buffer has them."""
        array = self.arrays[variable]
        return united(variable.type, array) if variable in self._halved else array

    def index(self, variable: Variable, offset: Size | np.ndarray) -> int | np.ndarray:
        """Return at which index of its array a word of a variable is."""
        if variable not in self._halved:
            return offset
        return np.asarray(offset * 2).astype(np.int64) if isinstance(offset, np.ndarray) else int(offset * 2)

    def offset(self, variable: Variable, index: int) -> Size:
        """Return which word of a variable is at an index of its array."""
        return index * HALF if variable in self._halved else index

    def make(self, variable: Variable) -> None:
        """Give any other variable its words, all 0."""
        size = words(variable.type)
        dispatch = self._dispatch
        if has_halves(variable.type):
            self._halved.add(variable)
        size = self.index(variable, size)
        shape = (size, dispatch.lanes) if variable.space in OWN else (dispatch.group_count, size)
        self.arrays[variable] = np.zeros(shape, np.uint32)

    def clear(self, variable: Variable, lanes: Lanes) -> None:
        """Set a variable of these invocations to 0, and make it where it is new."""
        if variable not in self.arrays:
            self.make(variable)
            return
        chosen = slice(None) if lanes.whole else lanes.index
        self.arrays[variable][:, chosen] = 0
        if variable in self._exact:
            self._exact[variable][:, chosen] = np.nan

    def places(self, variable: Variable, offset: Size | np.ndarray, lanes: Lanes) -> np.ndarray:
        """Return the index of each invocation's word in the flat array of a variable."""
        return self._places(variable, self.index(variable, offset), lanes)

    def _places(self, variable: Variable, offset: int | np.ndarray, lanes: Lanes) -> np.ndarray:
        array = self.arrays[variable]
        if variable.space in OWN:
            return np.asarray(offset) * array.shape[1] + lanes.index
        if variable.space == "workgroup":
            return lanes.groups * array.shape[1] + offset
        return np.asarray(offset)

    def load(self, variable: Variable, offset: Size | np.ndarray, lanes: Lanes, scalar: Scalar) -> np.ndarray:
        """The number at an offset, for each invocation or (in a buffer) one for all."""
        array = self.arrays[variable]
        if self._halved:
            offset = self.index(variable, offset)
        if variable.space in OWN and isinstance(offset, int):
            bits = array[offset].copy() if lanes.whole else array[offset][lanes.index]
        else:
            bits = array.reshape(-1)[self._places(variable, offset, lanes)]
        return as_numbers(bits, scalar)

    def store(self, variable: Variable, offset: Size | np.ndarray, lanes: Lanes, bits: np.ndarray) -> None:
        """Put words at an offset; of several invocations that store in one place, the last one wins."""
        array = self.arrays[variable]
        if self._halved:
            offset = self.index(variable, offset)
        if variable.space in OWN and isinstance(offset, int):
            array[offset, slice(None) if lanes.whole else lanes.index] = bits
            return
        places = self._places(variable, offset, lanes)
        array.reshape(-1)[places] = bits if places.ndim or not bits.ndim else bits[-1]

    # --- What integers would be that left their range -----------------------------------------------------------

    def exact(
        self, variable: Variable, offsets: list[Size | np.ndarray], lanes: Lanes
    ) -> tuple[np.ndarray | None, ...] | None:
        """For each number at these offsets what was kept; None where no invocation has anything."""
        if variable not in self._exact:
            return None
        indices = (self.index(variable, offset) for offset in offsets)
        rows = [self._exact[variable][index, lanes.index] for index in indices]
        kept = tuple(None if np.isnan(row).all() else row for row in rows)
        return kept if any(row is not None for row in kept) else None

    def keep_exact(
        self,
        variable: Variable,
        offsets: list[Size | np.ndarray],
        exact: tuple[np.ndarray | None, ...] | None,
        lanes: Lanes,
    ) -> None:
        """Keep what the numbers that are being stored would be; NaN where they are what they should be."""
        if exact is None and variable not in self._exact:
            return
        if variable not in self._exact:
            self._exact[variable] = self._make_exact(variable)
        for offset, row in zip(offsets, exact or [None] * len(offsets), strict=True):
            index = self.index(variable, offset)
            self._exact[variable][index, lanes.index] = np.nan if row is None else row

    def _make_exact(self, variable: Variable) -> np.ndarray:
        """Return room for what a variable's numbers would be. Raises ValueError where there is none left."""
        array = self.arrays[variable]
        self._room -= 2 * array.nbytes
        if self._room < 0:
            raise too_large(f"the numbers in `{variable.name}` wrap around, and there is no memory to keep track of it")
        return np.full(array.shape, np.nan)


def as_numbers(bits: np.ndarray, scalar: Scalar) -> np.ndarray:
    """Words as numbers of a type."""
    if scalar is F16:
        return np.asarray(bits).astype(np.uint16).view(np.float16)
    return bits != 0 if scalar is BOOL else np.asarray(bits).view(DTYPES[scalar.name])


def as_bits(values: np.ndarray) -> np.ndarray:
    """The bits of numbers: words, or halves of them."""
    if values.itemsize == kinds.WORD:
        return values.view(np.uint32)
    return values.astype(np.uint32) if values.dtype == np.bool_ else values.view(np.uint16)


@cache
def has_halves(type: Type) -> bool:
    """Return True for a type with numbers of 16 bits in it."""
    return any(scalar_of(part) is F16 for part in parts(type))


def parted(type: Type, buffer: np.ndarray) -> np.ndarray:
    """The bits of a buffer, with two places for each word."""
    places = buffer.view(np.uint16).astype(np.uint32)
    first = _of_whole_words(type, places.size)
    places[first] |= places[first + 1] << HALF_BITS
    return places


def united(type: Type, places: np.ndarray) -> np.ndarray:
    """The buffer whose bits are in these places."""
    bits = places.astype(np.uint16)
    first = _of_whole_words(type, places.size)
    bits[first + 1] = places[first] >> HALF_BITS
    return bits


def _of_whole_words(type: Type, size: int) -> np.ndarray:
    """Return the places of the numbers that take a whole word."""
    offsets, names = numbers(type, size * HALF)
    return (offsets[names != F16.name] * 2).astype(np.intp)


def size_of(type: Type) -> tuple[Size, Size]:
    """The least size of a buffer in words, and those of each further element of a runtime-sized array, or 0."""
    last = type.fields[-1].type if isinstance(type, Struct) else type
    runtime = isinstance(last, Array) and last.count is None
    return words(type), last.stride if runtime else 0


def numbers(type: Type, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The words that hold numbers, and no padding, in a buffer of this many words; and the names of their types."""
    match type:
        case Array(element, count):
            inner, names = numbers(element, type.stride)
            count = int(size // type.stride) if count is None else count
            firsts = np.arange(count) * type.stride
            return (firsts[:, None] + inner).ravel(), np.tile(names, count)
        case Struct(fields=fields):
            members = [numbers(field.type, size - field.offset) for field in fields]
            places = [field.offset + inner for field, (inner, _) in zip(fields, members, strict=True)]
            return np.concatenate(places), np.concatenate([names for _, names in members])
    offsets, scalars = zip(*leaves(type), strict=True)
    return np.array(offsets), np.array([scalar.name for scalar in scalars])


# --- Races ----------------------------------------------------------------------------------------------------------

# Beside each word of a memory: which invocations touched it last, and whether a barrier has separated them since.
#
# Two accesses race where they are by two invocations, at least one is a write, and nothing orders them. A barrier
# orders the accesses of one workgroup: those before it (a smaller epoch) come before those after it. Nothing orders two
# workgroups. So a word needs to remember only few of its accesses: the last write, the last read, another read by
# another invocation between the same barriers, and the last read by another workgroup.


@dataclass
class Conflicts:
    """Accesses of one statement that race with earlier ones, or with each other.

    `lane` and `other_lane` are invocations, `where` the words, `other_at` the offset in the text of the other access;
    `other_wrote` says what that one was; `alike` where both wrote the same value.
    """

    lane: np.ndarray
    other_lane: np.ndarray
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
        self.lane[where] = lane
        self.epoch[where] = epoch
        self.at[where] = at

    def copy_from(self, other: Touch, where: np.ndarray) -> None:
        """Remember what another one remembers of some words."""
        self.set(where, other.lane[where], other.epoch[where], other.at[where])

    def repeated(self, dispatch: Dispatch) -> Touch:
        """The same for every workgroup, where this is that of the first one and all did the same."""
        groups = dispatch.group_count
        copy = Touch(0)
        begins = np.repeat(np.arange(groups, dtype=np.int32) * dispatch.threads, len(self.lane))
        lanes = np.tile(self.lane, groups)
        copy.lane = np.where(lanes < 0, lanes, lanes + begins)
        copy.epoch = np.tile(self.epoch, groups)
        copy.at = np.tile(self.at, groups)
        return copy


class Shadow:
    """The accesses to the words of one variable that later ones may race with."""

    def __init__(self, words: int, groups: np.ndarray) -> None:
        self._groups = groups  # of each invocation
        self._value = np.zeros(words, np.uint32)
        self._write, self._read, self._second, self._foreign = (Touch(words) for _ in range(4))

    def read(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int) -> list[Conflicts]:
        """Note reads, one for each invocation; gives those that race with an earlier write."""
        conflicts = self.races_of_reads(where, lanes, epoch)
        self.note_reads(where, lanes, epoch, at)
        return conflicts

    def write(
        self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int, bits: np.ndarray | None
    ) -> list[Conflicts]:
        """Note writes, one for each invocation; gives those that race with an earlier access or with each other."""
        conflicts = self.races_of_writes(where, lanes, epoch, bits)
        self.note_writes(where, lanes, epoch, at, bits)
        if (self._write.lane[where] != lanes.index).any():
            conflicts.append(_within(where, lanes, at, bits))
        return conflicts

    def races_of_reads(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray) -> list[Conflicts]:
        """Return the races of reads with earlier writes."""
        return self._against(self._write, where, lanes, epoch)

    def races_of_writes(
        self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, bits: np.ndarray | None
    ) -> list[Conflicts]:
        """Return the races of writes with earlier accesses."""
        conflicts = self._against(self._write, where, lanes, epoch, bits)
        for reads in (self._read, self._second, self._foreign):
            conflicts += self._against(reads, where, lanes, epoch)
        return conflicts

    def note_writes(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int, bits: np.ndarray | None) -> None:
        """Note writes, whatever they race with."""
        self._write.set(where, lanes.index, epoch, at)
        if bits is not None:
            self._value[where] = bits

    def repeated(self, dispatch: Dispatch, value: np.ndarray) -> Shadow:
        """The shadow of all workgroups, where this is that of the first one and all did the same but for the values."""
        copy = Shadow(0, dispatch.groups)
        copy._value = value
        touches = (self._write, self._read, self._second, self._foreign)
        copy._write, copy._read, copy._second, copy._foreign = (touch.repeated(dispatch) for touch in touches)
        return copy

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
        where = where[suspects]
        alike = np.zeros(int(suspects.sum()), bool)
        if bits is not None:
            alike = self._value[where] == bits[suspects]
        wrote = np.full(len(where), touch is self._write)
        return [Conflicts(lanes.index[suspects], other[suspects], where, touch.at[where], wrote, alike)]

    def note_reads(self, where: np.ndarray, lanes: Lanes, epoch: np.ndarray, at: int) -> None:
        """Note reads, whatever they race with."""
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


def _within(where: np.ndarray, lanes: Lanes, at: int, bits: np.ndarray | None) -> Conflicts:
    """The writes of one statement to the same words."""
    order = np.argsort(where, kind="stable")
    twice = np.flatnonzero(where[order][1:] == where[order][:-1])
    second = order[twice + 1]
    first = order[twice]
    wrote = np.ones(len(second), bool)
    alike = ~wrote if bits is None else bits[second] == bits[first]
    place = np.full(len(second), at)
    return Conflicts(lanes.index[second], lanes.index[first], where[second], place, wrote, alike)
