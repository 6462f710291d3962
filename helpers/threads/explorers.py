"""Sliders over a dispatch: workgroups, threads in each, the array, and one thread; and over the steps of a kernel."""

from collections.abc import Sequence

import numpy as np

from helpers.pictures.canvas import Picture
from helpers.stepper import stepper
from helpers.threads.indices import Dispatch
from helpers.threads.pictures import DispatchPicture
from helpers.widgets.explorer import Explorer, Rule
from wgsl import Kernel
from wgsl.simulator.run import simulate

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


def dispatch(**values: int) -> Explorer:
    """Sliders for workgroups in a row, for threads in each, for the length of an array, and for one thread."""
    picture = DispatchPicture(rows=1)

    def draw(groups, size, length, thread) -> Picture:
        return picture.show(Dispatch((groups, 1), (size, 1), 1, length), thread, 0)

    return Explorer(draw, IN_A_ROW, {"groups": 3, "size": 4, "length": 12, "thread": 9} | values, play="thread")


def dispatch_2d(**values: int) -> Explorer:
    """Sliders for workgroups and threads in x and y, for an array with rows and columns, and for one thread."""
    picture = DispatchPicture()

    def draw(wg_x, wg_y, size_x, size_y, cols, rows, x, y) -> Picture:
        return picture.show(Dispatch((wg_x, wg_y), (size_x, size_y), rows, cols), x, y)

    start = {"wg_x": 2, "wg_y": 2, "size_x": 4, "size_y": 3, "cols": 7, "rows": 5, "x": 5, "y": 4}
    return Explorer(draw, IN_A_GRID, start | values, play=("y", "x"), front=("size_x", "size_y", "x", "y"))


def steps(
    kernel: str | Kernel, arrays: Sequence, workgroups: int = 1, watch: Sequence[str] = (), **options
) -> Explorer:
    """Sliders through a simulated run of a kernel with few threads: its lines, its threads, and what they touch.

    The arguments are those of `gpu.launch`; `watch` names the variables to show; `options` are those of
    `stepper`, such as the thread at first.
    """
    buffers = [np.array(a, np.uint32) if isinstance(a, tuple) else a for a in arrays]
    return stepper(simulate(kernel, buffers, (workgroups, 1, 1), watch=watch), **options)
