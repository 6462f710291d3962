"""The exercises of lesson 09: lines that split a batch and combine gradients, and a kernel."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Puzzle, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.many_gpus.indices import bounds

FOLDER = Path(__file__).with_name("puzzles")
DIVIDING = 2.0**-16  # by how much WGSL lets a division of the numbers below be off


def _smaller(a: float, b: float) -> float:
    return min(a, b)


def _lines(
    name: str, names: str, right: Callable[..., object], *rows: tuple[float, ...], **functions: object
) -> PythonCase:
    """A test: a row of values for each time that the lines are tried."""
    given = tuple({**functions, **dict(zip(names.split(), row, strict=True))} for row in rows)
    return PythonCase(name, given, tuple(right(*row) for row in rows))


def _split(n: int, p: int) -> PythonCase:
    parts = bounds(n, p)
    return _lines(
        *(f"{n}_images_in_{p}_parts", "n p k", lambda n, p, k: parts[k]),
        *((n, p, k) for k in range(p)),
        min=_smaller,
    )


def _combined(a: float, b: float, n_a: int, n_b: int) -> float:
    return (a * n_a + b * n_b) / (n_a + n_b)


MEANS = {
    "the_same_images": [(4, 8, 4, 4), (3, -1, 2, 2)],
    "three_and_one": [(4, 8, 3, 1), (5, -3, 1, 3), (0.5, 0.5, 5, 2)],
    "after_three_rounds": [(1.5, 7.5, 8, 4), (-2, 6, 24, 8)],
}
PYTHON_PUZZLES = (
    PythonPuzzle("split_batch", FOLDER, "part", lambda: (_split(8, 4), _split(10, 4), _split(32, 5))),
    PythonPuzzle(
        *("combine_means", FOLDER, "combined"),
        lambda: tuple(_lines(name, "a b n_a n_b", _combined, *rows) for name, rows in MEANS.items()),
    ),
    PythonPuzzle(
        *("break_even", FOLDER, "t"),
        lambda: (
            _lines("two_workers", "w h", lambda w, h: 2 * h, (2, 3), (2, 0.5)),
            _lines("more_workers", "w h", lambda w, h: h / (1 - 1 / w), (3, 6), (8, 14), (1000, 2)),
        ),
    ),
)


@cache
def _cases() -> tuple[Case, ...]:
    """One number of each tensor, a little layer, one workgroup exactly, and, in quarters, more than two."""
    sizes = {
        "one_number_each": (1, 1, 1, 1, 1),
        "three_images_and_one": (6, 2, 9, 3, 1),
        "one_workgroup": (96, 4, 156, 1, 3),
        "first_layers_of_lenet": (150, 6, 484, 6, 2),
    }
    return tuple(_case(name, *rest) for name, rest in sizes.items())


def _case(name: str, *params: int) -> Case:
    random = np.random.default_rng(params)
    *counts, images_a, images_b = params
    step = 0.25 if sum(counts) > 256 else 4
    a, b = ([random.integers(-8, 9, n) * step for n in counts] for _ in "ab")
    right = np.concatenate([_combined(*pair, images_a, images_b) for pair in zip(a, b, strict=True)])
    given = tuple(array.astype(np.float32) for array in (*a, *b))
    workgroups = -(-right.size // 256)
    return Case(name, given, right, params, (Dispatch((workgroups, 1, 1)),), DIVIDING)


PUZZLES = (
    Puzzle(
        *("combine_gradients", FOLDER, "i", _cases),
        Skill(
            "one thread for each number", "first_layers_of_lenet",
            {"steps": STEPS, "thread_loads": TWICE, "results": TWICE},
        ),
    ),
)  # fmt: skip
