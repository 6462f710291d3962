"""The tree reduction of one workgroup's partial sums."""

from helpers.data.words import in_words
from helpers.lessons.shared.sums import tree_steps
from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture, Word, number
from helpers.pictures.parts import Grid


class TreePicture(Picture):
    """The tree reduction of one workgroup's partial sums: each step adds one half to the other, until one sum is left.

    `partial` has one sum per thread, a power of two of them; a kernel with this many threads returned `returned`.
    """

    def __init__(self, partial: list[float], returned: float) -> None:
        self.steps = tree_steps(partial)
        self.returned = returned
        below = self._box(len(self.steps), 0)
        super().__init__(int(below.y - 12))
        self.title(18, "partial sums in workgroup memory")
        labels = [Word(132, 50, "thread", 14, "right")]
        for step in range(len(self.steps)):
            _, y = self._box(step, 0).middle
            label = f"after step {step}" if step else "own sum"
            labels.append(Word(132, y, label, 14, "right"))
        self.words(labels, GRAY)
        threads = range(len(partial))
        self.label((self._box(0, thread) for thread in threads), threads, 13, GRAY, down=-32)
        self.stands_still()

    def draw(self, step: int, thread: int) -> str:
        """Show the sums after each step up to `step`, and from which of them a thread's sum was made."""
        for row, sums in enumerate(self.steps[: step + 1]):
            contributing = range(thread, len(sums), len(self.steps[step]))
            grid = self._draw_row(row, sums, contributing)
        grid.frame([(0, thread)], ORANGE)
        return self._sentence(step, thread)

    def _draw_row(self, row: int, sums: list[float], contributing: range) -> Grid:
        """The sums after a step, with lines from the two sums that each was made of."""
        boxes = [self._box(row, i) for i in range(len(sums))]
        first = boxes[0]
        grid = Grid(self, [sums], first.x, first.y, (first.width, first.height))
        grid.caption = f"after step {row}" if row else "own sums"
        grid.touch(grid.caption, "thread", step=row)
        self.tinted([boxes[i] for i in contributing], ORANGE, 2)
        if row == 0:
            return grid
        for i, box in enumerate(boxes):
            left = self._box(row - 1, i)
            right = self._box(row - 1, i + len(sums))
            lines = [connecting_line(left, box), connecting_line(right, box)]
            if i in contributing:
                self.lines(lines, ORANGE, 2.4)
            else:
                self.lines(lines, BLUE, 1.2)
        return grid

    def _box(self, row: int, thread: int) -> Box:
        """The box of a thread's sum after a step."""
        width = min(680 / len(self.steps[0]), 72)
        return Box(144 + thread * width, 64 + row * 66, width, 36)

    def _sentence(self, step: int, thread: int) -> str:
        """Say what a thread adds in a step."""
        if step == 0:
            return f"Thread {thread} has a sum of its own, {number(self.steps[0][thread])}. No thread has waited yet."
        sums_left = len(self.steps[step])
        before = self.steps[step - 1]
        right = number(before[thread + sums_left])
        if before[thread + sums_left] < 0:
            right = f"({right})"
        addition = f"{number(before[thread])} + {right} = {number(self.steps[step][thread])}"
        if sums_left == 1:
            places = "1 place"
            end = f"the kernel wrote {number(self.returned)}"
        else:
            places = f"{sums_left} places"
            end = f"{in_words('number', range(thread, len(self.steps[0]), sums_left))} are in it"
        return f"Step {step}, after a barrier: thread {thread} adds the sum {places} to its right, {addition}; {end}."


def connecting_line(upper: Box, lower: Box) -> tuple[float, ...]:
    """A line from the middle below one box to the middle above another."""
    start, _ = upper.middle
    end, _ = lower.middle
    return start, upper.bottom, end, lower.y
