"""Pictures to touch of threads that add up one sum."""

from collections.abc import Sequence

import numpy as np

from helpers import gpu
from helpers.gpu import adapter_info
from helpers.kernels import load
from helpers.summation import indices, operations
from helpers.summation.indices import EIGHT, TERMS, beginnings, run_schedule
from helpers.summation.order_pictures import MOST, NEAR, STYLES, ErrorPicture, FourPicture, OnesPicture
from helpers.summation.pictures import LOADING, SHARE, LoadsPicture, RacePicture, TreePicture
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer, Rule

RACING = """@group(0) @binding(0) var<storage, read_write> total: array<f32>;

@compute @workgroup_size(256)
fn main() {
  total[0] += 1.0;
}"""
WORKGROUPS, THREADS = 256, 256  # of the race on the GPU


def race() -> Explorer:
    """Two threads that each load a total and store their sum: one clicks whose turn is next, and finds all orders."""
    (arrived,) = gpu.launch(RACING, [np.zeros(1, np.float32)], WORKGROUPS)
    picture = RacePicture(arrived, WORKGROUPS * THREADS, adapter_info().short)
    orders = beginnings()

    def ends(values: Values) -> int | None:
        order = orders[values["order"]]
        return run_schedule(order)[-1][1] if len(order) == 4 else None

    steps: Trials = {
        "Click an order that loses what a thread added.": lambda v: ends(v) in TERMS,
        "Click an order that loses nothing.": lambda v: ends(v) == sum(TERMS),
        "Find all six orders.": lambda v: len(picture.found) == 6,
    }
    return Explorer(picture.show, {"order": len(orders)}, front=["order"], play="order", steps=steps)


def tree(numbers: Sequence[float] = EIGHT) -> Explorer:
    """A slider over the steps of a tree that adds up a list, of a power of two of numbers, and its threads.

    The kernel really runs with as many threads as numbers.
    """
    kernel = load("sum", "2_tree").with_constants(THREADS=len(numbers))
    (returned,) = operations.total(np.float32(numbers), kernel=kernel).tolist()
    picture = TreePicture([*map(float, numbers)], returned)
    rules: dict[str, Rule] = {"step": len(picture.steps), "thread": lambda v: len(picture.steps[v["step"]])}
    steps = {
        "Press play: how many sums are left after each step?": {"step": len(picture.steps) - 1},
        "Point at thread 1 after step 2: which numbers are in it?": {"step": 2, "thread": 1},
        "Point at the last sum: how many steps did number 7 take?": {"step": len(picture.steps) - 1, "thread": 0},
    }
    return Explorer(picture.show, rules, front=["step"], play="step", steps=steps)


def loads() -> Explorer:
    """Sliders over the iterations in which 16 threads load 64 numbers, in turns or in shares, and over the threads."""
    steps = {
        "Press play: how many sectors does each iteration need?": {"iteration": SHARE - 1},
        "Point at number 20 on both sides: who loads it, and when?": {"thread": 5, "iteration": 0},
    }
    rules: dict[str, Rule] = {"iteration": SHARE, "thread": LOADING}
    return Explorer(LoadsPicture().show, rules, front=["iteration"], play="iteration", steps=steps)


# --- Appendix E: the order of a sum ------------------------------------------------------------------------------

FIRST, LAST = 4, 14  # powers of two: the shortest list, and the longest


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
    values, rules = {"blocks": 1, "near": NEAR}, {"blocks": (1, MOST), "near": 2 * NEAR + 1}
    return Explorer(picture.show, rules, values, front=["blocks"], play="blocks", steps=steps)


def four_numbers() -> Explorer:
    """Four threads that each add a number to one total: one clicks whose turn is next, and finds all totals."""
    picture, every = FourPicture(), indices.calls()

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
