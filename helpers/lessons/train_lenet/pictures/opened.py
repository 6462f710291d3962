"""Any number of a network, opened: where it lies, what was read to make it, its largest terms, the kernel's line."""

from collections.abc import Iterable, Sequence

import numpy as np

from helpers.lessons.train_lenet.pictures.maps import Area, Maps, fitting_pixel, fold, framed, in_maps
from helpers.lessons.train_lenet.trace import Index, NetworkTrace, Opened, moved, written
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, WIDTH, Box, Picture, Word, number, text_width, tint
from helpers.pictures.parts import look

# CSS pixels: where the maps begin, and how high they may be
TOP = 62
HIGH = 144
TABLE = 238
LINE_HEIGHT = 19
LEGEND = 724
LISTED = 4  # terms that are written out
CODE = 13  # CSS pixels: the letters of a kernel's line


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
            self.note(MARGIN, TOP - 14, f"its {maps[0]} {'rows' if len(trace.shapes[name]) == 2 else 'maps'}")

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
            chosen = opened.index[: -2 if len(opened.index) > 2 else -1]
            self.note(left, TOP - 14, written("row" if len(opened.index) == 2 else "map", chosen))
        self.numbered.append(Area(self, values.reshape(maps)[map], Box(0, 0, 1, 1), f"{opened.name}, map {map}"))
        self.right = left + max(shown.box.width, 60)

    def _draw_read(self, trace: NetworkTrace, opened: Opened) -> None:
        """Draw what was read: each tensor's maps that have a part in it, with a frame around the places."""
        known = (name for name in opened.read if name in trace.tensors and not name.endswith(".bias"))
        most = {name: opened.read[name] for name in known}
        self.write(self.right + 22, TOP + HIGH / 2, "←" if most else "", 24, GRAY, align="middle")
        left = self.right + 44
        room = (WIDTH - MARGIN - left) / max(len(most), 1) - 20
        for i, (name, places) in enumerate(most.items()):
            self._draw_places(trace, name, places, left + i * (room + 20), room)

    def _draw_places(self, trace: NetworkTrace, name: str, places: list[Index], left: float, room: float) -> None:
        title, values, marks = _shown(trace.tensors[name], name, places)
        pixel, across = fitting_pixel(values.shape, room, HIGH, 14)
        maps = Maps(self, values, (left, TOP), pixel, across, ink=name == "images")
        for map, cells in marks.items():
            maps.frame(map, cells, BLUE)
        if name in self.names and values[0].size > 1:
            tensor = self.names.index(name)
            plane = places[0][:-2]
            first = int(np.ravel_multi_index(plane, trace.shapes[name][: len(plane)])) if plane else 0
            if len(values) > 1:
                maps.touch(f"{name}, read", "map", start=first, clicked=True, tensor=tensor)
            else:
                maps.touch(f"{name}, read", "row", "column", clicked=True, tensor=tensor, map=first)
        lines = [title] if text_width(title, 13, "bold") <= room else [name, title.removeprefix(name)]
        self.column(left, TOP + 2 - 16 * len(lines), 16, lines, 13, look(name).ink, "bold")

    # --- The sum ----------------------------------------------------------------------------------------------

    def _draw_rows(self, opened: Opened) -> None:
        """The terms that are farthest from 0, the rest, and the sum beside what the kernel wrote."""
        self.lines([(MARGIN, TABLE - 15, WIDTH - MARGIN, TABLE - 15)], LINE, 1)
        rows = sorted((row for row in opened.rows if row.value), key=lambda row: -abs(row.value)) or opened.rows
        lines = [(row.label, row.product, row.value, INK, "normal") for row in rows[:LISTED]]
        if rest := rows[LISTED:]:
            zeros = sum(not row.value for row in opened.rows)
            others = f"{len(rest):,} more" + f", and {zeros:,} that are 0" * (zeros > 0)
            lines.append((others, "", sum(row.value for row in rest), GRAY, "normal"))
        y = TABLE + LINE_HEIGHT * len(lines) - 10
        self.lines([(600, y, 700, y)] * bool(lines), INK, 1)
        rounding = f"rounding explains a difference of up to {opened.bound:.0e}" * (len(opened.rows) > 1)
        lines.append((opened.how, "", opened.result, INK, "bold"))
        lines.append(("the kernel wrote", rounding, opened.returned, BLUE, "bold"))
        for i, (names, text, value, *style) in enumerate(lines):
            y = TABLE + LINE_HEIGHT * i
            self.write(MARGIN, y, names, 13.5, *style)
            self.write(590, y, text, 13.5, GRAY, align="right")
            self.write(700, y, number(value), 13.5, *style, "right")

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
        found = np.array([values[place] for place in places])
        return f"{name}{_index(places)}", found.reshape(1, *fold(len(found))), {}
    if values.ndim == 1:
        maps = in_maps(values.shape)
        cells = [tuple(map(int, divmod(place[0], maps[2]))) for place in places]
        return name, values.reshape(maps), {} if len(cells) == values.size else {0: cells}
    by_plane: dict[Index, list] = {}
    for place in places:
        by_plane.setdefault(place[:-2], []).append(place[-2:])
    planes = np.stack([values[plane] for plane in by_plane])
    marks = {i: cells for i, cells in enumerate(by_plane.values()) if len(cells) < planes[0].size}
    return f"{name}{_index(by_plane)}", planes, marks


def _index(places: Iterable[Index]) -> str:
    """The places as an index: one, or all of them along an axis."""
    axes = ({*numbers} for numbers in zip(*places, strict=True))
    return f"[{','.join(':' if len(numbers) > 1 else str(*numbers) for numbers in axes)}]"
