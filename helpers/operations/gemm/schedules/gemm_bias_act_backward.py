"""The schedules of the versions of gemm_bias_act_backward: passes after one that computes grad_pre."""

from collections.abc import Mapping
from math import ceil, prod

from helpers.operations.dispatch import Schedule, Step, flat, nested_loops
from helpers.operations.gemm.schedules import shared
from helpers.operations.gemm.schedules.shared import Product, ThreadTile, forward_product
from helpers.operations.gemm.shapes import GemmShape
from wgsl import Kernel


def _names(name: str) -> tuple[str, str]:
    """Entry point and label of a pass."""
    return f"gemm_bwd_{name}_f32", f"gemm_bwd_{name}"


# --- Versions that read the sizes from a uniform ------------------------------------------------------------


def thread_per_element(s: GemmShape, kernel: Kernel) -> Schedule:
    """Each pass with one thread for an element of its result."""
    items = 1 if s.per_item else s.batch_size

    def step(tensor: str, terms: int, name: str) -> Step:
        workgroups = flat(prod(s.of(tensor)))
        return Step(workgroups, nested_loops(terms), *_names(name))

    steps = (
        step("grad_pre", s.k, "grad_pre"),
        step("d_a", s.n, "da"),
        step("d_b", items * s.m, "db"),
        step("d_bias", s.batch_size * s.m, "dbias"),
    )
    return Schedule(steps)


def tiled(s: GemmShape, kernel: Kernel) -> Schedule:
    """Three products in tiles, and a thread for each column of d_bias."""
    items = 1 if s.per_item else s.batch_size  # of one thread
    layers = s.batch_size if s.per_item else 1  # of the dispatch
    grad_pre = Product(s.m, s.n, s.k, s.batch_size)
    d_a = Product(s.m, s.k, s.n, s.batch_size)
    d_b = Product(s.k, s.n, s.m, layers)
    columns = ceil(s.n / 256), 1, 1
    steps = (
        shared.tiled(grad_pre, kernel, *_names("grad_pre")),
        shared.tiled(d_a, kernel, *_names("da")),
        shared.tiled(d_b, kernel, *_names("db"), items=items),
        Step(columns, nested_loops(s.batch_size * s.m), *_names("dbias")),
    )
    return Schedule(steps)


def deep_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Two passes: grad_pre, then tiles of d_a above those of d_b, and beside these d_bias."""
    tile = kernel.value("TILE")
    grad_pre, d_a, d_b = _products(s).values()
    across, above, layers = d_a.workgroups(tile, tile)
    below = ceil(s.n / tile)
    all_three = across + 1, above + below, max(layers, d_b.layers)
    steps = (
        Step(grad_pre.workgroups(tile, tile), shared.deep(kernel, s.k), *_names("grad_pre")),
        Step(all_three, shared.deep(kernel, s.n, s.batch_size * s.m), *_names("gradients")),
    )
    return Schedule(steps)


# --- Versions that are specialized for a layer --------------------------------------------------------------


def register_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Three products with the same tiles, and a workgroup for 16 columns of d_bias."""
    products = _products(s)
    tile = shared.largest(kernel, *products.values())
    depth = kernel.value("TILE_K")
    constants = {
        **shared.layer(s, kernel),
        **shared.tile_constants(tile, depth, *products.values()),
        "PAD": shared.pad(tile, depth, both=True),
    }
    steps = []
    for name, product in products.items():
        iterations = nested_loops(ceil(product.terms / depth))
        steps.append(Step(product.workgroups(*tile), iterations, *_names(name)))
    columns = ceil(s.n / 16), 1, 1
    iterations = nested_loops(s.batch_size * s.m // (16 * depth)) + 16
    steps.append(Step(columns, iterations, *_names("dbias")))
    return Schedule(tuple(steps), constants=constants)


def registers_only(s: GemmShape, kernel: Kernel) -> Schedule:
    """Tiles in the registers of a thread, for software adapters: as large as the layer can use and a text can hold."""
    products = _products(s)
    columns = ceil(s.n / (4 * shared.THREADS)), 1, 1
    bias = Step(columns, nested_loops(ceil(s.batch_size * s.m / 4)), *_names("dbias"))

    def steps(tile: ThreadTile) -> list[Step]:
        return [
            tile.step(products["grad_pre"], *_names("grad_pre")),
            tile.step(products["da"], *_names("da"), finishes=False),
            tile.step(products["db"], *_names("db"), finishes=False),
            bias,
        ]

    return shared.tiled_by_threads(s, kernel, products.values(), steps)


def _products(s: GemmShape) -> Mapping[str, Product]:
    """The three products, by their passes; what is added up for one d_b is one sum."""
    forward = forward_product(s)
    d_a = Product(forward.rows, s.k, s.n, forward.layers)
    d_b = Product(s.k, s.n, s.batch_size * s.m, 1)
    if s.per_item:
        d_b = Product(s.k, s.n, s.m, s.batch_size)
    return {"grad_pre": forward, "da": d_a, "db": d_b}
