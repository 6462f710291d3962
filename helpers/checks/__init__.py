"""Checks that a result is right, for any subject: nothing here knows what was computed.

`report` compares arrays and says where they differ, `tolerance` bounds the rounding errors of sums, `differences` takes
derivatives by central differences, and `adjoint` compares dot products.
"""
