"""Pictures of threads: a dispatch beside an array, and two threads that swap their numbers through a box."""

from math import prod

import numpy as np

from helpers.lessons.meet_the_gpu.indices import Dispatch, Ids, swap
from helpers.lessons.shared.interleavings import orders
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Grid

CELL = 26, 22  # CSS pixels of a thread
ELEMENT = 29, 24  # of an element
# of the first thread and the first element
LEFT = 44
RIGHT = 484
TOP = 74
# height of a line of the table of ids, and where its columns begin
LINE = 25
VALUES = 166
REASONS = 226

# --- A dispatch -----------------------------------------------------------------------------------------------


class DispatchPicture(Picture):
    """Workgroups of threads on the left, the array on the right, and below them the ids of one thread.

    `rows` rows of threads and of elements fit; `adapter` is said below.
    """

    def __init__(self, rows: int = 6, adapter: str = "") -> None:
        # where the table of ids begins
        self.table = TOP + rows * ELEMENT[1] + 28
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
        wide, high = dispatch.workgroups
        size_x, size_y = dispatch.size
        counted = ((dispatch.workgroups, "workgroup"), (dispatch.size, "thread"))
        axes = 1 if dispatch.in_a_row else 2
        title = (_counted(" × ".join(map(str, pair[:axes])), prod(pair), noun) for pair, noun in counted)
        self.bold(MARGIN, 17, " of ".join(title), 15)
        inside = "number in its workgroup" if dispatch.in_a_row else "local_invocation_index"
        self.note(MARGIN, 37, f"in each thread: its {inside}; outside: workgroup_id")
        places = [*np.ndindex(dispatch.grid[::-1])]
        local = [dispatch.ids(x, y).local_invocation_index for y, x in places]
        grid = Grid(self, np.reshape(local, dispatch.grid[::-1]), LEFT, TOP, CELL)
        grid.caption = "local_invocation_index"
        grid.tinted((place for place in places if dispatch.owned(*place[::-1])), BLUE)
        groups = {(i, j): grid.box(j * size_y, i * size_x, size_y, size_x) for j, i in np.ndindex(high, wide)}
        self.boxes(groups.values(), INK, line=2.4)
        above = (Word(groups[i, 0].middle[0], TOP - 13, str(i), 13) for i in range(wide))
        rows = range(0 if dispatch.in_a_row else high)
        beside = (Word(LEFT - 12, groups[0, j].middle[1], str(j), 13, "right") for j in rows)
        self.words([*above, *beside], GRAY, "bold")
        grid.touch("threads", *self.place)
        self.threads = grid

    def _draw_array(self, dispatch: Dispatch) -> None:
        rows = dispatch.rows
        columns = dispatch.columns
        sizes = f"{columns}" if dispatch.in_a_row else f"{rows} × {columns}"
        self.bold(RIGHT, 17, f"array of {_counted(sizes, dispatch.elements, 'element')}", 15, BLUE)
        self.note(RIGHT, 37, f"in each element: its {'number' if dispatch.in_a_row else 'offset'}")
        self.array = Grid(self, np.arange(dispatch.elements).reshape(rows, columns), RIGHT, TOP, ELEMENT)
        self.array.caption = "offsets"
        inside = min(rows, dispatch.grid[1]), min(columns, dispatch.grid[0])
        self.array.tinted(np.ndindex(inside), BLUE)
        self.array.touch("array", *self.place)

    def _write_ids(self, dispatch: Dispatch, ids: Ids, owned: tuple[int, int] | None) -> None:
        """A table: the name of each id, its value, and where the value comes from; and the thread's element."""
        gx, gy, _ = ids.workgroup_id
        lx, ly, _ = ids.local_invocation_id
        size = dispatch.size
        in_a_row = dispatch.in_a_row
        y = f" and {gy}·{size[1]} + {ly}" * (not in_a_row)
        reasons = {
            "workgroup_id": "which workgroup",
            "local_invocation_id": "which thread of its workgroup",
            "local_invocation_index": f"the same as one number: {ly}·{size[0]} + {lx}",
            "global_invocation_id": f"of all: {gx}·{size[0]} + {lx}{y}",
        }
        lines = 5  # in a column of the table
        left = MARGIN  # of the last column
        if in_a_row:
            del reasons["local_invocation_index"]  # the same as local_invocation_id.x
            lines = 2
            left = RIGHT
        for i, (name, reason) in enumerate(reasons.items()):
            value = getattr(ids, name)
            name, value = (f"{name}.x", str(value[0])) if in_a_row else (name, _value(value))
            for x, text, color in ((0, name, INK), (VALUES, value, ORANGE), (REASONS, reason, GRAY)):
                self.write(x + (MARGIN, left)[i // lines], self.table + i % lines * LINE, text, 14, color)
        words = "none: it must return"
        if owned:
            words = f"element {owned[1]}"
        if owned and not in_a_row:
            words = f"row {owned[0]}, column {owned[1]}, at offset {owned[0]}·{dispatch.columns} + {owned[1]}"
        for x, text in ((0, "its element"), (VALUES, words)):
            self.bold(left + x, self.table + (lines - 1) * LINE, text, 14, ORANGE)
        self.write(MARGIN, self.table + lines * LINE, self.adapter, 14, GRAY)


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
    place = f"[{owned[0]},{owned[1]}], at offset {dispatch.offset(*owned)}"
    return f"It owns element {owned[1] if dispatch.in_a_row else place}."


def _tail_sentence(dispatch: Dispatch) -> str:
    """Say how many threads own nothing, and how many elements nobody owns."""
    threads = prod(dispatch.grid)
    idle = dispatch.idle
    elements = dispatch.elements
    lost = dispatch.ownerless
    every = f"All {threads} threads own one" if threads > 1 else "It is the only thread"
    tail = f"{idle} of {threads} threads {'owns' if idle == 1 else 'own'} none" if idle else every
    left = f"; {lost} of {elements} elements {'has' if lost == 1 else 'have'} no thread" if lost else ""
    return f"{tail}{left}."


def _counted(number: object, count: int, noun: str) -> str:
    """A noun after its number, in the plural unless that is 1."""
    return f"{number} {noun}{'s' * (count != 1)}"


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
        turns = orders(bool(barrier))
        order, done = turns[order], turns[order][:step]
        numbers, box = swap(done, NUMBERS)
        last = (done[-1], done.count(done[-1]) == 2) if done else None  # the thread, and whether it has taken
        self._draw_state(numbers, box, last)
        self._write_lines(barrier, last)
        self.bold(600, 17, "who takes the four turns", 15)
        self.note(600, 37, "each row is an order")
        grid = Grid(self, [(np.nan, *each) for each in turns], 600, 56, (44, 33))
        grid.caption = "the thread that takes each turn"
        grid.empty = "start"
        at = turns.index(order)
        grid.tinted([(at, turn) for turn in range(step + 1)], ORANGE, 2)
        self.boxes([grid.box(at, 0, 1, 5)], ORANGE, line=4)
        grid.touch("orders", "order", "step")
        return f"{_turn_sentence(last, box, numbers)} {_end_sentence(numbers, step)}".strip()

    def _draw_state(self, numbers: list, box: list, last: tuple | None) -> None:
        """The numbers in a row, the slots of the box below them, and an arrow for the last turn."""
        places = {(thread, row): Box(70 + 120 * thread, 62 + 110 * row, *SLOT) for thread in (0, 1) for row in (0, 1)}
        for thread in (0, 1):
            self.bold(places[thread, 0].middle[0], 17, f"thread {thread}", 15, align="middle")
            for row, (name, values) in enumerate((("numbers", numbers), ("box", box))):
                place = places[thread, row]
                value = values[thread]
                self.boxes([place], INK, line=1.6, dashes=None if value is not None else (2.5, 3))
                self.label([place], ["" if value is None else value], 20, weight="bold")
                self.note(place.middle[0], place.y - 11 + 64 * row, f"{name}[{thread}]", "middle")
        if last:
            thread, has_taken = last
            start = places[1 - thread if has_taken else thread, 1]
            end = places[thread, 0]
            self.tinted([end if has_taken else places[thread, 1]], ORANGE, 3)
            self.lines([(start.middle[0], start.y - 3, end.middle[0], end.y + SLOT[1] + 3)], ORANGE, 3)

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
