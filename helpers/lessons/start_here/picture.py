"""The map: lessons around the network that they lead to, with a place in it for each kernel that the reader writes."""

import html
from collections.abc import Sequence
from math import ceil

import numpy as np

from helpers.data.words import listed
from helpers.lessons.shared.course import LENET_LESSON, Lesson, direct, roads, slots
from helpers.lessons.shared.slots import draw_slots
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, PAPER, WIDTH, Box, Picture
from helpers.pictures.marks import text_width
from helpers.pictures.parts import Grid

# CSS pixels
TOP = 38  # where the lessons begin
NODE = Box(0, 0, 152, 78)  # a lesson
GAP = 8  # between two lessons
LEFT = MARGIN  # the left ends of the outer columns
RIGHT = WIDTH - MARGIN - NODE.width
OTHERS = 8  # lessons at the right, where ideas have no room
LOWEST = TOP + 258
TOP_OF_OTHERS = 3
CLOSER = 2  # between two of the others
SHORT = NODE._replace(height=(LOWEST - TOP_OF_OTHERS + NODE.height + CLOSER) / OTHERS - CLOSER)
FIRST = NODE._replace(height=(LOWEST - TOP) / 2 - GAP)  # what comes before the lowest row
LENET = Box(LEFT + NODE.width + 12, TOP, RIGHT - LEFT - NODE.width - 24, LOWEST - TOP - 20)
CLOSE_ACROSS = 14  # between two lessons that an arrow joins, at the most
CLOSE_DOWN = 62
TICK = 11  # a box for a puzzle
MOST = 5  # boxes below each other
FEW = 3  # boxes below each other in a short lesson


class CoursePicture(Picture):
    """Every lesson with its minutes, its idea, what it needs and a box for each puzzle; LeNet is in the middle.

    `right` are the puzzles whose boxes are ticked, and whose places in LeNet are lit.
    """

    def __init__(self, known: Sequence[Lesson], right: frozenset[str]) -> None:
        super().__init__(LOWEST + round(NODE.height) + 2)
        self.known = known
        self.right = right
        self.roads = roads(known)
        self.slots = slots(known)
        self.places = self._places()

    def _places(self) -> dict[str, Box]:
        """Place the lessons: LeNet in the middle, what leads to it left and below, the others at the right."""
        places = {LENET_LESSON: LENET}
        for i, number in enumerate(("00", "01")):
            places[number] = FIRST._replace(x=LEFT, y=TOP + i * (FIRST.height + GAP))
        places["02"] = NODE._replace(x=LEFT, y=LOWEST)
        step = (LENET.width - NODE.width) / 2
        for i, number in enumerate(("03", "04", "06")):
            places[number] = NODE._replace(x=LEFT + NODE.width + 12 + i * step, y=LOWEST)
        others = [lesson.number for lesson in self.known if lesson.number not in places]
        for i, number in enumerate(others):
            places[number] = SHORT._replace(x=RIGHT, y=TOP_OF_OTHERS + i * (SHORT.height + CLOSER))
        return places

    def draw(self, road: int, lesson: int) -> str:
        """One of the roads, with one lesson framed, and the lessons that it needs."""
        if self.starts(road):
            self._draw_map(road)
            self.stands_still()
        chosen = self.known[lesson]
        self.tinted((self.places[number] for number in chosen.needs), line=2.5)
        self.boxes([self.places[chosen.number]], ORANGE, line=4)
        time = f"{chosen.minutes} minutes"
        if chosen.needs:
            time += f", after {listed(chosen.needs)}"
        chosen_road = self.roads[road]
        first = "a page of its own and " if chosen_road.page else ""
        sentence = f"The road “{chosen_road.name}” has {first}{len(chosen_road.numbers)} lessons."
        return f"{sentence} {chosen.name}, {time}: then you can {chosen.able}."

    # --- The drawing ------------------------------------------------------------------------------------------

    def _draw_map(self, road: int) -> None:
        """The roads, all lessons, and LeNet with its places."""
        self._draw_roads(road)
        for i, lesson in enumerate(self.known):
            box = self.places[lesson.number]
            grid = Grid(self, np.zeros((1, 1)), box.x, box.y, (box.width, box.height), numbers=False)
            grid.touch(lesson.name, "lesson", start=i)
            self._draw_lesson(lesson, lesson.number in self.roads[road].numbers)
        draw_slots(self, LENET, self.slots, self.right)
        self.numbered.append(self)

    def _draw_roads(self, chosen: int) -> None:
        """The three roads side by side, above LeNet and what leads to it, one of them chosen."""
        width = (LENET.right - MARGIN) / 3
        grid = Grid(self, np.zeros((1, 3)), MARGIN, 2, (width, 28), numbers=False)
        grid.touch("roads", "road")
        for i, (road, box) in enumerate(zip(self.roads, grid.boxes, strict=True)):
            color = INK
            if i == chosen:
                color = BLUE
                self.boxes([Box(box.x + 2, box.y + 2, box.width - 4, box.height - 4)], BLUE, line=2.5)
            _, middle = box.middle
            self.bold(box.x + 12, middle, road.name, 14, color)
            self.write(box.right - 12, middle, hours(road.minutes), 13, INK, align="right")

    def _draw_lesson(self, lesson: Lesson, is_on_road: bool) -> None:
        """The box of a lesson with its words and its puzzles, and the arrows from what it needs."""
        box = self.places[lesson.number]
        is_short = box.height < NODE.height
        if is_on_road:
            color = INK
            self.boxes([box], BLUE, line=2)
        else:
            color = GRAY
            self.boxes([box], LINE, line=1)
        puzzles_down = FEW if is_short else MOST
        columns = ceil(len(lesson.puzzles) / puzzles_down)
        x = box.x + 9
        room = box.width - 18 - (TICK + 4) * columns
        lines = wrapped(lesson.name, room, 13, "bold")
        self.column(x, box.y + 9, 14, lines, 13, color, "bold")
        if not is_short:
            below_name = box.y + 11 + 14 * len(lines)
            self.column(x, below_name, 14, wrapped(lesson.idea, room, 13), 13, color)
        time = f"{lesson.minutes} min"
        if lesson.needs:
            time += f" ← {' '.join(lesson.needs)}"
        self.write(x, box.bottom - 7.5, time, 13, GRAY)
        self._draw_ticks(lesson, box, columns)
        for number in direct(lesson, self.known):
            self._join(self.places[number], box)

    def _draw_ticks(self, lesson: Lesson, box: Box, columns: int) -> None:
        """A small box for each puzzle of a lesson, in columns from the right."""
        for i, puzzle in enumerate(lesson.puzzles):
            row, column = divmod(i, columns)
            x = box.right - TICK - 7 - column * (TICK + 3)
            y = box.y + 6 + row * (TICK + 3)
            self._tick(Box(x, y, TICK, TICK), puzzle in self.right)

    def _join(self, first: Box, then: Box) -> None:
        """An arrow from a lesson to one that needs it, where they are close."""
        left = max(first.x, then.x)
        right = min(first.right, then.right)
        top = max(first.y, then.y)
        bottom = min(first.bottom, then.bottom)
        if left - right > CLOSE_ACROSS or top - bottom > CLOSE_DOWN:
            return
        if top < bottom:  # beside each other
            y = (top + bottom) / 2
            self.arrow((right + 2, y), (left - 2, y))
            return
        start = end = (left + right) / 2
        if left >= right:
            start = right - 10
            end = left + 10
        if first.y > then.y:
            self.arrow((start, top - 2), (end, bottom + 2))
        else:
            self.arrow((start, bottom + 2), (end, top - 2))

    def _tick(self, box: Box, is_right: bool) -> None:
        """The box of a puzzle, with a tick where it is right."""
        if not is_right:
            self.boxes([box], GRAY, None, 1)
            return
        self.boxes([box], BLUE, BLUE, 1)
        x, y, size, _ = box
        points = np.array([[0.22, 0.52], [0.42, 0.74], [0.8, 0.28]]) * size + (x, y)
        self.curve(*points.T, PAPER, 2)

    # --- As a table -------------------------------------------------------------------------------------------

    def table(self) -> str:
        """The lessons in HTML, with what is right of each."""
        names = "lesson", "minutes", "needs", "right"
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        rows = "".join(self._table_row(lesson) for lesson in self.known)
        return f"<table><caption>The lessons</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _table_row(self, lesson: Lesson) -> str:
        """A lesson in HTML, with its name as the header of its row."""
        right = len(self.right.intersection(lesson.puzzles))
        cells = [f"{lesson.minutes}", " ".join(lesson.needs), f"{right} of {len(lesson.puzzles)}"]
        columns = "".join(f"<td>{cell}</td>" for cell in cells)
        return f'<tr><th scope="row">{html.escape(lesson.name)}</th>{columns}</tr>'


def hours(minutes: int) -> str:
    """A time to plan with."""
    whole, rest = divmod(minutes, 60)
    if rest:
        return f"{whole} h {rest} min"
    return f"{whole} h"


def wrapped(text: str, room: float, size: float, weight: str = "normal") -> list[str]:
    """A text in lines that fit."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, size, weight) <= room or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
