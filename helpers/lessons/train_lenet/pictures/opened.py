"""Any number of a network, opened: where it lies, what was read to make it, its largest terms, the kernel's line."""

from collections.abc import Iterable, Sequence

import numpy as np

from helpers.lessons.train_lenet.pictures.maps import Area, Maps, fitting_pixel, fold, framed, in_maps
from helpers.lessons.train_lenet.trace import Index, NetworkTrace, Opened, Row, moved, written
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, WIDTH, Box, Picture, Word, number, tint
from helpers.pictures.marks import text_width
from helpers.pictures.parts import look

# CSS pixels
TOP = 62  # where the maps begin
HIGH = 144  # how high they may be
TABLE = 238  # where the terms begin
LINE_HEIGHT = 19
LEGEND = 724
CODE = 13  # the letters of a kernel's line
LISTED = 4  # terms that are written out


class OpenedPicture(Picture):
    """One number among its tensor's maps, and what the GPU read to make it.

    A matrix of weights has a map for each of its rows, which are the weights of one input.
    """

    def __init__(self, traces: Sequence[NetworkTrace]) -> None:
        super().__init__(428)
        self.traces = traces
        self.names = [*traces[0].makers]

    def maps(self, tensor: int) -> tuple[int, int, int]:
        """The number of maps of a tensor, and their rows and columns."""
        return in_maps(self.traces[0].shapes[self.names[tensor]])

    def index(self, tensor: int, map: int, row: int, column: int) -> Index:
        """The place of a number in its tensor."""
        return moved((map, row, column), self.maps(tensor), self.traces[0].shapes[self.names[tensor]])

    def draw(self, digit: int, tensor: int, map: int, row: int, column: int) -> str:
        """Open one number."""
        trace = self.traces[digit]
        name = self.names[tensor]
        if self.starts(digit, tensor):
            self._draw_overview(trace, name, tensor)
            self.stands_still()
        opened = trace.open(name, self.index(tensor, map, row, column))
        self._draw_number(trace, opened, tensor, map, row, column)
        self._draw_read(trace, opened)
        self._draw_rows(opened)
        line = trace.line(name)
        self._draw_line(str(line), line.text)
        return self._words(opened, str(line))

    # --- The maps ---------------------------------------------------------------------------------------------

    def _draw_overview(self, trace: NetworkTrace, name: str, tensor: int) -> None:
        """All maps of the tensor, to choose one."""
        maps = self.maps(tensor)
        self.overview = None
        colors = "orange: above 0", "violet: below 0", "each picture has", "its own scale"
        self.column(LEGEND, TABLE, LINE_HEIGHT, colors, 13, GRAY)
        if maps[0] > 1:
            pixel, across = fitting_pixel(maps, 190, HIGH, 6)
            values = trace.tensors[name].reshape(maps)
            self.overview = Maps(self, values, (MARGIN, TOP), pixel, across)
            self.overview.touch(f"maps of {name}", "map", tensor=tensor)
            noun = "rows" if len(trace.shapes[name]) == 2 else "maps"
            self.note(MARGIN, TOP - 14, f"its {maps[0]} {noun}")

    def _draw_number(self, trace: NetworkTrace, opened: Opened, tensor: int, map: int, row: int, column: int) -> None:
        """The map with the number, large."""
        maps = self.maps(tensor)
        values = trace.tensors[opened.name]
        left = MARGIN
        if self.overview:
            framed(self, self.overview.cells(map))
            left = self.overview.box.right + 24
        pixel, _ = fitting_pixel((1, *maps[1:]), 150, HIGH, 28)
        shown = Maps(self, values.reshape(maps)[map : map + 1], (left, TOP), pixel, 1)
        shown.touch(f"numbers of {opened.name}", "row", "column", tensor=tensor)
        shown.frame(0, [(row, column)], INK)
        self.bold(MARGIN, 18, f"{opened.label} = {number(opened.returned)}", 17, look(opened.name).ink)
        if self.overview:
            self.note(left, TOP - 14, _map_name(opened.index))
        self.numbered.append(Area(self, values.reshape(maps)[map], Box(0, 0, 1, 1), f"{opened.name}, map {map}"))
        self.right = left + max(shown.box.width, 60)

    def _draw_read(self, trace: NetworkTrace, opened: Opened) -> None:
        """Draw what was read: each tensor's maps that have a part in it, with a frame around the places."""
        names = [name for name in opened.read if name in trace.tensors and not name.endswith(".bias")]
        if not names:
            return
        self.write(self.right + 22, TOP + HIGH / 2, "←", 24, GRAY, align="middle")
        left = self.right + 44
        room = (WIDTH - MARGIN - left) / len(names) - 20
        for i, name in enumerate(names):
            self._draw_places(trace, name, opened.read[name], left + i * (room + 20), room)

    def _draw_places(self, trace: NetworkTrace, name: str, places: list[Index], left: float, room: float) -> None:
        title, values, marks = _shown(trace.tensors[name], name, places)
        pixel, across = fitting_pixel(values.shape, room, HIGH, 14)
        maps = Maps(self, values, (left, TOP), pixel, across, ink=name == "images")
        for map, cells in marks.items():
            maps.frame(map, cells, BLUE)
        if name in self.names and values[0].size > 1:
            self._let_point(trace, name, places, maps)
        lines = [title] if text_width(title, 13, "bold") <= room else [name, title.removeprefix(name)]
        self.column(left, TOP + 2 - 16 * len(lines), 16, lines, 13, look(name).ink, "bold")

    def _let_point(self, trace: NetworkTrace, name: str, places: list[Index], maps: Maps) -> None:
        """Let a reader open what was read: one of several maps, or a number of the only one."""
        tensor = self.names.index(name)
        plane = places[0][:-2]
        first = int(np.ravel_multi_index(plane, trace.shapes[name][: len(plane)])) if plane else 0
        if len(maps.values) > 1:
            maps.touch(f"{name}, read", "map", start=first, clicked=True, tensor=tensor)
        else:
            maps.touch(f"{name}, read", "row", "column", clicked=True, tensor=tensor, map=first)

    # --- The sum ----------------------------------------------------------------------------------------------

    def _draw_rows(self, opened: Opened) -> None:
        """The terms that are farthest from 0, the rest, and the sum beside what the kernel wrote."""
        self.lines([(MARGIN, TABLE - 15, WIDTH - MARGIN, TABLE - 15)], LINE, 1)
        lines = _listed_terms(opened.rows)
        if lines:
            y = TABLE + LINE_HEIGHT * len(lines) - 10
            self.lines([(600, y, 700, y)], INK, 1)
        rounding = ""
        if len(opened.rows) > 1:
            rounding = f"rounding explains a difference of up to {opened.bound:.0e}"
        lines.append((opened.how, "", opened.result, INK, "bold"))
        lines.append(("the kernel wrote", rounding, opened.returned, BLUE, "bold"))
        for i, (names, text, value, color, weight) in enumerate(lines):
            y = TABLE + LINE_HEIGHT * i
            self.write(MARGIN, y, names, 13.5, color, weight)
            self.write(590, y, text, 13.5, GRAY, align="right")
            self.write(700, y, number(value), 13.5, color, weight, "right")

    def _draw_line(self, where: str, text: str) -> None:
        """The line of the kernel's file."""
        y = self.height - 54
        self.boxes([Box(MARGIN, y, WIDTH - 2 * MARGIN, 48)], LINE, tint(GRAY, 0.06))
        self.bold(MARGIN + 10, y + 14, where, 13, BLUE)
        most = int((WIDTH - 2 * MARGIN - 20) / (0.602 * CODE))
        code = text if len(text) <= most else f"{text[: most - 1]}…"
        self.words([Word(MARGIN + 10, y + 34, code, CODE, "left", code=True)])

    def _words(self, opened: Opened, line: str) -> str:
        returned = number(opened.returned)
        made = f"{opened.label} is {opened.how}: {number(opened.result)}; the kernel wrote {returned}."
        return f"{made} It is made in {line.replace('kernels/', '')}."


def _shown(values: np.ndarray, name: str, places: list[Index]) -> tuple[str, np.ndarray, dict[int, list]]:
    """The maps of a tensor that hold these places, what they are called, and the places in each of them."""
    if values.ndim == 2:  # a column or a row of a matrix
        numbers = np.array([values[place] for place in places])
        return f"{name}{_index(places)}", numbers.reshape(1, *fold(len(numbers))), {}
    if values.ndim == 1:
        maps = in_maps(values.shape)
        *_, columns = maps
        cells = [tuple(map(int, divmod(i, columns))) for (i,) in places]
        marks = {} if len(cells) == values.size else {0: cells}
        return name, values.reshape(maps), marks
    by_plane: dict[Index, list] = {}
    for place in places:
        by_plane.setdefault(place[:-2], []).append(place[-2:])
    planes = np.stack([values[plane] for plane in by_plane])
    marks = {i: cells for i, cells in enumerate(by_plane.values()) if len(cells) < planes[0].size}
    return f"{name}{_index(by_plane)}", planes, marks


def _index(places: Iterable[Index]) -> str:
    """The places as an index: one, or all of them along an axis."""
    texts = []
    for numbers in zip(*places, strict=True):
        first, *others = dict.fromkeys(numbers)
        texts.append(":" if others else str(first))
    return f"[{','.join(texts)}]"


def _map_name(index: Index) -> str:
    """The map or the row in which a number lies."""
    if len(index) == 2:
        return written("row", index[:-1])
    return written("map", index[:-2] if len(index) > 2 else index[:-1])


def _listed_terms(rows: Sequence[Row]) -> list[tuple]:
    """A line for each of the terms that are farthest from 0, and one for the rest: words, product, value and style."""
    nonzero = [row for row in rows if row.value]
    ordered = sorted(nonzero, key=lambda row: -abs(row.value)) or rows
    lines = [(row.label, row.product, row.value, INK, "normal") for row in ordered[:LISTED]]
    rest = ordered[LISTED:]
    if rest:
        words = f"{len(rest):,} more"
        zeros = len(rows) - len(nonzero)
        if zeros:
            words += f", and {zeros:,} that are 0"
        lines.append((words, "", sum(row.value for row in rest), GRAY, "normal"))
    return lines
