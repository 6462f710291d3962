"""What lesson 04 computes: the names that its cells make, and the answers to its questions."""

import numpy as np
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers import gpu
from helpers.convolution import explorers as convolution_explorers
from helpers.convolution import reference as convolution
from helpers.kernels import load
from helpers.summation import check, explorers, indices, operations
from helpers.summation.shapes import SumShape
from wgsl import Kernel
from wgsl.simulator.trace import Trace

LESSON = Lesson.read(NOTEBOOKS / "04_bias_gradient.ipynb")
TREE = load("sum", "2_tree")
NUMBERS = np.random.default_rng(0).integers(-9, 10, 10_000).astype(np.float32)


def simulated(kernel: Kernel, numbers: np.ndarray) -> Trace:
    """A run of one workgroup that adds up a list."""
    return helpers.simulate(kernel, [numbers, np.zeros(1, np.float32), np.array([len(numbers)], np.uint32)], (1, 1, 1))


def of_the_lesson(*starts: str) -> dict[str, object]:
    """The names that the lesson's cells with these first words define."""
    names = {"np": np, "gpu": gpu, "sums": operations, "sum_check": check, "Kernel": Kernel, "numbers": NUMBERS}
    names |= {"alone": load("sum", "1_one_thread"), "tree": TREE, "ones": np.ones(65_536, np.float32)}
    names |= {"random": np.random.default_rng(1), "sum_explorers": explorers}
    for start in starts:
        (cell,) = (cell for cell in LESSON.code if cell.source.startswith(start))
        exec(cell.source, names)
    return names


# --- The questions --------------------------------------------------------------------------------------------


def ones_that_count(version: str) -> float:
    """How many of 32,768 ones a version adds to the 2^24 that come first."""
    return operations.total(of_the_lesson("large_first = ")["large_first"], kernel=version)[0] - 2**24


def longest_chain() -> int:
    """Additions one after another in two passes over 2^20 numbers."""
    shares, parts = operations.SUM.plan(SumShape(2**20), "3_two_passes").passes
    return 2**20 // (shares.workgroups[0] * 256) + 8 + 8 * parts.workgroups[0]


def rows_in_an_iteration() -> float:
    """Sectors that 32 threads read in each of 8 iterations, on average; the last one is the total's."""
    kernel = of_the_lesson("in_a_row = ")["in_a_row"].with_constants(THREADS=32)
    return (simulated(kernel, np.ones(256, np.float32)).counts.total["sectors"] - 1) / 8


def launched(name: str, numbers: np.ndarray) -> float:
    """What one workgroup of a kernel of the lesson makes of a list."""
    names = of_the_lesson("racing = ", "loads_first = ") | {"tree of 6": TREE.with_constants(THREADS=6)}
    return names["launch"](names[name], numbers, 1)


def tree_of_16() -> list[list[float]]:
    """The sums before and after each step of the lesson's tree."""
    sixteen = of_the_lesson("sixteen = ")["sixteen"]
    return convolution_explorers.tree_reduction(sixteen.reshape(1, 1, 4, 4)).picture.steps


BY_HAND = np.array([[[[4, 1], [0, 2]], [[1, -2], [3, 0]]], [[[-3, 1], [2, 4]], [[2, 2], [-1, 1]]]])
COMPUTED = {
    "sum_after_a_step": lambda: tree_of_16()[1][2],
    "grad_bias_by_hand": lambda: convolution.conv2d_grad_bias(BY_HAND)[1],
    "distance_of_neighbors": lambda: np.ravel_multi_index((0, 1, 0, 0), (1, 6, 24, 24)),
    "additions_of_a_thread": lambda: len(range(0, 64 * 8 * 8, 256)) + len(indices.tree_steps([0.0] * 256)) - 1,
    "orders_that_lose": lambda: sum(indices.run_schedule(s, (3, 4))[1][-1] != 7 for s in indices.schedules()),
    "total_after_barrier": lambda: launched("loads_first", np.ones(256, np.float32)),
    "tree_of_6": lambda: launched("tree of 6", np.arange(1, 7, dtype=np.float32)),
    "groups_at_work": lambda: indices.groups_at_work(indices.additions(256, 0, 3), 32),
    "transactions": rows_in_an_iteration,
    "longest_chain": longest_chain,
    "ones_that_count": lambda: ones_that_count("1_one_thread"),
    "ones_lost_in_tree": lambda: 32_768 - ones_that_count("2_tree"),
    "fixed_point_limit": lambda: 2**31 // 65_536,  # the first whole total that an i32 cannot hold in these steps
}


def sectors_in_step() -> float:
    """Sectors that neighbors read in an iteration, on average."""
    return (simulated(TREE.with_constants(THREADS=32), np.ones(256, np.float32)).counts.total["sectors"] - 1) / 8


MISTAKES = {  # what is said of them, and how they come about
    "grad_bias_by_hand": lambda: {
        **{"mean": BY_HAND[:, 1].mean(), "both channels": BY_HAND.sum(), "minus signs": abs(BY_HAND[:, 1]).sum()},
        **{f"over image {n};": BY_HAND[n, 1].sum() for n in range(2)},
        **{f"over image {n}; which index": BY_HAND[n].sum() for n in range(2)},
        **{"grad_bias[0]": BY_HAND[:, 0].sum(), "channel 0 of image 0": BY_HAND[0, 0].sum()},
    },
    "transactions": lambda: {"neighboring": sectors_in_step()},
    "ones_lost_in_tree": lambda: {"one thread that adds up everything": 32_768 - ones_that_count("1_one_thread")},
}
