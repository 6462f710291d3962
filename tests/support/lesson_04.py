"""Computations of lesson 04: the answers to its questions, and the likely wrong ones by how they come about."""

from functools import cache

import numpy as np

import helpers
from helpers import gpu
from helpers.lessons.bias_gradient.exercises import PLANTED
from helpers.operations.kernels import load
from helpers.operations.summation import operations

TREE = load("sum", "2_tree")
HARD = PLANTED["reads_far_apart"].others["the hard case"]


@cache
def totals(
    first: int, second: int, loaded: tuple[int | None, int | None] = (None, None), total: int = 0
) -> frozenset[int]:
    """The totals that two threads can leave which have yet to add 1 this often, and hold what they have loaded."""
    left = first, second
    if left == (0, 0):
        return frozenset([total])
    reached = set()
    for thread in (0, 1):
        if left[thread]:
            next_left, next_loaded = list(left), list(loaded)
            if loaded[thread] is None:  # it loads
                next_total = total
                next_loaded[thread] = total
            else:  # it stores
                next_total = loaded[thread] + 1
                next_loaded[thread] = None
                next_left[thread] -= 1
            reached |= totals(*next_left, tuple(next_loaded), next_total)
    return frozenset(reached)


def ones_that_count(version: str) -> float:
    """The number of ones, of 32,768, that a version adds to the 2^24 that come first."""
    numbers = np.ones(32_769, np.float32)
    numbers[0] = 2**24
    return operations.total(numbers, kernel=version)[0] - 2**24


LOADS_FIRST = """
@group(0) @binding(0) var<storage, read_write> total: array<f32>;

@compute @workgroup_size(256)
fn main() {
  let old = total[0];
  storageBarrier();
  total[0] = old + 1.0;
}
"""


def tree_of_6() -> float:
    """The kernel's total of six sums."""
    buffers = [np.arange(1, 7, dtype=np.float32), np.zeros(1, np.float32), (6,)]
    return gpu.launch(TREE.with_constants(THREADS=6), buffers)[0]


def sectors(apart: int, share: int = 6) -> float:
    """The number of sectors that a simulated kernel reads on average in `share` iterations of 32 threads."""
    text = TREE.with_constants(THREADS=32)
    if apart > 1:
        old = "for (var i = thread; i < params.count; i += THREADS)"
        text = text.edit(old, f"for (var i = {share}u * thread; i < {share}u * (thread + 1u); i++)")
    buffers = [np.ones(32 * share, np.float32), np.zeros(1, np.float32), np.array([32 * share], np.uint32)]
    return (helpers.simulate(text, buffers, (1, 1, 1)).counts.total["sectors"] - 1) / share  # one is the total's


def products_of_a_weight() -> int:
    """The number of products of a weight in the lesson's hard case."""
    return HARD.batch * HARD.out_h * HARD.out_w


COMPUTED = {
    "least_total": lambda: min(totals(10, 10)),
    "total_after_barrier": lambda: gpu.launch(LOADS_FIRST, [np.zeros(1, np.float32)])[0],
    "tree_of_6": tree_of_6,
    "transactions": lambda: sectors(6),
    "threads_without_a_product": lambda: 256 - products_of_a_weight(),
    "ones_lost_in_tree": lambda: 32_768 - ones_that_count("2_tree"),
}
MISTAKES = {  # what is said of them, and how they come about
    "threads_without_a_product": lambda: {"these threads add a product": products_of_a_weight()},
    "transactions": lambda: {"neighboring": sectors(1)},
    "ones_lost_in_tree": lambda: {"one thread that adds up everything": 32_768 - ones_that_count("1_one_thread")},
}
