"""Built-in functions on the bits of integers, as arrays."""

from __future__ import annotations

import numpy as np

WIDTH = 32


_SWAPS = ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF))


def _unsigned(values: np.ndarray) -> np.ndarray:
    return np.asarray(values).view(np.uint32)


def _bit_length(values: np.ndarray) -> np.ndarray:
    """Return the position of the highest 1 of a uint32, counted from 1; 0 of a zero. It is a float64's exponent."""
    return np.frexp(values.astype(np.float64))[1]


def _lowest_bit(values: np.ndarray) -> np.ndarray:
    """A uint32 with all bits 0 except the lowest 1."""
    return values & -values


def count_one_bits(values: np.ndarray) -> np.ndarray:
    """Return the number of bits that are 1."""
    return np.bitwise_count(_unsigned(values)).astype(values.dtype)


def count_leading_zeros(values: np.ndarray) -> np.ndarray:
    """Return the number of 0 bits above the highest 1; 32 of a zero."""
    return (WIDTH - _bit_length(_unsigned(values))).astype(values.dtype)


def count_trailing_zeros(values: np.ndarray) -> np.ndarray:
    """Return the number of 0 bits below the lowest 1; 32 of a zero."""
    return np.where(values == 0, WIDTH, first_trailing_bit(values)).astype(values.dtype)


def first_leading_bit(values: np.ndarray) -> np.ndarray:
    """The position of the highest 1, of a negative number that of the highest 0; where there is none, -1."""
    if values.dtype == np.int32:
        values = values ^ (values >> 31)
    return (_bit_length(values) - 1).astype(values.dtype)


def first_trailing_bit(values: np.ndarray) -> np.ndarray:
    """The position of the lowest 1; of a zero, -1, which for a uint32 is all bits 1."""
    return (_bit_length(_lowest_bit(_unsigned(values))) - 1).astype(values.dtype)


def reverse_bits(values: np.ndarray) -> np.ndarray:
    """Bit 0 as bit 31, and so on."""
    turned = _unsigned(values)
    for distance, mask in _SWAPS:
        turned = (turned & mask) << distance | turned >> distance & mask
    return turned.view(values.dtype)


def _range(offset: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range of bits as 64-bit numbers, cut off at bit 32."""
    start = np.minimum(offset, WIDTH).astype(np.int64)
    return start, np.minimum(count.astype(np.int64), WIDTH - start)


def extract_bits(values: np.ndarray, offset: np.ndarray, count: np.ndarray) -> np.ndarray:
    """`count` bits from the bit `offset` on, of an int32 with the sign extended."""
    start, size = _range(offset, count)
    wide = np.int64 if values.dtype == np.int32 else np.uint64
    top = values.astype(wide) << (64 - start - size).astype(wide)
    return np.where(size == 0, 0, top >> (64 - size).astype(wide)).astype(values.dtype)


def insert_bits(values: np.ndarray, new: np.ndarray, offset: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The values with `count` bits, from the bit `offset` on, taken from the low bits of `new`."""
    start, size = _range(offset, count)
    mask = ((np.int64(1) << size) - 1) << start
    placed = _unsigned(new).astype(np.int64) << start
    kept = _unsigned(values).astype(np.int64) & ~mask
    return (kept | placed & mask).astype(np.uint32).view(values.dtype)
