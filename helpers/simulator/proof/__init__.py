"""Proof that the accesses of a kernel stay in bounds at all sizes: what is assumed, symbolic execution, the solver."""
