"""A tree that adds up four numbers, with barriers or without, in lockstep or one thread after the other."""

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.simulator.pictures.listing import Listing
from helpers.lessons.simulator.runs import (
    ADD,
    BARRIER,
    NUMBERS,
    ORDERS,
    SUM,
    SUM_BODY,
    TAKE,
    WAIT,
    SumStep,
    sum_in_order,
)
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Grid
from helpers.pictures.touchable import Touchable

MOST_STEPS = max(len(sum_in_order(True, order)) for order in range(len(ORDERS)))
FIRST = Box(590, 60, 46, 23)  # CSS pixels: partial[0] after the first statement


class OrdersPicture(Picture):
    """The lines of a sum, and a row for each statement: who runs it, and what partial holds after it."""

    def __init__(self) -> None:
        super().__init__(int(FIRST.y + MOST_STEPS * FIRST.height + 8))

    def draw(self, barrier: int, order: int, step: int) -> str:
        """Show the statements up to one of them."""
        run = sum_in_order(bool(barrier), order)
        if self.starts(barrier, order):
            self._draw_lines(barrier)
            self.stands_still()
        now = run[step]
        self.listing.frame(SUM_BODY[0] + 1 + now.line - (now.line > WAIT and not barrier))
        self._draw_rows(run, step)
        if now.total is not None:
            color = BLUE if now.total == sum(NUMBERS) else ORANGE
            self.bold(MARGIN + 6, self.listing.bottom + 66, f"total = {now.total}", 20, color)
        return _sentence(now, ORDERS[order])

    def _draw_lines(self, barrier: int) -> None:
        first, end = SUM_BODY
        text = SUM if barrier else SUM.replace(f"    {BARRIER}\n", "")
        self.listing = Listing(self, text, (first, end if barrier else end - 1), MARGIN, 26, 410)
        numbers = ", ".join(map(str, NUMBERS))
        self.note(MARGIN + 6, self.listing.bottom + 20, f"input: {numbers}; {sum(NUMBERS)} is their sum")
        self.bold(FIRST.x, 16, "partial, after each statement", 15)
        for word in range(len(NUMBERS)):
            self.write(FIRST.x + FIRST.width * (word + 0.5), 46, str(word), 13, GRAY, align="middle")
        self.write(FIRST.x - 10, 46, "who", 13, GRAY, align="right")

    def _draw_rows(self, run: tuple[SumStep, ...], step: int) -> None:
        """A row for each statement, with partial after it; a statement that has not run is an empty row."""
        empty = [np.nan] * len(NUMBERS)
        rows = [done.partial if i <= step else empty for i, done in enumerate(run)]
        grid = Grid(self, rows, FIRST.x, FIRST.y, (FIRST.width, FIRST.height))
        grid.caption = "partial after each statement"
        cells = {cell: {"step": cell[0]} for cell in np.ndindex(grid.values.shape)}
        self.touchable["statements"] = Touchable(grid, cells)
        for i, done in enumerate(run[: step + 1]):
            _, middle = grid.box(i, 0).middle
            self.write(FIRST.x - 10, middle, _who(done), 13, align="right")
            if done.line not in (WAIT, TAKE):
                grid.tinted([(i, thread) for thread in done.threads], ORANGE, 1)
        self.boxes([grid.box(step, 0, 1, len(NUMBERS))], BLUE, line=2.4)


def _who(step: SumStep) -> str:
    if step.line == WAIT:
        return "barrier"
    if len(step.threads) == len(NUMBERS):
        return "all threads"
    return in_words("thread", step.threads)


def _sentence(step: SumStep, order: str) -> str:
    """Say what a statement does; the last one gives the total."""
    who = _who(step)
    verb = "s" if len(step.threads) == 1 else ""
    if step.line == WAIT:
        return "All threads pass the barrier."
    if step.line == TAKE:
        end = "as it should be" if step.total == sum(NUMBERS) else f"and it should be {sum(NUMBERS)}"
        where = order if order == ORDERS[0] else f"with {order}"
        return f"Thread 0 writes the total, {where}: {step.total}, {end}."
    does = f"store{verb} the input"
    if step.line == ADD:
        does = f"add{verb} partial[thread + {step.half}]"
    return f"{who[0].upper()}{who[1:]} {does}: partial is {', '.join(map(str, step.partial))}."
