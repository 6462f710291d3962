"""The words of all variables. A word is four bytes, and each number of a value has one."""

from __future__ import annotations

import numpy as np

from helpers.simulator.arithmetic.conversions import DTYPES
from helpers.simulator.lanes import Dispatch, Lanes
from helpers.simulator.types.kinds import BOOL, Array, Scalar, Struct, Type, words
from helpers.simulator.types.program import Variable

MOST_OWN = 2**27  # words of one variable, in all invocations: 512 MiB
OWN = ("function", "private")  # the address spaces in which each invocation has its own copy


class Words:
    """What the variables hold: one array of words for each.

    A storage or uniform buffer is there once, workgroup memory once for each workgroup, other variables once for each
    invocation; the array's axes are (words,), (workgroups, words) and (words, invocations).
    """

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self.arrays: dict[Variable, np.ndarray] = {}
        self._exact: dict[Variable, np.ndarray] = {}

    def bind(self, variable: Variable, buffer: np.ndarray) -> None:
        """Give a binding a copy of a buffer."""
        self.arrays[variable] = buffer.reshape(-1).copy().view(np.uint32)

    def make(self, variable: Variable) -> None:
        """Give any other variable its words, all 0."""
        size, dispatch = words(variable.type), self._dispatch
        if variable.space in OWN and size * dispatch.lanes > MOST_OWN:
            raise ValueError(
                f"`{variable.name}` has {size:,} words in each of {dispatch.lanes:,} threads; the simulator holds "
                f"{MOST_OWN:,} words for one variable. Simulate a smaller problem"
            )
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

    def places(self, variable: Variable, offset: int | np.ndarray, lanes: Lanes) -> np.ndarray:
        """Where each invocation's word lies in the flat array of a variable."""
        array = self.arrays[variable]
        if variable.space in OWN:
            return np.asarray(offset) * array.shape[1] + lanes.index
        if variable.space == "workgroup":
            return lanes.groups * array.shape[1] + offset
        return np.asarray(offset)

    def load(self, variable: Variable, offset: int | np.ndarray, lanes: Lanes, scalar: Scalar) -> np.ndarray:
        """The number at an offset, for each invocation or (in a buffer) one for all."""
        array = self.arrays[variable]
        if variable.space in OWN and isinstance(offset, int):
            bits = array[offset].copy() if lanes.whole else array[offset][lanes.index]
        else:
            bits = array.reshape(-1)[self.places(variable, offset, lanes)]
        return of_bits(bits, scalar)

    def store(self, variable: Variable, offset: int | np.ndarray, lanes: Lanes, bits: np.ndarray) -> None:
        """Put words at an offset; of several invocations that store in one place, the last one wins."""
        array = self.arrays[variable]
        if variable.space in OWN and isinstance(offset, int):
            array[offset, slice(None) if lanes.whole else lanes.index] = bits
            return
        places = self.places(variable, offset, lanes)
        array.reshape(-1)[places] = bits if places.ndim or not bits.ndim else bits[-1]

    # --- What integers would be that left their range -----------------------------------------------------------

    def exact(
        self, variable: Variable, offsets: list[int | np.ndarray], lanes: Lanes
    ) -> tuple[np.ndarray | None, ...] | None:
        """For each number at these offsets what was kept; None where no invocation has anything."""
        if variable not in self._exact:
            return None
        rows = [self._exact[variable][offset, lanes.index] for offset in offsets]
        found = tuple(None if np.isnan(row).all() else row for row in rows)
        return found if any(row is not None for row in found) else None

    def keep_exact(
        self,
        variable: Variable,
        offsets: list[int | np.ndarray],
        exact: tuple[np.ndarray | None, ...] | None,
        lanes: Lanes,
    ) -> None:
        """Keep what the numbers that are being stored would be; NaN where they are what they should be."""
        if exact is None and variable not in self._exact:
            return
        if variable not in self._exact:
            self._exact[variable] = np.full(self.arrays[variable].shape, np.nan)
        for offset, row in zip(offsets, exact or [None] * len(offsets), strict=True):
            self._exact[variable][offset, lanes.index] = np.nan if row is None else row


def of_bits(bits: np.ndarray, scalar: Scalar) -> np.ndarray:
    """Words as numbers of a type."""
    return bits != 0 if scalar is BOOL else np.asarray(bits).view(DTYPES[scalar.name])


def as_bits(values: np.ndarray) -> np.ndarray:
    """Numbers as words."""
    return values.astype(np.uint32) if values.dtype == np.bool_ else values.view(np.uint32)


def numbers(type: Type, size: int) -> np.ndarray:
    """The words that hold numbers, and no padding, in a buffer of so many words."""
    match type:
        case Array(element, count):
            each = numbers(element, type.stride)
            firsts = np.arange(size // type.stride if count is None else count) * type.stride
            return (firsts[:, None] + each).ravel()
        case Struct(fields=fields):
            return np.concatenate([field.offset + numbers(field.type, size - field.offset) for field in fields])
    return np.arange(words(type))
