"""Random kernels as their accesses: lines in which some of the threads read or write a word each, and barriers.

By the definition, which compares every pair of accesses, it is known in which lines there is a race.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from helpers.lessons.simulator.detector import Access, Keep, earlier_racing, found_lines

COUNT = 200  # kernels on which a detector is judged
THREADS = 4
WORDS = 3
LINES = 10
# how often a line is a barrier, and another one writes; how many of the threads use memory in it
BARRIERS = 0.15
WRITES = 0.4
ACTIVE = 0.4


@dataclass(frozen=True)
class RandomKernel:
    """The accesses of a kernel in lockstep, line by line."""

    accesses: tuple[Access, ...]

    @cached_property
    def racing(self) -> dict[int, tuple[Access, Access]]:
        """Return for each line with a race two accesses that are one; the second is in this line."""
        pairs = {}
        for i, access in enumerate(self.accesses):
            earlier = earlier_racing(self.accesses, i)
            if earlier is not None:
                pairs.setdefault(access.line, (earlier, access))
        return pairs

    def found(self, keep: Keep) -> frozenset[int]:
        """Return the lines in which the detector finds a race whose notes are kept in this way."""
        return found_lines(self.accesses, WORDS, keep)


def random_kernel(random: np.random.Generator) -> RandomKernel:
    """Draw a kernel."""
    accesses = []
    epoch = 0
    for line in range(1, LINES + 1):
        if random.random() < BARRIERS:
            epoch += 1
            continue
        writes = bool(random.random() < WRITES)
        words = random.integers(0, WORDS, THREADS).tolist()
        is_active = (random.random(THREADS) < ACTIVE).tolist()
        for thread in range(THREADS):
            if is_active[thread]:
                accesses.append(Access(thread, words[thread], writes, epoch, line))
    return RandomKernel(tuple(accesses))


@cache
def kernels() -> tuple[RandomKernel, ...]:
    """Return the kernels on which all detectors are judged."""
    return tuple(random_kernel(np.random.default_rng(seed)) for seed in range(COUNT))
