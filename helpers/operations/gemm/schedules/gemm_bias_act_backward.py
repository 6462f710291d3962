"""How the versions of gemm_bias_act_backward are dispatched: passes after one that computes grad_pre."""

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
    passes = {
        "grad_pre": ("grad_pre", s.k),
        "da": ("d_a", s.n),
        "db": ("d_b", items * s.m),
        "dbias": ("d_bias", s.batch_size * s.m),
    }
    steps = (
        Step(flat(prod(s.of(tensor))), nested_loops(terms), *_names(name)) for name, (tensor, terms) in passes.items()
    )
    return Schedule(tuple(steps))


def tiled(s: GemmShape, kernel: Kernel) -> Schedule:
    """Three products in tiles, and a thread for each column of d_bias."""
    items, layers = (1, s.batch_size) if s.per_item else (s.batch_size, 1)  # of one thread, of the dispatch
    return Schedule(
        (
            shared.tiled(Product(s.m, s.n, s.k, s.batch_size), kernel, *_names("grad_pre")),
            shared.tiled(Product(s.m, s.k, s.n, s.batch_size), kernel, *_names("da")),
            shared.tiled(Product(s.k, s.n, s.m, layers), kernel, *_names("db"), items=items),
            Step((ceil(s.n / 256), 1, 1), nested_loops(s.batch_size * s.m), *_names("dbias")),
        )
    )


def deep_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Two passes: grad_pre, then tiles of d_a above those of d_b, and beside these d_bias."""
    tile, (grad_pre, d_a, d_b) = kernel.value("TILE"), _products(s).values()
    across, above, layers = d_a.workgroups(tile, tile)
    all_three = across + 1, above + ceil(s.n / tile), max(layers, d_b.layers)
    return Schedule(
        (
            Step(grad_pre.workgroups(tile, tile), shared.deep(kernel, s.k), *_names("grad_pre")),
            Step(all_three, shared.deep(kernel, s.n, s.batch_size * s.m), *_names("gradients")),
        )
    )


# --- Versions that are specialized for a layer --------------------------------------------------------------


def register_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Three products with the same tiles, and a workgroup for 16 columns of d_bias."""
    products = _products(s)
    tile, depth = shared.largest(kernel, *products.values()), kernel.value("TILE_K")
    constants = {
        **shared.layer(s, kernel),
        **shared.tile_constants(tile, depth, *products.values()),
        "PAD": shared.pad(tile, depth, both=True),
    }
    steps = [
        Step(p.workgroups(*tile), nested_loops(ceil(p.terms / depth)), *_names(name)) for name, p in products.items()
    ]
    bias = Step((ceil(s.n / 16), 1, 1), nested_loops(s.batch_size * s.m // (16 * depth)) + 16, *_names("dbias"))
    return Schedule((*steps, bias), constants=constants)


def registers_only(s: GemmShape, kernel: Kernel) -> Schedule:
    """Tiles in the registers of a thread, for software adapters: as large as the layer can use and a text can hold."""
    products, columns = _products(s), ceil(s.n / (4 * shared.THREADS))
    bias = Step((columns, 1, 1), nested_loops(ceil(s.batch_size * s.m / 4)), *_names("dbias"))

    def steps(tile: ThreadTile) -> list[Step]:
        return [*(tile.step(p, *_names(name), finishes=name == "grad_pre") for name, p in products.items()), bias]

    return shared.tiled_by_threads(s, kernel, products.values(), steps)


def _products(s: GemmShape) -> Mapping[str, Product]:
    """The three products, by their passes; what is added up for one d_b is one sum."""
    forward = forward_product(s)
    sums, layers = (s.m, s.batch_size) if s.per_item else (s.batch_size * s.m, 1)
    d_a, d_b = Product(forward.rows, s.k, s.n, forward.layers), Product(s.k, s.n, sums, layers)
    return {"grad_pre": forward, "da": d_a, "db": d_b}
