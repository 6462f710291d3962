"""A picture of a dispatch: its workgroups of threads, the array beside them, and one thread with its ids."""

from math import prod

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Grid
from helpers.threads.indices import Dispatch, Ids

CELL = 24, 22  # CSS pixels of a thread
ELEMENT = 29, 24  # of an element
GAP, LEFT, RIGHT, TOP = 8, 44, 484, 74  # between workgroups; of the first thread and the first element
LINE, VALUES, REASONS = 25, 236, 350  # height of a line of the table of ids, and where its columns begin


class DispatchPicture(Picture):
    """Workgroups of threads on the left, the array on the right, and below them the five ids of one thread.

    `rows` rows of threads and of elements fit.
    """

    def __init__(self, rows: int = 6) -> None:
        self.table = TOP + rows * ELEMENT[1] + 34  # where the table of ids begins
        super().__init__(self.table + 5 * LINE + 20)

    def draw(self, dispatch: Dispatch, x: int, y: int) -> str:
        """Show a dispatch, and point at the thread with global_invocation_id (x, y, 0) and at its element."""
        if self.starts(dispatch):
            self._draw_threads(dispatch)
            self._draw_array(dispatch)
            self.stands_still()
        ids, owned = dispatch.ids(x, y), dispatch.owned(x, y)
        self.tinted([self._thread(dispatch, x, y)], ORANGE, 4, 5 / 16)
        if owned:
            self.array.mark([owned])
        self._write_ids(dispatch, ids)
        return f"{_ids_sentence(ids)} {_element_sentence(dispatch, owned)} {_tail_sentence(dispatch)}"

    def _thread(self, dispatch: Dispatch, x: int, y: int) -> Box:
        """Where a thread is drawn."""
        gaps = x // dispatch.size[0] * GAP, y // dispatch.size[1] * GAP
        return Box(LEFT + x * CELL[0] + gaps[0], TOP + y * CELL[1] + gaps[1], *CELL)

    def _draw_threads(self, dispatch: Dispatch) -> None:
        """The threads of each workgroup, with workgroup_id.x above and workgroup_id.y on their left."""
        (wide, high), (size_x, size_y) = dispatch.workgroups, dispatch.size
        counted, axes = ((dispatch.workgroups, "workgroup"), (dispatch.size, "thread")), 1 if dispatch.in_a_row else 2
        title = (_counted(" × ".join(map(str, pair[:axes])), prod(pair), noun) for pair, noun in counted)
        self.bold(MARGIN, 17, " of ".join(title), 15)
        self.write(MARGIN, 37, "in each thread: its local_invocation_index; outside: workgroup_id", 13, GRAY)
        boxes = {(x, y): self._thread(dispatch, x, y) for y, x in np.ndindex(dispatch.grid[::-1])}
        self.tinted((box for at, box in boxes.items() if dispatch.owned(*at)), BLUE)
        self.boxes((box for at, box in boxes.items() if not dispatch.owned(*at)), GRAY, dashes=(2.5, 3))
        self.label(boxes.values(), (dispatch.ids(*at).local_invocation_index for at in boxes), 12.5)
        width, height = size_x * CELL[0], size_y * CELL[1]
        groups = {(i, j): boxes[i * size_x, j * size_y] for j, i in np.ndindex(high, wide)}
        self.boxes((Box(first.x - 2, first.y - 2, width + 4, height + 4) for first in groups.values()), INK, line=1.8)
        above = (Word(groups[i, 0].x + width / 2, TOP - 13, str(i), 13) for i in range(wide))
        rows = range(0 if dispatch.in_a_row else high)
        beside = (Word(LEFT - 12, groups[0, j].y + height / 2, str(j), 13, "right") for j in rows)
        self.words([*above, *beside], GRAY, "bold")

    def _draw_array(self, dispatch: Dispatch) -> None:
        rows, columns = dispatch.rows, dispatch.columns
        sizes = f"{columns}" if dispatch.in_a_row else f"{rows} × {columns}"
        self.bold(RIGHT, 17, f"array of {_counted(sizes, dispatch.elements, 'element')}", 15, BLUE)
        self.write(RIGHT, 37, "in each element: its offset", 13, GRAY)
        self.array = Grid(self, np.full((rows, columns), np.nan), RIGHT, TOP, ELEMENT)
        inside = min(rows, dispatch.grid[1]), min(columns, dispatch.grid[0])
        self.array.tinted(np.ndindex(inside), BLUE)
        self.label(self.array.boxes, range(dispatch.elements), 12.5)

    def _write_ids(self, dispatch: Dispatch, ids: Ids) -> None:
        """A table: the name of each id, its value, and where the value comes from."""
        (gx, gy, _), (lx, ly, _), size = ids.workgroup_id, ids.local_invocation_id, dispatch.size
        y = f", y = {gy}·{size[1]} + {ly}" * (dispatch.grid[1] > 1)
        reasons = (
            f"x = {gx}·{size[0]} + {lx}{y}",
            "which thread in its workgroup",
            f"the same as one number: {ly}·{size[0]} + {lx}",
            "which workgroup",
            "the same for all threads",
        )
        for i, ((name, value), reason) in enumerate(zip(vars(ids).items(), reasons, strict=True)):
            for x, text, color in ((MARGIN, name, INK), (VALUES, _value(value), ORANGE), (REASONS, reason, GRAY)):
                self.write(x, self.table + i * LINE, text, 14, color)
        self._write_element(dispatch, dispatch.owned(*ids.global_invocation_id[:2]))

    def _write_element(self, dispatch: Dispatch, owned: tuple[int, int] | None) -> None:
        words = "none: this thread has to return"
        if owned:
            row, column = owned
            offset = f"{row}·{dispatch.columns} + {column} = {dispatch.offset(*owned)}"
            words = f"element {column}" if dispatch.in_a_row else f"row {row}, column {column}, at offset {offset}"
        y = self.table + 5 * LINE
        self.bold(MARGIN, y, "its element", 14, ORANGE)
        self.bold(VALUES, y, words, 14, ORANGE)


# --- In words -------------------------------------------------------------------------------------------------


def _ids_sentence(ids: Ids) -> str:
    """A thread by its five ids."""
    *first, last = (f"{name} {_value(value)}" for name, value in vars(ids).items())
    return f"The marked thread has {', '.join(first)} and {last}."


def _value(value: int | tuple[int, int, int]) -> str:
    return str(value).replace(" ", "")


def _element_sentence(dispatch: Dispatch, owned: tuple[int, int] | None) -> str:
    if owned is None:
        return "It owns no element."
    place = f"[{owned[0]},{owned[1]}], at offset {dispatch.offset(*owned)}"
    return f"It owns element {owned[1] if dispatch.in_a_row else place}."


def _tail_sentence(dispatch: Dispatch) -> str:
    """Which threads own nothing, and which elements nobody owns."""
    threads, idle, elements, lost = prod(dispatch.grid), dispatch.idle, dispatch.elements, dispatch.ownerless
    every = f"All {threads} threads own one" if threads > 1 else "It is the only thread"
    tail = f"{idle} of {_counted(threads, threads, 'thread')} {'owns' if idle == 1 else 'own'} none" if idle else every
    left = f"; {lost} of {elements} elements {'has' if lost == 1 else 'have'} no thread" if lost else ""
    return f"{tail}{left}."


def _counted(number: object, count: int, noun: str) -> str:
    """A noun after its number, in the plural unless that is 1."""
    return f"{number} {noun}{'s' * (count != 1)}"
