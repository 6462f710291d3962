"""A picture of a convolution's input gradient: the flipped filter slides over the upstream gradient."""

import numpy as np

from helpers.data.words import in_words
from helpers.lessons.shared.pictures.groups import draw_group, group_of
from helpers.lessons.shared.pictures.sums import (
    CORRELATION,
    Place,
    SumPicture,
    contribute,
    place_note,
    plane,
    rows_and_columns,
)
from helpers.operations.convolution.indices import Tap, output_channels_of
from helpers.pictures.canvas import GRAY, LINE, MARGIN, ORANGE, number, tint
from helpers.pictures.parts import LIFTED, LOWERED, Grid, side_by_side
from helpers.pictures.touchable import Cell

Array = np.ndarray


class InputGradientPicture(SumPicture):
    """The flipped filter on the upstream gradient with zeros between and around, and the same as divisions.

    Its tensors are `weight` and `grad_output`; a kernel returned grad_input (N, Ci, H, W). `letters` names the weights
    w00, w01, ... and the upstream gradients G, H, I, ... and leaves out the divisions, of which stride 1 without
    padding needs none.
    """

    left = "grad_output"
    right = "weight"
    over = "weight"
    result = "grad_input"
    axis = "co"
    symbol = "dX"

    def _right(self, place: Place) -> Array:
        return self.rights[place["co"], place["ci"] % self.shape.weight[1]]  # the channel's place within its group

    def _summed_indices(self, place: Place) -> range:
        return output_channels_of(self.shape, place["ci"])

    def _steps(self) -> tuple[Cell, Cell]:
        return (1, 1), self.shape.dilation

    def _draw_window(self, taps: list[Tap], row: int, column: int, place: Place) -> None:
        # Where the flipped filter has its weight [0, 0]:
        self.end = np.add((row, column), np.multiply(np.subtract(self.shape.weight[2:], 1), self.shape.dilation))
        super()._draw_window(taps, row, column, place)
        if not self.letters:
            self._draw_divisions(row, column)

    def _cells(self, taps: list[Tap]) -> list[tuple[Grid, list[Cell]]]:
        weights = [tap.at("weight") for tap in taps]
        spread = [tuple(self.end - np.multiply(weight, self.shape.dilation)) for weight in weights]
        flipped = [tuple(np.subtract(self.shape.weight[2:], weight) - 1) for weight in weights]
        return [(self.window_grid, spread), (self.filter, flipped), *((grid, weights) for grid in self.unflipped)]

    def _draw_grids(self, place: Place) -> None:
        s = self.shape
        flipped = self._right(place)[::-1, ::-1]
        spread = self._spread(place)
        room = 54 if self.letters else 172 / max(s.in_h, s.kernel_h)  # the divisions need the rest
        height = min(54, 270 / len(spread), room)
        has_zeros = s.kernel_h * s.kernel_w * s.stride_h > 1
        title = "grad_output with zeros" if has_zeros else "grad_output"
        notes = ("", "", "") if self.letters or self.asking else self._notes(place)
        matrices = (
            (spread, title, notes[0], LIFTED),
            (flipped, "weight, flipped", notes[1], LOWERED if self.letters else 0.5),
            (plane(self.result, self.returned, place), "grad_input", notes[2]),
        )
        bottom = 6 + 46 + len(spread) * height
        self.window_grid, self.filter, self.result_grid = side_by_side(self, matrices, "★=", 6, bottom)
        self.window_grid.empty = "0"
        self._draw_holes(spread)
        draw_group(self, s, place["co"])
        self.unflipped = [self._draw_letters()] if self.letters else []

    def _notes(self, place: Place) -> tuple[str, str, str]:
        """The indices of each plane; a channel is counted from the first of its group."""
        channel = f"ci = {place['ci']}"
        if self.shape.groups > 1:
            in_group = self.shape.weight[1]
            channel += f" − {place['ci'] // in_group * in_group}"
        return place_note(self.left, place), f"co = {place['co']}, {channel}", place_note(self.result, place)

    def _draw_letters(self) -> Grid:
        """Name the weights and the upstream gradients, and show the filter before it was flipped."""
        self.window_grid.name_cells()
        self.filter.name_cells(flipped=True)
        filter = self.filter
        before = Grid(self, filter.values[::-1, ::-1], filter.x, 228, (filter.width, 36), "weight", at=LOWERED)
        before.name_cells()
        self.numbered.pop()
        self.note(self.result_grid.x - 34, 296, CORRELATION)
        return before

    def _spread(self, place: Place) -> Array:
        """The upstream gradients where the flipped filter reads them; nan is a zero.

        Zeros surround them, one row and column fewer than the dilated filter has: (H + span - 1, ...).
        """
        s = self.shape
        around = self.shape.span("h") - 1
        beside = self.shape.span("w") - 1
        spread = np.full((s.padded("h") + around, s.padded("w") + beside), np.nan)
        places = spread[around :: s.stride_h, beside :: s.stride_w]
        places[: s.out_h, : s.out_w] = plane(self.left, self.lefts, place)
        rows = s.in_h + around
        columns = s.in_w + beside
        return spread[s.padding_h : s.padding_h + rows, s.padding_w : s.padding_w + columns]

    def _draw_holes(self, spread: Array) -> None:
        """A small 0 in each place between upstream gradients, where the stride leaves a hole."""
        places = np.argwhere(~np.isnan(spread))
        if len(places):
            top, left = places.min(axis=0)
            bottom, right = places.max(axis=0) + 1
            inner = np.add(np.argwhere(np.isnan(spread[top:bottom, left:right])), (top, left))
            self.boxes((self.window_grid.box(*cell) for cell in inner), LINE, tint(GRAY, 1 / 8), 0.8)

    def _draw_divisions(self, ih: int, iw: int) -> None:
        """For each row and column of the filter: which output it belongs to, or why it belongs to none."""
        left = self.filter.x
        self._draw_divisions_of("h", ih, left)
        self._draw_divisions_of("w", iw, (left + self.width - MARGIN) / 2 + 8)

    def _draw_divisions_of(self, axis: str, pixel: int, x: float) -> None:
        """The table of one axis, "h" or "w", from the last weight on."""
        padding = getattr(self.shape, f"padding_{axis}")
        weights = getattr(self.shape, f"kernel_{axis}")
        dilation = getattr(self.shape, f"dilation_{axis}")
        rule = f"i{axis} + P − k{axis} = {pixel + padding} − k{axis}"
        if dilation > 1:
            rule = f"i{axis} + P − k{axis}·D = {pixel + padding} − k{axis}·{dilation}"
        self.bold(x, 236, rule, 13)
        for line, k in enumerate(reversed(range(weights))):
            text, has_output = self._division(axis, pixel + padding - k * dilation)
            color, weight = (ORANGE, "bold") if has_output else (GRAY, "normal")
            self.write(x, 254 + 16.5 * line, f"k{axis} = {k}:  {text}", 13, color, weight)

    def _division(self, axis: str, position: int) -> tuple[str, bool]:
        """One line of the table, and whether there is an output."""
        stride = self.shape.stride_h
        outputs = getattr(self.shape, f"out_{axis}")
        output, rest = divmod(position, stride)
        if position < 0:
            return f"{number(position)} is below 0", False
        if rest:
            return f"{position} = {stride}·{output} + {rest}, a hole", False
        if output < outputs:
            return f"{position} = {stride}·{output}, so o{axis} = {output}", True
        return f"{position} = {stride}·{output}, but o{axis} < {outputs}", False

    def _channels(self, ci: int) -> str:
        """The output channels that read input channel ci."""
        channels = output_channels_of(self.shape, ci)
        if self.shape.groups == 1:
            return "each channel"
        names = in_words("channel", channels)
        if len(channels) > 1:
            names = f"each of {names}"
        return f"{names} (group {group_of(self.shape, channels[0])})"

    def _location(self, taps: list[Tap]) -> str:
        return f": output {rows_and_columns(tap.at(self.left) for tap in taps)}"

    def _contributors(self, taps: list[Tap], target: str, place: Place) -> str:
        if not taps:
            where = "under a weight" if max(self.shape.dilation) > 1 else "in its window"
            return f"No output has the pixel {where}, so nothing contributes to {target}."
        whose = f" of {self._channels(place['ci'])}" if self.shape.out_channels > 1 else ""
        return f"{contribute(len(taps), 'output', whose)} to {target}{self._location(taps)}."
