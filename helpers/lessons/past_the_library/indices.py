"""Index arithmetic of the ladder's pictures.

The tests prove each of these equal to what the kernels read.
"""


def slice_of(split: int, splits: int, steps: int) -> range:
    """The steps along K that one of `splits` workgroups takes; together they take all of them, once."""
    return range(split * steps // splits, (split + 1) * steps // splits)


def taps_of_class(residue: int, kernel: int, stride: int) -> list[int]:
    """The rows (or columns) of a filter that reach a pixel with ``(ih + padding) % stride == residue``.

    All pixels of such a class need the same ones: an output row oh reaches the pixel through kh where
    ``oh * stride + kh == ih + padding``, so that kh has the residue of the pixel.
    """
    return list(range(residue, kernel, stride))
