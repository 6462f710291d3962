"""Convolution, GEMM, sums and what a network needs: sizes, right answers, versions of kernels and their choice."""
