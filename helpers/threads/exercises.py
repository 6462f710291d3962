"""What a learner works out in lesson 00 and in the appendix on a simulator: kernels to write, questions to answer."""

import numpy as np

from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Puzzle, Skill
from helpers.threads.indices import workgroups_for

# --- Kernels to write -----------------------------------------------------------------------------------------

THREADS, SIDE = 64, 8  # of a workgroup in a row; of one side of a square workgroup


def _drawn(*shape: int) -> np.ndarray:
    """Whole numbers from 0 to 96 in an order that no wrong index leaves unchanged."""
    return (np.arange(1, np.prod(shape) + 1) * 37 % 97).reshape(shape).astype(np.float32)


def _in_a_row(name: str, n: int, params: tuple[int, ...] = ()) -> Case:
    input = _drawn(n)
    return Case(name, (input,), 3 * input + 1, params, (workgroups_for(n, THREADS), 1, 1))


def _map_cases() -> tuple[Case, ...]:
    return _in_a_row("one_workgroup", 64), _in_a_row("four_workgroups", 256)


def _guard_cases() -> tuple[Case, ...]:
    return tuple(_in_a_row(name, n, (n,)) for name, n in (("one_element", 1), ("no_tail", 64), ("long_tail", 130)))


def _index_2d_cases() -> tuple[Case, ...]:
    return tuple(_transposed(f"{rows}_rows_{columns}_columns", rows, columns) for rows, columns in ((4, 4), (3, 11)))


def _transposed(name: str, rows: int, columns: int) -> Case:
    input, workgroups = _drawn(rows, columns), (workgroups_for(columns, SIDE), workgroups_for(rows, SIDE), 1)
    return Case(name, (input,), np.ascontiguousarray(input.T), (rows, columns), workgroups)


def _difference_cases() -> tuple[Case, ...]:
    return tuple(_differences(name, n) for name, n in (("two_elements", 2), ("full_workgroup", 65), ("with_tail", 100)))


def _differences(name: str, n: int) -> Case:
    input = _drawn(n) ** 2 % 89  # neighbors differ by more than a constant
    return Case(name, (input,), np.diff(input), (n,), (workgroups_for(n - 1, THREADS), 1, 1))


PUZZLES = (  # as the lesson has them
    Puzzle(
        "map",
        "threads",
        ("i",),
        _map_cases,
        Skill.one_thread_for("element", "four_workgroups"),
    ),
    Puzzle(
        "guard",
        "threads",
        ("i",),
        _guard_cases,
        Skill.one_thread_for("element", "long_tail"),
    ),
    Puzzle(
        "index_2d",
        "threads",
        ("column", "row"),
        _index_2d_cases,
        Skill.one_thread_for("element", "3_rows_11_columns"),
    ),
    Puzzle(
        "neighbor_difference",
        "threads",
        ("i",),
        _difference_cases,
        Skill.one_thread_for("difference", "with_tail"),
    ),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS = questions(__file__)
