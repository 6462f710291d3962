"""The exercises of lesson 09: lines that split a batch and combine gradients, letters on cards, and a kernel."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.checks.tolerance import ROUNDING
from helpers.grading.matching import matchings
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.many_gpus.indices import bounds
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, kind
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty, different

Array = np.ndarray
FOLDER = Path(__file__).with_name("puzzles")
DIVIDING = 2.0**-16  # by how much WGSL lets a division of the numbers below be off
ROUNDINGS = 8  # of two products, a sum and a division, which counts 2.5


def _lines(name: str, names: str, answer: Callable[..., object], *rows: tuple[float, ...]) -> PythonCase:
    """A test: a row of values for each time that the lines are tried."""
    trials = []
    answers = []
    for row in rows:
        trials.append(dict(zip(names.split(), row, strict=True)))
        answers.append(answer(*row))
    return PythonCase(name, tuple(trials), tuple(answers))


def _split(n: int, p: int) -> PythonCase:
    """A batch of n images in p parts, of which each is asked for."""
    parts = bounds(n, p)

    def part(n: int, p: int, k: int) -> tuple[int, int]:
        return parts[k]

    rows = [(n, p, k) for k in range(p)]
    return _lines(f"{n}_images_in_{p}_parts", "n p k", part, *rows)


def _split_cases() -> tuple[PythonCase, ...]:
    return _split(8, 4), _split(10, 4), _split(32, 5)


def _combined(a: float, b: float, n_a: int, n_b: int) -> float:
    return (a * n_a + b * n_b) / (n_a + n_b)


MEANS = {
    "the_same_images": [
        (4, 8, 4, 4),
        (3, -1, 2, 2),
    ],
    "three_and_one": [
        (4, 8, 3, 1),
        (5, -3, 1, 3),
        (0.5, 0.5, 5, 2),
    ],
    "after_three_rounds": [
        (1.5, 7.5, 8, 4),
        (-2, 6, 24, 8),
    ],
}


def _mean_cases() -> tuple[PythonCase, ...]:
    return tuple(_lines(name, "a b n_a n_b", _combined, *rows) for name, rows in MEANS.items())


def _break_even_of_two(w: float, h: float) -> float:
    return 2 * h


def _break_even(w: float, h: float) -> float:
    return h / (1 - 1 / w)


def _break_even_cases() -> tuple[PythonCase, ...]:
    two = _lines("two_workers", "w h", _break_even_of_two, (2, 3), (2, 0.5))
    more = _lines("more_workers", "w h", _break_even, (3, 6), (8, 14), (1000, 2))
    return two, more


def _place(n0: int, n1: int, n2: int, i: int) -> tuple[int, int]:
    """The tensor of a number in the buffer, and its number there: the buffer is written out."""
    owned = [(tensor, k) for tensor, n in enumerate((n0, n1, n2)) for k in range(n)]
    return owned[i]


def _places(name: str, *counts: int) -> PythonCase:
    rows = [(*counts, i) for i in range(sum(counts))]
    return _lines(name, "n0 n1 n2 i", _place, *rows)


def _place_cases() -> tuple[PythonCase, ...]:
    return _places("of_4_3_and_5", 4, 3, 5), _places("of_2_6_and_1", 2, 6, 1), _places("of_one_each", 1, 1, 1)


def _drawn_places(random: Random) -> PythonCase:
    return _places("", *different(random, 3, 30))


def _drawn_split(random: Random) -> PythonCase:
    n = int(random.integers(1, 300))
    return _split(n, int(random.integers(1, 1 + min(n, 12))))


def _drawn_means(random: Random) -> PythonCase:
    a, b = random.integers(-40, 41, 2) / 4
    n_a, n_b = random.integers(1, 100, 2)
    return _lines("", "a b n_a n_b", _combined, (float(a), float(b), int(n_a), int(n_b)))


def _drawn_break_even(random: Random) -> PythonCase:
    return _lines("", "w h", _break_even, (int(random.integers(2, 65)), float(random.integers(1, 80) / 4)))


PYTHON_PUZZLES = (
    PythonPuzzle("split_batch", FOLDER, "part", _split_cases, drawn=_drawn_split),
    PythonPuzzle("combine_means", FOLDER, "combined", _mean_cases, drawn=_drawn_means),
    PythonPuzzle("break_even", FOLDER, "t", _break_even_cases, drawn=_drawn_break_even),
    PythonPuzzle("place_in_buffer", FOLDER, "place", _place_cases, drawn=_drawn_places),
)


SUMMED = ("Under the sum of grad_weight", "Under the sum of grad_input", "Split between workers")
MATCHINGS = matchings(Path(__file__).with_name("matchings.toml"), summed_letters=(SUMMED, None))


@cache
def _cases() -> tuple[Case, ...]:
    """One number of each tensor, a little layer, one workgroup exactly, and, in quarters, more than two."""
    sizes = {
        "one_number_each": (1, 1, 1, 1, 1),
        "three_images_and_one": (6, 2, 9, 3, 1),
        "one_workgroup": (96, 4, 156, 1, 3),
        "first_layers_of_lenet": (150, 6, 484, 6, 2),
    }
    return tuple(_case(name, *params) for name, params in sizes.items())


def _case(name: str, *params: int) -> Case:
    random = np.random.default_rng(params)
    *counts, _, _ = params
    step = 0.25 if sum(counts) > 256 else 4
    a = [random.integers(-8, 9, n) * step for n in counts]
    b = [random.integers(-8, 9, n) * step for n in counts]
    return _case_of(name, a, b, params)


def _case_of(name: str, a: list[Array], b: list[Array], params: tuple[int, ...]) -> Case:
    *_, images_a, images_b = params
    combined = [_combined(of_a, of_b, images_a, images_b) for of_a, of_b in zip(a, b, strict=True)]
    expected = np.concatenate(combined)
    inputs = tuple(array.astype(np.float32) for array in a + b)
    workgroups = ceil(expected.size / 256), 1, 1
    return Case(name, inputs, expected, params, (Dispatch(workgroups),), DIVIDING)


SIZES = ("n0", "n1", "n2", "images_a", "images_b")


def _sizes(random: Random) -> Sizes:
    """Tensors of which no two have one size, most often past three workgroups, and few images or many."""
    most = int(random.choice([9, 700, 700]))
    counts = different(random, 3, most)
    images = different(random, 2, int(random.choice([40, 4000])))
    return dict(zip(SIZES, counts + images, strict=True)) | kind(random)


def _drawn_case(name: str, sizes: Sizes, random: Random) -> Case:
    params = [sizes[size] for size in SIZES]
    check_not_empty(*params)
    a = [draw_numbers(random, sizes, n, largest=99) for n in params[:3]]
    b = [draw_numbers(random, sizes, n, largest=99) for n in params[:3]]
    exact = _case_of(name, a, b, tuple(params))
    largest = abs(np.concatenate(a)) + abs(np.concatenate(b))
    return replace(exact, tolerance=ROUNDINGS * ROUNDING * largest)


ONE_THREAD_EACH = Skill(
    "one thread for each number",
    "first_layers_of_lenet",
    {"steps": STEPS, "thread_loads": TWICE, "results": TWICE},
)
PUZZLES = (Puzzle("combine_gradients", FOLDER, "i", _cases, ONE_THREAD_EACH, Drawn(_sizes, _drawn_case)),)
