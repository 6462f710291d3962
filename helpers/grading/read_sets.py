"""The elements of the inputs of which a wrong number was made, and should be made, as the simulator sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers.grading.puzzle import Case
from helpers.grading.test_run import traced
from helpers.grading.words.read_sets import place
from wgsl import Kernel
from wgsl.simulator.trace import Trace

Array = np.ndarray

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


@dataclass(frozen=True, eq=False)
class ReadSets:
    """The read sets of the first wrong number of an output.

    `unit` is "thread", or "workgroup" where its threads read for each other, or "passes" where there are several.
    `output` is the right output, `at` the place in it, `number` the learner's number there, or None where nothing
    was stored.
    """

    name: str
    output: Array
    at: tuple[int, ...]
    number: float | None
    unit: str
    inputs: tuple[ReadSet, ...]


def read_sets(kernel: Kernel, official: Kernel, case: Case, wrong: Array) -> ReadSets | None:
    """The read sets of a kernel's first wrong number in a case; None without inputs, or with too many accesses."""
    if not case.inputs:
        return None
    traces = traced(kernel, case)
    official_traces = traced(official, case)
    if any(trace.dropped for trace in (*traces, *official_traces)):
        return None
    at = tuple(map(int, np.argwhere(wrong)[0]))
    word = int(np.ravel_multi_index(at, wrong.shape))
    output = len(case.inputs)
    yours = _last_run(traces, case, output, word)
    ours = _last_run(official_traces, case, output, word)
    owner = yours.owner or ours.owner
    together = yours.shares(owner) or ours.shares(ours.owner)
    names = [binding.name for binding in official.bindings]
    pairs = enumerate(zip(yours.reads(owner, together), ours.reads(ours.owner, together), strict=True))
    around = [(0, 0)] * (output - 1) + [case.padding]
    inputs = tuple(ReadSet(names[i], case.inputs[i], *pair, around[i]) for i, pair in pairs)
    number = None if yours.owner is None else float(traces[-1].buffers[output][at])
    return ReadSets(names[output], case.expected, at, number, _unit(case, together), inputs)


def _unit(case: Case, together: bool) -> str:
    """The name of those who read for a number."""
    if len({dispatch.entry_point for dispatch in case.dispatches}) > 1:
        return "passes"
    return "workgroup" if together else "thread"


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
        """Return True where a thread reads workgroup memory."""
        return bool((self._by(owner, False) & (self.seen["space"] == "workgroup") & ~self.seen["write"]).any())

    def reads(self, owner: Owner, together: bool) -> list[Words]:
        """The elements of each input that a thread, or its whole workgroup, reads for the word.

        With them are those that earlier passes read for what it takes from scratch.
        """
        accesses = self._by(owner, together)
        earlier = chosen = accesses & ~self.seen["write"]
        if self.here.any():
            earlier = chosen & self._before_store
            chosen = earlier & self._for_word(accesses, together)
        # An input that is read once for several results, as a bias, is read before the first of them.
        reads = [self._words(chosen, i) or self._words(earlier, i) for i in self.inputs]
        if not self.earlier:
            return reads
        for binding in self.scratch:
            for word in self._words(chosen, binding):
                more = self._earlier_reads(binding, word)
                reads = [words | others for words, others in zip(reads, more, strict=True)]
        return reads

    def _earlier_reads(self, binding: int, word: int) -> list[Words]:
        """The elements of each input that earlier passes read for a word of scratch."""
        run = _last_run(self.earlier, self.case, binding, word)
        if run.owner is None:
            return [frozenset() for _ in self.inputs]
        return run.reads(run.owner, run.shares(run.owner))

    def _words(self, chosen: Array, binding: int) -> Words:
        return frozenset(map(int, self.seen["index"][chosen & (self.seen["binding"] == binding)]))

    def _by(self, owner: Owner, together: bool) -> Array:
        group, thread = owner
        of_group = (self.seen["workgroup"] == group).all(axis=1)
        return of_group if together else of_group & (self.seen["invocation"] == thread)

    @property
    def _before_store(self) -> Array:
        """The accesses before the last store of the word."""
        return np.arange(len(self.seen)) < np.flatnonzero(self.here)[-1]

    def _for_word(self, accesses: Array, together: bool) -> Array:
        """The accesses for the word: a thread of many results has read for another before its last store.

        Where nothing lies between, as where a thread stores all its results at the end, all accesses before count.
        """
        before = self._before_store
        if together:
            return before
        places = np.arange(len(accesses))
        ends = np.flatnonzero(accesses & self.stores)  # each closes a run of reads
        run = np.searchsorted(ends, places)
        between = np.isin(run, np.flatnonzero(self.here[ends]))
        sources = ~self.seen["write"] & np.isin(self.seen["binding"], [*self.inputs, *self.scratch])
        return between if (accesses & between & sources).any() else before
