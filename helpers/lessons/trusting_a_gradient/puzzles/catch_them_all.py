# The official line of the puzzle catch_them_all;
# the line that ends in a star is not in the skeleton.

# A test of the weight gradient: sizes and data, with a comma
# between them. All 39 wrong kernels must fail it, and both right
# ones must pass. You have
#   shape(batch, in_channels, in_h, in_w,
#         out_channels, kernel_h, kernel_w,
#         stride=1, padding=0)   padding may be (rows, columns)
#   ones()        an upstream gradient of ones
#   symmetric()   images, filters and upstream gradients
#                 that are their own mirror images
#   whole()       small random whole numbers
#   fractions()   random multiples of 1/64
#   normal()      random numbers with all their digits,
#                 whose sums round
# A shape has at most 30 outputs of a channel, in all images,
# 120 weights and 1,000 pixels. Numbers are compared exactly,
# guard values follow the data, and every access is watched.

# 1. Give test its value.
test = shape(2, 3, 3, 8, 2, 5, 4, stride=2, padding=(2, 1)), fractions()  # *
