"""One row of the table of wrong kernels: which text is replaced, where it shows, and what rejects it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from helpers.gpu.operation import Shape
from helpers.wgsl import Kernel, load

# What rejects a kernel. A row adds those together that the checker gives, as in READ + NUMBERS.
NUMBERS = ("wrong numbers",)
READ, WRITE = ("out-of-range read",), ("out-of-range write",)
RACE, OVERLAP = ("data race",), ("overlapping writes",)
UNWRITTEN, WRAPPED, ENDLESS = ("unwritten output",), ("index overflow",), ("endless loop",)
MISSED_BARRIER, NOT_A_NUMBER = ("non-uniform barrier",), ("not-a-number",)
UNINITIALIZED = ("uninitialized read",)

SMALL = {
    "TILE: u32 = 16u": "TILE: u32 = 4u",
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
    are set where a schedule would choose others, for problems so small.
    """

    kernel: str
    name: str
    shape: Shape
    old: str
    new: str
    reasons: tuple[str, ...] = NUMBERS
    constants: Mapping[str, int] = MappingProxyType({})

    @property
    def right(self) -> Kernel:
        """The version as it should be, made `small`."""
        return small(load(*self.kernel.split("/"))).with_constants(**self.constants)

    @property
    def wrong(self) -> Kernel:
        """The version with the mistake."""
        return self.right.edit(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"
