"""Wrong kernels by kinds of data, all covered: the reader uncovers whether the data show what is wrong."""

import numpy as np

from helpers.data.words import listed
from helpers.lessons.trusting_a_gradient.tried import DATA, KERNELS, LESSONS, caught
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, Picture, Word
from helpers.pictures.parts import Grid
from helpers.pictures.touchable import Cell

# CSS pixels: where the fields begin, and the size of one
LEFT = 400
TOP = 54
CELL = (86, 35)
Seen = dict[Cell, bool | None]
FACES = {None: ("covered", GRAY), True: ("caught", BLUE), False: ("missed", ORANGE)}


class CoveredPicture(Picture):
    """A row for each wrong kernel, with its edit, and a field for each kind of data; `on` names where they are run."""

    def __init__(self, on: str) -> None:
        super().__init__(TOP + CELL[1] * len(KERNELS) + 4)
        self.on = on

    def draw(self, fields: np.ndarray) -> str:
        """Uncover the fields that are 1; only these kernels are run."""
        if self.starts(True):
            self.note(MARGIN, 10, f"tested on {self.on}")
            for column, (name, (facts, _)) in enumerate(DATA.items()):
                x = LEFT + CELL[0] * (column + 0.5)
                self.bold(x, 10, name, 14, INK, "middle")
                self.words((Word(x, 27 + 15 * i, fact, 12) for i, fact in enumerate(facts)), GRAY)
            for row, wrong in enumerate(KERNELS):
                y = TOP + CELL[1] * row
                self.bold(MARGIN, y + 10, wrong.name, 13.5)
                self.write(LEFT - 14, y + 10, LESSONS[wrong.kernel], 12, GRAY, align="right")
                edit = f"{wrong.old.strip()} → {wrong.new or '(nothing)'}"
                self.words([Word(MARGIN, y + 25, edit, 12, "left", True)], INK)
            self.lines(((MARGIN, y, LEFT, y) for y in TOP + CELL[1] * np.arange(len(KERNELS))), LINE, 1)
            self.stands_still()
        grid = Grid(self, fields, LEFT, TOP, CELL, numbers=False)
        grid.adjust("fields", 0, 1)
        shown = seen(fields)
        for state, (word, color) in FACES.items():
            boxes = [grid.box(*cell) for cell, found in shown.items() if found is state]
            self.tinted(boxes, color, 1, 0.18 if state is None else 0.1)
            if state is not None:
                self.label(boxes, [word] * len(boxes), 14, color, "bold")
        return _said(shown)


def seen(fields: np.ndarray) -> Seen:
    """Return whether a row's fault shows with a column's data, in the fields that are open; None in the others."""
    return {cell: caught(*cell) if is_open else None for cell, is_open in np.ndenumerate(fields)}


def catch_all(shown: Seen) -> list[str]:
    """The data that are known to show all faults."""
    return [name for j, name in enumerate(DATA) if all(shown[i, j] for i in range(len(KERNELS)))]


def _said(shown: Seen) -> str:
    """Say how many fields are open, what they say, and which data catch all kernels."""
    states = [*shown.values()]
    opened = f"{len(states) - states.count(None)} of {len(states)} fields are open"
    if states.count(None) == len(states):
        return f"{opened}. Each will say whether the data of its column show the fault of its row."
    whole = [f"“{name}”" for name in catch_all(shown)]
    end = f"{listed(whole)} catches all {len(KERNELS)} faults" if whole else "No column is known to catch all faults"
    return f"{opened}: {states.count(True)} caught, {states.count(False)} missed. {end}."
