"""Wrong kernels of grad_weight's versions with sums in registers: register windows and rows of filters."""

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import NUMBERS, OVERLAP, RACE, READ, WRAPPED, WRITE, WrongKernel

# The smallest problem that shows a mistake: rows are not columns, no tile is full, and no padding equals another.
LAYER = ConvShape(2, 5, 4, 5, 5, 3, 2, 1, (1, 2))
STEPPED = ConvShape(2, 2, 7, 6, 2, 3, 3, 2, (1, 2))  # stride 2: a window keeps one of its rows
BROAD = ConvShape(1, 1, 7, 14, 1, 6, 6)  # two tiles of taps along each axis
MANY = ConvShape(700, 1, 3, 2, 2, 2, 1)  # workgroups with two tiles each
PAIRS = ConvShape(2048, 4, 5, 1, 3, 4, 1)  # enough work for threads with two filters each, the last of them with one

BELOW = ConvShape(1, 1, 3, 4, 1, 3, 1, 2, (1, 0))

WINDOWS, ROWS = "conv2d_grad_weight/5_register_windows", "conv2d_grad_weight/6_filter_rows"
OLD_SUMS = "workgroupBarrier();  // no thread still reads the sums"
NEW_SUMS = "workgroupBarrier();  // they are in place"
OLD_TILE = "workgroupBarrier();  // no thread still reads the old tile"
NEW_TILE = "workgroupBarrier();  // the new tile is in place"
PAST = OVERLAP + WRITE + RACE + NUMBERS
ALL_SLOTS = "workgroupBarrier();  // all sums of the slots are in place"

WRONG_KERNELS = (
    # --- 5_register_windows -------------------------------------------------------------------------------
    WrongKernel(WINDOWS, "padding added", LAYER, "row - PADDING_H", "row + PADDING_H"),
    WrongKernel(
        WINDOWS,
        "columns one too far to the left",
        LAYER,
        "column - PADDING_W",
        "column - PADDING_W - 1u",
        READ + NUMBERS,
    ),
    WrongKernel(WINDOWS, "window does not slide", LAYER, "window[row] = window[row + NEW];", ""),
    WrongKernel(WINDOWS, "stride forgotten", STEPPED, "(i * STRIDE + KEPT)", "(i + KEPT)"),
    WrongKernel(WINDOWS, "last part left out", LAYER, "part < PARTS; part", "part + 1u < PARTS; part"),
    WrongKernel(WINDOWS, "taps of the first tile only", BROAD, "ow * STRIDE + kw)", "ow * STRIDE)"),
    WrongKernel(WINDOWS, "channels past the end", LAYER, " && group * CHANNELS + i < IN_CHANNELS", "", READ),
    # --- 6_filter_rows ------------------------------------------------------------------------------------
    WrongKernel(ROWS, "no barrier before the next tile", MANY, OLD_TILE, OLD_TILE[20:], RACE),
    WrongKernel(ROWS, "no barrier after the loads", LAYER, NEW_TILE, NEW_TILE[20:], RACE),
    WrongKernel(ROWS, "no barrier before the next filter", PAIRS, OLD_SUMS, OLD_SUMS[20:], RACE),
    WrongKernel(ROWS, "no barrier before the slots are added", LAYER, NEW_SUMS, NEW_SUMS[20:], RACE),
    WrongKernel(ROWS, "no barrier before the parts are added", LAYER, ALL_SLOTS, ALL_SLOTS[20:], RACE),
    WrongKernel(ROWS, "padding added", LAYER, "% WINDOW_ROWS - PADDING_H", "% WINDOW_ROWS + PADDING_H"),
    WrongKernel(ROWS, "stride forgotten", STEPPED, "(q * 4u + j) * STRIDE + kw", "(q * 4u + j) + kw"),
    WrongKernel(ROWS, "one row for each slot", LAYER, "slot < SLOTS; slot", "slot < 1u; slot"),
    WrongKernel(ROWS, "first 16 parts only", ConvShape(17, 1, 3, 2, 1, 2, 1), "i < PART_LOADS; i", "i < 1u; i"),
    WrongKernel(ROWS, "sums of channels past the end", PAIRS, " && co < OUT_CHANNELS", "", PAST),
    WrongKernel(ROWS, "rows of the next channel", BELOW, "ih < IN_H && iw", "iw", READ + WRAPPED),
)
