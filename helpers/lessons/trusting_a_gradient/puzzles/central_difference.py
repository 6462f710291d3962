# The official lines of the puzzle central_difference;
# the lines that end in a star are not in the skeleton.

# loss(w) is the loss if one weight is w, and all others stay as
# they are. You have loss, the weight w and the step h. Give
# derivative its value: how fast the loss grows with w.
# Call loss twice.

# 1. How much larger is the loss a step above w than a step below?
rise = loss(w + h) - loss(w - h)  # *
# 2. Divide by how far apart these two weights are.
derivative = rise / (2 * h)  # *
