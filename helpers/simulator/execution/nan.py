"""Where a NaN was born: its payload says so.

IEEE 754 leaves 22 bits of a NaN free, and arithmetic hands them on. A NaN that an operation makes of numbers gets the
number of that operation as its payload, so that the store that writes it, wherever it stands, can name its birth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from helpers.simulator.types.program import Part

QUIET, PAYLOAD = np.uint32(0x7FC00000), np.uint32(0x003FFFFF)


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
        """The result of an operation with every NaN marked by its birth: here, or in the operand it came from."""
        bad = np.isnan(result)
        if not bad.any():
            return result
        bits = np.broadcast_to(result.view(np.uint32), result.shape).copy()
        born = bad.copy()
        for operand in operands:
            inherited = bad & np.isnan(operand)
            np.copyto(bits, operand.view(np.uint32) & ~np.uint32(1 << 31), where=inherited)
            born &= ~np.isnan(operand)
            if not self._finite_inputs:
                born &= np.isfinite(operand)
        np.copyto(bits, QUIET, where=bad & ~born & ((bits & PAYLOAD) == 0))
        np.copyto(bits, QUIET | np.uint32(self._number(part)), where=born)
        return bits.view(np.float32)

    def _number(self, part: Part) -> int:
        if part.at not in self._numbers:
            self._parts.append(part)
            self._numbers[part.at] = len(self._parts)
        return self._numbers[part.at]

    def of(self, bits: np.ndarray) -> Iterator[tuple[Part, np.ndarray]]:
        """The births of the NaN among some words of floats, each with a mask of its NaN."""
        numbers = np.where(np.isnan(bits.view(np.float32)), bits & PAYLOAD, 0)
        for number in np.unique(numbers):
            if 0 < number <= len(self._parts):
                yield self._parts[number - 1], numbers == number


def without_marks(bits: np.ndarray) -> np.ndarray:
    """Words of floats in which every NaN is the usual one."""
    return np.where(np.isnan(bits.view(np.float32)), QUIET, bits)


def plain(array: np.ndarray) -> np.ndarray:
    """An input in which no NaN looks as if it were marked."""
    if array.dtype != np.float32 or not np.isnan(array).any():
        return array
    return without_marks(np.ascontiguousarray(array).view(np.uint32)).view(np.float32)
