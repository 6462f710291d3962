"""What a learner works out in the lesson on sums: kernels to write, and questions to answer."""

from functools import cache

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import STEPS, TWICE, Case, Puzzle, Skill

LENGTHS = {"tree_1_number": 1, "tree_100_numbers": 100, "tree_256_numbers": 256, "tree_2100_numbers": 2100}


@cache
def _cases() -> tuple[Case, ...]:
    """Fewer numbers than threads, the same number, and, in quarters, more than eight for each thread."""
    random = np.random.default_rng(6)
    *few, (most, n) = LENGTHS.items()
    whole = [_case(name, random.integers(1, 10, n)) for name, n in few]
    return *whole, _case(most, random.integers(-40, 30, n) / 4)


def _case(name: str, numbers: np.ndarray) -> Case:
    return Case(name, (numbers.astype(np.float32),), numbers.sum(keepdims=True).astype(float), (numbers.size,))


TREE_SUM = Puzzle(
    "tree_sum",
    "summation",
    "i",
    _cases,
    Skill(
        "a tree, in which many threads add at once, and in which neighbors read neighboring numbers",
        "tree_2100_numbers",
        {"steps": STEPS, "sectors": 1.5, "thread_loads": TWICE, "thread_loads_workgroup": 1.6, "threads_at_a_word": 4},
    ),
)
PUZZLES: tuple[Puzzle, ...] = (TREE_SUM,)

QUESTIONS = questions(__file__)
