"""A kernel in CUDA beside the same in WGSL: a line of one frames its counterpart in the other."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.data import tables
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture, Word
from helpers.pictures.parts import Area, number
from helpers.pictures.touchable import Touchable

FOLDER = Path(__file__).parent
CUDA = (FOLDER / "sum.cu").read_text(encoding="utf-8").rstrip()
WGSL = (FOLDER / "sum.wgsl").read_text(encoding="utf-8").rstrip()
COUNT = 1_000  # ones that the picture's kernel adds
SIZE = 256  # threads of a workgroup
# CSS pixels
TOP = 30  # where the lines begin
PITCH = 16
RIGHT = 396  # the left end of WGSL
COLUMNS = {MARGIN: 364, RIGHT: 428}  # their widths
LETTER = 7.83  # the width of each


class Pair(NamedTuple):
    """Lines of both texts that do the same, counted from 1, and what differs."""

    cuda: list[int]
    wgsl: list[int]
    says: str


def pairs() -> list[Pair]:
    """The pairs, in the order of CUDA's lines."""
    path = FOLDER / "pairs.toml"
    rows = []
    for place, row in enumerate(tables.read_list(path, "pairs"), 1):
        tables.check(f"{path.name}, number {place}", row, {"cuda": list, "wgsl": list, "says": str}, {})
        rows.append(Pair(**row))
    return rows


class SideBySide(Picture):
    """Two listings; WGSL's has run on the adapter `name`, and its second pass would add up to `returned`."""

    def __init__(self, returned: float, name: str) -> None:
        lines = max(len(text.split("\n")) for text in (CUDA, WGSL))
        super().__init__(TOP + PITCH * lines + 6)
        self.pairs = pairs()
        self.bold(MARGIN, 14, "CUDA", 15)
        self.bold(RIGHT, 14, "WGSL", 15)
        self.write(RIGHT + 56, 14, f"{COUNT:,} ones on {name}: {number(returned)}", 13, GRAY)
        self._list("CUDA", CUDA, MARGIN, [pair.cuda for pair in self.pairs])
        self._list("WGSL", WGSL, RIGHT, [pair.wgsl for pair in self.pairs])
        self.stands_still()

    def draw(self, pair: int) -> str:
        """Frame the lines of a pair."""
        chosen = self.pairs[pair]
        left = self._around(MARGIN, chosen.cuda)
        right = self._around(RIGHT, chosen.wgsl)
        self.tinted([left], BLUE, 2)
        self.tinted([right], ORANGE, 2)
        self.lines([(left.right, left.middle[1], right.x, right.middle[1])], ORANGE, 2)
        return chosen.says

    def _list(self, name: str, text: str, x: float, numbers: Sequence[list[int]]) -> None:
        """Write a text, and let a reader point at the lines that have counterparts."""
        lines = text.split("\n")
        words = []
        for row, line in enumerate(lines):
            code = line.lstrip()
            indent = (len(line) - len(code)) * LETTER
            words.append(Word(x + 5 + indent, TOP + PITCH * (row + 0.5), code, 13, "left", code=True))
        self.words(words)
        place = Box(x, TOP, COLUMNS[x], PITCH * len(lines))
        area = Area(self, np.zeros((len(lines), 1)), place, name)
        values = {(line - 1, 0): {"pair": i} for i, of_pair in enumerate(numbers) for line in of_pair}
        self.touchable[name] = Touchable(area, values)

    def _around(self, x: float, lines: Sequence[int]) -> Box:
        """The box around some lines below each other."""
        return Box(x, TOP + PITCH * (lines[0] - 1) + 2, COLUMNS[x], PITCH * len(lines))  # below underscores
