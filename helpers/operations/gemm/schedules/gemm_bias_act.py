"""The schedules of the versions of gemm_bias_act."""

from math import ceil, prod

from helpers.operations.dispatch import Schedule, Step, flat, nested_loops, one_step
from helpers.operations.gemm.schedules import shared
from helpers.operations.gemm.schedules.shared import Product, forward_product
from helpers.operations.gemm.shapes import GemmShape
from wgsl import Kernel

# --- Versions that read the sizes from a uniform ------------------------------------------------------------


def thread_per_element(s: GemmShape, kernel: Kernel) -> Schedule:
    """One thread for each element of the output."""
    return one_step(flat(prod(s.of("output"))), nested_loops(s.k))


def tiled(s: GemmShape, kernel: Kernel) -> Schedule:
    """One workgroup for each tile of the output."""
    product = Product(s.m, s.n, s.k, s.batch_size)
    return Schedule((shared.tiled(product, kernel),))


def deep_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """One workgroup for each small tile of the output, with several threads for each sum."""
    tile = kernel.value("TILE")
    workgroups = forward_product(s).workgroups(tile, tile)
    return one_step(workgroups, shared.deep(kernel, s.k))


# --- Versions that are specialized for a layer --------------------------------------------------------------


def register_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Tiles of 64 x 64; the loop along k inside a tile is not written out."""
    tile = shared.tile_or_default(kernel, shared.TILES[-1])
    return _tiled_schedule(s, kernel, tile, kernel.value("TILE_K"))


def vec4_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """The largest tiles of which there are enough."""
    if s.n % 4:
        rule = "it must be a multiple of 4, as b is read four numbers at a time"
        return Schedule((), refused=f"{kernel.name}: N = {s.n}: {rule}")
    tile = shared.largest(kernel, forward_product(s))
    pad = shared.pad(tile, kernel.value("TILE_K"))
    return _tiled_schedule(s, kernel, tile, PAD=pad)


prefetch = vec4_tiles


def _tiled_schedule(s: GemmShape, kernel: Kernel, tile: tuple[int, int], *inner: int, **more: int) -> Schedule:
    """The dispatch with tiles of this many rows and columns; `inner` loops are inside that over steps along k.

    `more` are constants of one version.
    """
    product = forward_product(s)
    depth = kernel.value("TILE_K")
    constants = {
        **shared.layer(s, kernel),
        **shared.tile_constants(tile, depth, product),
        **more,
    }
    iterations = nested_loops(ceil(s.k / depth), *inner)
    step = Step(product.workgroups(*tile), iterations)
    return Schedule((step,), constants=constants)


def registers_only(s: GemmShape, kernel: Kernel) -> Schedule:
    """Tiles in the registers of a thread, for software adapters: as large as the layer can use."""
    product = forward_product(s)
    return shared.tiled_by_threads(s, kernel, [product], lambda tile: [tile.step(product)])
