# The official lines of the puzzle split_batch;
# the lines that end in a star are not in the skeleton.

# A batch of n images is split into p parts of neighboring images.
# No part has two images more than another one, and those that have
# one more come first. Parts and images are numbered from 0. You
# have n, p and the number k of a part. Set part to two numbers:
# the first image of part k, and the first image after it.

each = n // p  # *
part = k * each + min(k, n % p), (k + 1) * each + min(k + 1, n % p)  # *
