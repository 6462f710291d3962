"""The map: lessons around the network that they lead to, with a place in it for each kernel that the reader writes."""

import html
from collections.abc import Sequence

import numpy as np

from helpers.data.words import listed
from helpers.lessons.shared.course import LENET_LESSON, Lesson, direct, roads, slots
from helpers.lessons.shared.slots import draw_slots
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, PAPER, WIDTH, Box, Picture, text_width
from helpers.pictures.parts import Grid

# CSS pixels: where the lessons begin, one of them, and between two
TOP = 38
NODE = Box(0, 0, 152, 78)
GAP = 8
COLUMNS = MARGIN, WIDTH - MARGIN - NODE.width  # the left ends of the outer ones
SHORT = NODE._replace(height=(2 * NODE.height - GAP) / 3)  # at the right, where ideas have no room
LOWEST = TOP + 3 * (NODE.height + GAP)
LENET = Box(COLUMNS[0] + NODE.width + 12, TOP, COLUMNS[1] - COLUMNS[0] - NODE.width - 24, LOWEST - TOP - 20)
CLOSE = 14, 62  # CSS pixels between two lessons that an arrow joins: across, down
# CSS pixels of a box for a puzzle; how many stand below each other, and in a short one
TICK = 11
MOST = 5
FEW = 3


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
        left, right = COLUMNS
        inner = (left + NODE.width + 12 + i * (LENET.width - NODE.width) / 2 for i in range(3))
        below = zip(("02", "03", "04", "06"), (left, *inner), strict=True)
        places = {number: NODE._replace(x=x, y=LOWEST) for number, x in below} | {LENET_LESSON: LENET}
        for i, number in enumerate(("00", "C", "01")):
            places[number] = NODE._replace(x=left, y=TOP + i * (NODE.height + GAP))
        others = (lesson.number for lesson in self.known if lesson.number not in places)
        return places | {
            number: SHORT._replace(x=right, y=TOP + i * (SHORT.height + GAP)) for i, number in enumerate(others)
        }

    def draw(self, road: int, lesson: int) -> str:
        """One of the roads, with one lesson framed, and the lessons that it needs."""
        if self.starts(road):
            self._draw_roads(road)
            for i, each in enumerate(self.known):
                box = self.places[each.number]
                Grid(self, np.zeros((1, 1)), box.x, box.y, box[2:], numbers=False).touch(each.name, "lesson", start=i)
                self._draw_lesson(each, each.number in self.roads[road].numbers)
            draw_slots(self, LENET, self.slots, self.right)
            self.numbered.append(self)
            self.stands_still()
        chosen = self.known[lesson]
        self.tinted((self.places[number] for number in chosen.needs), line=2.5)
        self.boxes([self.places[chosen.number]], ORANGE, line=4)
        needs = f", after {listed(chosen.needs)}" if chosen.needs else ""
        way = f"The road “{self.roads[road].name}” has {len(self.roads[road].numbers)} lessons."
        return f"{way} {chosen.name}, {chosen.minutes} minutes{needs}: then you can {chosen.able}."

    # --- The drawing ------------------------------------------------------------------------------------------

    def _draw_roads(self, chosen: int) -> None:
        grid = Grid(self, np.zeros((1, 3)), MARGIN, 2, ((self.width - 2 * MARGIN) / 3, 28), numbers=False)
        grid.touch("roads", "road")
        for i, (road, box) in enumerate(zip(self.roads, grid.boxes, strict=True)):
            if i == chosen:
                self.boxes([Box(box.x + 2, box.y + 2, box.width - 4, box.height - 4)], BLUE, line=2.5)
            words = f"{len(road.numbers)} lessons, {hours(road.minutes)}"
            self.bold(box.x + 12, box.middle[1], road.name, 14, BLUE if i == chosen else INK)
            self.write(box.right - 12, box.middle[1], words, 13, INK, align="right")

    def _draw_lesson(self, lesson: Lesson, is_on_road: bool) -> None:
        box = self.places[lesson.number]
        color = INK if is_on_road else GRAY
        self.boxes([box], BLUE if is_on_road else LINE, line=2 if is_on_road else 1)
        columns = -(-len(lesson.puzzles) // (MOST if box.height >= NODE.height else FEW))  # of boxes
        x = box.x + 9
        room = box.width - 18 - (TICK + 4) * columns
        lines = wrapped(lesson.name, room, 13, "bold")
        ideas = wrapped(lesson.idea, room, 12) if box.height == NODE.height or box == LENET else []
        self.column(x, box.y + 11, 14, lines, 13, color, "bold")
        self.column(x, box.y + 11 + 14 * len(lines), 13, ideas, 12, color)
        needs = f" ← {' '.join(lesson.needs)}" if lesson.needs else ""
        bottom = box.bottom - 10
        self.write(x, bottom, f"{lesson.minutes} min{needs}", 12, GRAY)
        for i, puzzle in enumerate(lesson.puzzles):
            row, column = divmod(i, columns)
            place = box.right - TICK - 7 - column * (TICK + 3), box.y + 6 + row * (TICK + 3)
            self._tick(Box(*place, TICK, TICK), puzzle in self.right)
        for number in direct(lesson, self.known):
            self._join(self.places[number], box)

    def _join(self, first: Box, then: Box) -> None:
        """An arrow from a lesson to one that needs it, where they are close."""
        left = max(first.x, then.x)
        right = min(first.right, then.right)
        top = max(first.y, then.y)
        bottom = min(first.bottom, then.bottom)
        if left - right > CLOSE[0] or top - bottom > CLOSE[1]:
            return
        if top < bottom:
            y = (top + bottom) / 2
            self.arrow((right + 2, y), (left - 2, y))
            return
        ends = [(left + right) / 2] * 2 if left < right else [right - 10, left + 10]
        up = -1 if first.y > then.y else 1
        start, end = (top, bottom) if up < 0 else (bottom, top)
        self.arrow((ends[0], start + 2 * up), (ends[1], end - 2 * up))

    def _tick(self, box: Box, is_right: bool) -> None:
        """The box of a puzzle."""
        self.boxes([box], BLUE if is_right else GRAY, BLUE if is_right else None, 1)
        if is_right:
            x, y, size, _ = box
            points = np.array([[0.22, 0.52], [0.42, 0.74], [0.8, 0.28]]) * size + (x, y)
            self.curve(*points.T, PAPER, 2)

    # --- As a table -------------------------------------------------------------------------------------------

    def table(self) -> str:
        """The lessons in HTML, with what is right of each."""
        head = "".join(f'<th scope="col">{name}</th>' for name in ("lesson", "minutes", "needs", "right"))
        rows = (
            f'<tr><th scope="row">{html.escape(lesson.name)}</th><td>{lesson.minutes}</td><td>{" ".join(lesson.needs)}'
            f"</td><td>{len(self.right.intersection(lesson.puzzles))} of {len(lesson.puzzles)}</td></tr>"
            for lesson in self.known
        )
        return (
            f"<table><caption>The lessons</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


def hours(minutes: int) -> str:
    """A time to plan with."""
    whole, rest = divmod(minutes, 60)
    return f"{whole} h {rest} min" if rest else f"{whole} h"


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
