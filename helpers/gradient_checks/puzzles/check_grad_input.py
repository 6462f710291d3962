# The official lines of the puzzle check_grad_input;
# the lines that end in a star are not in the skeleton.

# A check of kernels that compute conv2d_grad_input: give accepted the value
# True where a kernel is right, and False where it is wrong. It is tried on two
# right kernels and on six wrong ones, which you cannot see. Nobody gives you a
# right gradient. You have
#   shape(batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w,
#         stride=1, padding=0)   where padding may be (rows, columns)
#   image(s), filters(s), upstream(s)   random whole numbers for a shape s: an
#         input, its weights, and a gradient of its outputs
#   ones(a)                the array a with a 1 in each place
#   conv2d(x, w, s)        the forward pass, which you can trust
#   grad_input(dy, w, s)   what the kernel returns
#   dot(a, b)              the dot product of two arrays of one size
# A shape has at most 30 outputs of a channel, 120 weights and 1,000 pixels.

s = shape(2, 3, 5, 7, 4, 3, 2, stride=2, padding=(1, 2))  # *
x = image(s)  # *
w = filters(s)  # *
dy = upstream(s)  # *
loss = dot(conv2d(x, w, s), dy)  # *
product = dot(x, grad_input(dy, w, s))  # *
accepted = loss == product  # *
