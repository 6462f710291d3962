"""Wrong kernels that look right: the gradients' versions that lesson 05 shows, each with one mistake that has a name.

Every kind of mistake that is made in practice is here, and every barrier is missing once. The tests show that the
checker rejects each for exactly the reasons that it states, and accepts the right kernel on the same problem. Those of
all other versions are in tests/support/kernel_faults.toml.
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from helpers.data import tables
from helpers.lessons.shared import wrong_kernel_shapes
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
from wgsl import Kernel

NUMBERS = ("wrong numbers",)
RACE = ("data race",)
ENDLESS = ("endless loop",)
REASONS = (  # what rejects a kernel: one or several of these
    "wrong numbers",
    "out-of-range read",
    "out-of-range write",
    "data race",
    "overlapping writes",
    "unwritten output",
    "index overflow",
    "endless loop",
    "non-uniform barrier",
    "not-a-number",
    "not portable",
    "uninitialized read",
)

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
        if old in kernel.code:
            kernel = kernel.edit(old, new)
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
    shape: Shape | None
    constants: Mapping[str, int]

    @property
    def right(self) -> Kernel:
        """The version as it should be, made `small`."""
        return small(load(self.kernel)).with_constants(**self.constants)

    @property
    def wrong(self) -> Kernel:
        """The version with the mistake. Raises ValueError, with its name, where `old` does not occur exactly once."""
        try:
            return self.right.edit(self.old, self.new)
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from None

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


# --- How a table is read --------------------------------------------------------------------------------------------

VERSION = {"shape": str, "mistakes": list}
ROW = {"name": str, "old": str, "new": str}
NOT_AS_USUAL = {"reasons": list, "shape": str, "constants": dict}
BY_NAME = {"kernel": str, "old": str, "new": str}


class VersionTable(NamedTuple):
    """The table of a version: what is usual for its wrong kernels, which has no name and no edit, and those kernels."""

    usual: WrongKernel
    rows: tuple[WrongKernel, ...]


def shapes_in(module: ModuleType) -> dict[str, Shape]:
    """Return the shapes in a module that has no other constants, by their names in capitals."""
    return {name: value for name, value in vars(module).items() if name.isupper()}


def read(path: Path, shapes: Mapping[str, Shape]) -> tuple[VersionTable, ...]:
    """Return the tables of versions in a file such as wrong_kernels.toml.

    Each has its usual `shape`, its `reasons` where they are not wrong numbers alone, its `constants` where it has any,
    and the rows of its `mistakes`. A row has a `name`, the `old` text and the `new` one, both with all their blanks and
    line breaks, and what is not as usual of those three.

    Parameters
    ----------
    path : Path
        A file in TOML.
    shapes : mapping of str to Shape
        What the names of shapes in the file stand for.

    Raises
    ------
    ValueError
        The file is not such a one. The message has the file, the version, the row, the key and the rule.
    """
    versions = []
    for version, table in tables.read(path, VERSION, {"reasons": list, "constants": dict}).items():
        place = f"{path.name}, [{version}]"
        usual = _with_fields(WrongKernel(version, "", "", "", NUMBERS, None, {}), place, table, shapes)
        rows = [_row(usual, place, number, row, shapes) for number, row in enumerate(table["mistakes"], 1)]
        versions.append(VersionTable(usual, tuple(rows)))
    return tuple(versions)


def read_by_name(path: Path) -> tuple[WrongKernel, ...]:
    """Return the wrong kernels of a file whose tables have their names, each with its `kernel` and its edit.

    They have no shapes, and nothing but wrong numbers shows them. Raises ValueError as `read` does.
    """
    kernels = []
    for name, row in tables.read(path, BY_NAME, {}).items():
        kernels.append(WrongKernel(row["kernel"], name, row["old"], row["new"], NUMBERS, None, {}))
    return tuple(kernels)


def _row(usual: WrongKernel, place: str, number: int, row: object, shapes: Mapping[str, Shape]) -> WrongKernel:
    """Return the wrong kernel that a row describes."""
    here = f"{place}, mistake {number}"
    tables.check(here, row, ROW, NOT_AS_USUAL)
    named = usual._replace(name=row["name"], old=row["old"], new=row["new"])
    return _with_fields(named, f"{here}, {row['name']!r}", row, shapes)


def _with_fields(
    usual: WrongKernel, place: str, table: Mapping[str, object], shapes: Mapping[str, Shape]
) -> WrongKernel:
    """Return a wrong kernel with the reasons, the shape and the constants that a table has."""
    reasons = tuple(table.get("reasons", usual.reasons))
    for reason in reasons:
        if reason not in REASONS:
            raise ValueError(f"{place}: reasons has {reason!r}: each must be one of {', '.join(REASONS)}")
    shape = usual.shape
    if "shape" in table:
        if table["shape"] not in shapes:
            raise ValueError(f"{place}: shape = {table['shape']!r}: it must be one of {', '.join(shapes)}")
        shape = shapes[table["shape"]]
    return usual._replace(reasons=reasons, shape=shape, constants=table.get("constants", usual.constants))


# --- The table, and the versions in it -----------------------------------------------------------------------

WEIGHT_1 = "conv2d_grad_weight/1_thread_per_weight"
WEIGHT_2 = "conv2d_grad_weight/2_workgroup_per_weight"
INPUT_1 = "conv2d_grad_input/1_gather"
INPUT_2 = "conv2d_grad_input/2_shared_weights"
BIAS_1 = "conv2d_grad_bias/1_thread_per_channel"
BIAS_2 = "conv2d_grad_bias/2_workgroup_per_channel"

VERSIONS = read(Path(__file__).with_suffix(".toml"), shapes_in(wrong_kernel_shapes))
WRONG_KERNELS = tuple(chain.from_iterable(version.rows for version in VERSIONS))


def named(kernel: str, name: str) -> WrongKernel:
    """Return one of them, by its version and its mistake."""
    return next(row for row in WRONG_KERNELS if (row.kernel, row.name) == (kernel, name))
