"""A digit on its way through a network, layer by layer, and the gradient of its loss on the way back."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.train_lenet.pictures.maps import Area, Layout, Maps, framed
from helpers.lessons.train_lenet.trace import NetworkTrace, written
from helpers.network.layers import gradient_of
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, MARGIN, WIDTH, Box, Picture, a_digit, number
from helpers.pictures.figures import colored, explain
from helpers.pictures.marks import text_width

HEIGHT = 120  # CSS pixels of each of the two rows of maps
TOPS = 44, 188  # where the two rows begin: values, gradients
BAR = 12  # CSS pixels: the height of an output's bar
BARS = 62  # CSS pixels: the width of all bars
LISTED = 10  # outputs that are drawn as bars with their numbers' names


class Column(NamedTuple):
    """One layer's output: its tensor, its size, its maps (P, rows, columns), and how they are drawn."""

    layer: str
    tensor: str
    size: tuple[int, ...]
    maps: tuple[int, int, int]
    pixel: int
    across: int
    bars: bool

    @property
    def width(self) -> float:
        """CSS pixels."""
        if self.bars:
            return 16 + BARS
        return self.layout().box.width

    def layout(self, corner: tuple[float, float] = (0, 0)) -> Layout:
        """The places of its maps from a corner on."""
        return Layout(self.maps, corner, self.pixel, self.across)


class NetworkPicture(Picture):
    """Each layer of a network as its maps for one digit: their values above, and their gradients below.

    A trace has a step for each layer's output, then one for the loss and for each gradient on the way back.
    """

    def __init__(self, traces: Sequence[NetworkTrace]) -> None:
        super().__init__(336)
        self.traces = traces
        values = traces[0].network.values
        last = next(reversed(values))
        self.columns = [_column(tensor, size, tensor == last) for tensor, size in values.items()]
        self.last = 2 * len(self.columns) - 1
        rooms = [max(column.width, _heading(column)) for column in self.columns]
        gap = (WIDTH - 2 * MARGIN - sum(rooms)) / (len(rooms) - 1)
        if gap < 4:
            raise ValueError(f"{len(values)} layers do not fit the sheet: draw a network with fewer or smaller ones")
        self.lefts = []
        start = MARGIN
        for room, column in zip(rooms, self.columns, strict=True):
            self.lefts.append(start + (room - column.width) / 2)
            start += room + gap

    def place(self, tensor: int) -> tuple[int, int]:
        """The column of a step's tensor, and 0 for its values or 1 for its gradients."""
        if tensor < len(self.columns):
            return tensor, 0
        return self.last - tensor, 1

    def name(self, tensor: int) -> str:
        """The tensor that a step makes."""
        column, is_gradient = self.place(tensor)
        values = self.columns[column].tensor
        if is_gradient:
            return gradient_of(values)
        return values

    def maps(self, tensor: int) -> int:
        """The number of maps, or numbers, that a step makes."""
        column, _ = self.place(tensor)
        count, _, _ = self.columns[column].maps
        return count

    def draw(self, digit: int, step: int, tensor: int, map: int) -> str:
        """The trace of a digit, up to a step, with one map of a tensor that is reached framed; none of tensor 0."""
        if self.starts(digit, step):
            self._draw_trace(self.traces[digit], step)
            self.stands_still()
        trace = self.traces[digit]
        name = self.name(tensor)
        column, _ = self.place(tensor)
        values = trace.tensors[name].reshape(self.columns[column].maps)
        if values[map].size > 1:
            table = Area(self, values[map], Box(0, 0, 1, 1), f"{name}, map {map}")
        else:
            table = Area(self, values.reshape(1, -1), Box(0, 0, 1, 1), name)
        self.numbered.append(table)
        sentence = self._step_words(trace, step)
        if tensor == 0:  # nobody has pointed at a map
            return sentence
        framed(self, self._box(tensor, map))
        return f"{sentence} {self._map_words(name, values, map)}"

    # --- The drawing ------------------------------------------------------------------------------------------

    def _draw_trace(self, trace: NetworkTrace, step: int) -> None:
        """The tensors of a trace that are reached, and dashed frames for the others."""
        for column, x in zip(self.columns, self.lefts, strict=True):
            middle = x + column.width / 2
            self.bold(middle, 12, column.layer, 14, INK, "middle")
            self.write(middle, 30, _size(column), 13, INK, align="middle")
        values_top, gradients_top = TOPS
        self.bold(MARGIN, values_top + 8, "values →", 13, BLUE)
        self.bold(WIDTH - MARGIN, gradients_top - 10, "← gradients", 13, BLUE, "right")
        self.note(MARGIN, gradients_top - 10, f"on {adapter_info().short}")
        for tensor in range(self.last + 1):
            if tensor <= step:
                self._draw_tensor(trace, tensor, tensor == step)
            else:
                column, row = self.place(tensor)
                self.boxes([self._whole(column, row)], LINE, line=1, dashes=(3, 4))
        y = self.height - 14
        explain(self, MARGIN, y, {"above 0": 0.8, "below 0": -0.8, "0": 0.0}, 92)
        self.note(MARGIN + 230, y, "each tensor has its own scale")
        self.write(WIDTH - MARGIN, y, "blue number: the right answer", 13, BLUE, align="right")

    def _draw_tensor(self, trace: NetworkTrace, tensor: int, is_new: bool) -> None:
        """The maps or bars of a tensor, to point at, with a frame where the step makes them."""
        column, row = self.place(tensor)
        c = self.columns[column]
        name = self.name(tensor)
        values = trace.tensors[name].reshape(c.maps)
        whole = self._whole(column, row)
        if c.bars:
            self._draw_bars(trace, values.ravel(), whole)
            drawn = Area(self, np.zeros((len(values), 1)), whole)
        else:
            drawn = Maps(self, values, (whole.x, whole.y), c.pixel, c.across, ink=tensor == 0)
        drawn.touch(name, "map", tensor=tensor)
        if is_new:
            x, y, width, height = whole
            self.boxes([Box(x - 4, y - 4, width + 8, height + 8)], BLUE, line=2.5)
        if 0 < column + row < len(self.columns):
            self._arrow(column + row, row, BLUE if is_new else GRAY)

    def _arrow(self, column: int, row: int, color: str) -> None:
        """Before a column, where the trace goes."""
        start = self.lefts[column - 1] + self.columns[column - 1].width
        end = self.lefts[column]
        y = TOPS[row] + HEIGHT / 2
        middle = (start + end) / 2
        half = min(9, (end - start) / 2 - 5)
        if row == 1:  # back
            half = -half
        self.arrow((middle - half, y), (middle + half, y), color, 2, 5)

    def _draw_bars(self, trace: NetworkTrace, values: np.ndarray, whole: Box) -> None:
        """The outputs, one bar for each class: to the right above 0, to the left below."""
        largest = float(np.abs(values).max())
        low = min(float(values.min()), 0.0)
        high = max(float(values.max()), 0.0)
        scale = BARS / (high - low or 1.0)
        zero = whole.x + 16 - low * scale
        for i, value in enumerate(values):
            y = whole.y + BAR * i
            color, weight = (BLUE, "bold") if i == trace.label else (INK, "normal")
            self.write(whole.x + 6, y + BAR / 2, str(i), 13, color, weight, "middle")
            left = min(zero, zero + value * scale)
            bar = Box(left, y + 3, abs(value) * scale, BAR - 6)
            if bar.width > 0.5:
                self.image(bar, colored(np.array([[value]]), largest))
                self.boxes([bar], GRAY, line=0.8)
        self.lines([(zero, whole.y, zero, whole.y + BAR * len(values))], GRAY, 1)

    def _whole(self, column: int, row: int) -> Box:
        """The box of a tensor."""
        c = self.columns[column]
        count, _, _ = c.maps
        height = BAR * count if c.bars else c.layout().box.height
        top = TOPS[row] + (HEIGHT - height) / 2
        return Box(self.lefts[column], top, c.width, height)

    def _box(self, tensor: int, map: int) -> Box:
        """The box of a map, or of an output's bar."""
        column, row = self.place(tensor)
        c = self.columns[column]
        whole = self._whole(column, row)
        if c.bars:
            return Box(whole.x - 2, whole.y + BAR * map, whole.width + 4, BAR)
        return c.layout((whole.x, whole.y)).cells(map)

    # --- The words --------------------------------------------------------------------------------------------

    def _step_words(self, trace: NetworkTrace, step: int) -> str:
        """Say what a step makes."""
        column, is_gradient = self.place(step)
        drawn = self.columns[column]
        begin = f"Step {step} of {self.last}:"
        if step == 0:
            return f"{begin} the image of {a_digit(trace.label)}."
        if is_gradient and drawn.bars:
            loss = number(float(trace.tensors["losses"][0]))
            return f"{begin} the loss is {loss}, and its gradient is the softmax minus the right answer."
        if is_gradient:
            layer = drawn.layer if column else "the digit"
            return f"{begin} the gradient is back at {layer}."
        count, rows, columns = drawn.maps
        result = f"{count} maps of {rows} × {columns}" if rows * columns > 1 else f"{count} numbers"
        if not drawn.bars:
            return f"{begin} {drawn.layer} makes {result}."
        best = int(trace.tensors[drawn.tensor].argmax())
        verdict = "right" if best == trace.label else f"wrong: it is {a_digit(trace.label)}"
        return f"{begin} {drawn.layer} makes {result}, the largest for {best}, which is {verdict}."

    def _map_words(self, name: str, values: np.ndarray, map: int) -> str:
        """Say what is in the map that is framed."""
        numbers = values[map]
        if numbers.size == 1:
            return f"{written(name, (map,))} = {number(float(numbers[0, 0]))}."
        place = np.unravel_index(np.abs(numbers).argmax(), numbers.shape)
        farthest = f"{written(name, (map, *place))} = {number(float(numbers[place]))}"
        return f"In map {map} of {name}, the number farthest from 0 is {farthest}."


def _column(tensor: str, size: tuple[int, ...], is_last: bool) -> Column:
    """Choose how a layer's output is drawn."""
    layer = tensor.removesuffix(".output")
    if len(size) == 1:
        (count,) = size
        has_bars = is_last and count <= LISTED
        return Column(layer, tensor, size, (count, 1, 1), 8, ceil(count / 15), has_bars)
    count, rows, columns = size
    across = _maps_across(count, rows)
    numbers_down = ceil(count / across) * (rows + 1) - 1  # one between two maps
    fitting = HEIGHT // numbers_down
    wanted = max(3, 20 // rows)
    pixel = max(1, min(wanted, fitting))
    return Column(layer, tensor, size, (count, rows, columns), pixel, across, False)


def _maps_across(count: int, rows: int) -> int:
    """The number of maps beside each other."""
    if count == 1:
        return 1
    if rows > 20:
        return 3
    if count <= 8:
        return 2
    return 4


def _size(column: Column) -> str:
    """The size of a layer's output, as it is written above a column."""
    return "×".join(map(str, column.size))


def _heading(column: Column) -> float:
    """The width of the words above a column, in CSS pixels."""
    name = text_width(column.layer, 14, "bold")
    size = text_width(_size(column), 13)
    return max(name, size)
