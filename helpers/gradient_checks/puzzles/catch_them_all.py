# The official line of the puzzle catch_them_all;
# the line that ends in a star is not in the skeleton.

# A test of the weight gradient: sizes and data, with a comma between them.
# Of 39 wrong kernels, none may pass it, and both right ones must. Each number
# is compared with the right one, guards follow the tensors, and the simulator
# looks at every access. You have
#   shape(batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
#         stride=1, padding=0)   where padding may be (rows, columns)
#   ones()        an upstream gradient of ones
#   symmetric()   images, filters and gradients that are their mirror images
#   whole()       random whole numbers, which are small
#   fractions()   random multiples of 1/64
#   normal()      random numbers with all their digits, whose sums round

# 1. Give test its value.
test = shape(2, 3, 3, 8, 2, 5, 4, stride=2, padding=(2, 1)), fractions()  # *
