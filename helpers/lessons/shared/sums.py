"""The order in which threads read and add, in plain Python and without a GPU."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from helpers.grading.puzzle import Case
from helpers.lessons.shared.interleavings import orders as interleavings

Order = tuple[int, ...]  # the thread of each step

# --- Two threads that share one number ----------------------------------------------------------------------


def schedules() -> list[Order]:
    """Every order of four steps, two of thread 0 (load, store) and two of thread 1."""
    return interleavings(barrier=False)


TERMS = 1, 1  # what two threads add


def run_schedule(schedule: Sequence[int]) -> list[tuple[str, int]]:
    """Let threads add TERMS to a number that starts at 0: each first loads it, and later stores its sum.

    Returns whether each step loads or stores, and the number that it does so with: the shared one after it.
    """
    shared = 0
    loaded = {}
    steps = []
    for thread in schedule:
        if thread in loaded:
            shared = loaded[thread] + TERMS[thread]
            steps.append(("stores", shared))
        else:
            loaded[thread] = shared
            steps.append(("loads", shared))
    return steps


EXACT = 2**24  # the first whole number whose next one is no float32 number
ADDENDS = EXACT, 1, 1, -EXACT  # what four threads add


def calls() -> list[Order]:
    """Every order of four threads that add once each, sorted."""
    return sorted(permutations(range(len(ADDENDS))))


def added(order: Order) -> list[int]:
    """The total after each of ADDENDS, rounded to float32, in an order."""
    return np.cumsum(np.float32([ADDENDS[thread] for thread in order])).astype(int).tolist()


# --- A tree ---------------------------------------------------------------------------------------------------

EIGHT = 5, 0, 14, -6, -8, 10, 3, -2  # the sums of the lesson's picture


def tree_steps(partial: list[float]) -> list[list[float]]:
    """The partial sums before the tree reduction and after each of its steps, as the kernels take them.

    The lists have length T, T // 2, ..., 1. Where a length is odd, the last sum is in neither half, and is lost: a
    kernel's THREADS must be a power of two.
    """
    steps = [partial]
    while len(steps[-1]) > 1:
        before = steps[-1]
        half = len(before) // 2
        steps.append([before[i] + before[i + half] for i in range(half)])
    return steps


# --- Who loads what ---------------------------------------------------------------------------------------------

WAYS = "threads take turns", "each thread has a share"


def loaded(way: int, threads: int, share: int, iteration: int) -> list[int]:
    """The number that each thread loads in an iteration, in one of WAYS, where each loads `share` numbers."""
    if WAYS[way] == "threads take turns":
        return [thread + threads * iteration for thread in range(threads)]
    return [share * thread + iteration for thread in range(threads)]


# --- Sums of float32 numbers (n, lists), a column each, in several orders --------------------------------------


def add_one_by_one(numbers: np.ndarray) -> np.ndarray:
    """From the first number to the last, as one thread does."""
    return np.cumsum(numbers, axis=0)[-1]


def add_in_tree(numbers: np.ndarray) -> np.ndarray:
    """A tree from the first addition on, over a power of two of numbers."""
    return tree_steps([*numbers])[-1][0]


def add_with_compensation(numbers: np.ndarray) -> np.ndarray:
    """Kahan's sum: what an addition made too much is taken off the next number."""
    total = excess = np.zeros_like(numbers[0])
    for number in numbers:
        corrected = number - excess
        grown = total + corrected
        excess = (grown - total) - corrected
        total = grown
    return total


# --- A puzzle's test ----------------------------------------------------------------------------------------------


def case(name: str, numbers: np.ndarray, *params: int) -> Case:
    """Return a test of a kernel that adds up numbers (n,): its uniform begins with their count."""
    total = numbers.sum(keepdims=True).astype(float)
    return Case(name, (numbers.astype(np.float32),), total, (numbers.size, *params))
