"""Pictures with sliders of appendix E: ones that are lost, four numbers in any order, three errors, and subgroups."""

from collections.abc import Callable, Sequence

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.order_of_a_sum.pictures.errors import ErrorPicture
from helpers.lessons.order_of_a_sum.pictures.four_numbers import FourPicture
from helpers.lessons.order_of_a_sum.pictures.ones import MOST, NEAR, OnesPicture
from helpers.lessons.order_of_a_sum.pictures.subgroups import SIZES, SubgroupPicture, steps
from helpers.lessons.shared import sums as indices
from helpers.operations.summation import operations
from helpers.widgets.controls import Trials, Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

# powers of two: the shortest list, and the longest
FIRST = 4
LAST = 14


def ones() -> Explorer:
    """Sliders over a number of ones, which one thread and a tree add up, and over the whole numbers near it."""
    numbers = np.ones(17, np.float32)
    numbers[0] = indices.EXACT - 8
    (returned,) = operations.total(numbers, kernel="1_one_thread").tolist()
    picture = OnesPicture(returned, adapter_info().short)

    def is_dashed(values: Values) -> bool:
        float32_numbers = (0, 2, 4, 8)  # of those near 8 blocks
        return values["blocks"] == 8 and values["near"] not in float32_numbers

    steps: Trials = {
        "Press play: which total stops, and where?": by_playing({"blocks": MOST}),
        "Go to 8 blocks. Point at a dashed number.": by_pointing(is_dashed),
    }
    values = {"blocks": 1, "near": NEAR}
    rules = {"blocks": (1, MOST), "near": 2 * NEAR + 1}
    return Explorer(picture.show, rules, values, front=["blocks"], play="blocks", steps=steps)


def four_numbers() -> Explorer:
    """Four threads that each add a number to one total: one clicks whose turn is next, and finds all totals."""
    picture = FourPicture()
    orders = indices.calls()

    def ends_with(values: Values, total: int) -> bool:
        order = orders[values["order"]]
        return values["turn"] == 4 and indices.added(order)[-1] == total

    steps: Trials = {
        "Click an order that loses both ones.": lambda v: ends_with(v, 0),
        "Click one that loses nothing.": lambda v: ends_with(v, 2),
        "Find a third total.": lambda v: len(picture.found_totals) == 3,
    }
    rules: dict[str, Rule] = {"order": len(orders), "turn": 5}
    return Explorer(picture.show, rules, front=["turn"], steps=steps)


def errors() -> Explorer:
    """A slider over the length of a list of numbers between 0 and 1, and how far three orders are from its exact sum.

    Of the errors of eight lists, the largest is drawn.
    """
    numbers = np.random.default_rng(4).random((2**LAST, 8), np.float32)
    lists = [numbers[: 2**power] for power in range(FIRST, LAST + 1)]
    errors = {
        "one thread": _largest_errors(indices.add_one_by_one, lists),
        "tree": _largest_errors(indices.add_in_tree, lists),
        "Kahan's sum": _largest_errors(indices.add_with_compensation, lists),
    }
    picture = ErrorPicture(errors, FIRST)
    steps = {
        "Press play: which error grows with the list?": by_playing({"power": LAST}),
        "Go to 16 numbers: which order is the worst of the three?": {"power": FIRST},
    }
    return Explorer(picture.show, {"power": (FIRST, LAST)}, {"power": 9}, play="power", steps=steps)


def _largest_errors(add: Callable[[np.ndarray], np.ndarray], lists: Sequence[np.ndarray]) -> np.ndarray:
    """The largest error of an order for each length, as a part of the exact total; `lists` (n, lists) have a length."""
    largest = []
    for numbers in lists:
        exact = numbers.sum(axis=0, dtype=float)
        errors = abs(add(numbers) - exact) / exact
        largest.append(errors.max())
    return np.array(largest)


def subgroups() -> Explorer:
    """A slider over the steps in which 16 threads add, in subgroups of 4, 8 or 16 lanes."""
    picture = SubgroupPicture(np.random.default_rng(8).integers(1, 10, 16).tolist())

    def last(values: Values) -> bool:
        return values["step"] == steps(SIZES[values["subgroup"]]) - 1

    tasks: Trials = {
        "Press play: when does lane 0 have the sum of its subgroup?": by_playing(last),
        "Choose 4 lanes: what is more, and what is less?": {"subgroup": 0},
        "Point at a sum after two trades.": by_pointing({"step": 2}),
    }
    rules: dict[str, Rule] = {
        "subgroup": len(SIZES),
        "step": lambda values: steps(SIZES[values["subgroup"]]),
        "thread": 16,
    }
    choices = {"subgroup": [f"{size} lanes" for size in SIZES]}
    values = {"subgroup": 1, "step": 0, "thread": 5}
    return Explorer(picture.show, rules, values, front=["subgroup", "step"], play="step", choices=choices, steps=tasks)
