"""Pictures with sliders of appendix E: ones that are lost, four numbers in any order, and three errors."""

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.order_of_a_sum.pictures import MOST, NEAR, STYLES, ErrorPicture, FourPicture, OnesPicture
from helpers.lessons.shared import sums as indices
from helpers.operations.summation import operations
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer

# powers of two: the shortest list, and the longest
FIRST = 4
LAST = 14


def ones() -> Explorer:
    """Sliders over a number of ones, which one thread and a tree add up, and over the whole numbers near it."""
    numbers = np.ones(17, np.float32)
    numbers[0] = indices.EXACT - 8
    (returned,) = operations.total(numbers, kernel="1_one_thread").tolist()
    picture = OnesPicture(returned, adapter_info().short)
    steps: Trials = {
        "Press play: which total stops, and where?": {"blocks": MOST},
        "Go to 8 blocks. Point at a dashed number.": lambda v: v["blocks"] == 8 and v["near"] not in (0, 2, 4, 8),
    }
    values = {"blocks": 1, "near": NEAR}
    rules = {"blocks": (1, MOST), "near": 2 * NEAR + 1}
    return Explorer(picture.show, rules, values, front=["blocks"], play="blocks", steps=steps)


def four_numbers() -> Explorer:
    """Four threads that each add a number to one total: one clicks whose turn is next, and finds all totals."""
    picture = FourPicture()
    every = indices.calls()

    def ends(values: Values, total: int) -> bool:
        order = every[values["order"]]
        return len(order) == 4 and indices.added(order)[-1] == total

    steps: Trials = {
        "Click an order that loses both ones.": lambda v: ends(v, 0),
        "Click one that loses nothing.": lambda v: ends(v, 2),
        "Find a third total.": lambda v: len(picture.found) == 3,
    }
    return Explorer(picture.show, {"order": len(every)}, front=["order"], steps=steps)


def errors() -> Explorer:
    """A slider over the length of a list of numbers between 0 and 1, and how far three orders are from its exact sum.

    Of the errors of eight lists, the largest is drawn.
    """
    numbers = np.random.default_rng(4).random((2**LAST, 8), np.float32)
    lists = [numbers[: 2**power] for power in range(FIRST, LAST + 1)]
    orders = indices.add_one_by_one, indices.add_in_tree, indices.add_with_compensation
    found = [np.array([_largest(add(each), each) for each in lists]) for add in orders]
    picture = ErrorPicture(dict(zip(STYLES, found, strict=True)), FIRST)
    steps = {
        "Press play: which error grows with the list?": {"power": LAST},
        "Go to 16 numbers: which order is the worst of the three?": {"power": FIRST},
    }
    return Explorer(picture.show, {"power": (FIRST, LAST)}, {"power": 9}, play="power", steps=steps)


def _largest(totals: np.ndarray, lists: np.ndarray) -> float:
    """The largest error of several totals, as a part of the exact one."""
    exact = lists.sum(axis=0, dtype=float)
    return (abs(totals - exact) / exact).max()
