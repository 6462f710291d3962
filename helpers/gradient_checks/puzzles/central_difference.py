# The official lines of the puzzle central_difference;
# the lines that end in a star are not in the skeleton.

# loss(w) is the loss where one weight is w, and all others keep their values.
# You have loss, the weight w and the step h, and give derivative its value:
# how fast the loss grows with w. Call loss twice.

# 1. By how much does the loss grow from a step below w to a step above it?
rise = loss(w + h) - loss(w - h)  # *
# 2. Divide by how far apart these two weights are.
derivative = rise / (2 * h)  # *
