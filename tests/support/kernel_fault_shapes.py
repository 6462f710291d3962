"""The smallest shapes that show the mistakes in kernel_faults.toml, which refers to them by their names.

Rows are not columns, no tile is full.
"""

from dataclasses import replace

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.summation.shapes import SumShape

UNEQUAL = ConvShape(1, 2, 5, 6, 4, 2, 3, (1, 2), (0, 1), (2, 1), 2)  # a group has one channel, and two filters
# Of versions with tiles: a sum has two steps of 8.
TILES = ConvShape(1, 3, 2, 3, 3, 3, 2, 1, (1, 2))
TILES_RELU = replace(TILES, activation="relu")
STRIDE_2 = ConvShape(1, 2, 4, 5, 2, 3, 2, 2, (1, 0))
WHOLE_TAPS = ConvShape(1, 7, 3, 2, 1, 1, 2)  # each step has a single tap, filled up to 8 channels
DEEP_IN = ConvShape(1, 9, 2, 2, 1, 1, 2)  # three parts of a sum
DEEP_OUT = ConvShape(1, 1, 2, 2, 9, 1, 2)  # three parts of a sum
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
WINDOWS = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, (1, 2))
NARROW = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, 1)
WINDOWS_RELU = replace(WINDOWS, activation="relu")
WINDOWS_TANH = replace(WINDOWS, activation="tanh")
# Of Winograd's method: images whose tiles reach past them, and sums of two steps of 8.
OUT_9 = ConvShape(1, 2, 3, 5, 9, 3, 3, 1, (1, 0))
IN_9 = ConvShape(1, 9, 3, 6, 2, 3, 3, 1, (1, 0))
IN_9_RELU = replace(IN_9, activation="relu")
TILES_18 = ConvShape(2, 2, 11, 11, 3, 3, 3, 1, (1, 0))
# Of the fully connected layer: M, K and N differ; one, two and three tiles.
LAYER = GemmShape(3, 6, 9, 2, "relu")
ONE_ROW = GemmShape(1, 6, 9)  # a term past the end of a is past the end of b
OWN_B = replace(LAYER, b_per_item=True)
PER_ITEM = replace(OWN_B, per_item=True)
BROAD = GemmShape(1, 1, 257)  # more columns than 256 threads
TALL = GemmShape(9, 2, 3)  # more rows than two tiles
SIGMOID = GemmShape(1, 2, 3, 1, "sigmoid")
TANH = GemmShape(1, 2, 3, 1, "tanh")
GELU = GemmShape(1, 2, 3, 1, "gelu")
SILU = GemmShape(1, 2, 3, 1, "silu")
VEC4S = GemmShape(3, 12, 8, 2, "relu")  # two steps of 8 along k
VEC4S_LONG = GemmShape(3, 12, 12, 4, "relu")  # two steps along k, n and the rows of all items
FOURS = GemmShape(3, 8, 12, 2, "relu")  # two steps of 4
FOURS_OWN_B = replace(FOURS, b_per_item=True)
DEEP = GemmShape(8, 41, 37, 5, "relu")  # no tile of 3 is full; two steps of 36 along k, n and the rows of all items
DEEP_OWN_B = replace(DEEP, b_per_item=True)
DEEP_PER_ITEM = replace(DEEP, per_item=True)
DEEP_WIDE = GemmShape(2, 3, 37)  # one such step along k, two along n
# Of pooling: rows are not columns; windows overlap, or reach into the padding, or leave pixels out.
POOL = PoolShape(2, 2, 7, 6, (3, 2), (2, 1), (1, 0))
SQUARE = PoolShape(1, 2, 5, 5, 3, 1, 1)
ELEMENTS = ElementShape(300)
STEP_BACK = UpdateShape(300, 0.1, 0.9)
START = StartShape(300, 0.25, 7, 3)
ROWS = LossShape(7, 5)
FEW_NUMBERS = SumShape(21)
MANY_NUMBERS = SumShape(700)  # 700 are more than 256 threads, and no multiple of them
