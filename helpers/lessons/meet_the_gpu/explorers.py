"""Sliders over a dispatch, in a row or in two dimensions, the turns of two threads, a launch, and a buffer's bytes."""

from helpers.gpu import adapter_info
from helpers.lessons.meet_the_gpu.indices import Dispatch
from helpers.lessons.meet_the_gpu.pictures import DispatchPicture, SwapPicture
from helpers.lessons.shared.interleavings import orders
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

IN_A_ROW: dict[str, Rule] = {
    "groups": (1, 4),
    "size": (1, 4),
    "length": (1, 12),
    "thread": lambda v: v["groups"] * v["size"],
}
IN_A_GRID: dict[str, Rule] = {
    "wg_x": (1, 4),
    "wg_y": (1, 2),
    "size_x": (1, 4),
    "size_y": (1, 3),
    "cols": (1, 12),
    "rows": (1, 6),
    "x": lambda v: v["wg_x"] * v["size_x"],
    "y": lambda v: v["wg_y"] * v["size_y"],
}


def is_beside_array(values: Values) -> bool:
    """Return whether the thread has a row of the array, but no column."""
    return values["x"] >= values["cols"] and values["y"] < values["rows"]


def loses_a_number(values: Values) -> bool:
    """Return whether a swap without a barrier is over, and one thread took both of its turns before the other."""
    is_one_first = values["order"] in (0, 5)
    return not values["barrier"] and is_one_first and values["step"] == 4


def swaps(values: Values) -> bool:
    """Return whether a swap without a barrier is over, and both threads put before either of them took."""
    return not values["barrier"] and values["order"] in (1, 2, 3, 4) and values["step"] == 4


TRY_A_ROW = {
    "Press play: what is wrong with threads 10 and 11?": by_playing({"thread": 11, "length": 10}),
    "Point at element 7: which workgroup is its thread in?": by_pointing({"thread": 7}),
    "Set groups to 2: which elements have no thread now?": {"groups": 2},
}
TRY_A_GRID = {
    "Point below the last row: a column, but no row.": by_pointing(lambda v: v["y"] >= v["rows"]),
    "Point beside the last column: a row, but no column.": by_pointing(is_beside_array),
    "Set size_x to 2: which elements lose their threads?": {"size_x": 2},
}
TRY_A_SWAP = {
    "Press play: each thread puts, then takes.": by_playing({"step": 4}),
    "Find an order that loses a number.": loses_a_number,
    "Find an order that swaps the numbers.": swaps,
}


def dispatch(**values: int) -> Explorer:
    """Sliders for workgroups in a row, for threads in each, for the length of an array, and for one thread."""
    picture = DispatchPicture(1, f"your adapter: {adapter_info().short}")

    def draw(groups, size, length, thread) -> Picture:
        return picture.show(Dispatch((groups, 1), (size, 1), 1, length), thread, 0)

    start = {
        "groups": 3,
        "size": 4,
        "length": 10,
        "thread": 5,
    }
    return Explorer(draw, IN_A_ROW, start | values, play="thread", steps=TRY_A_ROW)


def dispatch_2d(**values: int) -> Explorer:
    """Sliders for workgroups and threads in x and y, for an array with rows and columns, and for one thread."""
    picture = DispatchPicture()

    def draw(wg_x, wg_y, size_x, size_y, cols, rows, x, y) -> Picture:
        return picture.show(Dispatch((wg_x, wg_y), (size_x, size_y), rows, cols), x, y)

    start = {
        "wg_x": 2,
        "wg_y": 2,
        "size_x": 4,
        "size_y": 3,
        "cols": 7,
        "rows": 5,
        "x": 5,
        "y": 3,
    }
    front = "size_x", "size_y", "x", "y"
    return Explorer(draw, IN_A_GRID, start | values, play=("y", "x"), front=front, steps=TRY_A_GRID)


def swap(**values: int) -> Explorer:
    """Sliders for the turns of two threads that swap their numbers, for their order, and for a barrier."""
    rules: dict[str, Rule] = {
        "barrier": 2,
        "order": lambda v: len(orders(bool(v["barrier"]))),
        "step": 5,
    }
    start = {"order": 1} | values
    front = "order", "step"
    return Explorer(SwapPicture().show, rules, start, play="step", front=front, steps=TRY_A_SWAP, pace=900)
