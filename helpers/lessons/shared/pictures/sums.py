"""The base of the pictures of a convolution and of its gradients: one element of a result as a sum of products."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Self

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.shared.pictures.groups import channel_note, draw_group
from helpers.operations.convolution.indices import Tap, axes, input_channels_of, taps_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, Box, Picture, number
from helpers.pictures.parts import LIFTED, Area, Cell, Grid, foot, look, product_text, running_sum, side_by_side

Array = np.ndarray
Place = Mapping[str, int]  # of a plane: co, ci and n
CORRELATION = "★ correlation: slide, multiply, add"
FACTORS = ";  small: what a pixel is multiplied by"
NTH = {2: "2nd", 3: "3rd"}
WORDS = {"input": "pixel", "weight": "weight", "grad_output": "gradient"}  # what one of their numbers is called


class SumPicture(Picture):
    """One element of a result: a window over a matrix, the factors in it, and the sum of all their products.

    `tensors` has by name the factors of each product left · right (4 axes each), whose elements `letters` names, and
    the bias (Co,), if there is one. `returned` (4 axes) is what a kernel made of them; the picture sets its own sum
    beside it. The sum runs over the window and over one of the indices co, ci and n, `axis`. A subclass says which
    tensors these are, and who contributes in words. `on` is the adapter.

    A reader points at a factor or a term, and sees its product: number 0 is none of them, and the others count the left
    factors.
    """

    left: str
    right = "input"
    over: str  # the one of them that lies over the other
    result: str
    axis: str
    symbol: str  # of the result, among letters
    total = "Its terms"
    lettered = 432, 78  # CSS pixels: the height with letters, and that of the table
    asking = False
    on = ""

    def __init__(self, shape: ConvShape, tensors: Mapping[str, Array], returned: Array, letters: bool = False) -> None:
        self.shape = shape
        self.returned = returned
        self.letters = letters
        *_, row, column = axes(self.result)
        self.element = row, column  # of the result
        factors = self.left, self.right
        self.lefts, self.rights = (tensors[name] for name in factors)
        self.bias = tensors.get("bias", np.zeros(shape.out_channels))
        self.names = [look(name).names(tensors[name].shape[2:]) for name in factors] if letters else []
        height, self.foot = self.lettered if letters else (432, 78)
        super().__init__(height)

    def draw(self, row: int, column: int, co: int = 0, ci: int = 0, n: int = 0, product: int = 0) -> str:
        """Move to the element at (row, column) of the result, and to the products of these channels and this image."""
        place = {"co": co, "ci": ci, "n": n}
        if self.starts(co, ci, n):
            self._draw_grids(place)
            self.result_grid.touch(self.result, *self.element)
            self.stands_still()
        taps = taps_of(self.result, self.shape, row, column)
        terms = [self._term(tap, place) for tap in taps]
        self._draw_window(taps, row, column, place)
        self.result_grid.frame([(row, column)], BLUE)
        returned = plane(self.result, self.returned, place)[row, column]
        total, columns = self._draw_sum(taps, terms, place, returned)
        if said := self._point(taps, columns, place, product):
            return f"{said}, in {self.symbol if self.letters else self.result}[{row},{column}]."
        if self.letters:
            equation = f"{self.symbol}[{row},{column}] = {' + '.join(terms)} = {total}"
            return f"{equation}{self._location(taps)}. The kernel wrote {number(returned)}."
        target = f"{self.result}[{','.join(str(place[axis]) for axis in axes(self.result)[:2])},{row},{column}]"
        verdict = f"{self.total} add up to {total}; the kernel wrote {number(returned)}."
        return f"{self._contributors(taps, target, place)} {verdict}"

    def _point(self, taps: list[Tap], columns: Mapping[int, Box], place: Place, chosen: int) -> str:
        """Let a reader point at each factor and term, and mark the chosen product; returns what is said of it."""
        size = self.lefts.shape[2:]
        grids = self._cells(taps)
        numbers = [int(np.ravel_multi_index(tap.at(self.left), size)) + 1 for tap in taps]  # of the products, from 1 on
        for grid, cells in grids:
            own = {tuple(map(int, cell)): {"product": k} for cell, k in zip(cells, numbers, strict=True)}
            grid.point(own)
        if columns:
            first = columns[0]
            count = max(columns) + 1
            strip = Area(self, np.zeros((1, count)), first._replace(width=count * first.width), "terms")
            strip.point({(0, i): {"product": numbers[i]} for i in columns})
        if chosen not in numbers:
            return ""
        i = numbers.index(chosen)
        boxes = [grid.box(*cells[i]) for grid, cells in grids]
        self.boxes([*boxes, *filter(None, [columns.get(i)])], INK, line=2.4)
        factors = self._factors(taps[i], place)
        places = [(WORDS[tensor], *taps[i].at(tensor)) for tensor in (self.left, self.right)]
        names = [f"{word} [{row},{column}]" for word, row, column in places]
        names = self._term(taps[i], place).split("·") if self.letters else names
        return f"{names[0].capitalize()} multiplies {names[1]}: {product_text(*factors)} = {number(prod(factors))}"

    def _cells(self, taps: list[Tap]) -> list[tuple[Grid, list[Cell]]]:
        """The grids of the left and of the right factors, with the cells of these products."""
        rights = [tuple(np.add(tap.at(self.right), self.shape.padding)) for tap in taps]
        return [(self.left_grid, [tap.at(self.left) for tap in taps]), (self.window_grid, rights)]

    def asks(self, row: int, column: int, names: Iterable[str]) -> Self:
        """The matrices alone, with one element of the result framed: which cells make it?"""
        self.asking = True
        self._draw_grids(dict.fromkeys(("co", "ci", "n"), 0))
        ask(self, self.window_grid, self.result_grid, f"{self.result}[{row},{column}]", (row, column), names)
        return self

    def _right(self, place: Place) -> Array:
        """The plane of the right factors: of the input, which has more channels than a filter."""
        return self.rights[place["n"], input_channels_of(self.shape, place["co"])[place["ci"]]]

    def _factors(self, tap: Tap, place: Place) -> tuple[float, float]:
        lefts = plane(self.left, self.lefts, place)
        return float(lefts[tap.at(self.left)]), float(self._right(place)[tap.at(self.right)])

    def _term(self, tap: Tap, place: Place) -> str:
        if not self.letters:
            return product_text(*self._factors(tap, place))
        lefts, rights = self.names
        return f"{lefts[tap.at(self.left)]}·{rights[tap.at(self.right)]}"

    def _summed_indices(self, place: Place) -> Sequence[int]:
        """The indices of `axis` that the sum runs over."""
        return range(self.shape.batch)

    def _location(self, taps: list[Tap]) -> str:
        """The place of the products, in words, among letters."""
        return ""

    # --- What is drawn ----------------------------------------------------------------------------------------

    def _draw_grids(self, place: Place) -> None:
        note = f"n = {place['n']}, {channel_note(self.shape, place['co'], place['ci'])}" * (not self.letters)
        others = (self.left, self.lefts), (self.result, self.returned)
        planes = [(plane(t, values, place), t, place_note(t, place) * (not self.letters)) for t, values in others]
        planes.insert(0, (self._right(place), self.right, note))
        gap = max(self._steps()[1])
        caption = CORRELATION if gap == 1 else f"★ correlation with gaps: every {NTH[gap]} row and column"
        caption += FACTORS * (self.shape.groups == 1 and not self.asking)
        grids = draw_grids(self, self.shape, planes, place["co"], caption=caption, foot=self.foot)
        self.window_grid, self.left_grid, self.result_grid = grids
        if self.letters:
            self.window_grid.name_cells()
            self.left_grid.name_cells()

    def _draw_window(self, taps: list[Tap], row: int, column: int, place: Place) -> None:
        """The window, as large as the factors that lie over it."""
        jump, step = self._steps()
        corner = np.multiply((row, column), jump)
        size = self.shape.of(self.over)[2:]
        window = [tuple(corner + np.multiply(cell, step)) for cell in np.ndindex(*size)]
        (cells,) = (cells for grid, cells in self._cells(taps) if grid is self.window_grid)
        factors = [self._factors(tap, place)[self.over == self.right] for tap in taps]
        self.window_grid.window(window, dict(zip(cells, factors, strict=True)), look(self.over).ink)
        self.window_grid.drag(window, self.element, (row, column), jump)

    def _draw_sum(self, taps: list[Tap], terms: list[str], place: Place, returned: float) -> tuple[str, dict[int, Box]]:
        """The table of the terms, between those of other indices of `axis`; returns the whole sum, and the columns."""
        index = place[self.axis]
        summed = self._summed_indices(place)
        axis = self.axis
        bias = float(self.bias[place["co"]])
        products = {i: [prod(self._factors(tap, {**place, axis: i})) for tap in taps] for i in summed}
        before = bias + sum(sum(products[i]) for i in summed if i < index)
        after = sum(sum(products[i]) for i in summed if i > index)
        total = before + sum(products[index]) + after
        columns = running_sum(terms, products[index], before)
        first = 0
        if index > summed[0] or bias:
            first = 1
            columns = [(f"{axis} < {index}" if index > summed[0] else "bias", "", number(before)), *columns]
        if index < summed[-1]:
            columns.append((f"{axis} > {index}", number(after), number(total)))
        channels = "its channels" if self.shape.groups > 1 else "all channels"
        whole = "its terms" if len(summed) == 1 else "all images" if axis == "n" else channels
        is_right = number(total) == number(returned)
        where = f"on {self.on}" if self.on and is_right else f"the kernel wrote: {number(returned)}"
        words = f"sum of {whole}: {number(total)}", where
        boxes = foot(self, ("term", "product", "running sum"), columns, words, self.foot)
        whole_table = len(boxes) == len(columns)  # else the last but one is "…"
        places = {i: first + i for i in range(len(taps)) if whole_table or first + i < len(boxes) - 2}
        return number(total), {i: boxes[place] for i, place in places.items()}


def plane(tensor: str, values: Array, place: Place) -> Array:
    """The matrix of a tensor at a place."""
    first, second, *_ = axes(tensor)
    return values[place[first], place[second]]


def place_note(tensor: str, place: Place) -> str:
    """In words, which matrix of a tensor that is."""
    return ", ".join(f"{axis} = {place[axis]}" for axis in axes(tensor)[:2])


def draw_grids(
    picture: Picture,
    shape: ConvShape,
    planes: Sequence[tuple],
    co: int,
    caption: str = CORRELATION,
    foot: float = 78,
) -> list[Grid]:
    """The grids of image ★ factors = result; `planes` are (values, title, note) of each, the image without its padding.

    Where the `foot` is low, the caption stands beside the last row of the image, if only the image has this many rows.
    """
    (image, *head), factors, result = planes
    padded = np.pad(image, [(zeros, zeros) for zeros in shape.padding], constant_values=np.nan)
    matrices = (padded, *head, LIFTED), factors, result
    beside = foot < 78 and max(len(factors[0]), len(result[0])) < len(padded)
    bottom = picture.height - foot - (12 if beside else 32)
    grids = side_by_side(picture, matrices, "★=", 6, bottom, 1.3 if foot == 78 else 2)
    grids[0].first = (-shape.padding_h, -shape.padding_w)
    grids[0].empty = "padding"
    place = (grids[1].x, grids[0].bottom - 11) if beside else (MARGIN, picture.height - foot - 20)
    picture.write(*place, caption, 13, GRAY)
    draw_group(picture, shape, co)
    return grids


def ask(picture: Picture, asked: Grid, result: Grid, element: str, cell: Cell, names: Iterable[str]) -> None:
    """Frame an element of a result: which cells of a grid make it? They are `cards` by name, and all else moves up."""
    result.frame([cell], BLUE)
    boxes = (box for box, value in zip(asked.boxes, asked.values.flat, strict=True) if not np.isnan(value))
    picture.cards = dict(zip(names, boxes, strict=True))
    words = [word.y for mark in picture.marks for word in mark.words]
    picture.height = int(max(asked.bottom, result.bottom, *words)) + 14
    picture.sentence = f"The picture shows {asked.caption}; {element} is framed."


def rows_and_columns(cells: Iterable[Cell]) -> str:
    """The rows and columns of some cells, in words."""
    rows, columns = zip(*cells, strict=True)
    return f"{in_words('row', {*rows})}, {in_words('column', {*columns})}"


def contribute(count: int, noun: str, whose: str) -> str:
    """The number of contributions, in words: the beginning of a sentence."""
    counted = f"{count or 'No'} {noun}{'s' * (count > 1)}"
    return f"{counted}{whose} contribute{'s' * (count < 2)}"
