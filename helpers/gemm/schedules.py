"""How each version of a fully connected layer is dispatched: workgroups, constants, the most loops of one thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod

from helpers.activations import ACTIVATIONS
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Schedule, Step, flat, nested_loops, one_step
from helpers.wgsl import MAX_WORKGROUP_BYTES, Kernel

# --- Versions that read the sizes from a uniform ------------------------------------------------------------


def thread_per_element(s: GemmShape, kernel: Kernel) -> Schedule:
    """One thread for each element of the output."""
    return one_step(flat(prod(s.of("output"))), nested_loops(s.k))


def tiled(s: GemmShape, kernel: Kernel) -> Schedule:
    """One workgroup for each tile of the output."""
    return Schedule((_tiles(kernel, "main", "", s.n, s.m, s.batch_size, s.k),))


def backward_thread_per_element(s: GemmShape, kernel: Kernel) -> Schedule:
    """Four passes, each with one thread for an element of its result."""

    def step(name: str, tensor: str, *loops: int) -> Step:
        return Step(flat(prod(s.of(tensor))), nested_loops(*loops), f"gemm_bwd_{name}_f32", f"gemm_bwd_{name}")

    items = 1 if s.per_item else s.batch_size
    return Schedule(
        (
            step("grad_pre", "grad_pre", s.k),
            step("da", "d_a", s.n),
            step("db", "d_b", items * s.m),
            step("dbias", "d_bias", s.batch_size * s.m),
        )
    )


def backward_tiled(s: GemmShape, kernel: Kernel) -> Schedule:
    """Four passes: three products in tiles, and a thread for each column of d_bias."""

    def tiles(name: str, *sizes: int) -> Step:
        return _tiles(kernel, f"gemm_bwd_{name}_f32", f"gemm_bwd_{name}", *sizes)

    items, layers = (1, s.batch_size) if s.per_item else (s.batch_size, 1)  # of one thread, of the dispatch
    bias = Step((ceil(s.n / 256), 1, 1), nested_loops(s.batch_size * s.m), "gemm_bwd_dbias_f32", "gemm_bwd_dbias")
    return Schedule(
        (
            tiles("grad_pre", s.n, s.m, s.batch_size, s.k),
            tiles("da", s.k, s.m, s.batch_size, s.n),
            tiles("db", s.n, s.k, layers, s.m, items),
            bias,
        )
    )


def _tiles(
    kernel: Kernel, entry_point: str, label: str, columns: int, rows: int, layers: int, terms: int, items: int = 1
) -> Step:
    """One thread an element of (layers, rows, columns), each a sum of items * terms products taken tile by tile."""
    tile = kernel.value("TILE")
    workgroups = ceil(columns / tile), ceil(rows / tile), layers
    return Step(workgroups, nested_loops(items, ceil(terms / tile), tile), entry_point, label)


# --- Versions that are specialized for a layer: 8 x 8 elements a thread -------------------------------------

TILES = (128, 128), (64, 128), (64, 64)  # rows and columns of a workgroup, the largest first
ENOUGH = 256  # workgroups that fill a large GPU: about two for each of an H200's 132 multiprocessors


@dataclass(frozen=True)
class Product:
    """`layers` products of a (rows, terms) and a (terms, columns) matrix."""

    rows: int
    columns: int
    terms: int
    layers: int

    def workgroups(self, tile: tuple[int, int]) -> tuple[int, int, int]:
        """One for each tile of so many rows and columns."""
        return ceil(self.columns / tile[1]), ceil(self.rows / tile[0]), self.layers

    def fills(self, tile: tuple[int, int], depth: int) -> bool:
        """Are all tiles full?"""
        return self.rows % tile[0] == self.columns % tile[1] == self.terms % depth == 0


def register_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Tiles of 64 x 64; the loop along k inside a tile is not written out."""
    tile, depth = _given(kernel, TILES[-1]), kernel.value("TILE_K")
    return _forward(s, kernel, tile, nested_loops(ceil(s.k / depth), depth))


def vec4_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """The largest tiles of which there are enough; also for the version that prefetches."""
    tile = _largest(kernel, _forward_product(s))
    schedule = _forward(s, kernel, tile)
    constants = {**schedule.constants, "PAD": _pad(tile, kernel.value("TILE_K"))}
    return schedule._replace(constants=constants, refused=_no_quads(s, kernel))


def backward_register_tiles(s: GemmShape, kernel: Kernel) -> Schedule:
    """Three products with the same tiles, and a workgroup for 16 columns of d_bias."""
    products = _backward_products(s)
    tile, depth = _largest(kernel, *products.values()), kernel.value("TILE_K")
    rows, sums = products["grad_pre"].rows, products["db"].terms
    constants = {
        **{"ROWS": rows, "D_B_ROWS": sums, "ALL_ROWS": s.batch_size * s.m, "K": s.k, "N": s.n},
        **{"B_STRIDE": s.k * s.n * s.b_per_item, "D_B_STRIDE": s.k * s.n * s.per_item},
        **_common(s, tile, all(each.fills(tile, depth) for each in products.values())),
        "PAD": _pad(tile, depth, both=True),
    }
    steps = [_product_step(name, each, tile, depth) for name, each in products.items()]
    bias = Step((ceil(s.n / 16), 1, 1), nested_loops(s.batch_size * s.m // (16 * depth)) + 16, *_names("dbias"))
    return Schedule((*steps, bias), constants=constants)


def _forward(s: GemmShape, kernel: Kernel, tile: tuple[int, int], iterations: int = 0) -> Schedule:
    """The dispatch with tiles of so many rows and columns; `iterations` where there are more than steps along k."""
    product, depth = _forward_product(s), kernel.value("TILE_K")
    sizes = {"M": product.rows, "K": s.k, "N": s.n, "B_STRIDE": s.k * s.n * s.b_per_item}
    step = Step(product.workgroups(tile), iterations or nested_loops(ceil(s.k / depth)))
    return Schedule((step,), constants={**sizes, **_common(s, tile, product.fills(tile, depth))})


def _forward_product(s: GemmShape) -> Product:
    """The rows of all items that share one b are those of one matrix."""
    rows, layers = (s.m, s.batch_size) if s.b_per_item else (s.batch_size * s.m, 1)
    return Product(rows, s.n, s.k, layers)


def _backward_products(s: GemmShape) -> Mapping[str, Product]:
    """The three products, by their passes; likewise, what is added up for one d_b is one sum."""
    forward = _forward_product(s)
    sums, layers = (s.m, s.batch_size) if s.per_item else (s.batch_size * s.m, 1)
    d_a, d_b = Product(forward.rows, s.k, s.n, forward.layers), Product(s.k, s.n, sums, layers)
    return {"grad_pre": forward, "da": d_a, "db": d_b}


def _product_step(name: str, product: Product, tile: tuple[int, int], depth: int) -> Step:
    return Step(product.workgroups(tile), nested_loops(ceil(product.terms / depth)), *_names(name))


def _names(name: str) -> tuple[str, str]:
    """Entry point and label of a backward pass."""
    return f"gemm_bwd_{name}_f32", f"gemm_bwd_{name}"


def _common(s: GemmShape, tile: tuple[int, int], aligned: bool) -> Mapping[str, int]:
    """The constants that all these kernels have."""
    return {
        **{"ACTIVATION": ACTIVATIONS.index(s.activation), "ALIGNED": aligned},
        **dict(zip(("TILE_M", "TILE_N"), tile, strict=True)),
    }


def _largest(kernel: Kernel, *products: Product) -> tuple[int, int]:
    """The largest tile of which each product has ENOUGH, else the smallest one."""
    able = (tile for tile in TILES if all(prod(each.workgroups(tile)) >= ENOUGH for each in products))
    return _given(kernel, next(able, TILES[-1]))


def _given(kernel: Kernel, tile: tuple[int, int]) -> tuple[int, int]:
    """The tile that `with_constants` has set, or else this one."""
    given = dict(kernel.constants)
    return given.get("TILE_M", tile[0]), given.get("TILE_N", tile[1])


def _pad(tile: tuple[int, int], depth: int, both: bool = False) -> int:
    """1 where the workgroup memory has room for 16 bytes behind each row of the left tile, or of both; else 0."""
    padded = depth * (4 * sum(tile) + 16 * (1 + both))
    return int(padded <= MAX_WORKGROUP_BYTES)


def _no_quads(s: GemmShape, kernel: Kernel) -> str | None:
    """Why b cannot be read as vec4f, or None."""
    if s.n % 4 == 0:
        return None
    return f"{kernel.name}: N = {s.n}: it must be a multiple of 4, as b is read four numbers at a time"
