# The official lines of the puzzle combine_means;
# the lines that end in a star are not in the skeleton.

# The loss of a batch is a mean over its images, and so is its
# gradient. One worker had n_a images, and found the gradient a;
# another had n_b other images, and found the gradient b. Set
# combined to the gradient of the batch of all their images.

combined = (a * n_a + b * n_b) / (n_a + n_b)  # *
