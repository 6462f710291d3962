"""A data race as a picture: the element, and the two accesses between which nothing decides."""

from helpers.grading.drawing import window
from helpers.grading.race import Access, Race
from helpers.pictures.canvas import GRAY, ORANGE, Box, Picture
from helpers.widgets.read_sets_picture import EDGE, SHEET

# CSS pixels of an element; elements that are drawn; letters of a line
CELL = 38
MOST = 9
LETTERS = 46


class RacePicture(Picture):
    """The earlier access above an array, the later one below it, and lines from both to the element."""

    def __init__(self, race: Race) -> None:
        super().__init__(196, SHEET)
        shown = range(race.size)[window(race.index, race.size, MOST)]
        cells = {at: Box(EDGE + 4 + CELL * i, 82, CELL, 30) for i, at in enumerate(shown)}
        self.boxes(cells.values())
        self.tinted([cells[race.index]], ORANGE, 3)
        self.label(cells.values(), (f"[{at}]" for at in shown), 13)
        self.write(cells[shown[-1]].x + CELL + 8, 97, race.variable, 14, GRAY)
        middle = cells[race.index].middle[0]
        self.lines([(middle, 56, middle, 80), (middle, 114, middle, 138)], ORANGE, 3)
        for access, y in (race.earlier, 14), (race.later, 150):
            who, what = _in_two_lines(race, access)
            self.bold(EDGE, y, who, 14, ORANGE)
            self.write(EDGE, y + 24, _shortened(what), 13)
        first = _who(race, race.earlier)
        second = _who(race, race.later)
        self.stands_still()
        self.sentence = f"{first}; {second[:1].lower()}{second[1:]}: nothing says which of the two comes first."


def _who(race: Race, access: Access) -> str:
    """Return who does what where."""
    group = f" of workgroup {access.workgroup}" if access.workgroup else ""
    does = "writes" if access.writes else "reads"
    return f"Thread {access.thread}{group} {does} {race.variable}[{race.index}] in line {access.line}"


def _in_two_lines(race: Race, access: Access) -> tuple[str, str]:
    """Return who does what where, and the line's text; with a workgroup, the line's number goes before its text."""
    if access.workgroup is None:
        return _who(race, access), access.text
    who, _, line = _who(race, access).rpartition(" in ")
    return who, f"{line}: {access.text}"


def _shortened(text: str) -> str:
    if len(text) <= LETTERS:
        return text
    return f"{text[: LETTERS - 1]}…"
