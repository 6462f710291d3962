"""What a learner works out in lesson 00 and in the appendix on a simulator: kernels to write, questions to answer."""

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Puzzle, Skill
from helpers.threads.indices import workgroups_for

# --- Kernels to write -----------------------------------------------------------------------------------------

THREADS, SIDE = 64, 8  # of a workgroup in a row; of one side of a square workgroup


def _numbers(*shape: int, quarters: bool = False) -> np.ndarray:
    """Whole numbers from 0 to 96 in an order that no wrong index leaves unchanged; or quarters, from -12 to 12."""
    whole = (np.arange(1, np.prod(shape) + 1) * 37 % 97).reshape(shape).astype(np.float32)
    return (whole - 48) / 4 if quarters else whole


def _row_case(name: str, n: int, params: tuple[int, ...] = ()) -> Case:
    input = _numbers(n, quarters=n > 100)
    return Case(name, (input,), 3 * input + 1, params, (workgroups_for(n, THREADS), 1, 1))


def _transpose_case(name: str, rows: int, columns: int) -> Case:
    input = _numbers(rows, columns, quarters=columns > SIDE)
    workgroups = workgroups_for(columns, SIDE), workgroups_for(rows, SIDE), 1
    return Case(name, (input,), np.ascontiguousarray(input.T), (rows, columns), workgroups)


def _difference_case(name: str, n: int) -> Case:
    input = _numbers(n) ** 2 % 89  # neighbors differ by more than a constant
    if n > 80:
        input = input / 4 - 10
    return Case(name, (input,), np.diff(input), (n,), (workgroups_for(n - 1, THREADS), 1, 1))


def _puzzle(name: str, axes: str, result: str, *cases: Case) -> Puzzle:
    """A puzzle with a thread for each result, which is counted in the last case."""
    return Puzzle(name, "threads", axes, lambda: cases, Skill.one_thread_for(result, cases[-1].name))


GUARDED = {"one_element": 1, "no_tail": 64, "long_tail": 130}
DIFFERENCES = {"two_elements": 2, "full_workgroup": 65, "with_tail": 100}
PUZZLES = (
    _puzzle("map", "i", "element", _row_case("one_workgroup", 64), _row_case("four_workgroups", 256)),
    _puzzle("guard", "i", "element", *(_row_case(name, n, (n,)) for name, n in GUARDED.items())),
    _puzzle(
        *("index_2d", "column row", "element"),
        *(_transpose_case("4_rows_4_columns", 4, 4), _transpose_case("3_rows_11_columns", 3, 11)),
    ),
    _puzzle("neighbor_difference", "i", "difference", *(_difference_case(*case) for case in DIFFERENCES.items())),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS = questions(__file__)
