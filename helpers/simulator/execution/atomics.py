"""The atomic functions: invocations that name the same word take turns, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

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
    before, after = np.zeros(len(where), array.dtype), np.zeros(len(where), array.dtype)
    for turn in turns(where, kept):
        old = array[where[turn]]
        new = CHANGES[name](old, *(argument[turn] for argument in arguments))
        array[where[turn]] = new
        before[turn], after[turn] = old, new
    return before, after


def turns(where: np.ndarray, kept: np.ndarray) -> Iterator[np.ndarray]:
    """The invocations, so divided that in no turn two of them name the same word."""
    chosen = np.flatnonzero(kept)
    order = chosen[np.argsort(where[chosen], kind="stable")]
    starts = np.flatnonzero(np.diff(where[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    turn = np.arange(len(order)) - np.repeat(starts, lengths)
    by_turn = order[np.argsort(turn, kind="stable")]
    yield from np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(order) else ()
