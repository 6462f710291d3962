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
    places = np.arange(1, np.prod(shape) + 1)
    whole = (places * 37 % 97).reshape(shape).astype(np.float32)
    if quarters:
        return (whole - 48) / 4
    return whole


def _case(
    name: str,
    inputs: tuple[np.ndarray, ...],
    expected: np.ndarray,
    params: tuple[int, ...] = (),
    threads: int = THREADS,
) -> Case:
    """A test with a thread for each element of the result, in workgroups of this many."""
    workgroups = workgroups_for(expected.size, threads), 1, 1
    return Case(name, inputs, expected, params, (Dispatch(workgroups),))


def _row_case(name: str, n: int, *params: int) -> Case:
    input = _numbers(n, quarters=n > 100)
    expected = 3 * input + 1
    return _case(name, (input,), expected, params)


def _transpose_case(name: str, rows: int, columns: int) -> Case:
    input = _numbers(rows, columns, quarters=columns > SIDE)
    expected = np.ascontiguousarray(input.T)
    across = workgroups_for(columns, SIDE)
    down = workgroups_for(rows, SIDE)
    dispatch = Dispatch((across, down, 1))
    return Case(name, (input,), expected, (rows, columns), (dispatch,))


def _difference_case(name: str, n: int) -> Case:
    input = _numbers(n) ** 2 % 89  # neighbors differ by more than a constant
    if n > 80:
        input = input / 4 - 10
    return _case(name, (input,), np.diff(input), (n,))


def _windows_case(name: str, n: int) -> Case:
    input = _numbers(n + 3, quarters=n > 10)
    factors = np.arange(4, dtype=np.float32)
    return _case(name, (input,), np.correlate(input, factors), (n,))


def _reverse_case(name: str, input: np.ndarray) -> Case:
    workgroups = input.reshape(-1, 4)
    expected = workgroups[:, ::-1].ravel()
    return _case(name, (input,), expected, threads=4)


def _bias_case(name: str, *shape: int) -> Case:
    input = _numbers(*shape, quarters=shape[-1] > 10)
    bias = np.arange(100, 100 * shape[1] + 1, 100, np.float32)
    if shape[-1] > 10:
        bias = _numbers(shape[1], quarters=True)
    expected = input + bias[:, None]
    return _case(name, (input, bias), expected, shape, 256)


def _puzzle(name: str, axes: str, result: str, *cases: Case, larger: Case) -> Puzzle:
    """A puzzle with a thread for each result, which is counted in the last case, and in a larger one."""
    skill = Skill.one_thread_for(result, cases[-1].name, lambda: larger)
    return Puzzle(name, FOLDER, axes, lambda: cases, skill)


MAP = _puzzle(
    "map",
    "i",
    "element",
    _row_case("one_workgroup", 64),
    _row_case("four_workgroups", 256),
    larger=_row_case("larger", 640),
)
GUARD = _puzzle(
    "guard",
    "i",
    "element",
    _row_case("one_element", 1, 1),
    _row_case("no_tail", 64, 64),
    _row_case("long_tail", 130, 130),
    larger=_row_case("larger", 600, 600),
)
REPAIR = _puzzle(
    "repair",
    "i",
    "sum",
    _windows_case("three_sums", 3),
    _windows_case("with_tail", 70),
    larger=_windows_case("larger", 600),
)
INDEX_2D = _puzzle(
    "index_2d",
    "column row",
    "element",
    _transpose_case("4_rows_4_columns", 4, 4),
    _transpose_case("3_rows_11_columns", 3, 11),
    larger=_transpose_case("larger", 20, 30),
)
NEIGHBOR_DIFFERENCE = _puzzle(
    "neighbor_difference",
    "i",
    "difference",
    _difference_case("two_elements", 2),
    _difference_case("full_workgroup", 65),
    _difference_case("with_tail", 100),
    larger=_difference_case("larger", 601),
)
REVERSED = (
    _reverse_case("one_to_four", np.arange(1, 5, dtype=np.float32)),
    _reverse_case("five_workgroups", _numbers(20, quarters=True)),
)
REVERSE_IN_WORKGROUP = Puzzle(
    "reverse_in_workgroup",
    FOLDER,
    "i",
    lambda: REVERSED,
    Skill(
        "an exchange in workgroup memory",
        test="five_workgroups",
        limits={"loads_storage": 1.5},
        least={"exchanged": TWICE},
    ),
)
ADD_BIAS = _puzzle(
    "add_bias",
    "n c p",
    "element",
    _bias_case("one_image", 1, 3, 2),
    _bias_case("two_images", 2, 2, 3),
    _bias_case("with_tail", 3, 5, 20),
    larger=_bias_case("larger", 3, 5, 40),
)
PUZZLES = (
    MAP,
    GUARD,
    REPAIR,
    INDEX_2D,
    NEIGHBOR_DIFFERENCE,
    REVERSE_IN_WORKGROUP,
    ADD_BIAS,
)
