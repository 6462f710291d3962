"""The built-in functions that pack several small numbers into one u32, and unpack them; and f16 rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

Components = tuple[np.ndarray, ...]


def quantize_to_f16(values: np.ndarray) -> np.ndarray:
    """Rounded to the nearest binary16 number; past its range, infinite."""
    return values.astype(np.float16).astype(np.float32)


def _joined(parts: list[np.ndarray]) -> Components:
    """One u32 of the low bits of each part, the first in the lowest bits."""
    width = 32 // len(parts)
    total = np.uint32(0)
    for i, part in enumerate(parts):
        field = np.bitwise_and(np.asarray(part).astype(np.uint32), np.uint32(2**width - 1))
        total = np.bitwise_or(total, np.left_shift(field, np.uint32(i * width)))
    return (np.asarray(total),)


def _split(word: np.ndarray, parts: int, signed: bool) -> Components:
    """The parts of a u32, each sign-extended to int32 or zero-extended to uint32."""
    width = 32 // parts
    dtype, word = (np.int32 if signed else np.uint32), np.asarray(word)
    tops = (np.left_shift(word, np.uint32(32 - width * (i + 1))).view(dtype) for i in range(parts))
    return tuple(np.asarray(np.right_shift(top, dtype(32 - width))) for top in tops)


def _pack_normalized(vector: Components, low: int, scale: int) -> Components:
    """floor(0.5 + scale * value) of each value clamped to [low, 1], computed in float64, where it is exact."""
    wide = (np.minimum(np.fmax(each, low), 1).astype(np.float64) for each in vector)
    return _joined([np.floor(np.add(0.5, np.multiply(scale, each))).astype(np.int64) for each in wide])


def _unpack_normalized(word: Components, parts: int, signed: bool, scale: int) -> Components:
    values = (np.divide(each, np.float64(scale)).astype(np.float32) for each in _split(word[0], parts, signed))
    return tuple(np.asarray(np.maximum(each, -1)) for each in values)


def _pack_halves(vector: Components) -> Components:
    return _joined([np.asarray(each.astype(np.float16)).view(np.uint16) for each in vector])


def _unpack_halves(word: Components) -> Components:
    return tuple(each.astype(np.uint16).view(np.float16).astype(np.float32) for each in _split(word[0], 2, False))


def _pack_integers(vector: Components) -> Components:
    return _joined(list(vector))


def _pack_clamped(vector: Components, low: int, high: int) -> Components:
    return _joined([np.clip(each, low, high) for each in vector])


def _unpack_integers(word: Components, signed: bool) -> Components:
    return _split(word[0], 4, signed)


FUNCTIONS: dict[str, Callable[..., Components]] = {
    "pack2x16float": _pack_halves,
    "pack2x16snorm": partial(_pack_normalized, low=-1, scale=2**15 - 1),
    "pack2x16unorm": partial(_pack_normalized, low=0, scale=2**16 - 1),
    "pack4x8snorm": partial(_pack_normalized, low=-1, scale=2**7 - 1),
    "pack4x8unorm": partial(_pack_normalized, low=0, scale=2**8 - 1),
    "pack4xI8": _pack_integers,
    "pack4xI8Clamp": partial(_pack_clamped, low=-128, high=127),
    "pack4xU8": _pack_integers,
    "pack4xU8Clamp": partial(_pack_clamped, low=0, high=255),
    "unpack2x16float": _unpack_halves,
    "unpack2x16snorm": partial(_unpack_normalized, parts=2, signed=True, scale=2**15 - 1),
    "unpack2x16unorm": partial(_unpack_normalized, parts=2, signed=False, scale=2**16 - 1),
    "unpack4x8snorm": partial(_unpack_normalized, parts=4, signed=True, scale=2**7 - 1),
    "unpack4x8unorm": partial(_unpack_normalized, parts=4, signed=False, scale=2**8 - 1),
    "unpack4xI8": partial(_unpack_integers, signed=True),
    "unpack4xU8": partial(_unpack_integers, signed=False),
}
