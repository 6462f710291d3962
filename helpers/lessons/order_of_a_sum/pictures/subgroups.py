"""Lanes of subgroups that trade their sums, and the sums that go through workgroup memory after that."""

from collections.abc import Sequence

from helpers.data.words import in_words
from helpers.pictures.canvas import BLUE, GRAY, LINE, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Grid

SIZES = (4, 8, 16)  # of a subgroup
# CSS pixels
FIRST = Box(150, 64, 42, 30)  # of thread 0
DOWN = 56  # from one row to the next
BETWEEN = 6  # between two subgroups
MEMORY = 344  # the y of the sums in workgroup memory


def trades(size: int) -> int:
    """The number of trades after which each lane has the sum of its subgroup."""
    return size.bit_length() - 1


def steps(size: int) -> int:
    """The number of steps of a whole sum: its own numbers, the trades, a store, and the last sum."""
    return trades(size) + 3


def after_trades(numbers: Sequence[int], size: int) -> list[list[int]]:
    """The sum that each lane has at first and after each trade with the lane that is 1, 2, 4, ... away."""
    rows = [list(numbers)]
    for trade in range(trades(size)):
        before = rows[-1]
        rows.append([sum + before[thread ^ 1 << trade] for thread, sum in enumerate(before)])
    return rows


class SubgroupPicture(Picture):
    """A workgroup whose threads each have a number: its subgroups add without memory, and then with it."""

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__(MEMORY + 44)
        self.numbers = list(numbers)

    def draw(self, subgroup: int, step: int, thread: int) -> str:
        """Show the sums after a step with subgroups of SIZES[subgroup], and where a thread's sum comes from."""
        self.size = SIZES[subgroup]
        if self.starts(subgroup):
            self._draw_names()
            self.stands_still()
        rows = after_trades(self.numbers, self.size)
        trade = min(step, trades(self.size))
        for row, sums in enumerate(rows[: trade + 1]):
            self._draw_row(row, sums, trade, thread)
        if step > trades(self.size):
            self._draw_memory(rows[-1], thread)
        if step > trades(self.size) + 1:
            self.bold(self.width - MARGIN, MEMORY + 15, f"total {sum(self.numbers)}", 15, ORANGE, "right")
        return f"Subgroups of {self.size}. {self._sentence(rows, step, thread)}"

    def _draw_names(self) -> None:
        """The names of rows and threads."""
        self.title(18, "sums in registers")
        words = []
        for row in range(trades(self.size) + 1):
            away = 1 << row >> 1
            name = f"lanes {away} apart" if away > 1 else "neighbors trade"
            words.append(Word(FIRST.x - 12, FIRST.y + DOWN * row + 15, name if row else "own number", 13, "right"))
        words.append(Word(FIRST.x - 12, MEMORY + 15, "workgroup memory", 13, "right"))
        words.append(Word(FIRST.x - 12, FIRST.y - 14, "lane", 13, "right"))
        self.words(words, GRAY)
        threads = range(len(self.numbers))
        self.label((self._box(0, i) for i in threads), (i % self.size for i in threads), 13, GRAY, down=-29)

    def _draw_row(self, row: int, sums: list[int], trade: int, thread: int) -> None:
        """The sums after a trade, a grid for each subgroup, with lines from the two that each was made of."""
        for first in range(0, len(sums), self.size):
            box = self._box(row, first)
            part = sums[first : first + self.size]
            grid = Grid(self, [part], box.x, box.y, (box.width, box.height))
            grid.caption = f"subgroup {first // self.size}, after {row} trades"
            grid.touch(grid.caption, "thread", start=first, step=row)
        if row:
            lanes = range(len(sums))
            self._join(row, lanes, LINE, 1.1)
            self._join(row, self._contributing(row, trade, thread), ORANGE, 2.4)
        boxes = [self._box(row, lane) for lane in self._contributing(row, trade, thread)]
        self.tinted(boxes, ORANGE, 2)

    def _join(self, row: int, lanes: Sequence[int], color: str, line: float) -> None:
        """Draw lines into some lanes of a row: each from the same lane above, and from the one it trades with."""
        ends = []
        for lane in lanes:
            end, _ = self._box(row, lane).middle
            for other in (lane, lane ^ 1 << row - 1):
                start, _ = self._box(row - 1, other).middle
                ends.append((start, self._box(row - 1, other).bottom, end, self._box(row, lane).y))
        self.lines(ends, color, line)

    def _contributing(self, row: int, trade: int, thread: int) -> list[int]:
        """The lanes whose sums after `row` trades are in the thread's sum after `trade`."""
        lanes = {thread}
        for later in range(trade, row, -1):
            lanes |= {lane ^ 1 << later - 1 for lane in lanes}
        return sorted(lanes)

    def _draw_memory(self, sums: list[int], thread: int) -> None:
        """The sum of each subgroup in workgroup memory, below its lane 0."""
        firsts = range(0, len(sums), self.size)
        boxes = [self._box(0, first)._replace(y=MEMORY) for first in firsts]
        for number_of_subgroup, (first, box) in enumerate(zip(firsts, boxes, strict=True)):
            start = self._box(trades(self.size), first)
            self.arrow((start.middle[0], start.bottom + 2), (box.middle[0], box.y - 2), BLUE)
            grid = Grid(self, [[sums[first]]], box.x, box.y, (box.width, box.height))
            grid.caption = f"sums[{number_of_subgroup}]"
        self.boxes([boxes[thread // self.size]], BLUE, line=3)

    def _box(self, row: int, thread: int) -> Box:
        """The box of a thread's sum after some trades."""
        gaps = thread // self.size
        return FIRST._replace(x=FIRST.x + thread * FIRST.width + gaps * BETWEEN, y=FIRST.y + row * DOWN)

    def _sentence(self, rows: list[list[int]], step: int, thread: int) -> str:
        """Say what a thread does in a step."""
        place = f"n subgroup {thread // self.size}, "
        if step <= trades(self.size):
            return f"I{place}{self._trade(rows, step, thread)}"
        if step == trades(self.size) + 1:
            return f"I{place}{self._store(rows[-1], thread)} Now all threads wait, at the only barrier."
        return f"After the barrier, i{place}{self._last_sum(thread)}"

    def _store(self, sums: list[int], thread: int) -> str:
        """Say what a thread stores."""
        lane = thread % self.size
        stores = f"lane 0 stores {sums[thread]} in sums[{thread // self.size}]"
        if lane == 0:
            return f"{stores}."
        return f"{stores}, and lane {lane} nothing."

    def _last_sum(self, thread: int) -> str:
        """Say which sum in memory a thread takes, and what it has in the end."""
        lane = thread % self.size
        taken = "no sum"
        if lane < len(self.numbers) // self.size:
            taken = f"sums[{lane}]"
        total = sum(self.numbers)
        return f"lane {lane} takes {taken} from memory. The subgroup adds once more: the total is {total}."

    def _trade(self, rows: list[list[int]], step: int, thread: int) -> str:
        """Say with which lane a thread trades, and what it has then."""
        lane = thread % self.size
        if step == 0:
            return f"lane {lane} has the number {rows[0][thread]} in a register. Nothing is in memory."
        other = thread ^ 1 << step - 1
        before = rows[step - 1]
        addition = f"{before[thread]} + {before[other]} = {rows[step][thread]}"
        lanes = in_words("lane", [number % self.size for number in self._contributing(0, step, thread)])
        trade = f"lanes {lane} and {other % self.size} trade their sums"
        return f"{trade}, and lane {lane} has {addition}, of {lanes}. No memory, no barrier."
