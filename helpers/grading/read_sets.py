"""Which elements of the inputs a wrong number was made of, and which it should be made of, as the simulator sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers.data.words import in_words
from helpers.grading.puzzle import Case
from helpers.grading.test_run import traced
from wgsl import Kernel
from wgsl.simulator.trace import Trace

Array = np.ndarray

LISTED = 5  # numbers that a sentence lists one by one
Words = frozenset[int]  # elements of an array, by their places in memory


@dataclass(frozen=True, eq=False)
class ReadSet:
    """The elements of one input that were read for a number, and those that the official kernel reads for it.

    `padding` is how many rows and columns lie around each of its planes, in no memory.
    """

    name: str
    array: Array
    yours: Words
    right: Words
    padding: tuple[int, int]

    @cached_property
    def plane(self) -> tuple[int, ...]:
        """All but the last two indices of the first element that only one of the kernels reads, or of the first one."""
        first = min(self.yours ^ self.right or self.right, default=0)
        return tuple(map(int, np.unravel_index(first, self.array.shape)[:-2]))

    @property
    def title(self) -> str:
        """The input's name, with the place of the plane in it where it has several."""
        planes = self.array.shape[:-2]
        return place(self.name, self.plane) if np.prod(planes) > 1 else self.name

    def cells(self, words: Words) -> frozenset[tuple[int, ...]]:
        """Those of some elements that are in the plane: row and column, or in a list the place alone."""
        every = (tuple(map(int, np.unravel_index(word, self.array.shape))) for word in words)
        return frozenset(index[len(self.plane) :] for index in every if index[: len(self.plane)] == self.plane)

    def said(self, verb: str) -> str:
        """What your kernel reads of the plane, and what it should."""
        yours, right = self.cells(self.yours), self.cells(self.right)
        should = _said("", right) if right else "nothing of it"
        read = _said(self.title, yours) if yours else f"nothing of {self.title}"
        return f"{verb} {read}; {'they' if verb == 'read' else 'it'} should read {should}"


@dataclass(frozen=True, eq=False)
class ReadSets:
    """What was read for the first wrong number of an output.

    `unit` is "thread", or "workgroup" where its threads read for each other, or "passes" where there are several.
    `output` is the right output, `at` the place in it, `mine` the learner's number there, or None where nothing was
    stored.
    """

    name: str
    output: Array
    at: tuple[int, ...]
    mine: float | None
    unit: str
    inputs: tuple[ReadSet, ...]

    @property
    def sentence(self) -> str:
        """Both kernels' read sets in words."""
        where, different = place(self.name, self.at), [read for read in self.inputs if read.yours != read.right]
        if not different:
            what = "nothing is stored there" if self.mine is None else "what it computes from them is wrong"
            return f"For {where}, your {self.unit} {self._verb} the right elements; {what}."
        first, *others = different
        sentences = [f"For {where}, your {self.unit} {first.said(self._verb)}"]
        return ". ".join([*sentences, *(f"It {read.said('reads')}" for read in others)]) + "."

    @property
    def _verb(self) -> str:
        return "read" if self.unit == "passes" else "reads"


def place(name: str, index: Sequence[int]) -> str:
    """An element as code writes it: name[0,1]."""
    return f"{name}[{','.join(map(str, index))}]"


def read_sets(kernel: Kernel, official: Kernel, case: Case, wrong: Array) -> ReadSets | None:
    """What a kernel reads for its first wrong number in a case; None without inputs, or with too many accesses."""
    if not case.inputs:
        return None
    runs = traced(kernel, case), traced(official, case)
    if any(trace.dropped for run in runs for trace in run):
        return None
    at = tuple(map(int, np.argwhere(wrong)[0]))
    word = int(np.ravel_multi_index(at, wrong.shape))
    mine, ours = (_last_run(run, case, len(case.inputs), word) for run in runs)
    stored, owner = mine.owner is not None, mine.owner or ours.owner
    together = mine.shares(owner) or ours.shares(ours.owner)
    unit = "passes" if len(case.dispatches) > 1 else "workgroup" if together else "thread"
    names = [binding.name for binding in official.bindings]
    pairs = enumerate(zip(mine.reads(owner, together), ours.reads(ours.owner, together), strict=True))
    around = [(0, 0)] * (len(case.inputs) - 1) + [case.padding]
    inputs = tuple(ReadSet(names[i], case.inputs[i], *pair, around[i]) for i, pair in pairs)
    value = float(runs[0][-1].buffers[len(case.inputs)][at]) if stored else None
    return ReadSets(names[len(case.inputs)], case.expected, at, value, unit, inputs)


def _last_run(traces: Sequence[Trace], case: Case, binding: int, word: int) -> "_Run":
    """The last pass that stored a word, or the last of all where none did."""
    runs = [_Run(traces[: i + 1], case, binding, word) for i in range(len(traces))]
    return next((run for run in reversed(runs) if run.owner), runs[-1])


Owner = tuple[tuple[int, int, int], int]  # a workgroup, and a thread in it


class _Run:
    """The accesses of the last one of some passes, and who stored one word of a binding in it, if anybody did."""

    def __init__(self, traces: Sequence[Trace], case: Case, binding: int, word: int) -> None:
        *self.earlier, trace = traces
        self.case, self.seen, self.inputs = case, trace.accesses, range(len(case.inputs))
        self.scratch = range(len(case.inputs) + 1, len(case.inputs) + 1 + len(case.scratch))
        self.stores = self.seen["write"] & (self.seen["binding"] == binding)
        self.here = self.stores & (self.seen["index"] == word)
        last = self.seen[self.here][-1:]
        self.owner: Owner | None = next(((tuple(map(int, s["workgroup"])), int(s["invocation"])) for s in last), None)

    def shares(self, owner: Owner) -> bool:
        """Whether a thread reads workgroup memory."""
        return bool((self._by(owner, False) & (self.seen["space"] == "workgroup") & ~self.seen["write"]).any())

    def reads(self, owner: Owner, together: bool) -> list[Words]:
        """The elements of each input that a thread, or its whole workgroup, reads for the word.

        With them are those that earlier passes read for what it takes from scratch.
        """
        mine = self._by(owner, together)
        if self.here.any():
            mine &= self._before(mine, together)
        chosen = mine & ~self.seen["write"]
        reads = [self._words(chosen, i) for i in self.inputs]
        for binding, word in [(i, word) for i in self.scratch for word in self._words(chosen, i) if self.earlier]:
            run = _last_run(self.earlier, self.case, binding, word)
            if run.owner:
                others = run.reads(run.owner, run.shares(run.owner))
                reads = [words | more for words, more in zip(reads, others, strict=True)]
        return reads

    def _words(self, chosen: Array, binding: int) -> Words:
        return frozenset(map(int, self.seen["index"][chosen & (self.seen["binding"] == binding)]))

    def _by(self, owner: Owner, together: bool) -> Array:
        group, thread = owner
        mine = (self.seen["workgroup"] == group).all(axis=1)
        return mine if together else mine & (self.seen["invocation"] == thread)

    def _before(self, mine: Array, together: bool) -> Array:
        """The accesses before a store of the word: a thread of many results has read for another before its last store.

        Where nothing lies between, as where a thread stores all its results at the end, all accesses before count.
        """
        places = np.arange(len(mine))
        before = places < np.flatnonzero(self.here)[-1]
        if together:
            return before
        ends = np.flatnonzero(mine & self.stores)  # each closes a run of reads
        run = np.searchsorted(ends, places)
        between = np.isin(run, np.flatnonzero(self.here[ends]))
        sources = ~self.seen["write"] & np.isin(self.seen["binding"], [*self.inputs, *self.scratch])
        return between if (mine & between & sources).any() else before


# --- In words -----------------------------------------------------------------------------------------------


def _said(name: str, cells: frozenset[tuple[int, ...]]) -> str:
    """Some cells of a plane, as rows and columns where they fill them."""
    axes = [sorted(set(axis)) for axis in zip(*cells, strict=True)]
    if len(cells) == np.prod([len(axis) for axis in axes]) and all(map(_is_short, axes)):
        words = ("element",) if len(axes) == 1 else ("row", "column")
        return f"{name} {', '.join(map(in_words, words, axes))}".lstrip()
    first, last = (place("", index) for index in (min(cells), max(cells)))
    return f"{len(cells)} elements{f' of {name}' if name else ''}, from {first} to {last}"


def _is_short(numbers: Sequence[int]) -> bool:
    return len(numbers) <= LISTED or numbers[-1] - numbers[0] == len(numbers) - 1
