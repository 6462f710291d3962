"""The dispatches of a version: their steps, workgroups for a number of elements, and bounds on a thread's loops."""

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from helpers.gpu.adapter import MAX_WORKGROUPS

Workgroups = tuple[int, int, int]


class Step(NamedTuple):
    """One dispatch of a version, without its buffers.

    `iterations` is an upper bound on the loop iterations of one thread (see `nested_loops`).
    """

    workgroups: Workgroups
    iterations: int
    entry_point: str = "main"
    label: str = ""


class Schedule(NamedTuple):
    """The steps of a version in their order, and the bytes of each scratch buffer that they share.

    Scratch buffers are bound after the operation's tensors, in this order, and before the parameters.
    `constants` are written into the text, where a version is specialized for a layer; `refused` says why a version
    does not take this shape at all.
    """

    steps: tuple[Step, ...]
    scratch: Mapping[str, int] = {}
    constants: Mapping[str, int] = {}
    refused: str | None = None


def one_step(workgroups: Workgroups, iterations: int) -> Schedule:
    """The schedule of a version that is a single dispatch."""
    return Schedule((Step(workgroups, iterations),))


def flat(elements: int, threads: int = 256) -> Workgroups:
    """Workgroups for one thread an element, in rows of at most 65,535 workgroups."""
    blocks = ceil(elements / threads)
    rows = ceil(blocks / MAX_WORKGROUPS)  # of equal length: fewer workgroups have nothing to do
    return ceil(blocks / rows), rows, 1


def nested_loops(*sizes: int) -> int:
    """An upper bound on the iterations of loops inside each other, from the outermost size to the innermost.

    Drivers also count the test that ends a loop, and one iteration of each inner loop for a thread that only waits
    for its neighbors. Where two loops follow each other in one body, give the sum of their sizes plus 2.
    """
    total = 0
    for waiting, size in enumerate(reversed(sizes), 1):
        total = size * (1 + total) + waiting
    return total


def tree_reduction(elements: int, threads: int) -> int:
    """The iterations of a thread that sums every `threads`-th element, then takes part in a tree reduction.

    Raises ValueError where `threads` is not a power of two: a step of the tree would lose a sum.
    """
    if threads & (threads - 1):
        raise ValueError(f"THREADS = {threads}: it must be a power of two")
    return nested_loops(ceil(elements / threads)) + nested_loops(threads.bit_length() - 1)
