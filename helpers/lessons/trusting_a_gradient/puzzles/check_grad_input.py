# The official lines of the puzzle check_grad_input;
# the lines that end in a star are not in the skeleton.

# A check of kernels that compute conv2d_grad_input: give accepted
# the value True for a right kernel, and False for a wrong one. It
# is tried on two right kernels and on six wrong ones, which you
# cannot see. There is no right gradient. You have
#   shape(batch, in_channels, in_h, in_w,
#         out_channels, kernel_h, kernel_w,
#         stride=1, padding=0)   padding may be (rows, columns)
#   image(s), filters(s), upstream(s)   small random whole numbers
#         for a shape s: inputs, weights, upstream gradients
#   ones(a)                an array like a, full of ones
#   conv2d(x, w, s)        the forward pass, which you can trust
#   grad_input(dy, w, s)   what the kernel returns
#   dot(a, b)              the dot product of two arrays of one size
# A shape has at most 30 outputs of a channel, in all images,
# 120 weights and 1,000 pixels.

s = shape(2, 3, 5, 7, 4, 3, 2, stride=2, padding=(1, 2))  # *
x = image(s)  # *
w = filters(s)  # *
dy = upstream(s)  # *
loss = dot(conv2d(x, w, s), dy)  # *
product = dot(x, grad_input(dy, w, s))  # *
accepted = loss == product  # *
