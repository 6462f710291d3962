# The official lines of the puzzle split_batch;
# the lines that end in a star are not in the skeleton.

# A batch of n images is split into parts of size neighboring
# images; the last part may have fewer. Parts and images are
# numbered from 0. You have n, size and the number k of a part.
# Set part to two numbers: the first image of part k, and the first
# image after it. min(a, b) is the smaller of two numbers.

part = k * size, min((k + 1) * size, n)  # *
