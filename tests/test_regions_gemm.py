"""The index sets of the matrix products' pictures equal what the kernels read, term by term, as probes on the GPU show.

One operand holds its own cells' numbers, 1, 2, 3, ...; item i of the batch has a 1 in cell i of the other operand, and
0 elsewhere. So what comes out of item i names the cell that its 1 met, wherever it met one.
"""

from math import prod

import numpy as np
import pytest

from helpers import gemm, gpu, regions, wgsl
from helpers.regions import GemmTerm
from helpers.wgsl import Kernel

SIZES = [(3, 4, 5), (5, 18, 3), (17, 3, 4), (4, 3, 18)]  # M, K, N: on one tile of 16, and past its edge
every_size = pytest.mark.parametrize("sizes", SIZES, ids=str)


def one_hot(rows: int, columns: int) -> np.ndarray:
    """One item for each cell, with a 1 there."""
    return np.eye(rows * columns, dtype=np.float32).reshape(-1, rows, columns)


def numbered(rows: int, columns: int) -> np.ndarray:
    """Every cell's own number, from 1."""
    return np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns)


def backward(a: np.ndarray, b: np.ndarray, grad: np.ndarray, **options) -> tuple[np.ndarray, ...]:
    """The gradients of a layer without activation, in which grad_pre is grad."""
    return gemm.gemm_bias_act_backward(a, b, np.zeros(b.shape[-1], np.float32), grad, **options)


def probed(product: str, sizes: tuple[int, int, int]) -> tuple[np.ndarray, tuple[int, int], tuple[int, int]]:
    """What the GPU makes of the probes (items, rows, columns), and the shapes of the left and the right operand."""
    m, k, n = sizes
    if product == "pre":
        named = gemm.gemm_bias_act(one_hot(m, k), numbered(k, n), np.zeros(n, np.float32))
        return named, (m, k), (k, n)
    if product == "d_a":
        d_a, _, _ = backward(np.zeros((m * n, m, k), np.float32), numbered(k, n), one_hot(m, n))
        return d_a, (m, n), (k, n)
    grad = np.repeat(numbered(m, n)[None], m * k, axis=0)
    _, d_b, _ = backward(one_hot(m, k), np.zeros((k, n), np.float32), grad, per_item=True)
    return d_b, (m, k), (m, n)


def terms_on_the_gpu(product: str, sizes: tuple[int, int, int]) -> dict[tuple[int, int], list[GemmTerm]]:
    """The terms of every element of a result, in the order of the left operand's cells."""
    named, left, right = probed(product, sizes)
    found = {element: [] for element in np.ndindex(named.shape[1:])}
    for item, *element in np.argwhere(named):
        number = int(named[item, *element])
        cells = np.unravel_index(item, left), np.unravel_index(number - 1, right)
        found[tuple(map(int, element))].append(GemmTerm(*(tuple(map(int, cell)) for cell in cells)))
    return found


@every_size
@pytest.mark.parametrize("product", ["pre", "d_a", "d_b"])
def test_an_element_has_the_terms_that_the_kernel_reads(product, sizes):
    found = terms_on_the_gpu(product, sizes)
    assert len(found) == prod({"pre": sizes[::2], "d_a": sizes[:2], "d_b": sizes[1:]}[product])
    for element, terms in found.items():
        assert regions.gemm_terms(product, sizes, *element) == terms


@pytest.mark.parametrize("product", ["pre", "d_a", "d_b"])
def test_terms_off_by_one_would_be_seen(product):
    true = terms_on_the_gpu(product, (3, 3, 3))[1, 2]
    assert regions.gemm_terms(product, (3, 3, 3), 1, 2) == true
    wrong = [(1, 1), (0, 2), (2, 1)]  # a neighbor, or the element of the transposed result
    assert true not in [regions.gemm_terms(product, (3, 3, 3), *element) for element in wrong]
    others = {"pre", "d_a", "d_b", "d_bias"} - {product}
    assert true not in [regions.gemm_terms(other, (3, 3, 3), 1, 2) for other in others]


@pytest.mark.parametrize("sizes", [(3, 4, 5), (24, 2, 1)], ids=str)
def test_a_bias_adds_up_the_cells_of_its_column(sizes):
    """Each cell of grad is a power of two of its own, so that a sum names its cells."""
    m, k, n = sizes
    grad = (2.0 ** np.arange(m * n)).astype(np.float32).reshape(1, m, n)
    _, _, d_bias = backward(np.zeros((1, m, k), np.float32), np.zeros((k, n), np.float32), grad)
    for column, total in enumerate(d_bias):
        cells = [divmod(i, n) for i in range(m * n) if int(total) >> i & 1]
        assert regions.gemm_terms("d_bias", sizes, 0, column) == [GemmTerm(cell, None) for cell in cells]


def test_an_unknown_product_is_refused():
    with pytest.raises(ValueError, match="product = 'd_c': it must be one of pre, d_a, d_b, d_bias"):
        regions.gemm_terms("d_c", (1, 1, 1), 0, 0)


# --- Tiles ----------------------------------------------------------------------------------------------


def forward(kernel: Kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b as a kernel computes it."""
    (m, k), n = a.shape, b.shape[1]
    tensors = [gpu.upload(tensor, "operand") for tensor in (a, b, np.zeros(n, np.float32))]
    output = gpu.empty(4 * m * n, "output")
    gemm.launch_forward((*tensors, output), m=m, n=n, k=k, batch_size=1, activation="none", kernel=kernel)
    return gpu.read(output, (m, n))


TILED = wgsl.load(gemm.FORWARD, "1_tiled").with_constants(TILE=4)


def in_slots(tile: str, first: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What stands in each thread's own slot of the tile "left" or "right" when the tiles begin at k = `first`.

    The kernel is the real one, but between the barriers a thread takes its own slot instead of a product.
    """
    own = f"if (first == {first}u) {{ pre = {tile}[local.y * TILE + local.x]; }}"
    return forward(TILED.edit("pre += tile_product(local.y, local.x);", own), a, b)


@pytest.mark.parametrize("first", [0, 4, 8])
def test_a_thread_loads_the_cells_that_are_drawn(first):
    a, b = numbered(8, 10), numbered(10, 8)
    slots = {"left": in_slots("left", first, a, b), "right": in_slots("right", first, a, b)}
    for row, column in np.ndindex(8, 8):
        corner, thread = (row // 4 * 4, column // 4 * 4), row % 4 * 4 + column % 4
        cells = regions.tile_loads(4, corner, first, thread)
        for tile, matrix, (y, x) in zip(("left", "right"), (a, b), cells, strict=True):
            inside = y < matrix.shape[0] and x < matrix.shape[1]
            assert slots[tile][row, column] == (matrix[y, x] if inside else 0)


def test_a_thread_reads_what_its_mates_loaded():
    """Each slot of one tile holds a power of two of its own and the other tile ones, so that a sum names its slots."""
    powers, ones = (2.0 ** np.arange(16)).astype(np.float32).reshape(4, 4), np.ones((4, 4), np.float32)
    sums = forward(TILED, powers, ones), forward(TILED, ones, powers)
    for thread in range(16):
        read = [[i for i in range(16) if int(total.flat[thread]) >> i & 1] for total in sums]
        assert regions.tile_mates(4, thread) == tuple(read)
