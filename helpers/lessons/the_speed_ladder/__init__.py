"""The speed ladder: steps from a naive kernel to a fast one, their pictures, and what was recorded on a GPU."""
