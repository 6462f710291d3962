"""Where the numbers of a type lie in a buffer, and a buffer made of such numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helpers.simulator.arithmetic.conversions import DTYPES
from helpers.simulator.launch import size_of
from helpers.simulator.types import kinds
from helpers.simulator.types.kinds import Scalar, Struct, Type

Leaf = tuple[int, Scalar]


@dataclass(frozen=True)
class Layout:
    """The offsets of a buffer's numbers in words, the names of their types, and how many words there are in all."""

    offsets: np.ndarray
    scalars: np.ndarray
    words: int

    @classmethod
    def of(cls, type: Type, elements: int) -> Layout:
        """The layout of a type; its runtime-sized array, if it has one, has at least so many elements."""
        least, step = size_of(type)
        before, repeated = parts(type)
        first = _start(type)
        words = max(least, first + elements * step)
        rounds = (words - first) // step if step else 0
        one = np.array([offset for offset, _ in repeated], np.int64)
        offsets = [offset for offset, _ in before], (one + step * np.arange(rounds)[:, None]).ravel()
        scalars = [[scalar.name for _, scalar in leaves] for leaves in (before, repeated)]
        return cls(np.concatenate(offsets).astype(np.int64), np.array(scalars[0] + scalars[1] * rounds), words)

    def array(self, numbers: np.ndarray) -> np.ndarray:
        """A buffer with these numbers; uint32 words where they are of several types.

        Raises ValueError for a number that its type does not have.
        """
        words = np.zeros(self.words, np.uint32)
        for name in dict.fromkeys(self.scalars):
            chosen = self.scalars == name
            words[self.offsets[chosen]] = _converted(numbers[chosen], name).view(np.uint32)
        return words.view(DTYPES[name]) if len({*self.scalars}) == 1 else words


def parts(type: Type) -> tuple[list[Leaf], list[Leaf]]:
    """The numbers of a type that are there once, and those of one element of its runtime-sized array."""
    leaves = list(kinds.leaves(type))
    if not size_of(type)[1]:
        return leaves, []
    return [leaf for leaf in leaves if leaf[0] < _start(type)], [leaf for leaf in leaves if leaf[0] >= _start(type)]


def _start(type: Type) -> int:
    """Where the runtime-sized array of a type begins."""
    return type.fields[-1].offset if isinstance(type, Struct) else 0


def _converted(numbers: np.ndarray, name: str) -> np.ndarray:
    kind = DTYPES[name]
    ends = np.finfo(kind) if name == "f32" else np.iinfo(kind)
    held = (numbers >= ends.min) & (numbers <= ends.max)
    held = held | ~np.isfinite(numbers) if name == "f32" else held & (numbers == np.floor(numbers))
    if not held.all():
        raise ValueError(f"{numbers[~held][0]} is no {name}, which goes from {ends.min} to {ends.max}")
    return numbers.astype(kind)
