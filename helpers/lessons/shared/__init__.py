"""Parts that two lessons or more have: cases, pictures, mistakes, and LeNet's places for the reader's kernels."""
