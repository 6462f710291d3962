"""Wrong kernels of all versions: here of those that helpers/gradient_checks/wrong_kernels.py, of lesson 05, has not.

`wrong_kernels.txt` has those that are planted by hand.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gradient_checks import wrong_kernels as lesson_05
from helpers.gradient_checks.wrong_kernels import NUMBERS, OVERLAP, RACE, WRITE, WrongKernel, small, tables
from helpers.kernels import load
from helpers.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.summation.shapes import SumShape

# --- Problems, the smallest that show a mistake: rows are not columns, no tile is full ------------------------

UNEQUAL = ConvShape(1, 2, 5, 6, 4, 2, 3, (1, 2), (0, 1), (2, 1), 2)  # a group has one channel, and two filters
# Of versions with tiles: a sum has two steps of 8.
TILES = ConvShape(1, 3, 2, 3, 3, 3, 2, 1, (1, 2))
TILES_RELU = replace(TILES, activation="relu")
STRIDE_2 = ConvShape(1, 2, 4, 5, 2, 3, 2, 2, (1, 0))
WHOLE_TAPS = ConvShape(1, 7, 3, 2, 1, 1, 2)  # each step has a single tap, filled up to 8 channels
DEEP_IN, DEEP_OUT = ConvShape(1, 9, 2, 2, 1, 1, 2), ConvShape(1, 1, 2, 2, 9, 1, 2)  # three parts of a sum
DEEP_RELU = replace(DEEP_IN, activation="relu")
LONG = ConvShape(1, 1, 5, 5, 1, 1, 1)  # likewise
CLASSES = ConvShape(1, 2, 4, 3, 9, 2, 3, 2, (1, 0))  # two steps or more for each class of pixels
STEPS = ConvShape(1, 4, 5, 6, 4, 3, 2, (1, 2), (1, 2), (2, 3), 2)  # no two steps along an axis are equal
# Likewise, and each step has a single tap of its 7 channels, filled up to 8.
SPREAD = ConvShape(1, 14, 4, 3, 2, 2, 2, (2, 1), (1, 0), (1, 2), 2)
SPREAD_BACK = ConvShape(1, 2, 4, 4, 14, 2, 2, (2, 1), (1, 0), (1, 2), 2)
# Of weight gradients in registers: no padding equals another.
WEIGHTS = ConvShape(2, 5, 4, 5, 5, 3, 2, 1, (1, 2))
WEIGHTS_STRIDE_2 = ConvShape(2, 2, 7, 6, 2, 3, 3, 2, (1, 2))  # a window keeps one of its rows
BROAD_FILTER = ConvShape(1, 1, 7, 14, 1, 6, 6)  # two tiles of taps along each axis
MANY_IMAGES = ConvShape(700, 1, 3, 2, 2, 2, 1)  # workgroups with two tiles each
BATCH_17 = ConvShape(17, 1, 3, 2, 1, 2, 1)
PAIRS = ConvShape(2048, 4, 5, 1, 3, 4, 1)  # enough work for threads with two filters each, the last of them with one
BELOW = ConvShape(1, 1, 3, 4, 1, 3, 1, 2, (1, 0))
# Of windows in registers: 8 columns of outputs are two vec4s, in NARROW one and a half.
WINDOWS, NARROW = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, (1, 2)), ConvShape(2, 5, 3, 5, 5, 3, 2, 1, 1)
WINDOWS_RELU, WINDOWS_TANH = replace(WINDOWS, activation="relu"), replace(WINDOWS, activation="tanh")
# Of Winograd's method: images whose tiles reach past them, and sums of two steps of 8.
OUT_9, IN_9 = ConvShape(1, 2, 3, 5, 9, 3, 3, 1, (1, 0)), ConvShape(1, 9, 3, 6, 2, 3, 3, 1, (1, 0))
IN_9_RELU = replace(IN_9, activation="relu")
TILES_18 = ConvShape(2, 2, 11, 11, 3, 3, 3, 1, (1, 0))
# Of the fully connected layer: M, K and N differ; one, two and three tiles.
LAYER = GemmShape(3, 6, 9, 2, "relu")
ONE_ROW = GemmShape(1, 6, 9)  # a term past the end of a is past the end of b
OWN_B = replace(LAYER, b_per_item=True)
PER_ITEM = replace(OWN_B, per_item=True)
BROAD = GemmShape(1, 1, 257)  # more columns than 256 threads
TALL = GemmShape(9, 2, 3)  # more rows than two tiles
SIGMOID, TANH = GemmShape(1, 2, 3, 1, "sigmoid"), GemmShape(1, 2, 3, 1, "tanh")
GELU, SILU = GemmShape(1, 2, 3, 1, "gelu"), GemmShape(1, 2, 3, 1, "silu")
VEC4S = GemmShape(3, 12, 8, 2, "relu")  # two steps of 8 along k
VEC4S_LONG = GemmShape(3, 12, 12, 4, "relu")  # two steps along k, n and the rows of all items
FOURS = GemmShape(3, 8, 12, 2, "relu")  # two steps of 4
FOURS_OWN_B = replace(FOURS, b_per_item=True)
DEEP = GemmShape(8, 41, 37, 5, "relu")  # no tile of 3 is full; two steps of 36 along k, n and the rows of all items
DEEP_OWN_B, DEEP_PER_ITEM = replace(DEEP, b_per_item=True), replace(DEEP, per_item=True)
DEEP_WIDE = GemmShape(2, 3, 37)  # one such step along k, two along n
# Of pooling: rows are not columns; windows overlap, or reach into the padding, or leave pixels out.
POOL, SQUARE = PoolShape(2, 2, 7, 6, (3, 2), (2, 1), (1, 0)), PoolShape(1, 2, 5, 5, 3, 1, 1)
ELEMENTS, STEP_BACK, START = ElementShape(300), UpdateShape(300, 0.1, 0.9), StartShape(300, 0.25, 7, 3)
ROWS = LossShape(7, 5)
FEW_NUMBERS, MANY_NUMBERS = SumShape(21), SumShape(700)  # 700 are more than 256 threads, and no multiple of them

# --- The table ------------------------------------------------------------------------------------------------

PAST = RACE + OVERLAP + WRITE + NUMBERS  # what is past the end of a row is another element, or past the tensor
ALONE, WHOLE = {"SPLITS": 1}, {"PIECES": 1}  # all steps of a sum in one workgroup; so small a layer would share them
NAMES = vars(lesson_05) | globals()


FOUND = [*tables(Path(__file__).with_suffix(".txt"), NAMES)]
USUAL = {usual.kernel: usual for usual, _ in FOUND}
assert len(USUAL) == len(FOUND), "a version has two headings"


# --- Every barrier, missing -----------------------------------------------------------------------------------

RACES = {  # the problem and the constants that show them, where they are not the usual ones
    "conv2d/2_implicit_gemm": (TILES, ALONE),
    "conv2d_grad_input/3_implicit_gemm": (TILES, ALONE),
    "conv2d_grad_input/4_residue_classes": (CLASSES, WHOLE),
    "conv2d_grad_weight/3_split_k": (TILES, ALONE),
    "conv2d_grad_weight/4_winograd": (TILES_18, {"TILE_K": 16}),
}
RARE = {  # by the barrier's comment, the only problem that shows the race
    "  // no thread still reads the old tile": MANY_IMAGES,
    "  // no thread still reads the sums of the filter before": PAIRS,
}


def without_a_barrier(name: str) -> Iterator[WrongKernel]:
    """A version without each of its barriers, one at a time: a data race."""
    shape, constants = RACES.get(name, (USUAL[name].shape, USUAL[name].constants))
    source = small(load(*name.split("/"))).source
    for barrier in re.finditer(r"workgroupBarrier\(\);(.*)", source):
        begin = barrier.start()
        while source.count(source[begin : barrier.end()]) > 1:  # with the text before it that makes it unique
            begin = source.rindex("\n", 0, begin)
        before, comment = source[begin : barrier.start()], barrier[1]
        title = f"no barrier in line {source.count(chr(10), 0, barrier.start()) + 1}"
        yield WrongKernel(name, title, before + barrier[0], before + comment, RACE, RARE.get(comment, shape), constants)


WRONG_KERNELS = (
    *lesson_05.WRONG_KERNELS,
    *(row for _, rows in FOUND for row in rows),
    *(row for version in USUAL for row in without_a_barrier(version)),
)
