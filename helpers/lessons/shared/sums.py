"""The order in which threads read and add, in plain Python and without a GPU."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from helpers.grading.puzzle import Case
from helpers.lessons.shared.interleavings import orders

Order = tuple[int, ...]  # the thread of each step

# --- Two threads that share one number ----------------------------------------------------------------------


def schedules() -> list[Order]:
    """Every order of four steps, two of thread 0 (load, store) and two of thread 1."""
    return orders(barrier=False)


def beginnings() -> list[Order]:
    """Every order and all of its beginnings, sorted: each comes before what it can go on with."""
    return sorted({order[:steps] for order in schedules() for steps in range(5)})


TERMS = 3, 4  # what two threads add


def run_schedule(schedule: Sequence[int]) -> list[tuple[str, int]]:
    """Let threads add TERMS to a number that starts at 0: each first loads it, and later stores its sum.

    Returns whether each step loads or stores, and the number that it does so with: the shared one after it.
    """
    shared = 0
    loaded = {}
    steps = []
    for thread in schedule:
        verb = "stores" if thread in loaded else "loads"
        shared = loaded[thread] + TERMS[thread] if thread in loaded else shared
        loaded.setdefault(thread, shared)
        steps.append((verb, shared))
    return steps


EXACT = 2**24  # the first whole number whose next one is no float32 number
ADDENDS = EXACT, 1, 1, -EXACT  # what four threads add


def calls() -> list[Order]:
    """Every order of four threads that add once each, and all of its beginnings, sorted."""
    return sorted(order for count in range(5) for order in permutations(range(4), count))


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
        half = len(steps[-1]) // 2
        steps.append([steps[-1][i] + steps[-1][i + half] for i in range(half)])
    return steps


# --- Who loads what ---------------------------------------------------------------------------------------------

WAYS = "threads take turns", "each thread has a share"


def loaded(way: int, threads: int, share: int, iteration: int) -> list[int]:
    """The number that each thread loads in an iteration, in one of WAYS, where each loads `share` numbers."""
    return [(thread + threads * iteration, share * thread + iteration)[way] for thread in range(threads)]


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
    for each in numbers:
        corrected = each - excess
        grown = total + corrected
        total, excess = grown, (grown - total) - corrected
    return total


# --- A puzzle's test ----------------------------------------------------------------------------------------------


def case(name: str, numbers: np.ndarray, *params: int) -> Case:
    """Return a test of a kernel that adds up numbers (n,): its uniform begins with their count."""
    total = numbers.sum(keepdims=True).astype(float)
    return Case(name, (numbers.astype(np.float32),), total, (numbers.size, *params))
