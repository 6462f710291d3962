"""The exercises of lesson 00: kernels of a few lines, and one from a blank page."""

from pathlib import Path

import numpy as np

from helpers.grading.puzzle import TWICE, Case, Dispatch, Puzzle, Skill
from helpers.lessons.meet_the_gpu.indices import workgroups_for

# --- Kernels to write -----------------------------------------------------------------------------------------

FOLDER = Path(__file__).with_name("puzzles")
THREADS = 64  # of a workgroup in a row
SIDE = 8  # of one side of a square workgroup


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
    input = _numbers(*shape, quarters=shape[-1] > 10)
    bias = np.arange(100, 100 * shape[1] + 1, 100, np.float32)
    if shape[-1] > 10:
        bias = _numbers(shape[1], quarters=True)
    return _case(name, (input, bias), input + bias[:, None], shape, 256)


def _puzzle(name: str, axes: str, result: str, *cases: Case) -> Puzzle:
    """A puzzle with a thread for each result, which is counted in the last case."""
    return Puzzle(name, FOLDER, axes, lambda: cases, Skill.one_thread_for(result, cases[-1].name))


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
        *("reverse_in_workgroup", FOLDER, "i", lambda: REVERSED),
        Skill("an exchange in workgroup memory", REVERSED[-1].name, {}, least={"stores_workgroup": TWICE}),
    ),
    _puzzle("add_bias", "n c p", "element", *(_bias_case(name, *shape) for name, shape in BIASED.items())),
)
