# The official lines of the puzzle place_in_buffer;
# the lines that end in a star are not in the skeleton.

# Three tensors of n0, n1 and n2 numbers lie in one buffer, end
# to end. You have n0, n1, n2 and i, the number of an element of
# the buffer. Set place to two numbers: that of the tensor, 0, 1
# or 2, and which of its own numbers the element is. All of them
# are counted from 0.

if i < n0:  # *
    place = 0, i  # *
elif i < n0 + n1:  # *
    place = 1, i - n0  # *
else:  # *
    place = 2, i - n0 - n1  # *
