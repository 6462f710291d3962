"""Wrong kernels that look right: the gradients' versions that lesson 05 shows, each with one mistake that has a name.

Every kind of mistake that is made in practice is here, and every barrier is missing once. The tests show that the
checker rejects each for exactly the reasons that it states, and accepts the right kernel on the same problem. Those of
all other versions are in tests/support/wrong_kernels.py.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
from wgsl import Kernel

# What rejects a kernel. Several are added, as in READ + NUMBERS.
NUMBERS = ("wrong numbers",)
READ, WRITE = ("out-of-range read",), ("out-of-range write",)
RACE, OVERLAP = ("data race",), ("overlapping writes",)
UNWRITTEN, WRAPPED, ENDLESS = ("unwritten output",), ("index overflow",), ("endless loop",)
MISSED_BARRIER, NOT_A_NUMBER = ("non-uniform barrier",), ("not-a-number",)
NOT_PORTABLE = ("not portable",)
UNINITIALIZED = ("uninitialized read",)

SMALL = {
    "TILE: u32 = 16u": "TILE: u32 = 4u",
    "TILE: u32 = 8u": "TILE: u32 = 3u",
    "DEPTH: u32 = 128u": "DEPTH: u32 = 36u",
    "TILE_K: u32 = 16u": "TILE_K: u32 = 8u",
    "CHUNK: u32 = 4096u": "CHUNK: u32 = 20u",  # weights held at once
}


def small(kernel: Kernel) -> Kernel:
    """A version with tiles and chunks so small that a problem of a few numbers has several of them."""
    for old, new in SMALL.items():
        kernel = kernel.edit(old, new) if old in kernel.code else kernel
    return kernel


class WrongKernel(NamedTuple):
    """In the version `kernel`, `old` becomes `new`; a run with `shape` shows it, and it is rejected for the `reasons`.

    The reasons are "wrong numbers" and the kinds of the simulator's findings: the same on every adapter. `constants`
    are set where a schedule would choose others, for problems this small.
    """

    kernel: str
    name: str
    old: str
    new: str
    reasons: tuple[str, ...]
    shape: Shape
    constants: Mapping[str, int]

    @property
    def right(self) -> Kernel:
        """The version as it should be, made `small`."""
        return small(load(self.kernel)).with_constants(**self.constants)

    @property
    def wrong(self) -> Kernel:
        """The version with the mistake."""
        return self.right.edit(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


# --- The format of a table: a heading for each version, and its rows, as in wrong_kernels.txt -----------------------

HEADING = re.compile(r"^\[(.+)\]  (.+)\n", re.MULTILINE)
ROW = re.compile(r" *(.+): `([^`]*)`\s+-> `([^`]*)`(?:  (.+))?\n")
FIELDS = {tuple: "reasons", dict: "constants"}


class Edit(NamedTuple):
    """What is planted, the old text, the new one, and what follows."""

    name: str
    old: str
    new: str
    more: str


def edits(table: str) -> list[Edit]:
    """The rows of a version. Raises ValueError where something else is left."""
    if rest := ROW.sub("", table).strip():
        raise ValueError(f"{rest!r} is no row: a row is <name>: `<old text>` -> `<new text>`, and what is not as usual")
    return [Edit(*row) for row in ROW.findall(table)]


def tables(path: Path, names: Mapping[str, object]) -> Iterator[tuple[WrongKernel, list[WrongKernel]]]:
    """What is usual for each version of a file, and its rows; `names` say what the file's words stand for."""

    def fields(text: str) -> dict[str, object]:
        return {FIELDS.get(type(value), "shape"): value for value in eval(f"[{text}]", {**names})}  # our own text

    _, *parts = HEADING.split(path.read_text(encoding="utf-8"))
    for version, given, table in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        usual = WrongKernel(version, "", "", "", **{"reasons": NUMBERS, "constants": {}} | fields(given))
        yield (
            usual,
            [usual._replace(name=name, old=old, new=new, **fields(more)) for name, old, new, more in edits(table)],
        )


# --- Problems, the smallest that show a mistake ---------------------------------------------------------------

# In ODD rows are not columns, and N, Ci and Co differ.
ODD = ConvShape(2, 3, 5, 7, 4, 3, 2, 2, (1, 2))
STRIDE_1 = ConvShape(2, 3, 3, 5, 4, 3, 2, 1, (1, 2))
ONE_FILTER = ConvShape(1, 2, 3, 5, 1, 3, 2, 1, (1, 0))  # a step past the end of one tensor is past the end of all
POINT = ConvShape(1, 1, 1, 1, 1, 1, 1)
MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads
WIDE = ConvShape(1, 2, 2, 5, 2, 5, 4, 1, (4, 3))  # more weights than the 16 threads of a tile
IN_PIECES = ConvShape(1, 1, 2, 5, 1, 7, 3, 1, (6, 2))  # more weights than are held at once
# No two steps along an axis are equal; two groups with two filters each over two channels; an odd number of images.
GROUPS = ConvShape(3, 4, 5, 7, 4, 3, 2, (2, 1), (1, 2), (1, 3), 2)
CHANNELS = ConvShape(2, 1, 3, 4, 3, 1, 1)
SLICES = ConvShape(1, 1, 33, 64, 1, 1, 1)  # a slice and a part of one

# --- The table, and the versions in it -----------------------------------------------------------------------

WEIGHT_1, WEIGHT_2 = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_weight/2_workgroup_per_weight"
INPUT_1, INPUT_2 = "conv2d_grad_input/1_gather", "conv2d_grad_input/2_shared_weights"
BIAS_1, BIAS_2 = "conv2d_grad_bias/1_thread_per_channel", "conv2d_grad_bias/2_workgroup_per_channel"

WRONG_KERNELS = tuple(row for _, rows in tables(Path(__file__).with_suffix(".txt"), globals()) for row in rows)


def named(kernel: str, name: str) -> WrongKernel:
    """One of them, by its version and its mistake."""
    return next(row for row in WRONG_KERNELS if (row.kernel, row.name) == (kernel, name))
