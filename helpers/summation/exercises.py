"""What a learner works out in the lesson on sums: kernels to write, and questions to answer."""

from functools import cache

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import STEPS, TWICE, Case, Puzzle, Skill
from helpers.summation.indices import EIGHT, tree_steps

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


@cache
def _step_cases() -> tuple[Case, ...]:
    """The sums of the lesson's picture, and others, in quarters."""
    quarters = np.random.default_rng(2).integers(-40, 30, 8) / 4
    return _step_case("the_picture", np.array(EIGHT)), _step_case("in_quarters", quarters)


def _step_case(name: str, partial: np.ndarray) -> Case:
    """What all threads hold after each step: those that no longer add keep their sums."""
    after = [partial]
    for sums in tree_steps(partial.tolist())[1:]:
        after.append(np.append(sums, after[-1][len(sums) :]))
    return Case(name, (partial.astype(np.float32),), np.array(after[1:], float))


@cache
def _max_cases() -> tuple[Case, ...]:
    """By hand; as low as float32 goes; some equal, in one thread and in several; in quarters, over eight a thread."""
    random = np.random.default_rng(9)
    low, equal, most = -random.integers(331, 340, 256), random.integers(-9, 6, 1000), random.integers(-400, 300, 2100)
    low[201], equal[[456, 712, 776]], most[1971] = -330, 6, 301  # 776 is in a thread left of that of 456 and 712
    return (
        _max_case("max_5_numbers", np.array([3, 7, 2, 7, 1])),
        _max_case("max_256_low_numbers", np.float32(low * 1e36)),
        _max_case("max_1000_some_equal", equal),
        _max_case("max_2100_numbers", most / 4),
    )


def _max_case(name: str, numbers: np.ndarray) -> Case:
    expected = np.array([[numbers.max(), numbers.argmax()]], float)
    return Case(name, (numbers.astype(np.float32),), expected, (numbers.size,))


SHARED_OUT = {"steps": STEPS, "sectors": 1.5, "thread_loads": TWICE, "threads_at_a_word": 4}
READ_AGAIN = {**SHARED_OUT, "sectors": 5, "thread_loads": 4}  # a number, or the best one so far; shares take 7.7
PUZZLES = (
    Puzzle("tree_step", "summation", "step thread", _step_cases),
    Puzzle(
        *("tree_sum", "summation", "i", _cases),
        Skill(
            "a tree, in which many threads add at once, and in which neighbors read neighboring numbers",
            "tree_2100_numbers",
            {**SHARED_OUT, "thread_loads_workgroup": 1.6},
        ),
    ),
    Puzzle(
        *("arg_max_tree", "summation", "result number,place", _max_cases),
        Skill(
            "a tree, in which many threads compare at once, and in which neighbors read neighboring numbers",
            "max_2100_numbers",
            READ_AGAIN,
        ),
    ),
)

QUESTIONS = questions(__file__)
