# The official lines of the puzzle break_even;
# the lines that end in a star are not in the skeleton.

# On one worker, a step takes t seconds. If w workers share it,
# each has an equal part of it, and handing over the gradients
# takes h seconds more, however long the step is. Set t to the
# value at which both take equally long. You have w and h.

t = h * w / (w - 1)  # *
