"""Residue classes: with a stride, the pixels fall into classes, and each class needs its own taps of the filter."""

from itertools import product

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.past_the_library.indices import taps_of_class
from helpers.operations.convolution.indices import taps_of_pixel
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, INK, MARGIN, Picture
from helpers.pictures.parts import Grid
from helpers.pictures.touchable import Cell

LETTERS = "ABCD"
CELL = 38
TOP = 92


class ResiduesPicture(Picture):
    """The pixels of one image with the letters of their classes, and the taps and outputs that reach one of them.

    `shape` is one image and one channel, with stride 2 and a square filter.
    """

    def __init__(self, shape: ConvShape) -> None:
        super().__init__(416)
        self.shape = s = shape
        self.title(20, f"gradient of the input, stride {s.stride_h}, padding {s.padding_h}")
        middle = MARGIN + CELL * s.in_w + 70
        self.pixels = self._grid(MARGIN, s.input, "grad_input", "the letter is the class")
        self.filter = self._grid(middle, s.weight, "filter", "its taps kh,kw")
        right = middle + CELL * s.kernel_w + 70
        self.outputs = self._grid(right, s.output, "grad_output", "with the tap that reaches the pixel")
        self.letters = dict(zip(np.ndindex(s.stride), LETTERS, strict=True))  # of the classes
        self.label(self.pixels.boxes, (self.letters[self._class(*pixel)] for pixel in np.ndindex(s.input[2:])), 16)
        self.label(self.filter.boxes, (f"{kh},{kw}" for kh, kw in np.ndindex(s.weight[2:])))
        self._touch()
        self.stands_still()

    def _touch(self) -> None:
        """Let a reader point at each pixel; a tap and an output lead to a pixel that has them."""
        s = self.shape
        self.pixels.touch("grad_input", "ih", "iw")
        of_taps = {tap: self._pixel(1, *tap, 1) for tap in np.ndindex(s.weight[2:])}
        self.filter.point(of_taps)
        middle = s.kernel_h // 2, s.kernel_w // 2
        self.outputs.point({(oh, ow): self._pixel(oh, *middle, ow) for oh, ow in np.ndindex(s.output[2:])})

    def _pixel(self, oh: int, kh: int, kw: int, ow: int) -> dict[str, int]:
        """The pixel that an output reaches through a tap."""
        s = self.shape
        return {"ih": oh * s.stride_h + kh - s.padding_h, "iw": ow * s.stride_w + kw - s.padding_w}

    def _grid(self, x: float, size: tuple[int, ...], title: str, note: str) -> Grid:
        return Grid(self, np.zeros(size[2:]), x, TOP, (CELL, CELL), title, note, numbers=False)

    def draw(self, ih: int, iw: int) -> str:
        """Point at one pixel."""
        pixel_class = self._class(ih, iw)
        rows, columns = self._taps(pixel_class)
        reached = taps_of_pixel(self.shape, ih, iw)
        outputs = [self.outputs.box(tap.oh, tap.ow) for tap in reached]
        of_class = [pixel for pixel in np.ndindex(self.shape.input[2:]) if self._class(*pixel) == pixel_class]
        self.pixels.tinted(of_class, line=1.6)
        self.tinted([self.pixels.box(ih, iw)], BLUE, 4, 0.4)
        self.filter.tinted(product(rows, columns), line=3)
        self.tinted(outputs, self.outputs.look.ink, 3)
        self.label(outputs, (f"{tap.kh},{tap.kw}" for tap in reached))
        self._write_classes(pixel_class)
        count = len(rows) * len(columns)
        taps = f"{count} of {self.filter.values.size} taps"
        outside = count - len(reached)
        if outside:
            verb = "lies" if outside == 1 else "lie"
            taps += f"; {outside} of them {verb} outside the output"
        return (
            f"Pixel [{ih},{iw}] is in class {self.letters[pixel_class]}: every pixel of the class receives its "
            f"gradient through {in_words('row', rows)} and {in_words('column', columns)} of the filter, {taps}."
        )

    def _class(self, ih: int, iw: int) -> Cell:
        """The remainders of a pixel's row and column, counted with the padding."""
        s = self.shape
        return (ih + s.padding_h) % s.stride_h, (iw + s.padding_w) % s.stride_w

    def _taps(self, pixel_class: Cell) -> tuple[list[int], list[int]]:
        """The rows and the columns of the filter that a class needs."""
        row, column = pixel_class
        s = self.shape
        return taps_of_class(row, s.kernel_h, s.stride_h), taps_of_class(column, s.kernel_w, s.stride_w)

    def _write_classes(self, chosen: Cell) -> None:
        """The number of taps that each class needs, beside the number that a kernel without classes tests."""
        x = self.filter.x
        y = self.pixels.bottom - 112
        for i, (pixel_class, letter) in enumerate(self.letters.items()):
            rows, columns = self._taps(pixel_class)
            count = len(rows) * len(columns)
            taps = "1 tap" if count == 1 else f"{count} taps"
            color, weight = (BLUE, "bold") if pixel_class == chosen else (INK, "normal")
            self.write(x, y + 26 * i, f"class {letter}: {taps} for each pixel and channel", 15, color, weight)
        taps = self.filter.values.size
        mean = taps / len(self.letters)
        self.write(x, y + 26 * 4 + 4, f"on average {mean:.4g}, where a loop over all taps tests {taps}", 15, BLUE)
