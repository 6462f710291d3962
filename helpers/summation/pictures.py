"""Pictures of threads that add: a race, a tree, who adds in each step, and two passes."""

from collections.abc import Sequence

from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, Box, Picture, Word, in_words, number
from helpers.pictures.parts import Grid
from helpers.summation import indices


def connecting_line(upper: Box, lower: Box) -> tuple[float, ...]:
    """A line from the middle below one box to the middle above another."""
    return upper.middle[0], upper.y + upper.height, lower.middle[0], lower.y


class RacePicture(Picture):
    """Two threads that add to one number in memory, in one of the six orders that their four steps can take."""

    TERMS = (3, 4)

    def __init__(self) -> None:
        super().__init__(300)
        self.title(18, f"thread 0 adds {self.TERMS[0]}, thread 1 adds {self.TERMS[1]}")
        for y, name in ((100, "thread 0"), (162, "thread 1"), (232, "total in memory")):
            self.bold(146, y, name, 15, INK, "right")
        steps = [self._box(0, step) for step in range(4)]
        self.label(steps, (f"step {step}" for step in range(1, 5)), 14, GRAY, down=-44)
        self.write(self._box(2, -1).middle[0], 258, "at first", 13, GRAY, align="middle")
        self._memory(-1, 0)
        self.stands_still()

    def draw(self, order: int) -> str:
        """Show one order of the four steps, and what it leaves in memory."""
        threads, actions = indices.schedules()[order], []
        steps, after = indices.run_schedule(threads, self.TERMS)
        for i, (thread, (verb, value)) in enumerate(zip(threads, steps, strict=True)):
            box, memory = self._box(thread, i), self._box(2, i)
            self.tinted([box], ORANGE, 2)
            self.write(*box.middle, f"{verb} {value}", 15, align="middle")
            self._memory(i, after[i], 3 if verb == "stores" else 1)
            line = connecting_line(box, memory)
            self.arrow(*((line[:2], line[2:]) if verb == "stores" else (line[2:], line[:2])), ORANGE)
            actions.append(f"thread {thread} {verb} {value}")
        # The first thread to store, the third step, loses what it added: the other one overwrites it.
        lost = ", as it should be" if after[-1] == sum(self.TERMS) else f": what thread {threads[2]} added is lost"
        return f"{', '.join(actions).capitalize()}. The total is {after[-1]}{lost}."

    def _memory(self, step: int, value: int, line: float = 1.0) -> None:
        """The total after a step."""
        box = self._box(2, step)
        self.tinted([box], BLUE, line)
        self.write(*box.middle, str(value), 17, align="middle")

    def _box(self, row: int, step: int) -> Box:
        return Box(300 + 132 * step, 82 + 62 * row + 6 * (row > 1), 112, 36)


class TreePicture(Picture):
    """The tree reduction of one workgroup's partial sums: each step adds one half to the other, until one sum is left.

    `partial` has one sum per thread, a power of two of them; a kernel with this many threads returned `returned`.
    """

    def __init__(self, partial: list[float], returned: float) -> None:
        self.steps, self.returned = indices.tree_steps(partial), returned
        super().__init__(self._box(len(self.steps), 0).y - 8)
        self.title(18, "partial sums in workgroup memory")
        labels = ["thread", "own sum", *(f"after step {i}" for i in range(1, len(self.steps)))]
        heights = [50, *(self._box(i, 0).middle[1] for i in range(len(self.steps)))]
        self.words((Word(132, y, label, 14, "right") for y, label in zip(heights, labels, strict=True)), GRAY)
        threads = range(len(partial))
        self.label((self._box(0, i) for i in threads), threads, 13, GRAY, down=-32)
        self.stands_still()

    def draw(self, step: int) -> str:
        """Show each thread's own sum, and the sums after each step up to `step`."""
        for row, sums in enumerate(self.steps[: step + 1]):
            boxes, color = [self._box(row, i) for i in range(len(sums))], ORANGE if row == step else BLUE
            grid = Grid(self, [sums], boxes[0].x, boxes[0].y, boxes[0][2:])
            grid.caption = f"after step {row}" if row else "own sums"
            self.tinted(boxes, color, 3 if row == step else 1)
            for i, box in enumerate(boxes if row else ()):
                above = self._box(row - 1, i), self._box(row - 1, i + len(sums))
                self.lines((connecting_line(other, box) for other in above), BLUE)
        return self._sentence(step)

    def _box(self, row: int, thread: int) -> Box:
        width = min(680 / len(self.steps[0]), 54)
        return Box(144 + thread * width, 64 + row * 74, width, 36)

    def _sentence(self, step: int) -> str:
        threads, left = len(self.steps[0]), len(self.steps[step])
        if step == 0:
            return f"Each of {threads} threads has a sum of its own. No thread has waited at a barrier yet."
        adders = "thread 0 adds" if left == 1 else f"{in_words('thread', range(left))} each add"
        places = f"{left} place{'s' * (left > 1)}"
        done = f"Step {step} of the tree reduction: after a barrier, {adders} the sum {places} to the right."
        if left > 1:
            return f"{done} {left} sums are left, and {threads - left} threads have nothing more to do."
        total, returned = number(self.steps[-1][0]), number(self.returned)
        return f"{done} The sum is {total}; the GPU kernel with {threads} threads returned {returned}."


class AddressingPicture(Picture):
    """One step of a tree over 32 threads in groups of 8, with the partial sums that are read and written."""

    THREADS, GROUP = 32, 8

    def __init__(self) -> None:
        super().__init__(356)
        self.bold(MARGIN, 66, "threads, in groups of 8 that run together", 15)
        self.bold(MARGIN, 296, "partial sums in workgroup memory", 15, BLUE)
        for row in (0, 1):
            boxes = [self._box(row, i) for i in range(self.THREADS)]
            self.boxes(boxes)
            self.label(boxes, range(self.THREADS), 12)
        self.boxes(self._group(i) for i in range(self.THREADS // self.GROUP))
        self.write(MARGIN, 326, "dark: read and written; light: only read", 13, GRAY)
        self.stands_still()

    def draw(self, pairing: int, step: int) -> str:
        """Show who adds in one step (1 to 5), in one of `indices.ADDRESSINGS`."""
        name, work = indices.ADDRESSINGS[pairing], indices.additions(self.THREADS, pairing, step)
        self.bold(MARGIN, 22, f"{name}, step {step}", 18, ORANGE)
        busy = sorted({addition.thread // self.GROUP for addition in work})
        self.boxes((self._group(i) for i in busy), ORANGE, line=3)
        self.tinted((self._box(0, a.thread) for a in work), ORANGE, 2, 0.4)
        self.tinted((self._box(1, a.place) for a in work), BLUE, 2.4, 0.45)
        self.tinted((self._box(1, a.other) for a in work), BLUE, 1.6, 0.15)
        ends = [(self._box(0, a.thread), self._box(1, place)) for a in work for place in (a.place, a.other)]
        self.lines((connecting_line(*pair) for pair in ends), BLUE, 1)
        groups, most = self.THREADS // self.GROUP, indices.worst_conflict(work, self.GROUP)
        apart = work[0].other - work[0].place
        who = f"{len(work)} threads add a sum" if len(work) > 1 else "1 thread adds a sum"
        return (
            f"Step {step}, {name}: {who} {apart} place{'s' * (apart > 1)} to the right. {len(busy)} of {groups} groups "
            f"{'is' if len(busy) == 1 else 'are'} at work; {'no two' if most == 1 else most} threads of a group read "
            f"from the same bank."
        )

    def _box(self, row: int, i: int) -> Box:
        return Box(18 + 25 * i + 2 * (i // self.GROUP) * (row == 0), (92, 236)[row], 23, 28)

    def _group(self, i: int) -> Box:
        first = self._box(0, i * self.GROUP)
        return Box(first.x - 3, first.y - 6, 25 * self.GROUP + 1, first.height + 12)


class TwoPassesPicture(Picture):
    """A list shared by a few workgroups of four threads, the part that each of them wrote, and the total."""

    THREADS = 4

    def __init__(self, numbers: Sequence[float], parts: Sequence[float], returned: float) -> None:
        self.numbers, self.parts, self.returned = numbers, parts, returned
        super().__init__(284)
        self.title(22, "the list, in groups of 4 numbers")
        for row, head, order, values in ((1, "parts", "first", parts), (2, "total", "second", [returned])):
            middle = self._box(row, 0).middle[1]
            self.title(middle - 9, head)
            self.write(MARGIN, middle + 12, f"after the {order} pass", 14, GRAY)
            self._numbers(row, values)
        self._numbers(0, numbers)
        self.lines(connecting_line(self._box(1, i), self._box(2, 0)) for i in range(len(parts)))
        self.stands_still()

    def draw(self, group: int) -> str:
        """Mark the numbers of one workgroup, and its part."""
        mine = indices.numbers_of_workgroup(len(self.numbers), len(self.parts), self.THREADS, group)
        part, own = self._box(1, group), [self._box(0, i) for i in mine]
        self.tinted(own, ORANGE, 2)
        self.tinted([part], ORANGE, 4)
        self.lines((connecting_line(box, part) for box in own), ORANGE)
        runs = " and ".join(f"{i} to {i + self.THREADS - 1}" for i in mine[:: self.THREADS])
        terms = " + ".join(number(part) for part in self.parts)
        return (
            f"Workgroup {group} adds up the numbers {runs}, and writes part {group}, "
            f"{number(self.parts[group])}. The second pass adds the parts: {terms} = {number(sum(self.parts))}; "
            f"the GPU returned {number(self.returned)}."
        )

    def _box(self, row: int, i: int) -> Box:
        if row:
            return Box(260 + 150 * i if row == 1 else 485, (44, 140, 236)[row], 60, 34)
        return Box(MARGIN + 4 + 24.5 * i + 3 * (i // self.THREADS), 44, 23, 34)

    def _numbers(self, row: int, values: Sequence[float]) -> None:
        boxes = [self._box(row, i) for i in range(len(values))]
        self.boxes(boxes)
        self.label(boxes, map(number, values), 15)
