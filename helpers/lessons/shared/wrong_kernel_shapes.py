"""The smallest shapes that show the mistakes in wrong_kernels.toml, which refers to them by their names."""

from helpers.operations.convolution.shapes import ConvShape

# The sizes without a name are N, Ci, H, W, Co, kH, kW.

# Rows are not columns, and N, Ci and Co differ.
ODD = ConvShape(2, 3, 5, 7, 4, 3, 2, stride=2, padding=(1, 2))
STRIDE_1 = ConvShape(2, 3, 3, 5, 4, 3, 2, padding=(1, 2))
# A step past the end of one tensor is past the end of all.
ONE_FILTER = ConvShape(1, 2, 3, 5, 1, 3, 2, padding=(1, 0))
POINT = ConvShape(1, 1, 1, 1, 1, 1, 1)
# More products than 256 threads.
MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)
# More weights than the 16 threads of a tile.
WIDE = ConvShape(1, 2, 2, 5, 2, 5, 4, padding=(4, 3))
# More weights than are held at once.
IN_PIECES = ConvShape(1, 1, 2, 5, 1, 7, 3, padding=(6, 2))
# No two steps along an axis are equal; two groups with two filters each over two channels; an odd number of images.
GROUPS = ConvShape(3, 4, 5, 7, 4, 3, 2, stride=(2, 1), padding=(1, 2), dilation=(1, 3), groups=2)
CHANNELS = ConvShape(2, 1, 3, 4, 3, 1, 1)
# A slice and a part of one.
SLICES = ConvShape(1, 1, 33, 64, 1, 1, 1)
