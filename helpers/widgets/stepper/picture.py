"""A picture of one event of a simulated run: the kernel's text, the threads, and the arrays in memory."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from math import ceil

import numpy as np

from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, ORANGE, PAPER, SECTORS, Box, Picture, Word, tint
from helpers.pictures.marks import text_width
from helpers.pictures.parts import Area, look
from helpers.widgets.stepper.grids import Drawn, arrange
from helpers.widgets.stepper.replay import ACTIVE, DONE, SECTOR, WAITING, Access, Event, Replay, Shape, Variable
from helpers.widgets.stepper.sentences import Teller, plural
from helpers.widgets.stepper.text import Row, pages
from wgsl.simulator.trace import Trace

# CSS pixels
HEIGHT = 438  # of a sheet, at the most
TOP = 36  # where the text begins
STRIP = 36  # where the threads begin
CODE = 52  # where a line of code begins
LETTER = 12  # the size of its letters
ADVANCE = 0.602 * LETTER  # their width
ROW = 17  # the height of a row of code
THREAD = (32, 25)  # the most of a thread
CHIP = 24  # the height of a variable's box
CHIPS = 30  # the height of a row of them
LABELED = 26  # a cell as high as this has room for the number of its sector
SECTOR_SIZE = 11  # of the letters of that number

LETTERS = (57, 50)  # in a row of code: fewer where the arrays need the room
IN_A_ROW = 16  # threads
MOST_THREADS = 64
SIGNS = {  # the boxes of the legend: edge, face, line
    ACTIVE: (PAPER, BLUE, 1.5),
    WAITING: (GRAY,),
    DONE: (LINE, tint(GRAY, 0.12)),
    "read": (BLUE, tint(BLUE), 1.6),
    "workgroup": (BLUE, None, 3),
}


class StepperPicture(Picture):
    """The text on the left with the line that runs, the threads above on the right, and the arrays below them.

    Of the text, `lines` are shown, and of the run what it does in the lines `steps`. It is at most `most` pixels high.
    """

    def __init__(
        self, trace: Trace, shapes: Mapping[str, Shape], lines: Collection[int], steps: Collection[int], most: int
    ) -> None:
        super().__init__(most)
        self.replay = Replay(trace, shapes, steps)
        if self.replay.count > MOST_THREADS:
            threads = f"{self.replay.count} threads"
            raise ValueError(f"{threads}: the sheet has room for {MOST_THREADS}; simulate fewer, in smaller workgroups")
        self.teller = Teller(self.replay)
        self.findings = {finding.line for finding in trace.findings}
        if not any(self._lay_out(lines, letters) for letters in LETTERS):
            names = ", ".join(memory.name for memory in self.replay.memories)
            raise ValueError(f"{names}: the sheet has no room for them; show fewer or smaller arrays")
        text_end = self._row(max(map(len, self.pages)))
        grids_end = max(grid.bottom for grid in self.grids)
        self.height = int(max(text_end, grids_end)) + 14

    def _lay_out(self, lines: Collection[int], letters: int) -> bool:
        """Give the text rows of this many letters, and all else what is left; False where that is too little."""
        ran = {event.line for event in self.replay.events}
        self.pages = pages(self.replay.trace.kernel, ran, lines, letters, (self.height - TOP) // ROW)
        longest = max(row.indent + len(row.text) for row in chain.from_iterable(self.pages))
        self.right = max(CODE + ADVANCE * longest + 24, 300)
        room = self.width - MARGIN - self.right
        wide = min(self.replay.threads, IN_A_ROW)
        self.names = 62 if self.replay.groups > 1 else 0  # CSS pixels for the names of workgroups
        self.thread_width = min(THREAD[0], (room - self.names) / wide)
        threads_end = self._thread(self.replay.count - 1).y + THREAD[1]
        self.variables_top = threads_end + 26
        self.chips = self._chips(Box(self.right, self.variables_top + 14, room, 0))
        chips_end = max((box.y + CHIP for box in self.chips.values()), default=threads_end)
        self.memory_top = chips_end + 26
        area = Box(self.right, self.memory_top + 14, room, self.height - 22 - self.memory_top)
        self.grids = arrange(self.replay.memories, area)
        return bool(self.grids)

    def _chips(self, area: Box) -> dict[Variable, Box]:
        """For each variable a box that holds any of its values, with room for its name at the left."""
        chips = {}
        x = area.x
        y = area.y
        for variable in self.replay.variables:
            head = text_width(variable.name, 13, "bold") + 7
            texts = {variable.text(value) for value in variable.values}
            width = 14 + max((text_width(text, 13, "bold") for text in texts), default=10)
            if x > area.x and x + head + width > area.right:
                x = area.x
                y = y + CHIPS
            chips[variable] = Box(x + head, y, width, CHIP)
            x += head + width + 18
        return chips

    def draw(self, step: int, thread: int) -> str:
        """Show one event of the run, and what one thread does in it."""
        event = self.replay.events[step]
        page = self._page_of(event.line)
        if self.starts(page):
            self._draw_text(page)
            self._draw_frames()
            self.stands_still()
        self._point(page, event.line)
        self._fill_threads(self.replay.states(event), thread)
        self._fill_chips(event, thread)
        accesses = self.replay.during(event)
        for grid in self.grids:
            self._fill(grid, event, [access for access in accesses if grid.memory.holds(access)], thread)
        return self.teller.sentence(event, thread)

    def _page_of(self, line: int) -> int:
        """The page of the text on which a line is."""
        return next(i for i, rows in enumerate(self.pages) if _has_line(rows, line))

    # --- What stands still --------------------------------------------------------------------------------

    def _draw_text(self, page: int) -> None:
        title = "the kernel"
        if len(self.pages) > 1:
            title += f", part {page + 1} of {len(self.pages)}"
        self.bold(MARGIN, 18, title, 15)
        rows = [(self._row(i), row) for i, row in enumerate(self.pages[page])]
        self.words((Word(CODE - 12, y, row.number, LETTER, "right", True) for y, row in rows), GRAY)
        self.words(Word(CODE + row.indent * ADVANCE, y, row.text, LETTER, "left", True) for y, row in rows)
        marked = [y for y, row in rows if row.number and row.line in self.findings]
        self.words((Word(MARGIN, y, "!", 14) for y in marked), ORANGE, "bold")

    def _row(self, i: int) -> float:
        return TOP + ROW * (i + 0.5)

    def _draw_frames(self) -> None:
        """The outlines of threads and arrays, with their names, and what the colors stand for."""
        self._draw_thread_frames()
        if self.chips:
            self.bold(self.right, self.variables_top, "variables", 15)
            self.boxes(self.chips.values())
        for variable, box in self.chips.items():
            self.bold(box.x - 7, box.middle[1], variable.name, 13, align="right")
        self._draw_memory_frames()

    def _draw_thread_frames(self) -> None:
        self.bold(self.right, 18, plural(self.replay.count, "thread"), 15)
        self._explain(18, (ACTIVE, WAITING, DONE))
        self.boxes(map(self._thread, range(self.replay.count)), GRAY)
        in_a_row = min(self.replay.threads, IN_A_ROW)
        if self.replay.threads % in_a_row == 0:  # no row has a gap
            x, y, width, _ = self._thread(0)
            _, height = THREAD
            cells = np.zeros((self.replay.count // in_a_row, in_a_row))
            strip = Box(x, y, in_a_row * width, len(cells) * (height + 2))
            Area(self, cells, strip).touch("threads", "thread")
        if self.names:
            for group in range(self.replay.groups):
                _, middle = self._thread(group * self.replay.threads).middle
                self.write(self.right, middle, f"group {group}", 13, GRAY)

    def _draw_memory_frames(self) -> None:
        self.bold(self.right, self.memory_top, "memory", 15)
        self._explain(self.memory_top, ("read", "written", "workgroup"))
        for grid in self.grids:
            self.boxes(grid.boxes)
            name = grid.memory.name
            self.bold(grid.x, grid.y - 12, name, 13, look(name).ink)
            self.write(grid.x + text_width(name, 13, "bold") + 6, grid.y - 12, grid.memory.note, 13, GRAY)
            if grid.memory.shared:
                self._sign("workgroup", grid.panels)

    def _explain(self, y: float, signs: Sequence[str]) -> None:
        """A legend that ends at the right margin."""
        x = self.width - MARGIN
        for sign in reversed(signs):
            x -= text_width(sign, 13) + 4
            self.note(x + 4, y, sign)
            self._sign(sign, [Box(x - 20, y - 8, 16, 16)])
            x -= 30

    def _sign(self, sign: str, boxes: Sequence[Box]) -> None:
        """Boxes that look as the legend explains them."""
        if sign in SIGNS:
            self.boxes(boxes, *SIGNS[sign])
        if sign == DONE:
            self.lines(((b.x + 2, b.bottom - 2, b.right - 2, b.y + 2) for b in boxes), GRAY, 1)
        if sign == "written":
            self._sign_written(boxes)

    def _sign_written(self, boxes: Sequence[Box]) -> None:
        """A thick line inside of each cell, and its lower right corner filled."""
        inset, corner = (2.5, 5) if boxes and boxes[0].height >= LABELED else (1, 3)
        lines = [Box(b.x + inset, b.y + inset, b.width - 2 * inset, b.height - 2 * inset) for b in boxes]
        self.boxes(lines, ORANGE, line=2)
        end = inset + corner
        corners = [Box(b.right - end, b.bottom - end, corner, corner) for b in boxes]
        self.boxes(corners, ORANGE, ORANGE)

    # --- Text and threads ---------------------------------------------------------------------------------

    def _point(self, page: int, line: int) -> None:
        """A bar over the rows of the line that runs, and a pointer before them."""
        rows = [i for i, row in enumerate(self.pages[page]) if row.line == line]
        top = self._row(rows[0]) - ROW / 2
        bar = Box(MARGIN - 10, top, self.right - MARGIN - 4, ROW * len(rows))
        self.tinted([bar], ORANGE, 1, 0.14)
        self.boxes([Box(bar.x, bar.y, 4, bar.height)], ORANGE, ORANGE)
        self.bold(CODE - 2, self._row(rows[0]), "▸", 14, ORANGE, "right")

    def _thread(self, thread: int) -> Box:
        group, local = divmod(thread, self.replay.threads)
        in_a_row = min(self.replay.threads, IN_A_ROW)
        row, column = divmod(local, in_a_row)
        row += group * ceil(self.replay.threads / in_a_row)
        x = self.right + self.names + column * self.thread_width
        _, height = THREAD
        return Box(x, STRIP + row * (height + 2), self.thread_width, height)

    def _fill_threads(self, states: list[str], chosen: int) -> None:
        for state, color, weight in ((ACTIVE, PAPER, "bold"), (WAITING, INK, "normal"), (DONE, GRAY, "normal")):
            places = {i: self._thread(i) for i, s in enumerate(states) if s == state}
            if state != WAITING:
                self._sign(state, [*places.values()])
            self.label(places.values(), (i % self.replay.threads for i in places), 13, color, weight)
        x, y, width, height = self._thread(chosen)
        self.boxes([Box(x - 1.5, y - 1.5, width + 3, height + 3)], INK, line=3)

    def _fill_chips(self, event: Event, thread: int) -> None:
        """Draw the variables of one thread: bold and marked as in memory where this event gave it."""
        if self.chips:
            x = self.right + text_width("variables", 15, "bold") + 6
            self.write(x, self.variables_top, f"of {self.teller.named(thread)}", 13, GRAY)
        for variable, box in self.chips.items():
            held = self.replay.held(variable, event, thread)
            if held.new:
                self._sign_written([box])
                self.label([box], [held.text], 13, ORANGE, "bold")
            else:
                self.label([box], [held.text], 13, INK)

    # --- Memory -------------------------------------------------------------------------------------------

    def _fill(self, grid: Drawn, event: Event, accesses: list[Access], thread: int) -> None:
        """The values of an array, and marks on the words that are touched."""
        read = sorted({access.word for access in accesses if not access.write})
        written = sorted({access.word for access in accesses if access.write})
        if grid.memory.shared:
            self._sign("read", [grid.boxes[word] for word in read])
        else:
            self._mark_sectors(grid, read)
        self._sign_written([grid.boxes[word] for word in written])
        self._write_values(grid, event, set(written))
        of_thread = {access.word for access in accesses if access.thread == thread}
        self.boxes((grid.boxes[word] for word in of_thread), INK, line=3)

    def _write_values(self, grid: Drawn, event: Event, now: set[int]) -> None:
        """Draw each element after the event: what is written `now` bold, zeros that nobody wrote gray."""
        values, known = self.replay.values(grid.memory, event)
        low = 3 if grid.height >= LABELED and not grid.memory.shared else 0
        unwritten = []
        as_before = []
        new = []
        for i, value in enumerate(values):
            x, y = grid.boxes[i].middle
            word = Word(x, y + low, grid.written(value), grid.size)
            if i in now:
                new.append(word)
            elif known[i]:
                as_before.append(word)
            else:
                unwritten.append(word)
        ink = look(grid.memory.name).ink
        self.words(unwritten, GRAY)
        self.words(as_before, ink)
        self.words(new, ink, "bold")

    def _mark_sectors(self, grid: Drawn, words: list[int]) -> None:
        """Tint what is read, in a color for each sector, and outline all that comes with it."""
        for sector in sorted({word // SECTOR for word in words}):
            color = SECTORS[sector % len(SECTORS)]
            here = [word for word in words if word // SECTOR == sector]
            self.tinted([grid.boxes[word] for word in here], color, 1.6)
            self.boxes(grid.runs(sector * SECTOR, (sector + 1) * SECTOR), color, line=2, dashes=(5, 3))
            if grid.height >= LABELED:
                x, y, *_ = grid.boxes[here[0]]
                self.bold(x + 4, y + 7.5, str(sector), SECTOR_SIZE, GRAY)


def _has_line(rows: Sequence[Row], line: int) -> bool:
    return any(row.line == line for row in rows)
