"""Pictures of threads: a dispatch beside an array, and two threads that swap their numbers through a box."""

from math import prod

import numpy as np

from helpers.lessons.meet_the_gpu.indices import Dispatch, Ids, swap
from helpers.lessons.shared.interleavings import orders
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Grid

CELL = 26, 22  # CSS pixels of a thread
ELEMENT = 29, 24  # of an element
LEFT = 44  # of the first thread
RIGHT = 484  # of the first element
TOP = 74  # of both
# the table of ids
LINE = 25  # the height of a line
VALUES = 166  # where its second and its third column begin
REASONS = 226

# --- A dispatch -----------------------------------------------------------------------------------------------


class DispatchPicture(Picture):
    """Workgroups of threads on the left, the array on the right, and below them the ids of one thread.

    `rows` rows of threads and of elements fit; `adapter` is said below.
    """

    def __init__(self, rows: int = 6, adapter: str = "") -> None:
        self.table = TOP + rows * ELEMENT[1] + 28  # where the table of ids begins
        self.adapter = adapter
        self.place = ("thread",) if rows == 1 else ("y", "x")  # what a cell of threads or of elements chooses
        super().__init__(self.table + (70 if rows == 1 else 120))

    def draw(self, dispatch: Dispatch, x: int, y: int) -> str:
        """Show a dispatch, and point at the thread with global_invocation_id (x, y, 0) and at its element."""
        if self.starts(dispatch):
            self._draw_threads(dispatch)
            self._draw_array(dispatch)
            self.stands_still()
        ids = dispatch.ids(x, y)
        owned = dispatch.owned(x, y)
        self.threads.tinted([(y, x)], ORANGE, 4, 5 / 16)
        if owned:
            self.array.mark([owned])
        self._write_ids(dispatch, ids, owned)
        return f"{_ids_sentence(dispatch, ids)} {_element_sentence(dispatch, owned)} {_tail_sentence(dispatch)}"

    def _draw_threads(self, dispatch: Dispatch) -> None:
        """The threads with a frame around each workgroup, workgroup_id.x above and workgroup_id.y on the left."""
        axes = 1 if dispatch.in_a_row else 2
        workgroups = _counted(_sizes(dispatch.workgroups[:axes]), prod(dispatch.workgroups), "workgroup")
        threads = _counted(_sizes(dispatch.size[:axes]), prod(dispatch.size), "thread")
        self.bold(MARGIN, 17, f"{workgroups} of {threads}", 15)
        inside = "number in its workgroup" if dispatch.in_a_row else "local_invocation_index"
        self.note(MARGIN, 37, f"in each thread: its {inside}; outside: workgroup_id")
        columns, rows = dispatch.grid
        places = [*np.ndindex(rows, columns)]
        local = [dispatch.ids(x, y).local_invocation_index for y, x in places]
        self.threads = Grid(self, np.reshape(local, (rows, columns)), LEFT, TOP, CELL)
        self.threads.caption = "local_invocation_index"
        self.threads.tinted([(y, x) for y, x in places if dispatch.owned(x, y)], BLUE)
        self._draw_workgroups(dispatch)
        self.threads.touch("threads", *self.place)

    def _draw_workgroups(self, dispatch: Dispatch) -> None:
        """A frame around each workgroup, with workgroup_id.x above, and with workgroup_id.y on the left."""
        columns, rows = dispatch.workgroups
        size_x, size_y = dispatch.size
        frames = {}
        for j, i in np.ndindex(rows, columns):
            frames[i, j] = self.threads.box(j * size_y, i * size_x, size_y, size_x)
        self.boxes(frames.values(), INK, line=2.4)
        names = [Word(frames[i, 0].middle[0], TOP - 13, str(i), 13) for i in range(columns)]
        if not dispatch.in_a_row:
            names += [Word(LEFT - 12, frames[0, j].middle[1], str(j), 13, "right") for j in range(rows)]
        self.words(names, GRAY, "bold")

    def _draw_array(self, dispatch: Dispatch) -> None:
        rows = dispatch.rows
        columns = dispatch.columns
        if dispatch.in_a_row:
            sizes = f"{columns}"
            name = "number"
        else:
            sizes = _sizes((rows, columns))
            name = "offset"
        self.bold(RIGHT, 17, f"array of {_counted(sizes, dispatch.elements, 'element')}", 15, BLUE)
        self.note(RIGHT, 37, f"in each element: its {name}")
        self.array = Grid(self, np.arange(dispatch.elements).reshape(rows, columns), RIGHT, TOP, ELEMENT)
        self.array.caption = "offsets"
        inside = min(rows, dispatch.grid[1]), min(columns, dispatch.grid[0])
        self.array.tinted(np.ndindex(inside), BLUE)
        self.array.touch("array", *self.place)

    def _write_ids(self, dispatch: Dispatch, ids: Ids, owned: tuple[int, int] | None) -> None:
        """A table: the name of each id, its value, and where the value comes from; and the thread's element."""
        lefts = [MARGIN]  # of the columns of the table
        lines = 5  # in each
        if dispatch.in_a_row:
            lefts = [MARGIN, RIGHT]
            lines = 2
        for i, (name, value, reason) in enumerate(_id_rows(dispatch, ids)):
            column, line = divmod(i, lines)
            left = lefts[column]
            y = self.table + line * LINE
            self.write(left, y, name, 14, INK)
            self.write(left + VALUES, y, value, 14, ORANGE)
            self.write(left + REASONS, y, reason, 14, GRAY)
        last = self.table + (lines - 1) * LINE
        self.bold(lefts[-1], last, "its element", 14, ORANGE)
        self.bold(lefts[-1] + VALUES, last, _owned_words(dispatch, owned), 14, ORANGE)
        self.write(MARGIN, self.table + lines * LINE, self.adapter, 14, GRAY)


def _id_rows(dispatch: Dispatch, ids: Ids) -> list[tuple[str, str, str]]:
    """The name of each id, its value, and where the value comes from."""
    group_x, group_y, _ = ids.workgroup_id
    local_x, local_y, _ = ids.local_invocation_id
    size_x, size_y = dispatch.size
    x = f"of all: {group_x}·{size_x} + {local_x}"
    if dispatch.in_a_row:  # local_invocation_index is the same as local_invocation_id.x
        return [
            ("workgroup_id.x", str(group_x), "which workgroup"),
            ("local_invocation_id.x", str(local_x), "which thread of its workgroup"),
            ("global_invocation_id.x", str(ids.global_invocation_id[0]), x),
        ]
    index = f"the same as one number: {local_y}·{size_x} + {local_x}"
    return [
        ("workgroup_id", _value(ids.workgroup_id), "which workgroup"),
        ("local_invocation_id", _value(ids.local_invocation_id), "which thread of its workgroup"),
        ("local_invocation_index", _value(ids.local_invocation_index), index),
        ("global_invocation_id", _value(ids.global_invocation_id), f"{x} and {group_y}·{size_y} + {local_y}"),
    ]


def _owned_words(dispatch: Dispatch, owned: tuple[int, int] | None) -> str:
    """The element of a thread, in the table of ids."""
    if owned is None:
        return "none: it must return"
    row, column = owned
    if dispatch.in_a_row:
        return f"element {column}"
    return f"row {row}, column {column}, at offset {row}·{dispatch.columns} + {column}"


def _ids_sentence(dispatch: Dispatch, ids: Ids) -> str:
    """A thread by its ids."""
    group, local, index, thread = map(_value, vars(ids).values())
    if dispatch.in_a_row:
        return f"Thread {ids.global_invocation_id[0]} is number {index} in workgroup {ids.workgroup_id[0]}."
    return f"Thread {thread} has workgroup_id {group}, local_invocation_id {local} and local_invocation_index {index}."


def _value(value: int | tuple[int, int, int]) -> str:
    return str(value).replace(" ", "")


def _element_sentence(dispatch: Dispatch, owned: tuple[int, int] | None) -> str:
    if owned is None:
        return "It owns no element."
    row, column = owned
    if dispatch.in_a_row:
        return f"It owns element {column}."
    return f"It owns element [{row},{column}], at offset {dispatch.offset(row, column)}."


def _tail_sentence(dispatch: Dispatch) -> str:
    """Say how many threads own nothing, and how many elements nobody owns."""
    threads = prod(dispatch.grid)
    idle = dispatch.idle
    if idle:
        verb = "owns" if idle == 1 else "own"
        tail = f"{idle} of {threads} threads {verb} none"
    elif threads == 1:
        tail = "It is the only thread"
    else:
        tail = f"All {threads} threads own one"
    ownerless = dispatch.ownerless
    if ownerless:
        verb = "has" if ownerless == 1 else "have"
        tail += f"; {ownerless} of {dispatch.elements} elements {verb} no thread"
    return f"{tail}."


def _sizes(sizes: tuple[int, ...]) -> str:
    return " × ".join(map(str, sizes))


def _counted(number: str, count: int, noun: str) -> str:
    """A noun after its number, in the plural unless that is 1."""
    return f"{number} {noun}" if count == 1 else f"{number} {noun}s"


# --- A swap ---------------------------------------------------------------------------------------------------

NUMBERS = 3, 8
PUT = "box[thread] = numbers[thread];"
WAIT = "workgroupBarrier();"
TAKE = "numbers[thread] = box[1u - thread];"
SLOT = 64, 40  # CSS pixels of a number, and of a slot of the box


class SwapPicture(Picture):
    """Two threads with their numbers above a box with a slot for each, the lines they run, and all orders of turns."""

    def __init__(self) -> None:
        super().__init__(270)

    def draw(self, barrier: int, order: int, step: int) -> str:
        """Show the state after the first `step` turns of an order."""
        self.starts()
        every = orders(bool(barrier))
        turns = every[order][:step]
        numbers, box = swap(turns, NUMBERS)
        last = None
        if turns:
            thread = turns[-1]
            last = thread, turns.count(thread) == 2  # the thread, and whether it has taken
        self._draw_state(numbers, box, last)
        self._write_lines(barrier, last)
        self._draw_orders(every, order, step)
        return f"{_turn_sentence(last, box, numbers)} {_end_sentence(numbers, step)}".strip()

    def _draw_orders(self, every: list[tuple[int, ...]], order: int, step: int) -> None:
        """A row for each order, with a frame around the one that is shown."""
        self.bold(600, 17, "who takes the four turns", 15)
        self.note(600, 37, "each row is an order")
        grid = Grid(self, [(np.nan, *turns) for turns in every], 600, 56, (44, 33))
        grid.caption = "the thread that takes each turn"
        grid.empty = "start"
        grid.tinted([(order, turn) for turn in range(step + 1)], ORANGE, 2)
        self.boxes([grid.box(order, 0, 1, 5)], ORANGE, line=4)
        grid.touch("orders", "order", "step")

    def _draw_state(self, numbers: list, box: list, last: tuple | None) -> None:
        """The numbers in a row, the slots of the box below them, and an arrow for the last turn."""
        for thread in (0, 1):
            place = self._place_of_number(thread)
            self.bold(place.middle[0], 17, f"thread {thread}", 15, align="middle")
            self._draw_slot(place, numbers[thread])
            self.note(place.middle[0], place.y - 11, f"numbers[{thread}]", "middle")
            place = self._place_in_box(thread)
            self._draw_slot(place, box[thread])
            self.note(place.middle[0], place.y + 53, f"box[{thread}]", "middle")
        if last:
            thread, has_taken = last
            start = self._place_in_box(1 - thread if has_taken else thread)
            end = self._place_of_number(thread)
            self.tinted([end if has_taken else start], ORANGE, 3)
            self.lines([(start.middle[0], start.y - 3, end.middle[0], end.bottom + 3)], ORANGE, 3)

    def _draw_slot(self, place: Box, value: int | None) -> None:
        """A number in a box, dashed where it is empty."""
        if value is None:
            self.boxes([place], INK, line=1.6, dashes=(2.5, 3))
        else:
            self.boxes([place], INK, line=1.6)
            self.label([place], [value], 20, weight="bold")

    def _place_of_number(self, thread: int) -> Box:
        return Box(70 + 120 * thread, 62, *SLOT)

    def _place_in_box(self, thread: int) -> Box:
        return Box(70 + 120 * thread, 172, *SLOT)

    def _write_lines(self, barrier: int, last: tuple | None) -> None:
        """The kernel's lines, with a frame around the one that ran last."""
        for i, line in enumerate((PUT, WAIT if barrier else "", TAKE)):
            y = 80 + 40 * i
            self.words([Word(286, y, line, 13, "left", code=True)])
            if last and i == 2 * last[1]:
                self.tinted([Box(278, y - 15, 288, 30)], ORANGE, 2)


def _turn_sentence(last: tuple | None, box: list, numbers: list) -> str:
    if last is None:
        return f"The numbers are {numbers[0]} and {numbers[1]}, and the box is empty."
    thread, has_taken = last
    if not has_taken:
        return f"Thread {thread} puts its {numbers[thread]} into box[{thread}]."
    if box[1 - thread] is None:
        return f"Thread {thread} takes from box[{1 - thread}], which is still empty, and gets 0."
    return f"Thread {thread} takes the {numbers[thread]} out of box[{1 - thread}]."


def _end_sentence(numbers: list, step: int) -> str:
    if step < 4:
        return ""
    are = "The numbers are swapped" if tuple(numbers) == NUMBERS[::-1] else "A number is lost"
    return f"{are}: {numbers[0]} and {numbers[1]}."
