"""The base of the pictures of a convolution and of its gradients: one element of a result as a sum of products."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Self

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.shared.pictures.groups import channel_note, draw_group
from helpers.operations.convolution.indices import Tap, axes, input_channels_of, taps_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, WIDTH, Box, Picture, number
from helpers.pictures.parts import LIFTED, Area, Grid, look, side_by_side
from helpers.pictures.terms import BELOW, foot, product_text, running_sum
from helpers.pictures.touchable import Cell

Array = np.ndarray
Place = Mapping[str, int]  # of a plane: co, ci and n
CORRELATION = "★ correlation: slide, multiply, add"
FACTORS = ";  small: what a pixel is multiplied by"
NTH = {2: "2nd", 3: "3rd"}
WORDS = {"input": "pixel", "weight": "weight", "grad_output": "gradient"}  # what one of their numbers is called


class SumPicture(Picture):
    """One element of a result: a window over a matrix, the factors in it, and the sum of all their products.

    `tensors` has by name the factors of each product left · right (4 axes each), whose elements `letters` names.
    `returned` (4 axes) is what a kernel made of them; the picture sets its own sum
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

    def __init__(
        self,
        shape: ConvShape,
        tensors: Mapping[str, Array],
        returned: Array,
        letters: bool = False,
        width: int = WIDTH,
    ) -> None:
        self.shape = shape
        self.returned = returned
        self.letters = letters
        *_, row, column = axes(self.result)
        self.element = row, column  # of the result
        self.lefts = tensors[self.left]
        self.rights = tensors[self.right]
        self.names = []
        height = 432
        self.foot = 78
        if letters:
            left_names = look(self.left).names(self.lefts.shape[2:])
            right_names = look(self.right).names(self.rights.shape[2:])
            self.names = [left_names, right_names]
            height, self.foot = self.lettered
        if width < WIDTH:
            height += 2 * BELOW  # and cells as high as wide
        super().__init__(height, width)

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
        numbers = [self._product_number(tap) for tap in taps]
        self._let_point(taps, numbers, columns)
        if product in numbers:
            i = numbers.index(product)
            name = self.symbol if self.letters else self.result
            words = self._say_product(taps, i, columns.get(i), place)
            return f"{words}, in {name}[{row},{column}]."
        if self.letters:
            equation = f"{self.symbol}[{row},{column}] = {' + '.join(terms)} = {total}"
            return f"{equation}{self._location(taps)}. The kernel wrote {number(returned)}."
        target = self._target(place, row, column)
        verdict = f"{self.total} add up to {total}; the kernel wrote {number(returned)}."
        return f"{self._contributors(taps, target, place)} {verdict}"

    def _target(self, place: Place, row: int, column: int) -> str:
        """The name of an element, with its image and channels where there are several."""
        if self.is_one_plane:
            return f"{self.result}[{row},{column}]"
        first, second, *_ = axes(self.result)
        return f"{self.result}[{place[first]},{place[second]},{row},{column}]"

    @property
    def is_one_plane(self) -> bool:
        """True for one image and one pair of channels: then nothing says which."""
        return self.shape.batch == self.shape.in_channels == self.shape.out_channels == 1

    def _product_number(self, tap: Tap) -> int:
        """The number of a product, from 1 on: that of its left factor."""
        return int(np.ravel_multi_index(tap.at(self.left), self.lefts.shape[2:])) + 1

    def _let_point(self, taps: list[Tap], numbers: list[int], columns: Mapping[int, Box]) -> None:
        """Let a reader point at each factor, and at each term in its column of the table."""
        for grid, cells in self._cells(taps):
            products = {}
            for (row, column), product in zip(cells, numbers, strict=True):
                products[int(row), int(column)] = {"product": product}
            grid.point(products)
        if columns:
            first = columns[0]
            count = max(columns) + 1
            box = first._replace(width=count * first.width)
            strip = Area(self, np.zeros((1, count)), box, "terms")
            strip.point({(0, i): {"product": numbers[i]} for i in columns})

    def _say_product(self, taps: list[Tap], i: int, column: Box | None, place: Place) -> str:
        """Frame the factors of a product and its column, if the table has it, and say what they are."""
        boxes = [grid.box(*cells[i]) for grid, cells in self._cells(taps)]
        if column:
            boxes.append(column)
        self.boxes(boxes, INK, line=2.4)
        left, right = self._factor_names(taps[i])
        factors = self._factors(taps[i], place)
        return f"{left.capitalize()} multiplies {right}: {product_text(*factors)} = {number(prod(factors))}"

    def _factor_names(self, tap: Tap) -> list[str]:
        """The names of both factors: their letters, or their places."""
        if self.letters:
            left_names, right_names = self.names
            left = left_names[tap.at(self.left)]
            right = right_names[tap.at(self.right)]
            return [str(left), str(right)]
        names = []
        for tensor in (self.left, self.right):
            row, column = tap.at(tensor)
            names.append(f"{WORDS[tensor]} [{row},{column}]")
        return names

    def _cells(self, taps: list[Tap]) -> list[tuple[Grid, list[Cell]]]:
        """The grids of the left and of the right factors, with the cells of these products."""
        lefts = [tap.at(self.left) for tap in taps]
        rights = [tuple(np.add(tap.at(self.right), self.shape.padding)) for tap in taps]
        return [(self.left_grid, lefts), (self.window_grid, rights)]

    def asks(self, row: int, column: int, names: Iterable[str]) -> Self:
        """The matrices alone, with one element of the result framed: which cells make it?"""
        self.asking = True
        self._draw_grids(dict.fromkeys(("co", "ci", "n"), 0))
        ask(self, self.window_grid, self.result_grid, f"{self.result}[{row},{column}]", (row, column), names)
        return self

    def _right(self, place: Place) -> Array:
        """The plane of the right factors: of the input, which has more channels than a filter."""
        channels = input_channels_of(self.shape, place["co"])
        channel = channels[place["ci"]]
        return self.rights[place["n"], channel]

    def _factors(self, tap: Tap, place: Place) -> tuple[float, float]:
        left = plane(self.left, self.lefts, place)[tap.at(self.left)]
        right = self._right(place)[tap.at(self.right)]
        return float(left), float(right)

    def _term(self, tap: Tap, place: Place) -> str:
        if self.letters:
            return "·".join(self._factor_names(tap))
        return product_text(*self._factors(tap, place))

    def _summed_indices(self, place: Place) -> Sequence[int]:
        """The indices of `axis` that the sum runs over."""
        return range(self.shape.batch)

    def _location(self, taps: list[Tap]) -> str:
        """The place of the products, in words, among letters."""
        return ""

    # --- What is drawn ----------------------------------------------------------------------------------------

    def _draw_grids(self, place: Place) -> None:
        notes = ("", "", "") if self.letters or self.is_one_plane else self._notes(place)
        planes = [
            (self._right(place), self.right, notes[0]),
            (plane(self.left, self.lefts, place), self.left, notes[1]),
            (plane(self.result, self.returned, place), self.result, notes[2]),
        ]
        gap = max(self._steps()[1])
        caption = CORRELATION if gap == 1 else f"★ correlation with gaps: every {NTH[gap]} row and column"
        has_room = gap == 1 or not self.letters  # among letters, the grids stand further to the right
        if self.shape.groups == 1 and not self.asking and has_room:
            caption += FACTORS
        grids = draw_grids(self, self.shape, planes, place["co"], caption=caption, foot=self.foot)
        self.window_grid, self.left_grid, self.result_grid = grids
        if self.letters:
            self.window_grid.name_cells()
            self.left_grid.name_cells()

    def _notes(self, place: Place) -> tuple[str, str, str]:
        """The indices of each plane."""
        right = f"n = {place['n']}, {channel_note(self.shape, place['co'], place['ci'])}"
        return right, place_note(self.left, place), place_note(self.result, place)

    def _draw_window(self, taps: list[Tap], row: int, column: int, place: Place) -> None:
        """The window, as large as the factors that lie over it."""
        jump, step = self._steps()
        corner = np.multiply((row, column), jump)
        size = self.shape.of(self.over)[2:]
        window = [tuple(corner + np.multiply(cell, step)) for cell in np.ndindex(*size)]
        (cells,) = (cells for grid, cells in self._cells(taps) if grid is self.window_grid)
        factors = {}
        for cell, tap in zip(cells, taps, strict=True):
            left, right = self._factors(tap, place)
            factors[cell] = right if self.over == self.right else left
        self.window_grid.window(window, factors, look(self.over).ink)
        self.window_grid.drag(window, self.element, (row, column), jump)

    def _draw_sum(self, taps: list[Tap], terms: list[str], place: Place, returned: float) -> tuple[str, dict[int, Box]]:
        """The table of the terms, between those of other indices of `axis`; returns the whole sum, and the columns."""
        index = place[self.axis]
        summed = self._summed_indices(place)
        sums = {i: self._sum_at(taps, place, i) for i in summed}
        before = sum(sums[i] for i in summed if i < index)
        after = sum(sums[i] for i in summed if i > index)
        total = before + sums[index] + after
        columns = running_sum(terms, self._products(taps, place), before)
        first = 0  # the column of the first term
        if index > summed[0]:
            columns.insert(0, (f"{self.axis} < {index}", "", number(before)))
            first = 1
        if index < summed[-1]:
            columns.append((f"{self.axis} > {index}", number(after), number(total)))
        beside = f"sum of {self._summed_in_words(summed)}: {number(total)}", self._returned_note(total, returned)
        boxes = foot(self, ("term", "product", "running sum"), columns, beside, self.foot)
        if len(boxes) < len(columns):
            del boxes[-2:]  # the last but one is "…"
        boxes_of_terms = boxes[first : first + len(taps)]
        return number(total), dict(enumerate(boxes_of_terms))

    def _sum_at(self, taps: list[Tap], place: Place, index: int) -> float:
        """The sum of the products at another index of `axis`."""
        return sum(self._products(taps, {**place, self.axis: index}))

    def _returned_note(self, total: float, returned: float) -> str:
        """The adapter, if it is known and the kernel is right; else what the kernel wrote."""
        if self.on and number(total) == number(returned):
            return f"on {self.on}"
        return f"the kernel wrote: {number(returned)}"

    def _products(self, taps: list[Tap], place: Place) -> list[float]:
        return [prod(self._factors(tap, place)) for tap in taps]

    def _summed_in_words(self, summed: Sequence[int]) -> str:
        """The terms that the whole sum has."""
        if len(summed) == 1:
            return "its terms"
        if self.axis == "n":
            return "all images"
        if self.shape.groups > 1:
            return "its channels"
        return "all channels"


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
    sides = [(zeros, zeros) for zeros in shape.padding]
    padded = np.pad(image, sides, constant_values=np.nan)
    matrices = (padded, *head, LIFTED), factors, result
    other_rows = max(len(factors[0]), len(result[0]))
    is_low = foot < 78
    is_beside = is_low and other_rows < len(padded)
    has_caption = picture.width == WIDTH  # a phone has no room for it
    bottom = picture.height - foot - (12 if is_beside else 32) - (0 if has_caption else BELOW)
    widest = 2 if is_low else 1.3
    grids = side_by_side(picture, matrices, "★=", 6, bottom, widest)
    window_grid, left_grid, _ = grids
    window_grid.first = (-shape.padding_h, -shape.padding_w)
    window_grid.empty = "padding"
    if is_beside and has_caption:
        picture.write(left_grid.x, window_grid.bottom - 11, caption, 13, GRAY)
    elif has_caption:
        picture.write(MARGIN, picture.height - foot - 20, caption, 13, GRAY)
    draw_group(picture, shape, co)
    return grids


def ask(picture: Picture, asked: Grid, result: Grid, element: str, cell: Cell, names: Iterable[str]) -> None:
    """Frame an element of a result: which cells of a grid make it? They are `cards` by name, and all else moves up."""
    result.frame([cell], BLUE)
    boxes = [box for box, value in zip(asked.boxes, asked.values.flat, strict=True) if not np.isnan(value)]
    picture.cards = dict(zip(names, boxes, strict=True))
    lowest = max(asked.bottom, result.bottom)
    for mark in picture.marks:
        for word in mark.words:
            lowest = max(lowest, word.y)
    picture.height = int(lowest) + 14
    picture.sentence = f"The picture shows {asked.caption}; {element} is framed."


def rows_and_columns(cells: Iterable[Cell]) -> str:
    """The rows and columns of some cells, in words."""
    rows, columns = zip(*cells, strict=True)
    return f"{in_words('row', {*rows})}, {in_words('column', {*columns})}"


def contribute(count: int, noun: str, whose: str) -> str:
    """The number of contributions, in words: the beginning of a sentence."""
    if count > 1:
        return f"{count} {noun}s{whose} contribute"
    number = count or "No"
    return f"{number} {noun}{whose} contributes"
