"""The problems that tests step through, from `problems.txt`."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape

KINDS = ConvShape, GemmShape, SumShape, PoolShape, ElementShape, LossShape, UpdateShape, StartShape
NAMES = {kind.__name__: kind for kind in KINDS}


@cache
def sections(file: str = "problems") -> dict[str, str]:
    """What is below each heading of a file."""
    text = Path(__file__).with_name(f"{file}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[(.*)\]\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def listed(heading: str) -> list[tuple]:
    """The rows of a list: in its cells are problems, numbers or words."""
    rows = (re.split("  +", line) for line in re.sub("  #.*", "", sections()[heading]).split("\n") if line)
    return [tuple(eval(cell, NAMES) if re.match(r"\w+\(|[({]|[\d_]+$", cell) else cell for cell in row) for row in rows]


def by_name(heading: str) -> dict[str, list[Shape]]:
    """The problems of a list whose rows begin with a name, by it."""
    found = defaultdict(list)
    for name, shape in listed(heading):
        found[name].append(shape)
    return {**found}
