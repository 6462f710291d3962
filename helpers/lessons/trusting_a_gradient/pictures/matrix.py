"""Wrong kernels by kinds of data, all covered: the reader uncovers whether the data show what is wrong."""

import numpy as np

from helpers.data.words import listed
from helpers.lessons.trusting_a_gradient.tried import DATA, KERNELS, LESSONS, caught
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Grid
from helpers.pictures.touchable import Cell

# CSS pixels
LEFT = 409  # where the fields begin
TOP = 54
CELL = (86, 35)  # a field
States = dict[Cell, bool | None]  # of fields: None is covered, True caught, False missed


class CoveredPicture(Picture):
    """A row for each wrong kernel, with its edit, and a field for each kind of data; `on` names where they are run."""

    def __init__(self, on: str) -> None:
        super().__init__(TOP + CELL[1] * len(KERNELS) + 4)
        self.on = on

    def draw(self, fields: np.ndarray) -> str:
        """Uncover the fields that are 1; only these kernels are run."""
        if self.starts(True):
            self.note(MARGIN, 10, f"tested on {self.on}")
            self._write_columns()
            self._write_rows()
            self.stands_still()
        grid = Grid(self, fields, LEFT, TOP, CELL, numbers=False)
        grid.adjust("fields", 0, 1)
        states = states_of(fields)
        self.tinted(_boxes(grid, states, None), GRAY, 1, 0.18)
        self._draw_opened(_boxes(grid, states, True), "caught", BLUE)
        self._draw_opened(_boxes(grid, states, False), "missed", ORANGE)
        return _sentence(states)

    def _write_columns(self) -> None:
        """The name and the facts of each kind of data."""
        for column, (name, (facts, _)) in enumerate(DATA.items()):
            x = LEFT + CELL[0] * (column + 0.5)
            self.bold(x, 10, name, 14, INK, "middle")
            self.words((Word(x, 27 + 15 * i, fact, 13) for i, fact in enumerate(facts)), GRAY)

    def _write_rows(self) -> None:
        """The name of each wrong kernel, its lesson and its edit."""
        tops = TOP + CELL[1] * np.arange(len(KERNELS))
        for y, wrong in zip(tops, KERNELS, strict=True):
            self.bold(MARGIN, y + 10, wrong.name, 13.5)
            self.write(LEFT - 14, y + 10, LESSONS[wrong.kernel], 13, GRAY, align="right")
            edit = f"{wrong.old.strip()} → {wrong.new or '(nothing)'}"
            self.words([Word(MARGIN, y + 25, edit, 13, "left", True)], INK)
        self.lines(((MARGIN, y, LEFT, y) for y in tops), LINE, 1)

    def _draw_opened(self, boxes: list[Box], word: str, color: str) -> None:
        self.tinted(boxes, color, 1, 0.1)
        self.label(boxes, [word] * len(boxes), 14, color, "bold")


def _boxes(grid: Grid, states: States, state: bool | None) -> list[Box]:
    """The fields in one state."""
    return [grid.box(*cell) for cell, state_of_cell in states.items() if state_of_cell is state]


def states_of(fields: np.ndarray) -> States:
    """Return whether a row's fault shows with a column's data, in the fields that are open; None in the others."""
    states = {}
    for (kernel, data), is_open in np.ndenumerate(fields):
        states[kernel, data] = caught(kernel, data) if is_open else None
    return states


def catch_all(states: States) -> list[str]:
    """The data that are known to show all faults."""
    names = []
    for column, name in enumerate(DATA):
        if all(states[row, column] for row in range(len(KERNELS))):
            names.append(name)
    return names


def _sentence(states: States) -> str:
    """Say how many fields are open, what they say, and which data catch all kernels."""
    values = [*states.values()]
    covered = values.count(None)
    opened = f"{len(values) - covered} of {len(values)} fields are open"
    if covered == len(values):
        return f"{opened}. Each will say whether the data of its column show the fault of its row."
    counts = f"{opened}: {values.count(True)} caught, {values.count(False)} missed."
    complete = [f"“{name}”" for name in catch_all(states)]
    if not complete:
        return f"{counts} No column is known to catch all faults."
    return f"{counts} {listed(complete)} catches all {len(KERNELS)} faults."
