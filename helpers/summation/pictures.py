"""Pictures of sums that threads share."""

from helpers.pictures.canvas import BLUE, GRAY, ORANGE, Box, Picture, Word, in_words, number, tint
from helpers.pictures.parts import MARGIN, Grid
from helpers.summation.indices import tree_steps


class TreePicture(Picture):
    """The tree reduction of one workgroup's partial sums: each step adds one half to the other, until one sum is left.

    `partial` has one sum per thread, a power of two of them; a kernel with as many threads returned `returned`.
    """

    def __init__(self, partial: list[float], returned: float) -> None:
        self.steps, self.returned = tree_steps(partial), returned
        super().__init__(self._box(len(self.steps), 0).y - 8)
        self.starts()
        self.write(MARGIN, 18, "partial sums in workgroup memory", 17, weight="bold")
        labels = ["thread", "own sum", *(f"after step {i}" for i in range(1, len(self.steps)))]
        heights = [50, *(self._box(i, 0).middle[1] for i in range(len(self.steps)))]
        self.words((Word(132, y, label, 14, "right") for y, label in zip(heights, labels, strict=True)), GRAY)
        self.words((Word(self._box(0, i).middle[0], 50, str(i), 13) for i in range(len(partial))), GRAY)
        self.stands_still()

    def show(self, step: int) -> "TreePicture":
        """Show each thread's own sum, and the sums after each step up to `step`."""
        self.starts()
        for row, sums in enumerate(self.steps[: step + 1]):
            boxes, color = [self._box(row, i) for i in range(len(sums))], ORANGE if row == step else BLUE
            Grid(self, [sums], boxes[0].x, boxes[0].y, boxes[0][2:])
            self.boxes(boxes, color, tint(color), 3 if row == step else 1)
            for i, (x, top, _, _) in enumerate(boxes if row else ()):
                for other in (self._box(row - 1, i), self._box(row - 1, i + len(sums))):
                    self.lines([(other.middle[0], other.y + other.height, x + other.width / 2, top)], BLUE)
        self.sentence = self._sentence(step)
        return self

    def _box(self, row: int, thread: int) -> Box:
        width = min(680 / len(self.steps[0]), 54)
        return Box(144 + thread * width, 64 + row * 74, width, 36)

    def _sentence(self, step: int) -> str:
        threads, left = len(self.steps[0]), len(self.steps[step])
        if step == 0:
            return f"Each of {threads} threads has summed its own products. No thread has waited at a barrier yet."
        adders = "thread 0 adds" if left == 1 else f"{in_words('thread', range(left))} each add"
        places = f"{left} place{'s' * (left > 1)}"
        done = f"Step {step} of the tree reduction: after a barrier, {adders} the sum {places} to the right."
        if left > 1:
            return f"{done} {left} sums are left, and {threads - left} threads have nothing more to do."
        total, returned = number(self.steps[-1][0]), number(self.returned)
        return f"{done} The sum is {total}; the GPU kernel with {threads} threads returned {returned}."
