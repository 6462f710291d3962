"""Channels that belong together: in the words of the other pictures, and as blocks of a matrix."""

from collections.abc import Sequence

import numpy as np

from helpers.data.words import in_words, listed
from helpers.operations.convolution.indices import input_channels_of, output_channels_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, Picture, Word
from helpers.pictures.parts import TITLE, Grid

# --- In words: nothing where there is only one group ----------------------------------------------------------


def group_of(shape: ConvShape, co: int) -> int:
    """The group of output channel `co`."""
    return co * shape.groups // shape.out_channels


def draw_group(picture: Picture, shape: ConvShape, co: int) -> None:
    """Name the channels in the group of output channel `co`, on the right above the table of terms."""
    if shape.groups == 1:
        return
    inputs = input_channels_of(shape, co)
    outputs = in_words("output channel", output_channels_of(shape, inputs[0]))
    read = "read" if shape.out_channels > shape.groups else "reads"
    text = f"group {group_of(shape, co)}: {outputs} {read} only {in_words('input channel', inputs)}"
    picture.note(picture.width - MARGIN, picture.height - 98, text, "right")


def channel_note(shape: ConvShape, co: int, ci: int) -> str:
    """The input channel that the weight [co, ci] multiplies: ci counts from the first channel of the group."""
    if shape.groups == 1:
        return f"ci = {ci}"
    first = input_channels_of(shape, co)[0]
    return f"channel {first} + {ci}"


def channel_words(shape: ConvShape, co: int, ci: int) -> str:
    """The same input channel in a sentence, with its group."""
    inputs = input_channels_of(shape, co)
    channel = f"channel {inputs[ci]}"
    if shape.groups == 1:
        return channel
    group = f"group {group_of(shape, co)}"
    if len(inputs) == 1:
        return f"{channel} ({group})"
    return f"{channel} ({group}: {in_words('channel', inputs)})"


# --- As a matrix ----------------------------------------------------------------------------------------------

# CSS pixels
CELL = (46, 38)  # a number
GAP = 84  # from one matrix to the next


class GroupsPicture(Picture):
    """The gradients of filters with one weight, one matrix for each number of groups: which channels have a weight?

    `gradients` are (Co, Ci/G, 1, 1), the first one with all Ci input channels.
    """

    def __init__(self, gradients: Sequence[np.ndarray]) -> None:
        Co, Ci = gradients[0].shape[:2]
        super().__init__(int(98 + Co * CELL[1]))
        matrices = []
        groups = []
        x = MARGIN + 52
        for gradient in gradients:
            shape = ConvShape(1, Ci, 1, 1, Co, 1, 1, groups=Ci // gradient.shape[1])
            matrix = _matrix_of_pairs(shape, gradient)
            self._draw_matrix(shape, matrix, x)
            matrices.append(matrix)
            groups.append(shape.groups)
            x += Ci * CELL[0] + GAP
        counts = listed(gradient.size for gradient in gradients)
        pairs = f"With {listed(groups)} groups, {counts} of the {Co * Ci} pairs of channels have a weight."
        is_same = all(_agrees(matrix, matrices[0]) for matrix in matrices)
        change = "unchanged" if is_same else "changed"
        self.sentence = f"{pairs} Where a weight remains, its gradient is {change}."

    def _draw_matrix(self, shape: ConvShape, matrix: np.ndarray, x: float) -> None:
        across = shape.weight[1]
        down = shape.out_channels // shape.groups
        title = "1 group" if shape.groups == 1 else f"{shape.groups} groups"
        self.bold(x, 16, title, TITLE, BLUE)
        self.note(x, 38, f"shape ({shape.out_channels}, {across})")
        grid = Grid(self, matrix, x, 82, CELL, tensor="grad_weight")
        grid.caption = f"{title}: output channels × input channels"
        for group in range(shape.groups):
            block = grid.box(group * down, group * across, down, across)
            self.tinted([block], BLUE, 3, 2 / 16)
        self._name_channels(grid)

    def _name_channels(self, grid: Grid) -> None:
        """Number the input channels above a matrix and the output channels on its left."""
        Co, Ci = grid.values.shape
        words = []
        for ci in range(Ci):
            column, _ = grid.box(0, ci).middle
            words.append(Word(column, 69, str(ci), 13))
        for co in range(Co):
            _, row = grid.box(co, 0).middle
            words.append(Word(grid.x - 8, row, str(co), 13, "right"))
        _, first_row = grid.box(0, 0).middle
        words.append(Word(grid.x - 8, 69, "ci", 13, "right"))
        words.append(Word(grid.x - 28, first_row, "co", 13, "right"))
        self.words(words, GRAY)


def _agrees(matrix: np.ndarray, other: np.ndarray) -> bool:
    """Return whether a matrix has the same numbers as another, wherever it has a number."""
    return bool((np.isnan(matrix) | (matrix == other)).all())


def _matrix_of_pairs(shape: ConvShape, gradient: np.ndarray) -> np.ndarray:
    """The numbers (Co, Ci/G, 1, 1) at their pairs of channels (Co, Ci); nan is a pair without a weight."""
    matrix = np.full((shape.out_channels, shape.in_channels), np.nan)
    for co, row in enumerate(gradient):
        matrix[co, input_channels_of(shape, co)] = row[:, 0, 0]
    return matrix
