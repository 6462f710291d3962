"""The versions for software adapters: tiles in the registers of a thread, as large as its layer can use."""

from collections.abc import Collection, Mapping
from itertools import product
from math import ceil, prod
from typing import NamedTuple

from helpers.activations import ACTIVATIONS
from helpers.gemm.schedules import Product, _backward_products, _forward_product
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Schedule, Step, nested_loops
from helpers.wgsl import Kernel

THREADS = 8  # of a workgroup: those that a CPU with 256 bits in a register runs as one
CORES = 4  # fewer workgroups than this leave most CPUs partly idle
# Nanoseconds that a load of a vec4f and a multiply-add of f32 take for 8 threads at once. Measured with Mesa 22.3 on
# a Xeon (Cascade Lake, 2.5 GHz): a driver without a fast path for loads runs a loop over the threads for each of them.
LOAD, MULTIPLY_ADD = 32.0, 1.4
# The most vec4f of a tile, and the multiply-adds of a layer from which on it is worth the time to compile it.
SIZES = {192: 2**27, 64: 2**21, 16: 0}


class Tile(NamedTuple):
    """The tile of a thread, `rows` x `quads` vec4f, in a workgroup that is `across` threads wide."""

    rows: int
    quads: int
    across: int

    def workgroups(self, p: Product) -> tuple[int, int, int]:
        """One for each tile of all its threads."""
        height, width = THREADS // self.across * self.rows, 4 * self.across * self.quads
        return ceil(p.columns / width), ceil(p.rows / height), p.layers

    def nanoseconds(self, p: Product) -> float:
        """About how long a product takes."""
        loads, products = self.rows + 4 * self.quads, 16 * self.rows * self.quads
        steps = ceil(p.terms / 4) * ceil(prod(self.workgroups(p)) / CORES)
        return steps * (loads * LOAD + products * MULTIPLY_ADD)

    def step(self, p: Product, *names: str, finishes: bool = True) -> Step:
        """The dispatch of a product: a loop along the sum, and one over the tile where that is more than the sum."""
        last = nested_loops(self.rows * self.quads) if finishes else 0
        return Step(self.workgroups(p), nested_loops(ceil(p.terms / 4)) + last, *names)


TILES = [Tile(*sizes) for sizes in product((4, 8, 16, 24, 32), (1, 2, 4, 8), (4, 2, 8, 1))]


def registers_only(s: GemmShape, kernel: Kernel) -> Schedule:
    p = _forward_product(s)
    tile = _fastest(kernel, [p])
    constants = {"M": p.rows, **_common(s, tile)}
    return Schedule((tile.step(p),), constants=constants, refused=_no_quads(s, kernel))


def backward_registers_only(s: GemmShape, kernel: Kernel) -> Schedule:
    products, rows = _backward_products(s), s.batch_size * s.m
    tile = _fastest(kernel, products.values())
    names = {name: (f"gemm_bwd_{name}_f32", f"gemm_bwd_{name}") for name in (*products, "dbias")}
    steps = [tile.step(each, *names[name], finishes=name == "grad_pre") for name, each in products.items()]
    bias = Step((ceil(s.n / (4 * THREADS)), 1, 1), nested_loops(ceil(rows / 4)), *names["dbias"])
    constants = {
        **{"ROWS": products["grad_pre"].rows, "D_B_ROWS": products["db"].terms, "ALL_ROWS": rows},
        **{"D_B_STRIDE": s.k * s.n * s.per_item, **_common(s, tile)},
    }
    return Schedule((*steps, bias), constants=constants, refused=_no_quads(s, kernel))


def _fastest(kernel: Kernel, products: Collection[Product]) -> Tile:
    """The tile that takes the least time for these products, or what `with_constants` has set of it."""
    work = max(p.rows * p.columns * p.terms * p.layers for p in products)
    most = next(size for size, least in SIZES.items() if work >= least)
    able = (tile for tile in TILES if tile.rows * tile.quads <= most)
    best = min(able, key=lambda tile: sum(map(tile.nanoseconds, products)))
    given = dict(kernel.constants)
    return Tile(*(given.get(name, value) for name, value in _constants(best).items()))


def _constants(tile: Tile) -> Mapping[str, int]:
    return dict(zip(("TILE_ROWS", "TILE_QUADS", "ACROSS"), tile, strict=True))


def _common(s: GemmShape, tile: Tile) -> Mapping[str, int]:
    """The constants that both kernels have."""
    sizes = {"K": s.k, "N": s.n, "B_STRIDE": s.k * s.n * s.b_per_item}
    return {**sizes, "ACTIVATION": ACTIVATIONS.index(s.activation), **_constants(tile)}


def _no_quads(s: GemmShape, kernel: Kernel) -> str | None:
    """Why the tensors cannot be read as vec4f, or None."""
    for name, size in (("K", s.k), ("N", s.n)):
        if size % 4:
            return f"{kernel.name}: {name} = {size}: it must be a multiple of 4, as four numbers are read at a time"
    return None
