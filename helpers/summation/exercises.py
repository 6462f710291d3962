"""What a learner works out in lesson 04 and in appendix E: kernels to write, and questions to answer."""

from functools import cache

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Puzzle, Skill
from helpers.summation.indices import EIGHT, tree_steps

LENGTHS = {"tree_1_number": 1, "tree_100_numbers": 100, "tree_256_numbers": 256, "tree_2100_numbers": 2100}


@cache
def _cases() -> tuple[Case, ...]:
    """Fewer numbers than threads, the same number, and, in quarters, more than eight for each thread."""
    random = np.random.default_rng(6)
    *few, (most, n) = LENGTHS.items()
    whole = [_case(name, random.integers(1, 10, n)) for name, n in few]
    return *whole, _case(most, random.integers(-40, 30, n) / 4)


def _case(name: str, numbers: np.ndarray, *params: int) -> Case:
    total = numbers.sum(keepdims=True).astype(float)
    return Case(name, (numbers.astype(np.float32),), total, (numbers.size, *params))


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


@cache
def _kahan_cases() -> tuple[Case, ...]:
    """A large number and small ones: neither from left to right nor in a tree does float32 have their total.

    The last total is negative, and not a whole number.
    """
    random = np.random.default_rng(17)
    mixed, quarters = random.integers(1, 8, 64), random.integers(-7, 0, 256) / 4
    mixed[0], quarters[0] = 2**24, -(2**22)
    mixed[-1] += mixed.sum() % 2
    quarters[-1] += (0.5 - quarters.sum()) % 1
    lists = {"large_and_two_ones": np.array([2**24, 1, 1]), "large_and_63": mixed, "quarters": quarters}
    return tuple(_case(name, numbers, 0) for name, numbers in lists.items())


@cache
def _fixed_cases() -> tuple[Case, ...]:
    """Whole numbers, quarters for two workgroups, small ones that a float32 sum loses, and some between two steps."""
    random = np.random.default_rng(5)
    small = np.full(129, 2.0**-14)
    small[0] = 2**11
    lists = {
        "whole_numbers": np.array([3, -5, 4, 1, -7]),
        "quarters": random.integers(-40, 30, 100) / 4,
        "small_ones": small,
        "tenths": np.float32([0.1, -0.7] * 50),
    }
    return tuple(_fixed_case(name, numbers.astype(np.float32)) for name, numbers in lists.items())


def _fixed_case(name: str, numbers: np.ndarray) -> Case:
    total = np.rint(numbers.astype(float) * 2**16).sum(keepdims=True) / 2**16
    passes = Dispatch((-(-numbers.size // 64), 1, 1), "add_up"), Dispatch(entry_point="divide")
    start = np.zeros(1, np.float32), np.zeros(1, np.int32)
    return Case(name, (numbers,), total, (numbers.size,), passes, scratch=(1,), start=start)


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
    Puzzle(
        *("kahan_sum", "summation", "i", _kahan_cases),
        Skill("plus and minus, which no compiler can take apart", "quarters", {}, least={"integer": 1.1}),
    ),
    Puzzle(
        *("fixed_point_sum", "summation", "i", _fixed_cases),
        Skill("one thread for each number", "quarters", {"thread_loads": TWICE}),
    ),
)

QUESTIONS = questions(__file__)
