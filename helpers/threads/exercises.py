"""What a learner works out in lesson 00 and in appendix A: kernels to write, questions to answer."""

from collections.abc import Mapping
from functools import cache
from itertools import product

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import TWICE, Case, Dispatch, Puzzle, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.threads import launch
from helpers.threads.indices import workgroups_for
from wgsl.simulator import lanes
from wgsl.simulator.memory import Conflicts, Shadow

# --- Kernels to write -----------------------------------------------------------------------------------------

THREADS, SIDE = 64, 8  # of a workgroup in a row; of one side of a square workgroup


def _numbers(*shape: int, quarters: bool = False) -> np.ndarray:
    """Whole numbers from 0 to 96 in an order that no wrong index leaves unchanged; or quarters, from -12 to 12."""
    whole = (np.arange(1, np.prod(shape) + 1) * 37 % 97).reshape(shape).astype(np.float32)
    return (whole - 48) / 4 if quarters else whole


def _case(
    name: str,
    inputs: tuple[np.ndarray, ...],
    expected: np.ndarray,
    params: tuple[int, ...] = (),
    threads: int = THREADS,
) -> Case:
    """A test with a thread for each element of the result, in workgroups of this many."""
    return Case(name, inputs, expected, params, (Dispatch((workgroups_for(expected.size, threads), 1, 1)),))


def _row_case(name: str, n: int, *params: int) -> Case:
    input = _numbers(n, quarters=n > 100)
    return _case(name, (input,), 3 * input + 1, params)


def _transpose_case(name: str, rows: int, columns: int) -> Case:
    input = _numbers(rows, columns, quarters=columns > SIDE)
    workgroups = workgroups_for(columns, SIDE), workgroups_for(rows, SIDE), 1
    return Case(name, (input,), np.ascontiguousarray(input.T), (rows, columns), (Dispatch(workgroups),))


def _difference_case(name: str, n: int) -> Case:
    input = _numbers(n) ** 2 % 89  # neighbors differ by more than a constant
    input = input / 4 - 10 if n > 80 else input
    return _case(name, (input,), np.diff(input), (n,))


def _windows_case(name: str, n: int) -> Case:
    input = _numbers(n + 3, quarters=n > 10)
    return _case(name, (input,), np.correlate(input, np.arange(4, dtype=np.float32)), (n,))


def _reverse_case(name: str, input: np.ndarray) -> Case:
    return _case(name, (input,), input.reshape(-1, 4)[:, ::-1].ravel(), threads=4)


def _bias_case(name: str, *shape: int) -> Case:
    input, bias = _numbers(*shape, quarters=shape[-1] > 10), np.arange(100, 100 * shape[1] + 1, 100, np.float32)
    if shape[-1] > 10:
        bias = _numbers(shape[1], quarters=True)
    return _case(name, (input, bias), input + bias[:, None], shape, 256)


def _puzzle(name: str, axes: str, result: str, *cases: Case) -> Puzzle:
    """A puzzle with a thread for each result, which is counted in the last case."""
    return Puzzle(name, "threads", axes, lambda: cases, Skill.one_thread_for(result, cases[-1].name))


GUARDED = {"one_element": 1, "no_tail": 64, "long_tail": 130}
REVERSED = (
    _reverse_case("one_to_four", np.arange(1, 5, dtype=np.float32)),
    _reverse_case("five_workgroups", _numbers(20, quarters=True)),
)
BIASED = {"one_image": (1, 3, 2), "two_images": (2, 2, 3), "with_tail": (3, 5, 20)}
DIFFERENCES = {"two_elements": 2, "full_workgroup": 65, "with_tail": 100}
PUZZLES = (
    _puzzle("map", "i", "element", _row_case("one_workgroup", 64), _row_case("four_workgroups", 256)),
    _puzzle("guard", "i", "element", *(_row_case(name, n, n) for name, n in GUARDED.items())),
    _puzzle("repair", "i", "sum", *(_windows_case(*case) for case in {"three_sums": 3, "with_tail": 70}.items())),
    _puzzle(
        *("index_2d", "column row", "element"),
        *(_transpose_case("4_rows_4_columns", 4, 4), _transpose_case("3_rows_11_columns", 3, 11)),
    ),
    _puzzle("neighbor_difference", "i", "difference", *(_difference_case(*case) for case in DIFFERENCES.items())),
    Puzzle(
        *("reverse_in_workgroup", "threads", "i", lambda: REVERSED),
        Skill("an exchange in workgroup memory", REVERSED[-1].name, {}, least={"stores_workgroup": TWICE}),
    ),
    _puzzle("add_bias", "n c p", "element", *(_bias_case(name, *shape) for name, shape in BIASED.items())),
)

# --- Lines of Python to write ---------------------------------------------------------------------------------

PROPERTIES = "same_word", "a_writes", "b_writes", "both_atomic", "same_thread", "same_workgroup", "barrier_between"
PLAIN = {  # two threads of a workgroup that use one word, with nothing between them
    "same_word": True,
    "same_workgroup": True,
    "same_thread": False,
    "barrier_between": False,
    "both_atomic": False,
}
CHANGED = {  # the properties that are otherwise, by the test's name
    "two_threads": "",
    "two_words": "same_word",
    "one_thread": "same_thread",
    "barrier": "barrier_between",
    "two_workgroups": "same_workgroup",
    "barrier_and_two_workgroups": "same_workgroup barrier_between",
    "atomics": "both_atomic",
}


def is_race(access: Mapping[str, bool]) -> bool:
    """Whether two accesses with these properties are a race, by the simulator's notes on the words of a memory."""
    if access["both_atomic"]:
        return False
    threads = lanes.Dispatch((2, 1, 1), (2, 1, 1))  # 0 and 1 are in one workgroup, 2 in another
    other = 0 if access["same_thread"] else 1 if access["same_workgroup"] else 2
    notes = Shadow(2, threads.groups)

    def note(thread: int, word: int, epoch: int, writes: bool) -> list[Conflicts]:
        use = np.array([word]), lanes.Lanes(threads, np.array([thread])), np.array([epoch]), 0
        return notes.write(*use, None) if writes else notes.read(*use)

    note(0, 0, 0, access["a_writes"])
    return bool(note(other, 1 - access["same_word"], int(access["barrier_between"]), access["b_writes"]))


def _race_case(name: str, known: Mapping[str, bool]) -> PythonCase:
    """All accesses with the properties that are known; a thread has one workgroup."""
    every = (dict(zip(PROPERTIES, values, strict=True)) for values in product((False, True), repeat=len(PROPERTIES)))
    possible = (each for each in every if each["same_workgroup"] or not each["same_thread"])
    given = tuple(each for each in possible if known.items() <= each.items())
    return PythonCase(name, given, tuple(map(is_race, given)))


@cache
def _race_cases() -> tuple[PythonCase, ...]:
    near = {name: PLAIN | {each: not PLAIN[each] for each in changed.split()} for name, changed in CHANGED.items()}
    return tuple(_race_case(*case) for case in {**near, "all_combinations": {}}.items())


GIVEN = launch.CALLS | {"code": launch.Code(), "READ": launch.Access.READ, "WRITE": launch.Access.WRITE}
LAUNCHED = {"four_numbers": (5, 2, 7, 1), "nine_numbers": (4, 8, 2, 9, 1, 7, 3, 6, 5)}


def _launch_case(name: str, numbers: tuple[int, ...]) -> PythonCase:
    given = GIVEN | {"numbers": numbers, "count": len(numbers)}
    return PythonCase(name, (given,), (tuple(3 * x + 1 for x in numbers),))


def _second_case(name: str, numbers: tuple[int, ...]) -> PythonCase:
    """A launch after one that is done: what that one was given, and what it made."""
    count, results = len(numbers), tuple(3 * x + 1 for x in numbers)
    input, output, layout = launch.Buffer([*numbers]), launch.Buffer([*results]), launch.Layout(launch.DECLARED)
    given = GIVEN | {
        "module": launch.Module(),
        "layout": layout,
        "pipeline": launch.Pipeline(),
        "input": input,
        "output": output,
        "bind_group": launch.BindGroup(layout, (input, output)),
        "count": count,
        "workgroups": workgroups_for(count, launch.THREADS),
    }
    return PythonCase(name, (given,), (tuple(3 * x + 1 for x in results),))


NOTHING_TWICE = Skill(
    "a second launch that makes nothing twice and copies nothing", "nine_numbers", {"create_*": 1, "write_buffer": 1}
)
PYTHON_PUZZLES = (
    PythonPuzzle("is_race", "threads", "race", _race_cases),
    PythonPuzzle("raw_launch", "threads", "result", lambda: [_launch_case(*case) for case in LAUNCHED.items()]),
    PythonPuzzle(
        *("second_launch", "threads", "result"),
        *(lambda: [_second_case(*case) for case in LAUNCHED.items()], NOTHING_TWICE),
    ),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS = questions(__file__)
