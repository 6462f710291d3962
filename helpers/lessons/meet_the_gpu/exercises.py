"""The exercises of lesson 00: kernels of a few lines, a launch, and a kernel from a blank page."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.meet_the_gpu import own_launch
from helpers.lessons.meet_the_gpu.indices import workgroups_for
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, sizes_from, with_rounding

Random = np.random.Generator

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
    return _row(name, _numbers(n, quarters=n > 100), *params)


def _row(name: str, input: np.ndarray, *params: int) -> Case:
    return _case(name, (input,), 3 * input + 1, params)


def _transpose_case(name: str, rows: int, columns: int) -> Case:
    return _transposed(name, _numbers(rows, columns, quarters=columns > SIDE))


def _transposed(name: str, input: np.ndarray) -> Case:
    rows, columns = input.shape
    expected = np.ascontiguousarray(input.T)
    across = workgroups_for(columns, SIDE)
    down = workgroups_for(rows, SIDE)
    dispatch = Dispatch((across, down, 1))
    return Case(name, (input,), expected, (rows, columns), (dispatch,))


def _difference_case(name: str, n: int) -> Case:
    input = _numbers(n) ** 2 % 89  # neighbors differ by more than a constant
    if n > 80:
        input = input / 4 - 10
    return _differences(name, input)


def _differences(name: str, input: np.ndarray) -> Case:
    return _case(name, (input,), np.diff(input), (input.size,))


def _windows_case(name: str, n: int) -> Case:
    return _windows(name, _numbers(n + 3, quarters=n > 10))


def _windows(name: str, input: np.ndarray) -> Case:
    factors = np.arange(4, dtype=np.float32)
    return _case(name, (input,), np.correlate(input, factors), (input.size - 3,))


def _reverse_case(name: str, input: np.ndarray) -> Case:
    workgroups = input.reshape(-1, 4)
    expected = workgroups[:, ::-1].ravel()
    return _case(name, (input,), expected, threads=4)


def _bias_case(name: str, *shape: int) -> Case:
    input = _numbers(*shape, quarters=shape[-1] > 10)
    bias = np.arange(100, 100 * shape[1] + 1, 100, np.float32)
    if shape[-1] > 10:
        bias = _numbers(shape[1], quarters=True)
    return _biased(name, input, bias)


def _biased(name: str, input: np.ndarray, bias: np.ndarray) -> Case:
    return _case(name, (input, bias), input + bias[:, None], input.shape, 256)


# --- Drawn problems -------------------------------------------------------------------------------------------


def _drawn_row(name: str, sizes: Sizes, random: Random) -> Case:
    n = sizes["n"]
    input = draw_numbers(random, sizes, n, largest=40)
    return with_rounding(_row(name, input, n), sizes, lambda x, one: 3 * x + one, input, np.ones(1))


def _drawn_workgroups(name: str, sizes: Sizes, random: Random) -> Case:
    row = _drawn_row(name, {**sizes, "n": THREADS * sizes["workgroups"]}, random)
    return replace(row, params=())


def _drawn_transpose(name: str, sizes: Sizes, random: Random) -> Case:
    return _transposed(name, draw_numbers(random, sizes, sizes["rows"], sizes["columns"], largest=40))


def _drawn_differences(name: str, sizes: Sizes, random: Random) -> Case:
    input = draw_numbers(random, sizes, sizes["n"], largest=40)
    return with_rounding(_differences(name, input), sizes, lambda x: x[1:] + x[:-1], input)


def _drawn_windows(name: str, sizes: Sizes, random: Random) -> Case:
    input = draw_numbers(random, sizes, sizes["n"] + 3, largest=40)
    factors = np.arange(4, dtype=np.float32)
    return with_rounding(_windows(name, input), sizes, np.correlate, input, factors)


def _drawn_reverse(name: str, sizes: Sizes, random: Random) -> Case:
    return _reverse_case(name, draw_numbers(random, sizes, 4 * sizes["workgroups"], largest=40))


def _drawn_bias(name: str, sizes: Sizes, random: Random) -> Case:
    shape = sizes["N"], sizes["C"], sizes["P"]
    input = draw_numbers(random, sizes, *shape, largest=40)
    bias = draw_numbers(random, sizes, sizes["C"], largest=40)
    return with_rounding(_biased(name, input, bias), sizes, lambda x, b: x + b[:, None], input, bias)


def _puzzle(name: str, axes: str, result: str, *cases: Case, larger: Case, drawn: Drawn) -> Puzzle:
    """A puzzle with a thread for each result, which is counted in the last case, and in a larger one."""
    skill = Skill.one_thread_for(result, cases[-1].name, lambda: larger)
    return Puzzle(name, FOLDER, axes, lambda: cases, skill, drawn)


MAP = _puzzle(
    "map",
    "i",
    "element",
    _row_case("one_workgroup", 64),
    _row_case("four_workgroups", 256),
    larger=_row_case("larger", 640),
    drawn=Drawn(sizes_from(workgroups=(1, 9)), _drawn_workgroups),
)
GUARD = _puzzle(
    "guard",
    "i",
    "element",
    _row_case("one_element", 1, 1),
    _row_case("no_tail", 64, 64),
    _row_case("long_tail", 130, 130),
    larger=_row_case("larger", 600, 600),
    drawn=Drawn(sizes_from(n=(1, 300)), _drawn_row),
)
REPAIR = _puzzle(
    "repair",
    "i",
    "sum",
    _windows_case("three_sums", 3),
    _windows_case("with_tail", 70),
    larger=_windows_case("larger", 600),
    drawn=Drawn(sizes_from(n=(1, 300)), _drawn_windows),
)
INDEX_2D = _puzzle(
    "index_2d",
    "column row",
    "element",
    _transpose_case("4_rows_4_columns", 4, 4),
    _transpose_case("3_rows_11_columns", 3, 11),
    larger=_transpose_case("larger", 20, 30),
    drawn=Drawn(sizes_from(rows=(1, 30), columns=(1, 30)), _drawn_transpose),
)
NEIGHBOR_DIFFERENCE = _puzzle(
    "neighbor_difference",
    "i",
    "difference",
    _difference_case("two_elements", 2),
    _difference_case("full_workgroup", 65),
    _difference_case("with_tail", 100),
    larger=_difference_case("larger", 601),
    drawn=Drawn(sizes_from(n=(2, 300)), _drawn_differences),
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
        "an exchange in workgroup memory in which each thread moves one element",
        test="five_workgroups",
        limits={"loads_storage": 1.5, "thread_loads": TWICE, "results": TWICE},
        least={"exchanged": TWICE},
    ),
    Drawn(sizes_from(workgroups=(1, 30)), _drawn_reverse),
)
ADD_BIAS = _puzzle(
    "add_bias",
    "n c p",
    "element",
    _bias_case("one_image", 1, 3, 2),
    _bias_case("two_images", 2, 2, 3),
    _bias_case("with_tail", 3, 5, 20),
    larger=_bias_case("larger", 3, 5, 40),
    drawn=Drawn(sizes_from(N=(1, 6), C=(1, 9), P=(1, 40)), _drawn_bias),
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

# --- A launch of one's own ------------------------------------------------------------------------------------

CALLS = {"kernel": own_launch.Code(), "launch": own_launch.launch, "zeros": own_launch.zeros}


def _launch_case(name: str, n: int, random: Random) -> PythonCase:
    """Three arrays of whole numbers, and what the kernel makes of them."""
    a, b, d = random.integers(1, 20, (3, n)).tolist()
    arrays = {name: own_launch.Array((*numbers,)) for name, numbers in zip("abd", (a, b, d), strict=True)}
    result = [x * y + z for x, y, z in zip(a, b, d, strict=True)]
    return PythonCase(name, (CALLS | arrays | {"n": n},), ((*result,),))


def _launch_cases() -> tuple[PythonCase, ...]:
    random = np.random.default_rng(4)
    return tuple(
        _launch_case(name, n, random) for name, n in (("four_elements", 4), ("five_elements", 5), ("ten_elements", 10))
    )


def _drawn_launch(random: Random) -> PythonCase:
    return _launch_case("", int(random.integers(5, 22)), random)


PYTHON_PUZZLES = (PythonPuzzle("own_launch", FOLDER, "result", _launch_cases, drawn=_drawn_launch),)
