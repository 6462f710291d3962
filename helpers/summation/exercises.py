"""What a learner works out in the lesson on sums: kernels to write, and questions to answer."""

from functools import cache

import numpy as np

from helpers.grading.prediction import Question
from helpers.grading.puzzle import STEPS, Case, Puzzle, Skill

LENGTHS = {"tree_1_number": 1, "tree_100_numbers": 100, "tree_256_numbers": 256, "tree_1000_numbers": 1000}


@cache
def _cases() -> tuple[Case, ...]:
    """Fewer numbers than threads, as many, and more."""
    random = np.random.default_rng(6)
    return tuple(_case(name, random.integers(1, 10, n)) for name, n in LENGTHS.items())


def _case(name: str, numbers: np.ndarray) -> Case:
    return Case(name, (numbers.astype(np.float32),), numbers.sum(keepdims=True).astype(float), (numbers.size,))


TREE_SUM = Puzzle(
    "tree_sum",
    "summation",
    ("i",),
    tuple(LENGTHS),
    _cases,
    Skill(
        "a tree, in which many threads add at once, and in which neighbors read neighboring numbers",
        "tree_1000_numbers",
        {"steps": STEPS, "sectors": 1.5},
    ),
)
PUZZLES: tuple[Puzzle, ...] = (TREE_SUM,)

QUESTIONS: dict[str, Question] = {
    "orders_that_lose": Question(
        4,
        {
            2: "these are the orders in which one thread is done before the other begins: they lose nothing",
            5: "there are two orders that lose nothing: either thread may go first",
            6: "an order in which one thread is done before the other begins loses nothing",
            1: "it is enough that both threads load before either of them stores",
        },
        "an update is lost whenever both threads load before either of them stores",
    ),
    "total_after_barrier": Question(
        1,
        {
            256: "no thread stores before all threads have loaded; what does each of them load?",
            0: "each thread stores what it loaded plus 1",
            255: "no thread stores before all threads have loaded; what does each of them load?",
        },
        "no thread stores before all threads have loaded; what does each of them load, and what does it store?",
    ),
    "tree_of_6": Question(
        12,
        {
            21: "this is the right sum; but half is 3 in the first step, and 3 / 2 = 1 in the second",
            9: "this is the sum that is lost",
            16: "half is 3 / 2 = 1 in the second step: thread 0 adds the sum of thread 1",
            14: "half is 3 / 2 = 1 in the second step: thread 0 adds the sum of thread 1",
            5: "this is the sum of thread 0 after the first step; there is a second one",
        },
        "after the first step, the sums are 5, 7 and 9; in the second step, half is 3 / 2 = 1",
    ),
    "groups_at_work": Question(
        8,
        {
            32: "this is the number of threads that add; in how many groups are they?",
            1: "this is right for sequential addressing, where the threads that add are neighbors",
            4: "every eighth thread adds: four in each group of 32; how many groups is that?",
            2: "this is right for the step in which two threads add 128 places apart",
        },
        "threads 0, 8, 16, ..., 248 add: how many groups of 32 contain one of them?",
    ),
    "transactions": Question(
        32,
        {
            4: "this is right where neighbors read neighboring numbers",
            8: "8 is how many numbers a transaction delivers; how many of them are read in one round?",
            256: "a transaction delivers 8 numbers, and each thread reads one number in a round",
            1: "a transaction delivers 8 numbers, and there are 32 threads",
        },
        "thread t reads number 8 t in the first round; how many transactions of 8 numbers contain one of these?",
    ),
    "longest_chain": Question(
        32,
        {
            16: "these are the additions before the trees; each pass has a tree of 8 steps",
            24: "both passes have a tree of 8 steps",
            4104: "this is right for one workgroup",
            1048576: "this is right for one thread",
            17: "each pass has a tree of 8 steps",
        },
        "count the numbers of one thread of the first pass, and the steps of two trees",
    ),
    "ones_that_count": Question(
        0,
        {
            32768: "2^24 + 1 is no float32; to which of its neighbors is it rounded?",
            16384: "each addition is rounded alone: the next one begins with the rounded sum",
        },
        "2^24 + 1 lies in the middle between two numbers of float32, and is rounded to the even one, 2^24",
    ),
    "ones_lost_in_tree": Question(
        128,
        {
            0: "one thread still adds ones to 2^24",
            32768: "only the thread that holds 2^24 loses ones; how many numbers does it take?",
            129: "thread 0 takes 129 numbers; one of them is 2^24",
            256: "this is the number of threads; how many ones does the thread take that holds 2^24?",
        },
        "only thread 0, which takes number 0 and every 256th after it, adds ones to 2^24",
    ),
    "fixed_point_limit": Question(
        32768,
        {
            65536: "this is right for u32; an i32 needs one of its 32 binary digits for the sign",
            2147483648: "this is the first total that is too large before the division by 65,536",
            2**16 - 1: "an i32 ends at 2^31 - 1; divide by the scale",
            32767: "32,767 still fits: 32,767 times 65,536 is less than 2^31",
        },
        "an i32 holds numbers below 2^31; divide this by the scale",
    ),
}
