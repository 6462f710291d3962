"""Any number of a network, opened: where it lies, what was read to make it, its largest terms, the kernel's line."""

from collections.abc import Iterable, Sequence

import numpy as np

from helpers.lessons.train_lenet.pictures.maps import Area, Maps, fitting_pixel, fold, framed, in_maps
from helpers.lessons.train_lenet.trace import Index, NetworkTrace, Opened, Row, moved, written
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, WIDTH, Box, Picture, Word, number, tint
from helpers.pictures.marks import text_width
from helpers.pictures.parts import look
from helpers.pictures.touchable import Cell

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
        legend = ["orange: above 0", "violet: below 0", "each picture has", "its own scale"]
        self.column(LEGEND, TABLE, LINE_HEIGHT, legend, 13, GRAY)
        count, _, _ = maps
        if count == 1:
            return
        pixel, across = fitting_pixel(maps, 190, HIGH, 6)
        values = trace.tensors[name].reshape(maps)
        self.overview = Maps(self, values, (MARGIN, TOP), pixel, across)
        self.overview.touch(f"maps of {name}", "map", tensor=tensor)
        is_matrix = len(trace.shapes[name]) == 2
        noun = "rows" if is_matrix else "maps"
        self.note(MARGIN, TOP - 14, f"its {count} {noun}")

    def _draw_number(self, trace: NetworkTrace, opened: Opened, tensor: int, map: int, row: int, column: int) -> None:
        """The map with the number, large."""
        values = trace.tensors[opened.name].reshape(self.maps(tensor))[map]  # (rows, columns)
        left = MARGIN
        if self.overview:
            framed(self, self.overview.cells(map))
            left = self.overview.box.right + 24
        pixel, _ = fitting_pixel((1, *values.shape), 150, HIGH, 28)
        shown = Maps(self, values[None], (left, TOP), pixel, 1)
        shown.touch(f"numbers of {opened.name}", "row", "column", tensor=tensor)
        shown.frame(0, [(row, column)], INK)
        self.bold(MARGIN, 18, f"{opened.label} = {number(opened.returned)}", 17, look(opened.name).ink)
        if self.overview:
            self.note(left, TOP - 14, _map_name(opened.index))
        table = Area(self, values, Box(0, 0, 1, 1), f"{opened.name}, map {map}")
        self.numbered.append(table)
        self.right = left + max(shown.box.width, 60)

    def _draw_read(self, trace: NetworkTrace, opened: Opened) -> None:
        """Draw what was read: each tensor's maps that have a part in it, with a frame around the places."""
        names = [name for name in opened.read if name in trace.tensors and not name.endswith(".bias")]
        if not names:
            return
        self.write(self.right + 22, TOP + HIGH / 2, "←", 24, GRAY, align="middle")
        left = self.right + 44
        step = (WIDTH - MARGIN - left) / len(names)
        room = step - 20
        for i, name in enumerate(names):
            self._draw_places(trace, name, opened.read[name], left + i * (room + 20), room)

    def _draw_places(self, trace: NetworkTrace, name: str, places: list[Index], left: float, room: float) -> None:
        """Draw the maps of one tensor that hold these places, with a title above."""
        title, values, marks = _maps_with_places(trace.tensors[name], name, places)
        pixel, across = fitting_pixel(values.shape, room, HIGH, 14)
        maps = Maps(self, values, (left, TOP), pixel, across, ink=name == "images")
        for map, cells in marks.items():
            maps.frame(map, cells, BLUE)
        if name in self.names and values[0].size > 1:
            self._let_point(trace, name, places, maps)
        lines = [title]
        if text_width(title, 13, "bold") > room:
            lines = [name, title.removeprefix(name)]
        top = TOP + 2 - 16 * len(lines)
        self.column(left, top, 16, lines, 13, look(name).ink, "bold")

    def _let_point(self, trace: NetworkTrace, name: str, places: list[Index], maps: Maps) -> None:
        """Let a reader open what was read: one of several maps, or a number of the only one."""
        tensor = self.names.index(name)
        plane = places[0][:-2]
        first = 0  # the number of the first map
        if plane:
            planes = trace.shapes[name][: len(plane)]
            first = int(np.ravel_multi_index(plane, planes))
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
        frame = Box(MARGIN, self.height - 54, WIDTH - 2 * MARGIN, 48)
        self.boxes([frame], LINE, tint(GRAY, 0.06))
        self.bold(frame.x + 10, frame.y + 14, where, 13, BLUE)
        letter = 0.602 * CODE  # its width
        most = int((frame.width - 20) / letter)
        code = text
        if len(text) > most:
            code = f"{text[: most - 1]}…"
        self.words([Word(frame.x + 10, frame.y + 34, code, CODE, "left", code=True)])

    def _words(self, opened: Opened, line: str) -> str:
        """Say what the number is made of, and where."""
        returned = number(opened.returned)
        made = f"{opened.label} is {opened.how}: {number(opened.result)}; the kernel wrote {returned}."
        return f"{made} It is made in {line.replace('kernels/', '')}."


Marks = dict[int, list[Cell]]  # the places to frame, by the number of the map that is drawn


def _maps_with_places(values: np.ndarray, name: str, places: list[Index]) -> tuple[str, np.ndarray, Marks]:
    """The title of the maps of a tensor that hold these places, the maps, and the places to frame in each of them."""
    if values.ndim == 1:
        return _list_as_map(values, name, places)
    if values.ndim == 2:
        return _part_of_matrix(values, name, places)
    by_plane: dict[Index, list[Cell]] = {}
    for *plane, row, column in places:
        cells = by_plane.setdefault(tuple(plane), [])
        cells.append((row, column))
    planes = np.stack([values[plane] for plane in by_plane])
    marks = {}
    for i, cells in enumerate(by_plane.values()):
        if len(cells) < planes[i].size:
            marks[i] = cells
    return f"{name}{_index(by_plane)}", planes, marks


def _list_as_map(values: np.ndarray, name: str, places: list[Index]) -> tuple[str, np.ndarray, Marks]:
    """A tensor with one axis as one map; its places are framed if they are not all."""
    maps = in_maps(values.shape)
    if len(places) == values.size:
        return name, values.reshape(maps), {}
    _, _, columns = maps
    cells = [divmod(i, columns) for (i,) in places]
    return name, values.reshape(maps), {0: cells}


def _part_of_matrix(values: np.ndarray, name: str, places: list[Index]) -> tuple[str, np.ndarray, Marks]:
    """The places in a matrix, which are a row or a column of it, as one map."""
    numbers = np.array([values[place] for place in places])
    rows, columns = fold(len(numbers))
    return f"{name}{_index(places)}", numbers.reshape(1, rows, columns), {}


def _index(places: Iterable[Index]) -> str:
    """The places as an index: one, or all of them along an axis."""
    texts = []
    for numbers in zip(*places, strict=True):
        different = set(numbers)
        texts.append(str(numbers[0]) if len(different) == 1 else ":")
    return f"[{','.join(texts)}]"


def _map_name(index: Index) -> str:
    """The map in which a number lies; of a matrix, the row."""
    if len(index) == 2:
        return written("row", index[:-1])
    return written("map", index[:-2])


def _listed_terms(rows: Sequence[Row]) -> list[tuple]:
    """A line for each of the terms that are farthest from 0, and one for the rest: words, product, value and style."""
    nonzero = [row for row in rows if row.value]
    ordered = rows
    if nonzero:
        ordered = sorted(nonzero, key=lambda row: -abs(row.value))
    lines = [(row.label, row.product, row.value, INK, "normal") for row in ordered[:LISTED]]
    rest = ordered[LISTED:]
    if not rest:
        return lines
    words = f"{len(rest):,} more"
    zeros = len(rows) - len(nonzero)
    if zeros:
        words += f", and {zeros:,} that are 0"
    sum_of_rest = sum(row.value for row in rest)
    return [*lines, (words, "", sum_of_rest, GRAY, "normal")]
