"""The smallest shapes that show the mistakes in wrong_kernels.toml, which refers to them by their names."""

from helpers.operations.convolution.shapes import ConvShape

# In ODD rows are not columns, and N, Ci and Co differ.
ODD = ConvShape(2, 3, 5, 7, 4, 3, 2, 2, (1, 2))
STRIDE_1 = ConvShape(2, 3, 3, 5, 4, 3, 2, 1, (1, 2))
ONE_FILTER = ConvShape(1, 2, 3, 5, 1, 3, 2, 1, (1, 0))  # a step past the end of one tensor is past the end of all
POINT = ConvShape(1, 1, 1, 1, 1, 1, 1)
MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads
WIDE = ConvShape(1, 2, 2, 5, 2, 5, 4, 1, (4, 3))  # more weights than the 16 threads of a tile
IN_PIECES = ConvShape(1, 1, 2, 5, 1, 7, 3, 1, (6, 2))  # more weights than are held at once
# No two steps along an axis are equal; two groups with two filters each over two channels; an odd number of images.
GROUPS = ConvShape(3, 4, 5, 7, 4, 3, 2, (2, 1), (1, 2), (1, 3), 2)
CHANNELS = ConvShape(2, 1, 3, 4, 3, 1, 1)
SLICES = ConvShape(1, 1, 33, 64, 1, 1, 1)  # a slice and a part of one
