"""The order in which threads read and add, in plain Python and without a GPU."""

from collections.abc import Sequence
from itertools import combinations

Order = tuple[int, ...]  # the thread of each step

# --- Two threads that share one number ----------------------------------------------------------------------


def schedules() -> list[Order]:
    """Every order of four steps, two of thread 0 (load, store) and two of thread 1."""
    return [tuple(int(step not in mine) for step in range(4)) for mine in combinations(range(4), 2)]


def beginnings() -> list[Order]:
    """Every order and all of its beginnings, sorted: each comes before what it can go on with."""
    return sorted({order[:steps] for order in schedules() for steps in range(5)})


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
