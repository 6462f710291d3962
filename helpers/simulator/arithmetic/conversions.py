"""WGSL's conversions between scalar types, on arrays of one component."""

from __future__ import annotations

import numpy as np

DTYPES = {
    "f32": np.dtype(np.float32),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "bool": np.dtype(np.bool_),
}
# The smallest and the largest f32 that the integer type can hold.
_ENDS = {
    "i32": (np.float32(-(2**31)), np.float32(2**31 - 128)),
    "u32": (np.float32(0), np.float32(2**32 - 256)),
}


def convert(values: np.ndarray, scalar_name: str) -> np.ndarray:
    """The values as f32, i32, u32 or bool; the result may share its memory with them.

    An f32 is truncated, and one outside the range of an integer type becomes the last f32 inside it. For a NaN the
    specification allows any integer: here it is the lowest. i32 and u32 keep their bits, and a number is true where
    it is not 0. An integer that no f32 equals is rounded to the nearest, to an even significand where two are as near.
    """
    target = DTYPES[scalar_name]
    if values.dtype == target:
        return np.asarray(values)
    if scalar_name == "bool":
        return np.asarray(np.not_equal(values, 0))
    if values.dtype.kind == "f" and scalar_name in _ENDS:
        low, high = _ENDS[scalar_name]
        values = np.fmin(np.fmax(values, low), high)  # leaves no NaN, of which the cast would raise a flag
    return np.asarray(values.astype(target))


def bitcast(values: np.ndarray, scalar_name: str) -> np.ndarray:
    """The same 32 bits read as f32, i32 or u32; the result shares its memory with the values."""
    return np.asarray(values).view(DTYPES[scalar_name])
