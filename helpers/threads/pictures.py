"""A picture of a dispatch: its workgroups of threads, the array beside them, and one thread with its ids."""

from math import prod

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, ORANGE, Box, Picture, Word, tint
from helpers.pictures.parts import MARGIN, Grid
from helpers.threads.indices import Dispatch, Ids

CELL = 24, 22  # CSS pixels of a thread
ELEMENT = 29, 24  # of an element
GAP, LEFT, RIGHT, TOP = 8, 44, 484, 74  # between workgroups; of the first thread and the first element
LINE, VALUES, REASONS = 25, 236, 350  # height of a line of the table of ids, and where its columns begin


class DispatchPicture(Picture):
    """Workgroups of threads on the left, the array on the right, and below them the five ids of one thread.

    There is room for `rows` rows of threads and of elements.
    """

    def __init__(self, rows: int = 6) -> None:
        self.table = TOP + rows * ELEMENT[1] + 34  # where the table of ids begins
        super().__init__(self.table + 5 * LINE + 20)

    def show(self, dispatch: Dispatch, x: int, y: int) -> "DispatchPicture":
        """Show a dispatch, and point at the thread with global_invocation_id (x, y, 0) and at its element."""
        if self.starts(dispatch):
            self._draw_threads(dispatch)
            self._draw_array(dispatch)
            self.stands_still()
        ids, owned = dispatch.ids(x, y), dispatch.owned(x, y)
        self.boxes([self._thread(dispatch, x, y)], ORANGE, tint(ORANGE, 5 / 16), 4)
        if owned:
            self.array.mark([owned])
        self._write_ids(dispatch, ids)
        self.sentence = f"{_named(ids)} {_owner(dispatch, owned)} {_tail(dispatch)}"
        return self

    def _thread(self, dispatch: Dispatch, x: int, y: int) -> Box:
        """Where a thread stands."""
        gaps = x // dispatch.size[0] * GAP, y // dispatch.size[1] * GAP
        return Box(LEFT + x * CELL[0] + gaps[0], TOP + y * CELL[1] + gaps[1], *CELL)

    def _draw_threads(self, dispatch: Dispatch) -> None:
        (wide, high), (size_x, size_y) = dispatch.workgroups, dispatch.size
        counted, axes = ((dispatch.workgroups, "workgroup"), (dispatch.size, "thread")), 1 if dispatch.in_a_row else 2
        title = (_several(" × ".join(map(str, pair[:axes])), prod(pair), noun) for pair, noun in counted)
        self.write(MARGIN, 17, " of ".join(title), 15, INK, "bold")
        self.write(MARGIN, 37, "in each thread: its local_invocation_index; outside: workgroup_id", 13, GRAY)
        places = [(x, y) for y in range(dispatch.grid[1]) for x in range(dispatch.grid[0])]
        boxes = {place: self._thread(dispatch, *place) for place in places}
        self.boxes((boxes[place] for place in places if dispatch.owned(*place)), BLUE, tint(BLUE))
        self.boxes((boxes[place] for place in places if not dispatch.owned(*place)), GRAY, dashes=(2.5, 3))
        numbers = ((boxes[p].middle, str(dispatch.ids(*p).local_invocation_index)) for p in places)
        self.words(Word(*middle, text, 12.5) for middle, text in numbers)
        groups = [(i, j) for j in range(high) for i in range(wide)]
        corners = (boxes[i * size_x, j * size_y] for i, j in groups)
        self.boxes((Box(c.x - 2, c.y - 2, size_x * CELL[0] + 4, size_y * CELL[1] + 4) for c in corners), INK, line=1.8)
        self._number_groups(dispatch)

    def _number_groups(self, dispatch: Dispatch) -> None:
        """workgroup_id.x above the workgroups, workgroup_id.y on their left."""
        (wide, high), (size_x, size_y) = dispatch.workgroups, dispatch.size
        above = (self._thread(dispatch, i * size_x, 0).x + size_x * CELL[0] / 2 for i in range(wide))
        rows = range(0 if dispatch.in_a_row else high)
        beside = (self._thread(dispatch, 0, j * size_y).y + size_y * CELL[1] / 2 for j in rows)
        self.words((Word(x, TOP - 13, str(i), 13) for i, x in enumerate(above)), GRAY, "bold")
        self.words((Word(LEFT - 12, y, str(j), 13, "right") for j, y in enumerate(beside)), GRAY, "bold")

    def _draw_array(self, dispatch: Dispatch) -> None:
        rows, columns = dispatch.rows, dispatch.columns
        sizes = f"{columns}" if dispatch.in_a_row else f"{rows} × {columns}"
        self.write(RIGHT, 17, f"array of {_several(sizes, dispatch.elements, 'element')}", 15, BLUE, "bold")
        self.write(RIGHT, 37, "in each element: its offset", 13, GRAY)
        self.array = Grid(self, np.full((rows, columns), np.nan), RIGHT, TOP, ELEMENT)
        inside = min(rows, dispatch.grid[1]), min(columns, dispatch.grid[0])
        self.boxes((self.array.box(*cell) for cell in np.ndindex(inside)), BLUE, tint(BLUE))
        offsets = zip(self.array.boxes, map(str, range(dispatch.elements)), strict=True)
        self.words(Word(*box.middle, text, 12.5) for box, text in offsets)

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
        lines = [(name, _value(value), why) for (name, value), why in zip(vars(ids).items(), reasons, strict=True)]
        for x, color, part in ((MARGIN, INK, 0), (VALUES, ORANGE, 1), (REASONS, GRAY, 2)):
            column = (line[part] for line in lines)
            self.words((Word(x, self.table + i * LINE, text, 14, "left") for i, text in enumerate(column)), color)
        self._write_element(dispatch, dispatch.owned(*ids.global_invocation_id[:2]))

    def _write_element(self, dispatch: Dispatch, owned: tuple[int, int] | None) -> None:
        words = "none: this thread has to return"
        if owned:
            row, column = owned
            offset = f"{row}·{dispatch.columns} + {column} = {dispatch.offset(*owned)}"
            words = f"element {column}" if dispatch.in_a_row else f"row {row}, column {column}, at offset {offset}"
        y = self.table + 5 * LINE
        self.write(MARGIN, y, "its element", 14, ORANGE, "bold")
        self.write(VALUES, y, words, 14, ORANGE, "bold")


# --- In words -------------------------------------------------------------------------------------------------


def _named(ids: Ids) -> str:
    """A thread by its five ids."""
    *first, last = (f"{name} {_value(value)}" for name, value in vars(ids).items())
    return f"The marked thread has {', '.join(first)} and {last}."


def _value(value: int | tuple[int, int, int]) -> str:
    return str(value).replace(" ", "")


def _owner(dispatch: Dispatch, owned: tuple[int, int] | None) -> str:
    if owned is None:
        return "It owns no element."
    row, column = owned
    place = f"{column}" if dispatch.in_a_row else f"[{row},{column}], at offset {dispatch.offset(*owned)}"
    return f"It owns element {place}."


def _tail(dispatch: Dispatch) -> str:
    """Which threads own nothing, and which elements nobody owns."""
    threads, idle, elements, lost = prod(dispatch.grid), dispatch.idle, dispatch.elements, dispatch.ownerless
    every = f"All {threads} threads own one" if threads > 1 else "It is the only thread"
    tail = f"{idle} of {_several(threads, threads, 'thread')} {'owns' if idle == 1 else 'own'} none" if idle else every
    left = f"; {lost} of {elements} elements {'has' if lost == 1 else 'have'} no thread" if lost else ""
    return f"{tail}{left}."


def _several(number: object, count: int, noun: str) -> str:
    """A noun behind its number, in the plural unless it is 1."""
    return f"{number} {noun}{'s' * (count != 1)}"
