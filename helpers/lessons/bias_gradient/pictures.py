"""Pictures of threads that add: a race whose order is clicked, a tree, and who loads which number."""

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.pictures.turns import turn_button
from helpers.lessons.shared.sums import TERMS, Order
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word, number
from helpers.pictures.parts import Grid


def connecting_line(upper: Box, lower: Box) -> tuple[float, ...]:
    """A line from the middle below one box to the middle above another."""
    return upper.middle[0], upper.bottom, lower.middle[0], lower.y


ROWS = 62, 120, 186  # CSS pixels: the tops of two threads and of their total
BUTTON, TURN, FOUND = (150, 38), (86, 38), (34, 24)  # of a thread, of one of its turns, and of a turn in the list
LIST = 654, 66  # where the list begins


class RacePicture(Picture):
    """Two threads that add to one number: one clicks whose turn is next, and a list keeps all orders that were found.

    `arrived` is what a GPU made of as many ones as its threads added, and `on` the GPU.
    """

    def __init__(self, arrived: float, ones: int, on: str) -> None:
        super().__init__(250)
        self.found: set[Order] = set()
        self.title(18, "click whose turn is next")
        self.note(MARGIN, 41, f"thread 0 adds {TERMS[0]}, thread 1 adds {TERMS[1]}")
        turns = [self._box(0, turn) for turn in range(4)]
        self.label(turns, (f"turn {turn}" for turn in range(1, 5)), 13, GRAY, down=-30)
        self.bold(MARGIN, self._box(2, 0).middle[1], "total in memory", 15)
        self._memory(-1, 0)
        self.bold(LIST[0], 18, "orders found", 15)
        for columns, head in (2, "thread of each turn"), (4.5, "total"):
            self.note(LIST[0] + columns * FOUND[0], 51, head, "middle")
        said = f"{ones:,} threads added 1 at once: {arrived:,.0f} arrived (on {on})"
        self.write(MARGIN, 236, said, 13, BLUE)
        self.stands_still()

    def draw(self, order: int) -> str:
        """Show one of all beginnings of orders: what each turn did, and what the total was."""
        every = indices.beginnings()
        turns = every[order]
        if len(turns) == 4:
            self.found.add(turns)
        done = indices.run_schedule(turns)
        for i, (thread, step) in enumerate(zip(turns, done, strict=True)):
            self._turn(thread, i, *step)
        for thread in (0, 1):
            does = (" loads", " stores", " is done")[turns.count(thread) * (len(turns) < 4)]
            turn_button(self, thread, Box(MARGIN, ROWS[thread], *BUTTON), does, turns, every)
        self._list(turns, every)
        return self._sentence(turns, done)

    def _turn(self, thread: int, i: int, verb: str, value: int) -> None:
        box, memory = self._box(thread, i), self._box(2, i)
        self.tinted([box], ORANGE, 2)
        self.write(*box.middle, f"{verb} {value}", 15, align="middle")
        self._memory(i, value, 3 if verb == "stores" else 1)
        line = connecting_line(box, memory)
        self.arrow(*((line[:2], line[2:]) if verb == "stores" else (line[2:], line[:2])), ORANGE)

    def _list(self, turns: Order, every: list[Order]) -> None:
        """The orders that were found, each with the total that it leaves; one can point at them."""
        orders = indices.schedules()
        rows = [(*each, indices.run_schedule(each)[-1][1]) for each in orders]
        grid = Grid(self, [row if row[:4] in self.found else [np.nan] * 5 for row in rows], *LIST, FOUND)
        grid.caption, grid.empty = "the thread of each turn, and the total", "not found"
        found = [cell for cell in np.ndindex(6, 5) if orders[cell[0]] in self.found]
        places = {(row, turn): {"order": every.index(orders[row])} for row, turn in found}
        grid.point(places, "orders found")
        if turns in orders:
            grid.frame([(orders.index(turns), 0), (orders.index(turns), 4)], ORANGE)

    def _memory(self, step: int, value: int, line: float = 1.0) -> None:
        """The total after a turn."""
        box = self._box(2, step)
        self.tinted([box], INK, line, 0.05)
        self.write(*box.middle, str(value), 17, align="middle")

    def _box(self, row: int, step: int) -> Box:
        return Box(268 + 94 * step, ROWS[row], *TURN)

    def _sentence(self, turns: Order, done: list[tuple[str, int]]) -> str:
        _, total = done[-1] if done else ("", 0)
        actions = [f"thread {thread} {verb} {value}" for thread, (verb, value) in zip(turns, done, strict=True)]
        if len(turns) < 4:
            return f"{', '.join(actions).capitalize() or 'Nobody has had a turn'}. The total is {total}."
        # The first thread to store, in the third turn, loses what it added: the other one overwrites it.
        lost = ", as it should be" if total == sum(TERMS) else f": what thread {turns[2]} added is lost"
        return f"{', '.join(actions).capitalize()}. The total is {total}{lost}."


class TreePicture(Picture):
    """The tree reduction of one workgroup's partial sums: each step adds one half to the other, until one sum is left.

    `partial` has one sum per thread, a power of two of them; a kernel with this many threads returned `returned`.
    """

    def __init__(self, partial: list[float], returned: float) -> None:
        self.steps, self.returned = indices.tree_steps(partial), returned
        super().__init__(int(self._box(len(self.steps), 0).y - 12))
        self.title(18, "partial sums in workgroup memory")
        labels = ["thread", "own sum", *(f"after step {i}" for i in range(1, len(self.steps)))]
        heights = [50, *(self._box(i, 0).middle[1] for i in range(len(self.steps)))]
        self.words((Word(132, y, label, 14, "right") for y, label in zip(heights, labels, strict=True)), GRAY)
        threads = range(len(partial))
        self.label((self._box(0, i) for i in threads), threads, 13, GRAY, down=-32)
        self.stands_still()

    def draw(self, step: int, thread: int) -> str:
        """Show the sums after each step up to `step`, and from which of them a thread's sum was made."""
        for row, sums in enumerate(self.steps[: step + 1]):
            boxes, made = [self._box(row, i) for i in range(len(sums))], range(thread, len(sums), len(self.steps[step]))
            grid = Grid(self, [sums], boxes[0].x, boxes[0].y, boxes[0][2:])
            grid.caption = f"after step {row}" if row else "own sums"
            grid.touch(grid.caption, "thread", step=row)
            self.tinted([boxes[i] for i in made], ORANGE, 2)
            for i, box in enumerate(boxes if row else ()):
                above = self._box(row - 1, i), self._box(row - 1, i + len(sums))
                color, line = (ORANGE, 2.4) if i in made else (BLUE, 1.2)
                self.lines((connecting_line(other, box) for other in above), color, line)
        grid.frame([(0, thread)], ORANGE)
        return self._sentence(step, thread)

    def _box(self, row: int, thread: int) -> Box:
        width = min(680 / len(self.steps[0]), 72)
        return Box(144 + thread * width, 64 + row * 66, width, 36)

    def _sentence(self, step: int, thread: int) -> str:
        left = len(self.steps[step])
        if step == 0:
            return f"Thread {thread} has a sum of its own, {number(self.steps[0][thread])}. No thread has waited yet."
        own, other = (self.steps[step - 1][i] for i in (thread, thread + left))
        added = f"{number(own)} + {number(other)}" if other >= 0 else f"{number(own)} + ({number(other)})"
        places = f"{left} place{'s' * (left > 1)} to its right"
        made = in_words("number", range(thread, len(self.steps[0]), left))
        end = f"{made} are in it" if left > 1 else f"the kernel wrote {number(self.returned)}"
        total = number(self.steps[step][thread])
        return f"Step {step}, after a barrier: thread {thread} adds the sum {places}, {added} = {total}; {end}."


CELL = 42, 24  # CSS pixels of a number in memory
LOADING, SHARE, SECTOR = 16, 4, 8  # threads, numbers of each of them, and numbers in a sector
MEMORY = np.arange(LOADING * SHARE).reshape(-1, SECTOR)
LEFTS = MARGIN, MARGIN + SECTOR * CELL[0] + 76  # where the two ways begin


class LoadsPicture(Picture):
    """Numbers in memory, a sector in each row, and who loads them at once: two ways, side by side."""

    def __init__(self) -> None:
        super().__init__(106 + len(MEMORY) * CELL[1])
        for left, name in zip(LEFTS, indices.WAYS, strict=True):
            self.bold(left, 18, name, 16)
            self.note(left, 40, f"{MEMORY.size} numbers in memory, a sector in each row")
        self.stands_still()

    def draw(self, iteration: int, thread: int) -> str:
        """Mark what all threads load in an iteration, the sectors that are fetched, and one thread's number."""
        said = []
        for way, left in enumerate(LEFTS):
            loads = [[divmod(n, SECTOR) for n in indices.loaded(way, LOADING, SHARE, i)] for i in range(SHARE)]
            grid = Grid(self, MEMORY, left, 56, CELL)
            grid.caption = indices.WAYS[way]
            owners = {cell: {"iteration": i, "thread": t} for i, row in enumerate(loads) for t, cell in enumerate(row)}
            grid.point(owners)
            now = loads[iteration]
            sectors = sorted({row for row, _ in now})
            grid.tinted(now, ORANGE, 1.6, 0.3)
            for row in sectors:
                grid.frame([(row, 0), (row, SECTOR - 1)], ORANGE)
            grid.frame([now[thread]], BLUE)
            fetched = f"{len(sectors)} sectors for {LOADING} loads"
            self.bold(grid.x, grid.bottom + 22, fetched, 15, ORANGE)
            said.append((MEMORY[now[thread]], fetched))
        turns, shares = said
        return (
            f"Iteration {iteration}: thread {thread} loads number {turns[0]} where threads take turns, which takes "
            f"{turns[1]}, and number {shares[0]} of its own share, which takes {shares[1]}."
        )
