"""Eight lanes that run a small kernel in lockstep, one statement a step."""

from collections.abc import Sequence

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.simulator.pictures.listing import Listing
from helpers.lessons.simulator.runs import COUNTING, COUNTING_BODY, LANES, NOT_YET, LanesStep, counting
from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Area, Grid

# CSS pixels
VALUES = Box(412, 44, 51, 28)  # of a variable in lane 0
SLOTS = Box(412, 134, 17.8, 13)  # of lane 0 in the first statement


class LanesPicture(Picture):
    """A kernel's lines, its variables in each lane, and below them a slot for each lane in each statement."""

    def __init__(self) -> None:
        super().__init__(int(SLOTS.y + LANES * SLOTS.height + 4))
        self.run = counting()
        self.listing = Listing(self, COUNTING, COUNTING_BODY, MARGIN, 4, 290)
        self.bold(VALUES.x, 9, "eight threads, each in a lane of its own", 15)
        lanes = range(LANES)
        self.label((self._value_box(0, lane) for lane in lanes), lanes, 13, GRAY, down=-25)
        self.write(VALUES.x - 12, VALUES.middle[1] - 25, "lane", 13, GRAY, align="right")
        self.bold(SLOTS.x, SLOTS.y - 13, "a slot for each statement", 14)
        names = []
        for lane in lanes:
            names.append(Word(SLOTS.x - 8, SLOTS.y + SLOTS.height * (lane + 0.5), f"lane {lane}", 13, "right"))
        self.words(names, GRAY)
        self.stands_still()

    def draw(self, step: int, lane: int) -> str:
        """Show a statement, the values after it, and the slots up to it; and point at a lane."""
        now = self.run[step]
        self.listing.frame(now.line)
        for row, (name, values) in enumerate({"n": now.n, "steps": now.steps}.items()):
            self._draw_values(row, name, values, now, lane)
        self._draw_slots(step, lane)
        used = sum(len(done.active) for done in self.run[: step + 1])
        slots = LANES * (step + 1)
        self.write(self.width - MARGIN, SLOTS.y - 13, f"{used} of {slots} slots used", 14, BLUE, "bold", "right")
        return f"{self._sentence(now, lane)} {used} of {slots} slots are used so far."

    def _draw_values(self, row: int, name: str, values: Sequence[int], now: LanesStep, lane: int) -> None:
        """A variable in all lanes; those that run the statement are tinted."""
        known = [np.nan if value == NOT_YET else value for value in values]
        first = self._value_box(row, 0)
        grid = Grid(self, [known], first.x, first.y, (first.width, first.height))
        grid.caption = f"{name} in each lane"
        grid.touch(name, "lane")
        grid.tinted([(0, active) for active in now.active], ORANGE, 1.6)
        self.write(first.x - 12, first.middle[1], name, 14, align="right")
        if lane in range(LANES):
            grid.frame([(0, lane)], BLUE)

    def _draw_slots(self, step: int, lane: int) -> None:
        """The slots up to a statement: tinted where the lane runs it, else empty."""
        used = []
        unused = []
        for column, done in enumerate(self.run[: step + 1]):
            for row in range(LANES):
                box = self._slot(row, column)
                (used if row in done.active else unused).append(box)
        self.boxes(unused, LINE, line=0.8)
        self.tinted(used, ORANGE, 0.8, 0.5)
        whole = SLOTS._replace(width=SLOTS.width * len(self.run), height=SLOTS.height * LANES)
        area = Area(self, np.zeros((LANES, len(self.run))), whole, "slots")
        area.touch("slots", "lane", "step")
        self.boxes([self._slot(lane, step)], BLUE, line=2.4)

    def _sentence(self, now: LanesStep, lane: int) -> str:
        line = COUNTING.split("\n")[now.line - 1].strip().removesuffix(" {")
        who = f"all {LANES} lanes" if len(now.active) == LANES else in_words("lane", now.active)
        verb = "runs" if len(now.active) == 1 else "run"
        sentence = f"{who[0].upper()}{who[1:]} {verb} “{line}”"
        if lane in now.active:
            return f"{sentence}."
        return f"{sentence}; lane {lane} is switched off."

    def _value_box(self, row: int, lane: int) -> Box:
        return VALUES._replace(x=VALUES.x + VALUES.width * lane, y=VALUES.y + 34 * row)

    def _slot(self, lane: int, step: int) -> Box:
        return SLOTS._replace(x=SLOTS.x + SLOTS.width * step, y=SLOTS.y + SLOTS.height * lane)
