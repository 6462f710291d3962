"""The order in which threads read and add, in plain Python and without a GPU."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

# --- Two threads that share one number ----------------------------------------------------------------------


def schedules() -> list[tuple[int, ...]]:
    """Every order of four steps, two of thread 0 (load, store) and two of thread 1, as the thread of each step."""
    return [tuple(int(step not in mine) for step in range(4)) for mine in combinations(range(4), 2)]


def run_schedule(schedule: Sequence[int], terms: Sequence[int]) -> tuple[list[tuple[str, int]], list[int]]:
    """Let threads add their terms to a number that starts at 0: each first loads it, and later stores its sum.

    Returns what each step does with which number, and the shared number after each step.
    """
    shared, loaded, steps, after = 0, {}, [], []
    for thread in schedule:
        if thread in loaded:
            shared = loaded[thread] + terms[thread]
            steps.append(("stores", shared))
        else:
            loaded[thread] = shared
            steps.append(("loads", shared))
        after.append(shared)
    return steps, after


# --- A tree ---------------------------------------------------------------------------------------------------


def tree_steps(partial: list[float]) -> list[list[float]]:
    """The partial sums before the tree reduction and after each of its steps, as the kernels take them.

    The lists have length T, T // 2, ..., 1. Where a length is odd, the last sum is in neither half, and is lost: a
    kernel's THREADS must be a power of two.
    """
    steps = [partial]
    while len(steps[-1]) > 1:
        half = len(steps[-1]) // 2
        steps.append([steps[-1][i] + steps[-1][i + half] for i in range(half)])
    return steps


ADDRESSINGS = ("interleaved threads", "interleaved places", "sequential")


class Addition(NamedTuple):
    """In one step of a tree, one thread adds the partial sum at `other` to the one at `place`."""

    thread: int
    place: int
    other: int


def additions(threads: int, addressing: int, step: int) -> list[Addition]:
    """Who adds what to what in step 1, 2, ... of a tree over a power of two of threads, in one of ADDRESSINGS."""
    if addressing == 2:
        half = threads >> step
        return [Addition(i, i, i + half) for i in range(half)]
    apart = 1 << (step - 1)
    places = range(0, threads, 2 * apart)
    return [Addition(i if addressing else place, place, place + apart) for i, place in enumerate(places)]


def groups_at_work(work: Sequence[Addition], size: int) -> int:
    """How many groups of `size` neighboring threads have at least one that adds."""
    return len({addition.thread // size for addition in work})


def worst_conflict(work: Sequence[Addition], size: int) -> int:
    """How many threads of one group read `other` from the same bank, at most, where there are `size` banks."""
    banks = [(addition.thread // size, addition.other % size) for addition in work]
    return max(map(banks.count, banks))


# --- Two passes -----------------------------------------------------------------------------------------------


def numbers_of_workgroup(count: int, workgroups: int, threads: int, workgroup: int) -> list[int]:
    """The numbers that one workgroup adds up where all threads of all workgroups take turns."""
    return [i for i in range(count) if i // threads % workgroups == workgroup]
