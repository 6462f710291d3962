"""Appendix D, past the library: im2col without its matrix, split-K, residue classes, and Winograd's method."""
