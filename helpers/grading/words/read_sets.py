"""The elements that a kernel reads for a wrong number, and those that it should read, in words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from helpers.data.words import in_words

Cells = frozenset[tuple[int, ...]]

LISTED = 5  # numbers that a sentence lists one by one


class ReadSet(Protocol):
    """The elements of one input, by their places in memory, that your kernel reads, and those that it should."""

    yours: frozenset[int]
    right: frozenset[int]
    title: str

    def cells(self, words: frozenset[int]) -> Cells: ...


class ReadSets(Protocol):
    """The elements that are read for the first wrong number of an output, and by whom."""

    name: str
    at: tuple[int, ...]
    number: float | None
    unit: str
    inputs: tuple[ReadSet, ...]


def sentence(sets: ReadSets) -> str:
    """Return both kernels' read sets in words."""
    where = place(sets.name, sets.at)
    if sets.number is None:
        return _nothing_stored(where, sets)
    reads = "read" if sets.unit == "passes" else "reads"
    different = [read for read in sets.inputs if read.yours != read.right]
    if not different:
        return f"For {where}, your {sets.unit} {reads} the right elements; what it computes from them is wrong."
    first, *others = different
    sentences = [f"For {where}, your {sets.unit} {_reads_and_should(first, reads)}."]
    for read in others:
        sentences.append(f"It {_reads_and_should(read, 'reads')}.")
    return " ".join(sentences)


def place(name: str, index: Sequence[int]) -> str:
    """Return an element as code writes it: name[0,1]."""
    return f"{name}[{','.join(map(str, index))}]"


def _nothing_stored(where: str, sets: ReadSets) -> str:
    """Return of what a number should be made that no thread stores: nobody's reads are for it."""
    needed = []
    for read in sets.inputs:
        if read.right:
            wanted = replace(read, yours=frozenset())  # in a plane of right elements
            needed.append(_elements(wanted.title, wanted.cells(wanted.right)))
    if not needed:
        return f"Nothing is stored in {where}."
    return f"Nothing is stored in {where}; it should be made of {' and of '.join(needed)}."


def _reads_and_should(read: ReadSet, reads: str) -> str:
    """Return the elements of a plane that your kernel reads, and those that it should read."""
    yours = read.cells(read.yours)
    right = read.cells(read.right)
    these = _elements(read.title, yours) if yours else f"nothing of {read.title}"
    those = _elements("", right) if right else "nothing of it"
    who = "they" if reads == "read" else "it"
    return f"{reads} {these}; {who} should read {those}"


def _elements(name: str, cells: Cells) -> str:
    """Return some cells of a plane, as rows and columns where they fill them."""
    axes = [sorted(set(axis)) for axis in zip(*cells, strict=True)]
    if len(cells) == np.prod([len(axis) for axis in axes]) and all(map(_is_short, axes)):
        words = ("element",) if len(axes) == 1 else ("row", "column")
        return f"{name} {', '.join(map(in_words, words, axes))}".lstrip()
    first, last = (place("", index) for index in (min(cells), max(cells)))
    of = f" of {name}" if name else ""
    return f"{len(cells)} elements{of}, from {first} to {last}"


def _is_short(numbers: Sequence[int]) -> bool:
    return len(numbers) <= LISTED or numbers[-1] - numbers[0] == len(numbers) - 1
