"""The parts that the schedules of both operations share: matrix products, and the tiles that compute them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from helpers.operations.activations import ACTIVATIONS
from helpers.operations.dispatch import Schedule, Step, Workgroups, nested_loops
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.kernels import layer_constants
from wgsl import MAX_WORKGROUP_BYTES, Kernel
from wgsl.specialize import first_short_enough


@dataclass(frozen=True)
class Product:
    """`layers` products of a (rows, terms) and a (terms, columns) matrix."""

    rows: int
    columns: int
    terms: int
    layers: int

    def workgroups(self, rows: int, columns: int) -> Workgroups:
        """One for each tile of this many rows and columns."""
        return ceil(self.columns / columns), ceil(self.rows / rows), self.layers


def forward_product(s: GemmShape) -> Product:
    """The rows of all items that share one b are those of one matrix."""
    if s.b_per_item:
        return Product(s.m, s.n, s.k, s.batch_size)
    return Product(s.batch_size * s.m, s.n, s.k, 1)


def layer(s: GemmShape, kernel: Kernel) -> Mapping[str, int]:
    """The sizes that a version declares as constants, by these names, and the activation."""
    rows = forward_product(s).rows
    all_rows = s.batch_size * s.m
    sizes = {
        "M": rows,
        "K": s.k,
        "N": s.n,
        "ACTIVATION": ACTIVATIONS.index(s.activation),
        "ROWS": rows,
        "ALL_ROWS": all_rows,
        "D_B_ROWS": s.m if s.per_item else all_rows,
        "B_STRIDE": s.k * s.n if s.b_per_item else 0,
        "D_B_STRIDE": s.k * s.n if s.per_item else 0,
    }
    return layer_constants(kernel, sizes)


def tiled(p: Product, kernel: Kernel, *names: str, items: int = 1) -> Step:
    """One thread an element, each a sum of items * terms products taken tile by tile; the sizes are in a uniform."""
    tile = kernel.value("TILE")
    return Step(p.workgroups(tile, tile), nested_loops(items, ceil(p.terms / tile), tile), *names)


def deep(kernel: Kernel, *terms: int) -> int:
    """The iterations of a thread for the longest of these sums: DEPTH terms between two barriers, then the slices."""
    iterations = ceil(max(terms) / kernel.value("DEPTH"))
    return nested_loops(iterations, kernel.value("TILE")) + nested_loops(kernel.value("SLICES"))


# --- Tiles of a workgroup: 8 x 8 elements a thread --------------------------------------------------------------

TILES = (128, 128), (64, 128), (64, 64)  # rows and columns of a workgroup, the largest first
ENOUGH = 256  # workgroups that fill a large GPU: about two for each of an H200's 132 multiprocessors


def largest(kernel: Kernel, *products: Product) -> tuple[int, int]:
    """The largest tile of which each product has ENOUGH, else the smallest one."""
    for tile in TILES:
        fewest = min(prod(p.workgroups(*tile)) for p in products)
        if fewest >= ENOUGH:
            break
    return tile_or_default(kernel, tile)


def tile_or_default(kernel: Kernel, tile: tuple[int, int]) -> tuple[int, int]:
    """The tile that `with_constants` has set, or else this one."""
    rows, columns = tile
    constants = dict(kernel.constants)
    return constants.get("TILE_M", rows), constants.get("TILE_N", columns)


def tile_constants(tile: tuple[int, int], depth: int, *products: Product) -> Mapping[str, int]:
    """The kernel's constants for a tile; it is aligned where all tiles of these products are full."""
    rows, columns = tile
    aligned = True
    for p in products:
        if p.rows % rows or p.columns % columns or p.terms % depth:
            aligned = False
    return {"TILE_M": rows, "TILE_N": columns, "ALIGNED": aligned}


def pad(tile: tuple[int, int], depth: int, both: bool = False) -> int:
    """1 where the workgroup memory has room for 16 bytes after each row of the left tile, or of both; else 0."""
    padded_tiles = 2 if both else 1
    nbytes = depth * (4 * sum(tile) + 16 * padded_tiles)
    return 1 if nbytes <= MAX_WORKGROUP_BYTES else 0


# --- Tiles of a thread, in its registers: for software adapters -------------------------------------------------

THREADS = 8  # of a workgroup: those that a CPU with 256 bits in a register runs as one
CORES = 4  # fewer workgroups than this leave most CPUs partly idle
# Nanoseconds that a load of a vec4f and a multiply-add of f32 take for 8 threads at once. Measured with Mesa 22.3 on
# a Xeon (Cascade Lake, 2.5 GHz): a driver without a fast path for loads runs a loop over the threads for each of them.
LOAD, MULTIPLY_ADD = 32.0, 1.4
# The most vec4f of a tile, and the multiply-adds of a layer from which on it is worth the time to compile it.
SIZES = {192: 2**27, 64: 2**21, 16: 0}


class ThreadTile(NamedTuple):
    """The tile of a thread, `rows` x `vec4s` vec4f, in a workgroup that is `across` threads wide."""

    rows: int
    vec4s: int
    across: int

    def workgroups(self, p: Product) -> Workgroups:
        """One for each tile of all its threads."""
        return p.workgroups(THREADS // self.across * self.rows, 4 * self.across * self.vec4s)

    def nanoseconds(self, p: Product) -> float:
        """The time that a product takes: an estimate."""
        loads = self.rows + 4 * self.vec4s
        products = 16 * self.rows * self.vec4s
        steps = ceil(p.terms / 4) * ceil(prod(self.workgroups(p)) / CORES)
        return steps * (loads * LOAD + products * MULTIPLY_ADD)

    def step(self, p: Product, *names: str, finishes: bool = True) -> Step:
        """The dispatch of a product: a loop along the sum, and one over the tile where that is more than the sum."""
        iterations = nested_loops(ceil(p.terms / 4))
        if finishes:
            iterations += nested_loops(self.rows * self.vec4s)
        return Step(self.workgroups(p), iterations, *names)

    @property
    def constants(self) -> Mapping[str, int]:
        """The kernel's constants for this tile."""
        return {"TILE_ROWS": self.rows, "TILE_VEC4S": self.vec4s, "ACROSS": self.across}


THREAD_TILES = [ThreadTile(*sizes) for sizes in product((4, 8, 16, 24, 32), (1, 2, 4, 8), (4, 2, 8, 1))]


def tiled_by_threads(
    s: GemmShape, kernel: Kernel, products: Collection[Product], steps: Callable[[ThreadTile], Iterable[Step]]
) -> Schedule:
    """The schedule with the tile with which the products take the least time; `steps` makes its dispatches."""
    rule = "it must be a multiple of 4, as four numbers are read at a time"
    if s.k % 4:
        return Schedule((), refused=f"{kernel.name}: K = {s.k}: {rule}")
    if s.n % 4:
        return Schedule((), refused=f"{kernel.name}: N = {s.n}: {rule}")
    sizes = layer(s, kernel)
    tiles = _fastest_thread_tiles(products)
    kernel, refused = first_short_enough(kernel, ({**sizes, **tile.constants} for tile in tiles))
    if refused:
        return Schedule((), refused=refused)
    tile = ThreadTile(kernel.value("TILE_ROWS"), kernel.value("TILE_VEC4S"), kernel.value("ACROSS"))
    return Schedule(tuple(steps(tile)), constants=dict(kernel.constants))


def _fastest_thread_tiles(products: Collection[Product]) -> list[ThreadTile]:
    """The tiles that are worth the time to compile them, the fastest first."""
    work = max(p.rows * p.columns * p.terms * p.layers for p in products)
    most = max(size for size, least_work in SIZES.items() if work >= least_work)
    tiles = [tile for tile in THREAD_TILES if tile.rows * tile.vec4s <= most]
    return sorted(tiles, key=lambda tile: sum(tile.nanoseconds(p) for p in products))
