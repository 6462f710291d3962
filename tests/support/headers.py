"""The comment that opens a kernel file, key by key."""

from helpers.convolution.shapes import ConvShape
from helpers.wgsl import Kernel

LETTERS = "N Ci H W Co kH kW S Ph oH oW Pw"  # of a convolution's parameters, in their order


def header(kernel: Kernel) -> dict[str, str]:
    """The text at each key of the comment that opens a file; the first line is the title."""
    title, _, *lines = kernel.source.split("\n\n", 1)[0].split("\n")
    found, key = {"title": title.removeprefix("// ")}, ""
    for line in lines:
        key = line[3:13].strip() or key  # a line without a key continues the one above
        found[key] = f"{found.get(key, '')}\n{line[13:]}".strip()
    return found


def letters_of(shape: ConvShape) -> dict[str, int]:
    """What the letters of a convolution stand for."""
    pairs = zip(("Sh", "Sw", "Dh", "Dw"), (*shape.stride, *shape.dilation), strict=True)
    return {**dict(zip(LETTERS.split(), shape.params(), strict=True)), **dict(pairs), "G": shape.groups}
