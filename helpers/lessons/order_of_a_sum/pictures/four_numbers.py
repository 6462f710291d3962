"""Four threads that each add a number to one total, in an order that a reader clicks."""

from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.pictures.turn_button import turn_button
from helpers.lessons.shared.sums import ADDENDS, Order
from helpers.pictures.canvas import GRAY, MARGIN, ORANGE, Box, Picture

TOTALS = range(3)  # that an order can leave
RIGHT_TOTAL = 2
# CSS pixels
BUTTON = (204, 34)
FIRST_TURN = Box(270, 92, 100, 40)
FIRST_TOTAL = Box(722, 62, 60, 34)  # in the list


class FourPicture(Picture):
    """Four threads, each of which adds a number: one clicks whose turn is next, and a list keeps all totals."""

    def __init__(self) -> None:
        super().__init__(230)
        self.found_totals: set[int] = set()
        self.title(18, "click whose turn is next")
        self.bold(FIRST_TURN.x, 62, "total in memory", 15)
        self.bold(FIRST_TOTAL.x, 42, "totals found", 15)
        self.stands_still()

    def draw(self, order: int, turn: int) -> str:
        """Show the first turns of an order: who has added, and the total after each of them."""
        every = indices.calls()
        turns = every[order][:turn]
        totals = indices.added(turns)
        if len(turns) == len(ADDENDS):
            self.found_totals.add(totals[-1])
        boxes = [FIRST_TURN._replace(x=FIRST_TURN.x + 108 * turn) for turn in range(len(turns))]
        self.tinted(boxes, ORANGE, 2)
        self.label(boxes, map(written, totals), 14)
        self.label(boxes, (f"+ {written(ADDENDS[thread])}" for thread in turns), 13, GRAY, down=36)
        for thread, addend in enumerate(ADDENDS):
            button = Box(MARGIN, 46 + 44 * thread, *BUTTON)
            turn_button(self, thread, button, f": {written(addend)}", turns, every)
        self._draw_list()
        return sentence(turns, totals)

    def _draw_list(self) -> None:
        """The totals that were found, in places for all."""
        places = [FIRST_TOTAL._replace(y=FIRST_TOTAL.y + 44 * total) for total in TOTALS]
        self.boxes(places, dashes=(3, 3))
        totals = sorted(self.found_totals)
        filled = [places[total] for total in totals]
        self.tinted(filled, ORANGE, 2)
        self.label(filled, totals, 15)


def written(total: int) -> str:
    """A whole number with a real minus sign."""
    return f"{total:,}".replace("-", "\N{MINUS SIGN}")


def sentence(turns: Order, totals: list[int]) -> str:
    """Say who has added, and what the total is."""
    if not turns:
        return "Nobody has added. The total is 0."
    threads = ", then thread ".join(map(str, turns))
    result = f"Thread {threads} has added. The total is {written(totals[-1])}"
    if len(turns) < len(ADDENDS):
        return f"{result}."
    if totals[-1] == RIGHT_TOTAL:
        return f"{result}, as it should be."
    return f"{result}, and it should be {RIGHT_TOTAL}."
