"""Loads and products of a workgroup in time: one after the other, and with the next loads on their way meanwhile."""

from typing import NamedTuple

from helpers.pictures.canvas import BLUE, INK, LINE, MARGIN, ORANGE, Box, Picture

TURNS = 4
LOAD = 6  # ticks of the time that a load takes
MOST_PRODUCTS = 9  # ticks
END = TURNS * (LOAD + MOST_PRODUCTS)
# CSS pixels
TICK = 12
LEFT = 96
ROW = 28
WAYS = {"load, wait, multiply": 62, "load ahead": 164}  # where their rows begin


class Span(NamedTuple):
    """A turn's loads or products, from one tick to another."""

    turn: int
    start: int
    end: int


class Course(NamedTuple):
    """The loads and the products of a workgroup in all turns."""

    loads: list[Span]
    products: list[Span]

    @property
    def end(self) -> int:
        """The tick at which the last products are made."""
        return self.products[-1].end


def one_after_the_other(products: int) -> Course:
    """Each turn loads, and then multiplies."""
    course = Course([], [])
    now = 0
    for turn in range(TURNS):
        course.loads.append(Span(turn, now, now + LOAD))
        course.products.append(Span(turn, now + LOAD, now + LOAD + products))
        now += LOAD + products
    return course


def ahead(products: int) -> Course:
    """The loads of the next turn begin with the products of this one."""
    course = Course([Span(0, 0, LOAD)], [])
    for turn in range(TURNS):
        now = course.loads[turn].end
        if turn:
            now = max(now, course.products[-1].end)
        course.products.append(Span(turn, now, now + products))
        if turn < TURNS - 1:
            course.loads.append(Span(turn + 1, now, now + LOAD))
    return course


class AheadPicture(Picture):
    """Both courses, one below the other, up to a moment; `products` is how long the products of a turn take."""

    def __init__(self) -> None:
        super().__init__(250)

    def draw(self, products: int, time: int) -> str:
        """Draw what has been done by a moment."""
        courses = dict(zip(WAYS, (one_after_the_other(products), ahead(products)), strict=True))
        for way, course in courses.items():
            top = WAYS[way]
            self.bold(MARGIN, top - 22, f"{way}: {course.end} ticks", 15)
            for i, (name, color) in enumerate({"loads": BLUE, "products": ORANGE}.items()):
                y = top + i * (ROW + 4)
                self.write(MARGIN, y + ROW / 2, name, 14, color)
                self._draw_spans(getattr(course, name), y, color, time)
        x = LEFT + time * TICK
        self.lines([(x, top - 8, x, top + 2 * ROW + 12) for top in WAYS.values()], INK, 1.5)
        without, with_it = courses.values()
        whole = (
            f"Loads take {LOAD} ticks, and products {products}. {TURNS} turns take {without.end} ticks one after the "
            f"other, and {with_it.end} with loads ahead."
        )
        if time == 0:
            return whole
        return (
            f"{whole} In the first {time} ticks, nothing is multiplied for {_idle(without, time)} of them; with loads "
            f"ahead, for {_idle(with_it, time)}."
        )

    def _draw_spans(self, spans: list[Span], y: float, color: str, time: int) -> None:
        """Draw those that have begun, each as far as it has come, and the outlines of all."""
        for span in spans:
            whole = Box(LEFT + span.start * TICK, y, (span.end - span.start) * TICK, ROW)
            done = min(time, span.end) - span.start
            if done > 0:
                self.tinted([whole._replace(width=done * TICK)], color, 1, 0.3)
            self.boxes([whole], LINE)
            x, middle = whole.middle
            self.write(x, middle, str(span.turn), 13, align="middle")


def _idle(course: Course, time: int) -> int:
    """The ticks until a moment in which nothing is multiplied."""
    busy = sum(max(0, min(time, span.end) - span.start) for span in course.products)
    return min(time, course.end) - busy
