"""The steps of the speed ladder: each with the kernel that takes it, its idea, and what limited the step before."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from helpers.bench.layers import SHAPES
from helpers.bench.tile_sizes import TileSizes
from helpers.data import tables
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
from helpers.operations.registry import OPERATIONS

NO_TILE, TILE, SQUARE = TileSizes(1, 1, 1, 1), TileSizes(16, 16, 16, 1), TileSizes(64, 64, 16, 8)

# Winograd's weight gradient, for each tile of 6 x 6 pixels and 64 channels on both sides: the products of 36 points,
# the pixels and the upstream gradients once, and what both become, written once. (The products read it.)
_POINTS, _CHANNELS = 36, 64
_PRODUCTS = _POINTS * _CHANNELS**2 / SQUARE.intensity
_TRANSFORMS = 4 * _CHANNELS * (6 * 6 + _POINTS + 4 * 4 + _POINTS)
WINOGRAD_BYTES = (_PRODUCTS + _TRANSFORMS) / (4 * 4 * 3 * 3 * _CHANNELS**2)


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    name : str
        What it is called.
    operation, version : str
        The kernel that takes it: ``kernels/<operation>/<version>.wgsl``.
    layer : str
        The name of the layer on which it is measured.
    idea : str
        What is new in it, in a few words.
    limit : str
        What limited the step before: "bytes", "arithmetic", "latency" or "occupancy".
    why : str
        How that shows, in a sentence.
    before : str
        The version of the same operation from which it is a step; none for the first.
    checked : bool
        Whether bounds are checked.
    fixed : TileSizes, optional
        Its tiles, where they are not constants of the kernel.
    loaded : float, optional
        Bytes from and to storage memory for each multiply-add of the formula, where they are not those of the tiles.
    """

    name: str
    operation: str
    version: str
    layer: str
    idea: str
    limit: str = ""
    why: str = ""
    before: str = ""
    checked: bool = True
    fixed: TileSizes | None = None
    loaded: float | None = None

    @property
    def path(self) -> str:
        """The path of the kernel's file."""
        return f"kernels/{self.operation}/{self.version}.wgsl"

    @property
    def shape(self) -> Shape:
        """The sizes of the layer."""
        return SHAPES[self.layer]

    @cached_property
    def tile(self) -> TileSizes:
        """Its tiles on that layer."""
        if self.fixed:
            return self.fixed
        kernel = load(self.operation, self.version)
        constants = OPERATIONS[self.operation].versions[self.version](self.shape, kernel).constants
        rows, columns, depth = (constants.get(name) or kernel.value(name) for name in ("TILE_M", "TILE_N", "TILE_K"))
        return TileSizes(rows, columns, depth, 8)

    @property
    def intensity(self) -> float:
        """Operations for each byte from storage memory; a multiply-add is two."""
        return 2 * self.tile.intensity if self.loaded is None else 2 / self.loaded


FIXED = {"naive": NO_TILE, "shared tile": TILE}
LOADED = {"Winograd": WINOGRAD_BYTES}
NEEDED = {"kernel": str, "layer": str, "idea": str}
OPTIONAL = {"limit": str, "why": str, "before": str, "checked": bool}


def steps(file: Path) -> tuple[Step, ...]:
    """Return the steps of a file such as ladder.toml, in their order; `kernel` is the operation and the version.

    Raises ValueError, with the file, the step, the key and the rule, where a table is no step.
    """
    rows = []
    for name, table in tables.read(file, NEEDED, OPTIONAL).items():
        operation, slash, version = table.pop("kernel").partition("/")
        if not slash:
            raise ValueError(f"{file.name}, [{name}]: kernel = {operation!r}: it must be <operation>/<version>")
        rows.append(Step(name, operation, version, **table, fixed=FIXED.get(name), loaded=LOADED.get(name)))
    return tuple(rows)


STEPS = steps(Path(__file__).with_suffix(".toml"))
