"""Residue classes: with a stride, the pixels fall into classes, and each class needs its own taps of the filter."""

from helpers.convolution.indices import contributions_to_pixel
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, PAPER, Box, Picture, Word, in_words, tint
from helpers.pictures.parts import MARGIN
from helpers.speed.indices import taps_of_class

LETTERS = "ABCD"
CELL, TOP = 38, 92


class ResiduesPicture(Picture):
    """The pixels of one image with the letters of their classes, and the taps and outputs that reach one of them.

    `shape` is one image and one channel, with stride 2 and a square filter.
    """

    def __init__(self, shape: ConvShape) -> None:
        super().__init__(444)
        self.shape = shape
        self.pixels = MARGIN, TOP
        self.filter = MARGIN + CELL * shape.in_w + 70, TOP
        self.outputs = self.filter[0] + CELL * shape.kernel_w + 70, TOP

    def show(self, ih: int, iw: int) -> "ResiduesPicture":
        """Point at one pixel."""
        if self.starts():
            self._draw_grids()
            self.stands_still()
        own = self._class(ih, iw)
        taps = self._taps(own)
        reached = contributions_to_pixel(self.shape, ih, iw)
        self.boxes((self._box(self.pixels, *pixel) for pixel in self._members(own)), ORANGE, tint(ORANGE), 1.6)
        self.boxes([self._box(self.pixels, ih, iw)], ORANGE, tint(ORANGE, 0.4), 4)
        self.boxes((self._box(self.filter, *tap) for tap in taps), ORANGE, tint(ORANGE), 3)
        self.boxes((self._box(self.outputs, each.oh, each.ow) for each in reached), BLUE, tint(BLUE, 0.5), 3)
        for each in reached:
            box = self._box(self.outputs, each.oh, each.ow)
            self.write(*box.middle, f"{each.kh},{each.kw}", 13, align="middle")
        self._write_classes(own)
        self.sentence = self._say(ih, iw, own, len(taps), len(reached))
        return self

    def _class(self, ih: int, iw: int) -> tuple[int, int]:
        """The remainders of a pixel's row and column, counted with the padding."""
        s = self.shape
        return (ih + s.padding_h) % s.stride_h, (iw + s.padding_w) % s.stride_w

    def _taps(self, own: tuple[int, int]) -> list[tuple[int, int]]:
        rows, columns = (
            taps_of_class(r, k, self.shape.stride_h)
            for r, k in zip(own, (self.shape.kernel_h, self.shape.kernel_w), strict=True)
        )
        return [(kh, kw) for kh in rows for kw in columns]

    def _members(self, own: tuple[int, int]) -> list[tuple[int, int]]:
        rows, columns = range(self.shape.in_h), range(self.shape.in_w)
        return [(ih, iw) for ih in rows for iw in columns if self._class(ih, iw) == own]

    @staticmethod
    def _box(corner: tuple[float, float], row: int, column: int) -> Box:
        return Box(corner[0] + CELL * column, corner[1] + CELL * row, CELL, CELL)

    def _draw_grids(self) -> None:
        s = self.shape
        self.write(MARGIN, 20, f"gradient of the input, stride {s.stride_h}, padding {s.padding_h}", 17, weight="bold")
        grids = (
            (self.pixels, s.in_h, s.in_w, "pixels", "the letter is the class"),
            (self.filter, s.kernel_h, s.kernel_w, "filter", "its taps kh,kw"),
            (self.outputs, s.out_h, s.out_w, "grad_output", "with the tap that reaches the pixel"),
        )
        for corner, rows, columns, title, note in grids:
            self.write(corner[0], TOP - 34, title, 15, weight="bold")
            self.write(corner[0], TOP - 14, note, 13, GRAY)
            cells = [(row, column) for row in range(rows) for column in range(columns)]
            self.boxes((self._box(corner, *cell) for cell in cells), LINE, PAPER)
        letters = [(self._letter(self._class(row, column)), row, column) for row, column in _all(s.in_h, s.in_w)]
        self.words(Word(*self._box(self.pixels, *at).middle, letter, 16) for letter, *at in letters)
        taps = list(_all(s.kernel_h, s.kernel_w))
        self.words(Word(*self._box(self.filter, *tap).middle, f"{tap[0]},{tap[1]}", 13) for tap in taps)

    def _letter(self, own: tuple[int, int]) -> str:
        return LETTERS[own[0] * self.shape.stride_h + own[1]]

    def _write_classes(self, own: tuple[int, int]) -> None:
        """How many taps each class needs, beside how many a kernel without classes tests."""
        x, y = self.filter[0], TOP + CELL * self.shape.in_h - 112
        for i, each in enumerate(_all(*self.shape.stride)):
            count, chosen = len(self._taps(each)), each == own
            said = f"class {LETTERS[i]}: {count} tap{'s' * (count > 1)} for each pixel and channel"
            self.write(x, y + 26 * i, said, 15, ORANGE if chosen else INK, "bold" if chosen else "normal")
        taps = self.shape.kernel_h * self.shape.kernel_w
        mean = taps / self.shape.stride_h**2
        self.write(x, y + 26 * 4 + 4, f"on average {mean:.4g}, where a loop over all taps tests {taps}", 15, BLUE)

    def _say(self, ih: int, iw: int, own: tuple[int, int], taps: int, reached: int) -> str:
        rows, columns = (
            taps_of_class(r, k, self.shape.stride_h)
            for r, k in zip(own, (self.shape.kernel_h, self.shape.kernel_w), strict=True)
        )
        where = f"through {in_words('row', rows)} and {in_words('column', columns)} of the filter"
        edge = f"; {taps - reached} of them lie{'s' * (taps - reached == 1)} outside the output" * (reached < taps)
        return (
            f"Pixel [{ih},{iw}] is in class {self._letter(own)}: every pixel of the class receives its gradient "
            f"{where}, {taps} of {self.shape.kernel_h * self.shape.kernel_w} taps{edge}. Within a class, a kernel "
            f"need not test a tap or divide by the stride."
        )


def _all(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(row, column) for row in range(rows) for column in range(columns)]
