"""The exercises of lesson 08: steps of the ladder, each a whole kernel, judged by what it loads and reads."""

from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty, different
from helpers.lessons.shared.products import PRODUCTS, TILE, puzzle

Array = np.ndarray
FOLDER = Path(__file__).with_name("puzzles")
AS_OURS = 1.25  # times our loads or reads: not once more for each product


def _registers(name: str, asked: str) -> Puzzle:
    """A product in tiles, in which each thread has several results, and reads each number that they need once."""
    product = puzzle(name, PRODUCTS["product"], FOLDER)
    limits = {"loads_storage": AS_OURS, "loads_workgroup": AS_OURS, "thread_loads": TWICE, "results": 1}
    return replace(product, skill=Skill(asked, "three_tiles", limits, larger=product.skill.larger))


PREFETCH = puzzle("prefetch", PRODUCTS["product"], FOLDER)
PREFETCH = replace(
    PREFETCH,
    skill=Skill(
        "loads of the next tiles before the products, so that they are on their way meanwhile",
        "three_tiles",
        {"loads_at_once": AS_OURS, "loads_storage": AS_OURS, "loads_workgroup": AS_OURS, "results": 1},
        larger=PREFETCH.skill.larger,
    ),
)

# --- Four numbers at a time ---------------------------------------------------------------------------------------

IN_FOURS = {  # M, K and N of the tests; the last but one in quarters, and the last one for the larger problem
    "tiny": (3, 4, 8),
    "one_full_tile": (16, 16, 16),
    "three_tiles": (16, 48, 16),
    "past_the_edges": (19, 68, 36),
    "nine_tiles": (48, 16, 48),
}


@cache
def _all_in_fours() -> dict[str, Case]:
    """Random whole numbers, and in one case quarters."""
    random = np.random.default_rng(8)
    cases = {}
    for name, (m, k, n) in IN_FOURS.items():
        a = random.integers(-3, 4, (m, k))
        b = random.integers(-3, 4, (k, n))
        parts = 4 if name == "past_the_edges" else 1
        cases[name] = _product_case(name, a / parts, b / parts)
    return cases


def _product_case(name: str, a: Array, b: Array) -> Case:
    """A product, with a workgroup for each tile of its result."""
    expected = a.astype(float) @ b
    m, k = a.shape
    _, n = b.shape
    dispatch = Dispatch((ceil(n / TILE), ceil(m / TILE), 1))
    return Case(name, (np.float32(a), np.float32(b)), expected.astype(np.float32), (m, k, n), (dispatch,))


def _in_fours() -> tuple[Case, ...]:
    *tests, _ = _all_in_fours().values()
    return tuple(tests)


def _sizes_in_fours(random: Random) -> Sizes:
    """K and N are multiples of 4, up to five tiles and one vector."""
    along, across = random.choice([1, 2, 3, 5, 6, 7, 9, 10, 17, 18, 21], 2, replace=False).tolist()
    return {"M": int(random.integers(1, 36)), "K": 4 * along, "N": 4 * min(across, 10)} | kind(random)


def _drawn_in_fours(name: str, sizes: Sizes, random: Random) -> Case:
    m, k, n = (sizes[letter] for letter in "MKN")
    check_not_empty(m, k, n)
    if k % 4 or n % 4:
        raise ValueError(f"K = {k}, N = {n}: both must be multiples of 4")
    a = draw_numbers(random, sizes, m, k, largest=99)
    b = draw_numbers(random, sizes, k, n, largest=99)
    return with_rounding(_product_case(name, a, b), sizes, np.matmul, a, b)


VEC4_READS = Puzzle(
    "vec4_reads",
    FOLDER,
    "m n",
    _in_fours,
    Skill(
        "four numbers in each load from storage memory, and in each read of workgroup memory",
        "three_tiles",
        {"loads_storage": AS_OURS, "loads_workgroup": AS_OURS, "thread_loads": TWICE, "results": 1},
        larger=lambda: _all_in_fours()["nine_tiles"],
    ),
    Drawn(_sizes_in_fours, _drawn_in_fours),
)

# --- Rows and columns exchanged -----------------------------------------------------------------------------------

TRANSPOSED = {  # rows and columns of the tests; the last one is in quarters
    "tiny": (2, 3),
    "one_full_tile": (16, 16),
    "six_tiles": (48, 32),
    "past_the_edges": (19, 37),
}


@cache
def _transposes() -> tuple[Case, ...]:
    random = np.random.default_rng(16)
    cases = []
    for name, size in TRANSPOSED.items():
        x = random.integers(-99, 100, size)
        cases.append(_transpose_case(name, x / 4 if name == "past_the_edges" else x))
    return tuple(cases)


def _transpose_case(name: str, x: Array) -> Case:
    """A matrix, with a workgroup for each of its tiles."""
    rows, columns = x.shape
    dispatch = Dispatch((ceil(columns / TILE), ceil(rows / TILE), 1))
    x = np.float32(x)
    return Case(name, (x,), x.T.copy(), x.shape, (dispatch,))


def _transpose_sizes(random: Random) -> Sizes:
    rows, columns = different(random, 2, 67)
    return {"rows": rows, "columns": columns} | kind(random)


def _drawn_transpose(name: str, sizes: Sizes, random: Random) -> Case:
    check_not_empty(sizes["rows"], sizes["columns"])
    return _transpose_case(name, draw_numbers(random, sizes, sizes["rows"], sizes["columns"]))


def _larger_transpose() -> Case:
    return _transpose_case("larger", np.random.default_rng(17).integers(-99, 100, (48, 48)))


TRANSPOSE = Puzzle(
    "coalesced_transpose",
    FOLDER,
    "j i",
    _transposes,
    Skill(
        "loads and stores side by side, and a tile whose columns do not lie in few banks",
        "six_tiles",
        {"sectors": 1.1, "bank_conflicts": 2, "thread_loads": TWICE, "results": 1},
        larger=_larger_transpose,
    ),
    Drawn(_transpose_sizes, _drawn_transpose),
)

PUZZLES = (
    _registers("two_results", "two results in each thread, with one number of right for both products"),
    _registers("register_tile", "2 x 2 results in each thread, with two numbers of each tile for four products"),
    VEC4_READS,
    PREFETCH,
    TRANSPOSE,
    _registers("register_tile_4x2", "4 x 2 results in each thread, with six numbers of the tiles for eight products"),
)
