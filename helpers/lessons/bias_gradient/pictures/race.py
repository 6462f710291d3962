"""Two threads that add to one number, in an order that a reader clicks."""

import numpy as np

from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.pictures.turn_button import turn_button
from helpers.lessons.shared.sums import TERMS, Order
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Grid

TURNS = 4  # of both threads together
MEMORY_ROW = 2  # below the rows of the two threads
# CSS pixels
ROW_TOPS = 62, 120, 186  # of two threads, and of their total
BUTTON = (150, 38)
TURN = (86, 38)
LISTED_TURN = (34, 24)
LIST = 654, 66  # the corner of the list of orders


class RacePicture(Picture):
    """Two threads that add to one number: one clicks whose turn is next, and a list keeps all orders that were found.

    `arrived` is what a GPU made of as many ones as its threads added, and `on` the GPU.
    """

    def __init__(self, arrived: float, ones: int, on: str) -> None:
        super().__init__(250)
        self.found_orders: set[Order] = set()
        self.title(18, "click whose turn is next")
        self.note(MARGIN, 41, f"each thread adds {TERMS[0]}")
        turns = [self._box(0, turn) for turn in range(TURNS)]
        self.label(turns, (f"turn {turn}" for turn in range(1, TURNS + 1)), 13, GRAY, down=-30)
        self.bold(MARGIN, self._box(MEMORY_ROW, 0).middle[1], "total in memory", 15)
        self._draw_memory(-1, 0)
        self._draw_list_heads()
        on_the_gpu = f"{ones:,} threads added 1 at once: {arrived:,.0f} arrived (on {on})"
        self.write(MARGIN, 236, on_the_gpu, 13, BLUE)
        self.stands_still()

    def _draw_list_heads(self) -> None:
        left, _ = LIST
        width, _ = LISTED_TURN
        self.bold(left, 18, "orders found", 15)
        self.note(left + 2 * width, 51, "thread of each turn", "middle")
        self.note(left + 4.5 * width, 51, "total", "middle")

    def draw(self, order: int, turn: int) -> str:
        """Show the first turns of an order: what each of them did, and what the total was."""
        every = indices.schedules()
        turns = every[order][:turn]
        if len(turns) == TURNS:
            self.found_orders.add(turns)
        steps = indices.run_schedule(turns)
        for i, (thread, (verb, value)) in enumerate(zip(turns, steps, strict=True)):
            self._draw_turn(thread, i, verb, value)
        for thread in (0, 1):
            button = Box(MARGIN, ROW_TOPS[thread], *BUTTON)
            turn_button(self, thread, button, next_action(turns, thread), turns, every)
        self._draw_list(turns)
        return sentence(turns, steps)

    def _draw_turn(self, thread: int, turn: int, verb: str, value: int) -> None:
        """A turn of a thread, the total below it, and an arrow in the direction in which the number goes."""
        thread_box = self._box(thread, turn)
        memory_box = self._box(MEMORY_ROW, turn)
        upper = thread_box.middle[0], thread_box.bottom
        lower = memory_box.middle[0], memory_box.y
        self.tinted([thread_box], ORANGE, 2)
        self.write(*thread_box.middle, f"{verb} {value}", 15, align="middle")
        if verb == "stores":
            self._draw_memory(turn, value, 3)
            self.arrow(upper, lower, ORANGE)
        else:
            self._draw_memory(turn, value, 1)
            self.arrow(lower, upper, ORANGE)

    def _draw_list(self, turns: Order) -> None:
        """The orders that were found, each with the total that it leaves; one can point at them."""
        orders = indices.schedules()
        grid = Grid(self, [self._list_row(order) for order in orders], *LIST, LISTED_TURN)
        grid.caption = "the thread of each turn, and the total"
        grid.empty = "not found"
        places = {}
        for row, order in enumerate(orders):
            if order in self.found_orders:
                shown = {"order": row, "turn": TURNS}
                places |= {(row, column): shown for column in range(TURNS + 1)}
        grid.point(places, "orders found")
        if turns in orders:
            row = orders.index(turns)
            grid.frame([(row, 0), (row, TURNS)], ORANGE)

    def _list_row(self, order: Order) -> list[float]:
        """The thread of each turn and the total at the end; nothing where the order is not found yet."""
        if order not in self.found_orders:
            return [np.nan] * (TURNS + 1)
        _, total = indices.run_schedule(order)[-1]
        return [*order, total]

    def _draw_memory(self, turn: int, value: int, line: float = 1.0) -> None:
        """The total after a turn."""
        box = self._box(MEMORY_ROW, turn)
        self.tinted([box], INK, line, 0.05)
        self.write(*box.middle, str(value), 17, align="middle")

    def _box(self, row: int, turn: int) -> Box:
        return Box(268 + 94 * turn, ROW_TOPS[row], *TURN)


def next_action(turns: Order, thread: int) -> str:
    """The words on a thread's button: after a whole order, the next one begins."""
    turns_taken = turns.count(thread)
    if len(turns) == TURNS or turns_taken == 0:
        return " loads"
    return " stores" if turns_taken == 1 else " is done"


def sentence(turns: Order, steps: list[tuple[str, int]]) -> str:
    """Say what each turn did, and what the total is."""
    if not turns:
        return "Nobody has had a turn. The total is 0."
    _, total = steps[-1]
    actions = [f"thread {thread} {verb} {value}" for thread, (verb, value) in zip(turns, steps, strict=True)]
    done = f"{', '.join(actions).capitalize()}. The total is {total}"
    if len(turns) < TURNS:
        return f"{done}."
    if total == sum(TERMS):
        return f"{done}, as it should be."
    # The first thread to store, in the third turn, loses what it added: the other one overwrites it.
    return f"{done}: what thread {turns[2]} added is lost."
