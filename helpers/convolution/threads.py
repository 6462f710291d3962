"""Pictures of how a kernel's threads share the work: who owns what, who takes which product, who adds to whom."""

from math import prod

import numpy as np

from helpers.convolution.indices import products_of_thread, tree_steps, weight_of_thread
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Line, Picture, Word, in_words, number, tint

WIDTH = 960
TOP = 52


class ThreadsPicture(Picture):
    """The first workgroup of 256 threads beside the weights that they own, one each."""

    CELL = 22

    def __init__(self, shape: ConvShape) -> None:
        self.shape = shape
        super().__init__(WIDTH, TOP + 16 * self.CELL + 16)
        self.words([Word(20, 22, "workgroup 0: 256 threads", 17, "left")], INK, weight="bold")
        self.words([Word(450, 22, "the weights, each with its thread", 17, "left")], BLUE, weight="bold")
        self._draw_threads()
        self._draw_weights()
        self.thread = self.moves(self.boxes(edge=ORANGE, line=4))
        self.weight = self.moves(self.boxes(edge=ORANGE, line=4))
        self.name = self.moves(self.words(color=ORANGE, weight="bold"))

    def show(self, thread: int) -> "ThreadsPicture":
        """Point at one thread and at its weight."""
        owned = weight_of_thread(self.shape, thread)
        box = self._thread_box(thread)
        self.thread.put([box])
        self.name.put([Word(box.x + 11, box.y + 11, str(thread), 12)] if thread % 16 else [])
        self.weight.put([self._weight_box(*owned)] if owned else [])
        self.sentence = self._sentence(thread, owned)
        return self

    def _draw_threads(self) -> None:
        weights = prod(self.shape.weight)
        busy, idle = range(min(weights, 256)), range(weights, 256)
        self.boxes(map(self._thread_box, busy), LINE, tint(BLUE, 0.12))
        self.boxes(map(self._thread_box, idle), LINE, dashes=(0, (2, 2)))
        every_row = range(0, 256, 16)
        self._number(map(self._thread_box, every_row), every_row, GRAY)

    def _draw_weights(self) -> None:
        weights = range(min(prod(self.shape.weight), 256))
        boxes = [self._weight_box(*weight_of_thread(self.shape, i)) for i in weights]
        self.boxes(boxes, LINE, tint(BLUE, 0.12))
        self._number(boxes, weights, INK)
        pairs = np.ndindex(self.shape.out_channels, self.shape.in_channels)
        corners = [(self._weight_box(co, ci, 0, 0), f"grad_weight[{co},{ci}]") for co, ci in pairs]
        self.words((Word(box.x, box.y - 12, name, 13, "left") for box, name in corners), BLUE)

    def _number(self, boxes, numbers, color: str) -> None:
        middles = ((box.x + box.width / 2, box.y + box.height / 2) for box in boxes)
        self.words((Word(*at, str(i), 10) for at, i in zip(middles, numbers, strict=True)), color)

    def _thread_box(self, thread: int) -> Box:
        row, column = divmod(thread, 16)
        return Box(20 + column * self.CELL, TOP + row * self.CELL, self.CELL, self.CELL)

    def _weight_box(self, co: int, ci: int, kh: int, kw: int) -> Box:
        row, column = divmod(co * self.shape.in_channels + ci, 3)
        left = 450 + column * (self.shape.kernel_w * self.CELL + 40)
        top = TOP + 24 + row * (self.shape.kernel_h * self.CELL + 46)
        return Box(left + kw * self.CELL, top + kh * self.CELL, self.CELL, self.CELL)

    def _sentence(self, thread: int, owned: tuple[int, int, int, int] | None) -> str:
        s = self.shape
        if not owned:
            return f"Thread {thread} owns nothing: there are {prod(s.weight)} weights, so it returns at once."
        co, ci, kh, kw = owned
        code = f"{thread} = (({co}·{s.in_channels} + {ci})·{s.kernel_h} + {kh})·{s.kernel_w} + {kw}"
        loop = f"{s.batch}·{s.out_h}·{s.out_w} = {s.batch * s.out_h * s.out_w}"
        return f"Thread {thread} owns grad_weight[{co},{ci},{kh},{kw}], because {code}. It sums {loop} products alone."


class ProductsPicture(Picture):
    """The products of one weight, one cell each, and the few that one of many threads takes."""

    def __init__(self, shape: ConvShape, threads: int) -> None:
        self.shape, self.threads = shape, threads
        self.cell = 384 / shape.out_w
        super().__init__(WIDTH, int(TOP + shape.out_h * self.cell + 16))
        self.count = shape.batch * shape.out_h * shape.out_w
        title = f"the {self.count} products of one weight, in loop order"
        self.words([Word(20, 22, title, 17, "left")], INK, weight="bold")
        for i, taken in enumerate(self._rounds()):
            self.boxes(map(self._box, taken), LINE, tint(BLUE, 0.06 + 0.14 * (i % 2)))
            note = f"round {i}: {in_words('thread', range(len(taken)))} take {in_words('product', taken)}"
            self.words([Word(430, self._middle(taken), note, 15, "left")], BLUE)
        self.mine = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE, 0.45), line=4))
        self.names = self.moves(self.words(color=ORANGE, weight="bold"))

    def show(self, thread: int) -> "ProductsPicture":
        """Point at the products of one thread."""
        mine = products_of_thread(self.shape, thread, self.threads)
        self.mine.put(map(self._box, mine))
        heights = [self._middle(taken) + 24 for taken in self._rounds()]
        notes = [f"thread {thread} takes product {i}" for i in mine]
        self.names.put(Word(430, y, note, 15, "left") for y, note in zip(heights, notes, strict=False))
        outputs = ", at (oh, ow) = " * bool(mine) + ", ".join(str(divmod(i, self.shape.out_w)) for i in mine)
        self.sentence = (
            f"Thread {thread} of {self.threads} takes {in_words('product', mine)}{outputs}: "
            f"{len(mine)} of {self.count}. In each round, neighboring threads read neighboring addresses."
        )
        return self

    def _rounds(self) -> list[range]:
        firsts = range(0, self.count, self.threads)
        return [range(first, min(first + self.threads, self.count)) for first in firsts]

    def _middle(self, taken: range) -> float:
        return self._box((taken[0] + taken[-1]) // 2).y + self.cell / 2

    def _box(self, product: int) -> Box:
        row, column = divmod(product, self.shape.out_w)
        return Box(20 + column * self.cell, TOP + row * self.cell, self.cell, self.cell)


class TreePicture(Picture):
    """The partial sums of one workgroup, folded in half until one is left.

    Parameters
    ----------
    partial : list of float
        One sum per thread; their number is a power of two.
    returned : float
        What a kernel with as many threads returned for the same weight.
    """

    ROW = 72

    def __init__(self, partial: list[float], returned: float) -> None:
        self.steps, self.returned = tree_steps(partial), returned
        self.cell = min(770 / len(partial), 52)
        super().__init__(WIDTH, TOP + self.ROW * len(self.steps))
        self.words([Word(20, 22, "partial sums in workgroup memory", 17, "left")], INK, weight="bold")
        self.words((Word(x, 44, str(i), 12) for i, x in enumerate(map(self._middle, range(len(partial))))), GRAY)
        labels = ["each thread's own", *(f"halving {i}" for i in range(1, len(self.steps)))]
        self.words((Word(148, self._top(i) + 18, label, 14, "right") for i, label in enumerate(labels)), GRAY)
        self.arrows = self.moves(self.lines(color=BLUE))
        self.cells = self.moves(self.boxes(edge=BLUE, face=tint(BLUE)))
        self.new = self.moves(self.boxes(edge=ORANGE, face=tint(ORANGE, 0.25), line=4))
        self.sums = self.moves(self.words())

    def show(self, step: int) -> "TreePicture":
        """Show the sums before the first halving, and after each one up to `step`."""
        shown = self.steps[: step + 1]
        self.cells.put(self._box(row, i) for row, sums in enumerate(shown[:-1]) for i in range(len(sums)))
        self.new.put(self._box(step, i) for i in range(len(shown[-1])))
        self.sums.put(
            Word(self._middle(i), self._top(row) + 18, number(value), 16)
            for row, sums in enumerate(shown)
            for i, value in enumerate(sums)
        )
        self.arrows.put(
            line for row, sums in enumerate(shown[1:], 1) for i in range(len(sums)) for line in self._adds(row, i)
        )
        self.sentence = self._sentence(step)
        return self

    def _adds(self, row: int, i: int) -> tuple[Line, Line]:
        bottom, top = self._top(row - 1) + 36, self._top(row)
        other = self._middle(i + len(self.steps[row]))
        return Line(self._middle(i), bottom, self._middle(i), top), Line(other, bottom, self._middle(i), top)

    def _middle(self, thread: int) -> float:
        return 168 + (thread + 0.5) * self.cell

    def _top(self, row: int) -> float:
        return TOP + 8 + row * self.ROW

    def _box(self, row: int, thread: int) -> Box:
        return Box(self._middle(thread) - self.cell / 2 + 2, self._top(row), self.cell - 4, 36)

    def _sentence(self, step: int) -> str:
        threads, left = len(self.steps[0]), len(self.steps[step])
        if step == 0:
            return f"Each of {threads} threads has summed its own products. Nobody has met a barrier yet."
        adders = "thread 0 adds" if left == 1 else f"{in_words('thread', range(left))} each add"
        done = f"Halving {step}: after a barrier, {adders} the sum that stands {left} to the right."
        if left > 1:
            return f"{done} {left} sums are left, and {threads - left} threads have nothing more to do."
        total, returned = number(self.steps[-1][0]), number(self.returned)
        return f"{done} The sum is {total}; the GPU kernel with {threads} threads returned {returned}."
