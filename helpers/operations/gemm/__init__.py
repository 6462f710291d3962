"""A fully connected layer, fused: GEMM + bias + activation, and its backward pass."""
